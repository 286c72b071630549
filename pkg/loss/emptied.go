package loss

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/agentkit-go/agentkit/pkg/change"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// A file that is emptied under a name that nobody knew, by the shell's > or by a program that opens it for writing, that
// another file takes the place of, or that a program renames, is kept right before, where it is nowhere else. What is emptied may
// have another name that git neither has nor ignores: then it is kept under that.

// Emptied has a file that a program is about to empty, replace or remove kept by add, unless has says that it is. It says
// what is not kept, and why. Who else empties it meanwhile waits.
func (l *Watcher) Emptied(e *sandbox.Exec, has func() (kept, other bool), add func([]change.Doomed)) (lacks string) {
	m, path := &l.emptying, e.Emptied
	m.Lock()
	defer m.Unlock()
	if m.seen == nil {
		m.seen, m.left = map[[2]uint64]bool{}, min(maxNamedBytes, l.Shelving.MaxBytes/4)
	}
	git := safefile.InGit(path)
	if m.seen[e.Inode] && !git || l.made(path) {
		if e.Replaced && e.Links < 2 { // another file may get its number
			delete(m.seen, e.Inode)
		}
		return ""
	}
	if e.Removed && (l.byGit(e.Pid) || e.Links > 1 && l.made(filepath.Dir(path))) { // what it holds git has, or is kept, or it has the name from which the command made this one
		return ""
	}
	if git && (e.Links < 2 || e.Replaced || e.Moved != "") && l.byGit(e.Pid) {
		return ""
	}
	if e.Moved != "" { // what it holds stays
		add(l.moved(e))
		return ""
	}
	m.seen[e.Inode] = !e.Replaced || e.Links > 1
	switch kept, other := has(); {
	case kept && other:
		return fmt.Sprintf("not what was called %s by then, as what had that name before is kept", l.Visible(path))
	case kept:
		return ""
	}
	names, ok := l.losing(e)
	if !ok {
		return fmt.Sprintf("not what %s holds, as it is not known whether it has another name that git does not know", l.Visible(path))
	}
	info, err := os.Lstat(path)
	switch {
	case len(names) == 0 || err != nil:
		m.seen[e.Inode] = !e.Replaced // what it holds may have another name still
	case e.Replaced:
		add(names)
		kept, _ := has()
		if !kept && len(names) > 1 { // all of its repository is too much
			add(slices.DeleteFunc(names, func(d change.Doomed) bool { return d.Path != path }))
			kept, _ = has()
		}
		if !kept {
			l.forsake(path)
		}
	case info.Size() <= min(maxNamed, m.left):
		m.left -= info.Size()
		add(names)
	default:
		return fmt.Sprintf("not %s, as of what a program empties no more than %d MiB of a file and %d MiB of a call are copied", l.Visible(names[0].Path), maxNamed>>20, maxNamedBytes>>20)
	}
	return ""
}

// Visible is a path as the result shows it.
func (l *Watcher) Visible(path string) string {
	if rel, ok := safefile.Rel(l.Env.Workspace.Root(), path); ok {
		path = rel
	}
	return tool.VisibleName(filepath.ToSlash(path))
}

// moved are what is nowhere else of a name that becomes another one, and that other one: both come back.
func (l *Watcher) moved(e *sandbox.Exec) (names []change.Doomed) {
	root, to := l.Env.Workspace.Root(), e.Moved
	watched := safefile.Below(root, to) && !safefile.BelowGit(to)
	if safefile.InGit(e.Emptied) {
		names = l.ofGit(e)
	} else {
		names = l.nowhereElse(l.repository(e.Emptied), []change.Doomed{{Path: e.Emptied}})
	}
	if len(names) == 0 || !watched {
		return names
	}
	if l.byGit(e.Pid) { // its index says so, too
		return nil
	}
	if info, err := os.Lstat(to); err != nil || !info.IsDir() {
		names = append(names, change.Doomed{Path: to, Written: err != nil})
	}
	return names
}

// losing are the names of what is emptied or replaced, where it is nowhere else. It is false where they are not known.
func (l *Watcher) losing(e *sandbox.Exec) (names []change.Doomed, ok bool) {
	root, path := l.Env.Workspace.Root(), e.Emptied
	switch {
	case !safefile.Below(root, path):
	case safefile.InGit(path):
		names = l.ofGit(e)
	default:
		names = l.nowhereElse(l.repository(path), []change.Doomed{{Path: path, Written: !e.Replaced}})
		if e.Removed && len(names) > 0 {
			if bare := l.bare(path); bare != "" && l.emptying.first(bare) {
				names = append(names, change.Doomed{Path: bare})
			}
		}
	}
	if len(names) > 0 || e.Replaced || e.Links < 2 {
		return names, true
	}
	tops := map[string]bool{l.repository(path): true, l.repository(filepath.Join(root, "x")): true}
	l.looking.Lock()
	for top := range l.looked {
		tops[top] = true
	}
	l.looking.Unlock()
	for _, top := range slices.Sorted(maps.Keys(tops)) {
		if name, ok := l.otherName(top, e); !ok || name != "" {
			return []change.Doomed{{Path: name, Written: true}}, ok
		}
	}
	return nil, true
}

// otherName is the name by which a file of several names is nowhere else in a repository; "" for none. It is false where that is not
// known.
func (l *Watcher) otherName(top string, e *sandbox.Exec) (name string, ok bool) {
	file := inode{e.Inode[0], e.Inode[1]}
	if _, ok := l.look(top, []change.Doomed{{Path: e.Emptied}}); !ok {
		return l.search(file)
	}
	l.looking.Lock()
	defer l.looking.Unlock()
	last := l.looked[top]
	if last.files == nil {
		looker := safefile.NewLooker(l.Env.Workspace.Root())
		defer looker.Close()
		last.files = map[inode]string{}
		for _, path := range slices.Concat(last.nowhere, last.newly) {
			if at, ok := l.stat(looker, path); ok {
				last.files[inode{at.Dev, at.Ino}] = path
			}
		}
		l.looked[top] = last
	}
	return last.files[file], true
}

// search looks for a file's name in all of the root, as far as it may.
func (l *Watcher) search(file inode) (name string, ok bool) {
	root := l.Env.Workspace.Root()
	looker := safefile.NewLooker(root)
	defer looker.Close()
	_ = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		l.emptying.searched++
		switch at, ok := l.stat(looker, path); {
		case l.emptying.searched > maxSearched || name != "":
			return fs.SkipAll
		case err == nil && e.IsDir() && e.Name() == ".git":
			return fs.SkipDir
		case ok && file == inode{at.Dev, at.Ino}:
			name = path
		}
		return nil
	})
	return name, name != "" || l.emptying.searched <= maxSearched
}

// maxSearched bounds the names that are looked at for those of files while one command runs.
const maxSearched = 200_000
