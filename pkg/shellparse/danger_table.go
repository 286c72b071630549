package shellparse

import (
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"
)

// hazards looks for the ways of calling c that are dangerous.
func (w *walker) hazards(c *call) {
	r, _ := programs.Lookup(strings.TrimSuffix(c.name, ".exe"))
	if r != nil {
		if r.Danger != "" {
			c.danger(w, r.Danger)
		}
		for i := range r.Dangers {
			if c.matches(&r.Dangers[i]) {
				c.danger(w, r.Dangers[i].Why)
			}
		}
	}
	w.broad(c)
	if r != nil && r.SQL {
		w.database(c)
	}
}

// gitHazards are the ways of calling git that drop work or history: one of the
// options, none of those without, and the first operand.
var gitHazards = [...]struct{ sub, opts, without, first, why string }{
	{"branch", "D,M,C", "", "", "drops commits that are nowhere else"},
	{"checkout", "f,ours,theirs,B,pathspec-from-file", "", "", "discards uncommitted work"},
	{"clean", "f,x,X", "n", "", "deletes untracked files"},
	{"filter-branch", "", "", "", "rewrites history"},
	{"gc", "prune", "", "", "removes the way back"},
	{"prune", "", "n", "", "removes the way back"},
	{"push", "f,force-with-lease,force-if-includes,mirror,d,prune", "", "", "rewrites or deletes what others have"},
	{"reflog", "", "", "expire,delete,drop", "removes the way back"},
	{"replace", "", "", "", "rewrites history"},
	{"reset", "hard,merge,keep", "", "", "discards uncommitted work"},
	{"restore", "", "staged", "", "discards uncommitted work"},
	{"restore", "worktree", "", "", "discards uncommitted work"},
	{"rm", "f", "", "", "deletes without asking"},
	{"stash", "", "", "drop,clear", "drops saved work"},
	{"submodule", "f,force,all", "", "deinit", "deletes without asking"},
	{"switch", "f,C", "", "", "discards uncommitted work"},
	{"tag", "f", "", "", "moves a tag that others have"},
	{"update-ref", "d,stdin", "", "", "drops a reference"},
	{"worktree", "f", "", "remove", "deletes without asking"},
}
