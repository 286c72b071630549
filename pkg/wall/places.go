package wall

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// What is looked at in one place outside the root, and closed there. It is looked at before each command.
const (
	maxPlaceDirs   = 15_000
	maxPlaceHidden = 1000
	maxPlaceFixed  = 2000
)

// places closes, in each place outside the root that a rule opens, what the policy keeps from commands
// all the same: as in the root all names are looked at, and the policy is asked. Where all there is
// is open for reading it is not looked through: that would take seconds.
func (w *Wall) places() {
	list := slices.DeleteFunc(w.o.Policy.Places(), func(at policy.Place) bool { return at.Everything() })
	var tops []string
	for i := range list {
		if real, err := filepath.EvalSymlinks(list[i].Dir); err == nil {
			list[i].Dir = real
			tops = append(tops, real)
		}
	}
	all := slices.Contains(tops, "/")
	if home, err := filepath.EvalSymlinks(w.o.Policy.Home()); all && err == nil { // first of all, for there may be too much
		tops = append(tops, home)
	}
	tops = outermost(slices.DeleteFunc(tops, func(top string) bool { return top == "/" }))
	if all {
		tops = append(tops, "/")
	}
	for _, top := range tops {
		w.place(top, tops, list)
	}
}

// place is places for one directory of those that are looked through each by itself.
func (w *Wall) place(top string, tops []string, list []policy.Place) {
	p := w.o.Policy
	passed := func(dir string) bool {
		return dir == w.o.Root || filepath.Base(dir) == ".git" || dir != top && (p.PassedOutside(dir) || slices.Contains(tops, dir))
	}
	t := w.o.walk(&walker{notable: p.Notable, passed: passed, most: maxPlaceDirs}, top, top+"\x00place\x00"+strings.Join(append(p.Installations(), w.o.Root), "\x00"))
	hidden, fixed := len(w.Hidden), len(w.Fixed)
	for _, path := range append(t.hits(), t.shut...) {
		if safefile.Below(w.o.Root, path) || path == top {
			continue
		}
		if len(w.Hidden)-hidden >= maxPlaceHidden || len(w.Fixed)-fixed >= maxPlaceFixed {
			t.cut = true
			break
		}
		writes := slices.ContainsFunc(list, func(at policy.Place) bool { return at.Write && safefile.Below(at.Dir, path) })
		switch base := filepath.Base(path); {
		case base == "HEAD":
		case base == ".git" && writes:
			w.gitAt(path)
		case base != ".git":
			w.closeIn(path, writes)
		}
	}
	if t.cut {
		w.Unseen = append(w.Unseen, top)
	} else {
		w.seen = append(w.seen, top)
	}
	w.list(top, w.Hidden[hidden:])
}

// list has the names be listed in the directories of a place above what is hidden there, but for those that hold our
// state: without mounts the rest of them is opened by its entries.
func (w *Wall) list(top string, hidden []string) {
	if w.o.Mounts {
		return
	}
	for _, path := range hidden {
		for dir := filepath.Dir(path); safefile.Below(top, dir) && !w.ours(dir) && !slices.Contains(w.Listed, dir); dir = filepath.Dir(dir) {
			if w.Listed = append(w.Listed, dir); dir == "/" {
				break
			}
		}
	}
}

// ours reports whether a directory holds our state.
func (w *Wall) ours(dir string) bool {
	return w.o.Cache != "" && safefile.Below(dir, filepath.Dir(w.o.Cache))
}

// closeIn asks about one path in a place.
func (w *Wall) closeIn(path string, writes bool) {
	i, err := os.Lstat(path)
	if err != nil {
		return
	}
	if p := w.o.Policy; p.Conceals(path, fileType(i.Mode())) {
		w.hideIn(path, i.IsDir() && p.Mixed(path, policy.Read), p.Conceals)
	}
	if writes {
		w.fix(path, i)
	}
}

// gitAt closes what git heeds and does not change in a repository's directory, and the file that names one.
func (w *Wall) gitAt(path string) {
	i, err := os.Lstat(path)
	switch {
	case err != nil:
	case !i.IsDir():
		w.closeIn(path, true)
	default:
		for _, name := range unchanged {
			if at := filepath.Join(path, name); !w.o.Policy.MayWrite(at, policy.Regular) {
				w.Fixed = append(w.Fixed, at) // also where it is not there yet
			}
		}
		for _, at := range foreign(path) {
			if !w.o.Policy.MayWrite(at, policy.Regular) && !below(at, w.Fixed) {
				w.Fixed = append(w.Fixed, at)
			}
		}
	}
}

// pinPlaces takes over what is closed outside the root. Where a rule opens the directory above, it stays in its place:
// what is secret, or closed for where it is, such as the settings of shells and our own.
func (w *Wall) pinPlaces(far *Wall) {
	fixed := len(w.Fixed)
	w.Fixed = append(w.Fixed, far.Fixed...)
	if len(w.Writable) == 0 {
		return
	}
	free := map[string]bool{}
	for i, path := range slices.Concat(w.Fixed, w.Hidden) {
		top := slices.IndexFunc(w.Writable, func(dir string) bool { return safefile.Below(dir, path) })
		switch {
		case safefile.Below(w.o.Root, path), top < 0, strings.HasSuffix(path, "/"):
		case i < fixed, i >= len(w.Fixed), w.o.Policy.Placed(path):
			w.Pinned = append(w.Pinned, path)
		default:
			w.named(path, w.Writable[top], free)
		}
	}
}

// Holds reports whether the sandbox keeps commands from reading what is hidden at a path, whatever they do: without
// mounts it cannot in what can be written, as a home in a temporary directory.
func (w *Wall) Holds(path string) bool {
	ours := w.o.Cache != "" && safefile.Below(filepath.Dir(w.o.Cache), path) // the sandbox leaves it out of what can be written
	return w.o.Mounts || !safefile.Below(w.o.Root, path) && (ours || !below(path, w.Writable) && !below(path, w.o.Temp))
}

// HoldsFrom reports whether the sandbox keeps commands from what is at a path outside the root and closed to
// them, or from what of a tree there is.
func (w *Wall) HoldsFrom(a *policy.Access) bool {
	writable := below(a.Path, w.Writable) || !w.o.Mounts && below(a.Path, w.o.Temp)
	switch {
	case a.Kind == policy.Write:
		return !writable || below(a.Path, w.Fixed)
	case below(a.Path, w.Hidden), a.Tree && below(a.Path, w.seen):
		return w.Holds(a.Path)
	}
	return !writable && !w.Everything && !below(a.Path, w.Readable)
}
