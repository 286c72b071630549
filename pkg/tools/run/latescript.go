package run

import (
	"io/fs"
	"path/filepath"
	"slices"
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
func (l *late) unsaved(e *sandbox.Exec) (names []change.Doomed) {
	if !slices.Contains(watchable[:], filepath.Base(e.Argv[0])) {
		return nil
	}
	all := l.names(e, true) // what has another name may be taken away under that, unseen
	if !slices.ContainsFunc(all, func(n change.Doomed) bool { return exists(n.Path) }) {
		return nil
	}
	nowhere, ok := l.look(all)
	if !ok {
		return all
	}
	for _, n := range all {
		had := len(names)
		for _, path := range nowhere {
			if safefile.Below(n.Path, path) {
				names = append(names, change.Doomed{Path: path, Written: n.Written})
			}
		}
		if len(names)-had > manyNames || holdsRepository(n.Path) { // one directory is less to do than so many files
			names = append(names, n)
		}
	}
	if len(names) == 0 {
		return nil
	}
	for _, n := range all { // what is made of them goes when they come back
		if !exists(n.Path) {
			names = append(names, n)
		}
	}
	return names
}

// stood reports whether a program stood in the command with these words: what it takes away was judged, and kept, before.
func (l *late) stood(argv []string) bool {
	return slices.ContainsFunc(l.needs, func(a policy.Access) bool {
		return a.Kind == policy.Exec && !slices.Contains(a.Dynamic, true) && slices.Equal(a.Argv, argv)
	})
}

// maxInner bounds how many names of a directory are looked at for a repository among them.
const maxInner = 20_000

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

// look finds which files of the root are nowhere else: once, and again where one of those that it is about has come to its
// name, or was changed, since. It is false where not all of them are known.
func (l *late) look(names []change.Doomed) (nowhere []string, ok bool) {
	l.looking.Lock()
	defer l.looking.Unlock()
	looker := safefile.NewLooker(l.env.Workspace.Root())
	defer looker.Close()
	again := slices.ContainsFunc(names, func(n change.Doomed) bool {
		rel, below := safefile.Rel(l.env.Workspace.Root(), n.Path)
		look, err := looker.Look(filepath.ToSlash(rel))
		return below && err == nil && !time.Unix(0, look.CTime).Before(l.looked)
	})
	if !again && l.looks > 0 {
		return l.nowhere, l.nowhereOK
	}
	if l.looks++; l.looks > maxLooks {
		return nil, false
	}
	l.looked = time.Now().Add(-clockStep)
	d := &dooming{env: l.env}
	l.nowhere, l.nowhereOK = d.unsaved(l.env.Workspace.Root())
	return l.nowhere, l.nowhereOK
}

// clockStep is by how much the times of files may be behind the clock: they are stamped by the kernel's tick.
const clockStep = 20 * time.Millisecond
