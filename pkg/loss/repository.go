package loss

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/change"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
)

// What git has of a file counts as kept only as long as its repository stays. So what another program than git takes away of a
// repository is kept, too: of one in the root, bare or not, all that git keeps, as soon as the first of it goes; of the root's own, that alone.

// ofGit are the names of what is to be kept of a repository of which a program takes something away.
func (l *Watcher) ofGit(e *sandbox.Exec) (names []change.Doomed) {
	root, path := l.Env.Workspace.Root(), e.Emptied
	name := change.Doomed{Path: path, Written: !e.Replaced && e.Moved == ""}
	rel, _ := safefile.Rel(root, path)
	before, _, _ := strings.Cut("/"+filepath.ToSlash(rel)+"/", "/.git/")
	top := filepath.Join(root, filepath.FromSlash(before))
	git := filepath.Join(top, ".git")
	part, _ := safefile.Rel(git, path)
	if part == "." || history(filepath.ToSlash(part)) {
		names = append(names, name)
	}
	heads := filepath.Join(git, "refs", "heads")
	switch {
	case top != root && (e.Removed || e.Moved != ""):
		if l.breaks(top); l.emptying.first(git) {
			names = append(names, change.Doomed{Path: git})
		}
	case len(names) > 0 && safefile.Empty(os.ReadDir(heads)): // git takes a directory without refs for none
		names = append(names, change.Doomed{Path: heads})
	}
	return names
}

// history reports whether what is called so in a repository tells what it has: its commits, and where they are found. Those of
// submodules and worktrees lie deeper.
func history(part string) bool {
	names := strings.Split(part, "/")
	if slices.Contains([]string{"HEAD", "packed-refs", "index", "shallow"}, names[len(names)-1]) {
		return true
	}
	has := func(name string) bool { return slices.Contains([]string{"objects", "refs", "logs", "reftable"}, name) }
	return has(names[0]) || (names[0] == "modules" || names[0] == "worktrees") && (len(names) < 3 || slices.ContainsFunc(names, has))
}

// bare is the innermost directory of the root that holds a path and is a repository without a work tree; "" for none.
func (l *Watcher) bare(path string) string {
	for dir := range safefile.Up(l.Env.Workspace.Root(), filepath.Dir(path)) {
		if dir != l.Env.Workspace.Root() && safefile.Exists(filepath.Join(dir, "HEAD")) && safefile.Exists(filepath.Join(dir, "objects")) && safefile.Exists(filepath.Join(dir, "refs")) {
			return dir
		}
	}
	return ""
}

// breaks remembers a repository, and what of its files is nowhere else, before a program takes something of it away.
func (l *Watcher) breaks(top string) {
	if l.was(top) {
		return
	}
	l.look(top, nil)
	l.looking.Lock()
	defer l.looking.Unlock()
	if l.broken == nil {
		l.broken = map[string]bool{}
	}
	l.broken[top] = false
}

// forsake notes that something which is taken away of a repository could not be kept.
func (l *Watcher) forsake(path string) {
	top := l.repository(path)
	part, _ := safefile.Rel(filepath.Join(top, ".git"), path)
	if base := filepath.Base(part); !history(filepath.ToSlash(part)) || base == "index" {
		return
	}
	l.looking.Lock()
	defer l.looking.Unlock()
	if _, is := l.broken[top]; is {
		l.broken[top] = true
	}
}
