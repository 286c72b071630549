package loss

import (
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/change"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
)

// What a script, a recipe of make or a program takes away by itself does not stand in the text. Where it has
// rm, mv and the like do it, the gate sees them start, and what is nowhere else is kept: not what git has or
// ignores, of which a build removes much.

// unsaved are the names that such a program is about to take away and that are nowhere else.
func (l *Watcher) unsaved(e *sandbox.Exec) (names []change.Doomed) {
	if !slices.Contains(watchable[:], startedProgram(e)) {
		return nil
	}
	accesses := l.accesses(e, environ(e))
	if l.stood(e.Argv, accesses) {
		return nil
	}
	all := l.names(e, accesses, true) // what has another name may be taken away under that, unseen
	if !slices.ContainsFunc(all, func(n change.Doomed) bool { return safefile.Exists(n.Path) }) {
		return nil
	}
	byTop := map[string][]change.Doomed{}
	for _, n := range all {
		top := l.repository(n.Path)
		byTop[top] = append(byTop[top], n)
	}
	for _, top := range slices.Sorted(maps.Keys(byTop)) {
		names = append(names, l.nowhereElse(top, byTop[top])...)
	}
	if len(names) == 0 {
		return nil
	}
	for _, n := range all { // what is made of them goes when they come back
		if !safefile.Exists(n.Path) {
			names = append(names, n)
		}
	}
	return names
}

// repository is the innermost directory of the root that holds a repository in which a name lies; else the root.
func (l *Watcher) repository(path string) string {
	root := l.Env.Workspace.Root()
	for dir := range safefile.Up(root, filepath.Dir(path)) {
		if safefile.Exists(filepath.Join(dir, ".git")) || l.was(dir) {
			return dir
		}
	}
	return root
}

// nowhereElse are those of some names in one repository that are nowhere else, of directories the files that are.
func (l *Watcher) nowhereElse(top string, all []change.Doomed) (names []change.Doomed) {
	last, ok := l.look(top, all)
	if !ok || l.forsaken(top) {
		return all
	}
	newly := func(path string) bool {
		for at := range safefile.Up(top, path) {
			if _, is := slices.BinarySearch(last.newly, at); is {
				return true
			}
		}
		return false
	}
	for _, n := range all {
		had := len(names)
		for dir := range safefile.Up(top, filepath.Dir(n.Path)) { // where git has a submodule, it has nothing of the files in it
			if _, is := slices.BinarySearch(last.nowhere, dir); is {
				names = append(names, n)
				break
			}
		}
		for _, path := range slices.Concat(within(last.nowhere, n.Path), within(last.newly, n.Path)) {
			names = append(names, change.Doomed{Path: path, Written: n.Written})
		}
		if len(names) == had && newly(n.Path) && safefile.Exists(n.Path) {
			names = append(names, n)
		}
		if len(names)-had > manyNames || holdsRepository(n.Path) { // one directory is less to do than so many files
			names = append(names, n)
		}
	}
	return names
}

// within are those of some paths, sorted, that are a path or lie below it.
func within(sorted []string, path string) (list []string) {
	if _, is := slices.BinarySearch(sorted, path); is {
		list = append(list, path)
	}
	in := path + string(filepath.Separator)
	first, _ := slices.BinarySearch(sorted, in)
	for _, p := range sorted[first:] {
		if !strings.HasPrefix(p, in) {
			break
		}
		list = append(list, p)
	}
	return list
}

// stood reports whether a program with these accesses stood in the command with these words, and what it takes away was judged
// before, and kept: the text may have left open in which directory it starts, and a script may start it in another one.
func (l *Watcher) stood(argv []string, accesses []policy.Access) bool {
	for i := range l.Needs {
		a := &l.Needs[i]
		judged := func(path string) bool {
			return slices.ContainsFunc(l.Needs, func(w policy.Access) bool {
				return w.Parent == i+1 && w.Kind == policy.Write && w.Opaque == "" && w.Path == path
			})
		}
		if a.Kind == policy.Exec && !slices.Contains(a.Dynamic, true) && slices.Equal(a.Argv, argv) && !slices.ContainsFunc(accesses, func(w policy.Access) bool {
			return w.Kind == policy.Write && w.File != policy.Missing && !judged(w.Path) && !l.made(w.Path)
		}) {
			return true
		}
	}
	return false
}

// holdsRepository reports whether a directory is, or holds, a repository's work tree, of whose files the one around it knows nothing.
func holdsRepository(dir string) (found bool) {
	left := maxInner
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		left--
		found = err == nil && e.Name() == ".git"
		if found || left < 0 {
			return fs.SkipAll
		}
		return nil
	})
	return found
}

// maxLooks bounds how often it is asked what is nowhere else while one command runs.
const maxLooks = 50

// look finds which files of a repository are nowhere else: once, and again where one of those that the names are about has come to
// its place, or was changed, since. It is false where not all of them are known.
func (l *Watcher) look(top string, names []change.Doomed) (last look, ok bool) {
	l.looking.Lock()
	defer l.looking.Unlock()
	looker := safefile.NewLooker(l.Env.Workspace.Root())
	defer looker.Close()
	begun := l.Begun.Add(-clockStep)
	last, known := l.looked[top]
	if !known {
		last.at = begun
	}
	anew := l.rulesSince(looker, top, last.at, names)
	if known && !anew && !l.since(looker, &last, names) {
		return last, last.ok
	}
	if l.looks++; l.looks > maxLooks {
		return look{}, false
	}
	d := &dooming{env: l.Env}
	last = look{at: time.Now().Add(-clockStep), dirs: map[inode]string{}, ruled: last.ruled || anew}
	last.nowhere, last.ok = d.unsaved(top)
	if last.ok && last.ruled {
		last.newly, last.ok = l.Env.Git.NewlyIgnored(top, func(file string) bool { return l.changedSince(looker, file, begun) })
	}
	slices.Sort(last.nowhere)
	seen := map[string]bool{top: true}
	for _, path := range last.nowhere {
		for dir := range safefile.Up(top, filepath.Dir(path)) {
			if seen[dir] {
				break
			}
			seen[dir] = true
			if at, ok := l.stat(looker, dir); ok {
				last.dirs[inode{at.Dev, at.Ino}] = dir
			}
		}
	}
	if l.looked == nil {
		l.looked = map[string]look{}
	}
	l.looked[top] = last
	return last, last.ok
}

// changedSince reports whether a file has come to its place, or was changed, since a time.
func (l *Watcher) changedSince(looker *safefile.Looker, path string, at time.Time) bool {
	is, ok := l.stat(looker, path)
	return ok && !time.Unix(0, is.CTime).Before(at)
}

// rulesSince reports whether rules by which git ignores some names in a repository have changed since a time.
func (l *Watcher) rulesSince(looker *safefile.Looker, top string, at time.Time, names []change.Doomed) bool {
	asked := map[string]bool{}
	for _, n := range names {
		for dir := range safefile.Up(top, filepath.Dir(n.Path)) {
			if asked[dir] {
				break
			}
			asked[dir] = true
			if l.changedSince(looker, filepath.Join(dir, ".gitignore"), at) {
				return true
			}
		}
	}
	return l.changedSince(looker, filepath.Join(top, ".git", "info", "exclude"), at)
}

// stat looks at a name, most often one in the root.
func (l *Watcher) stat(looker *safefile.Looker, path string) (look safefile.Look, ok bool) {
	rel, below := safefile.Rel(l.Env.Workspace.Root(), path)
	if !below {
		looker, rel = safefile.NewLooker(filepath.Dir(path)), filepath.Base(path)
		defer looker.Close()
	}
	look, err := looker.Look(filepath.ToSlash(rel))
	return look, err == nil
}

// since reports whether one of some names, or what lies in it, has come to its place, or was changed, since a look: by itself, or as
// a directory that holds it has another name.
func (l *Watcher) since(looker *safefile.Looker, last *look, names []change.Doomed) bool {
	renamed := func(dir string) bool {
		at, ok := l.stat(looker, dir)
		was, held := last.dirs[inode{at.Dev, at.Ino}]
		return ok && held && was != dir
	}
	left := maxInner
	return slices.ContainsFunc(names, func(n change.Doomed) (found bool) {
		for dir := filepath.Dir(n.Path); dir != l.Env.Workspace.Root() && safefile.Below(l.Env.Workspace.Root(), dir); dir = filepath.Dir(dir) {
			if renamed(dir) {
				return true
			}
		}
		_ = filepath.WalkDir(n.Path, func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return nil
			}
			if left--; e.IsDir() {
				found = left < 0 || renamed(path)
			} else {
				found = left < 0 || l.changedSince(looker, path, last.at) && !l.made(path)
			}
			if found {
				return fs.SkipAll
			}
			return nil
		})
		return found
	})
}

// clockStep is by how much the times of files may be behind the clock: they are stamped by the kernel's tick.
const clockStep = 20 * time.Millisecond
