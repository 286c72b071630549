package sandbox

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/gitsettings"
)

// free reports whether all that has changed is settings of git's that make it run nothing.
func (g *guarded) free(now map[string]saved) bool {
	was, ok1 := g.was[g.name]
	is, ok2 := now[g.name]
	plain := func(e saved) bool { return e.mode.IsRegular() && e.stamp == "" }
	return g.settings && ok1 && ok2 && len(g.was) == 1 && len(now) == 1 && plain(was) && plain(is) && !is.linked && is.mode&^was.mode&fs.ModePerm == 0 &&
		gitsettings.Change(string(was.data), string(is.data), workTree(filepath.Join(g.dir, g.name)), anyOf(g.remotes)) == nil
}

// workTree is where a submodule is checked out whose settings these are, as git writes it there; "" for the settings of all
// else, and of a submodule of a submodule.
func workTree(settings string) string {
	dir := filepath.Dir(settings)
	top, name, ok := strings.Cut(dir, "/.git/modules/")
	if !ok || strings.Contains(name, "/modules/") {
		return ""
	}
	tree, err := filepath.Rel(dir, filepath.Join(top, name))
	if err != nil {
		return ""
	}
	return tree
}

// anyOf reports for a host whether one of these, in the form of Config.Hosts, means it.
func anyOf(hosts []string) func(host string) bool {
	return func(host string) bool {
		return slices.ContainsFunc(hosts, func(s string) bool {
			r, err := parseHost(s)
			return err == nil && r.reaches(443) && r.means(host)
		})
	}
}
