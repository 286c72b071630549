package sandbox

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// same reports whether a state of a path is a later one, too. A file that has got another
// name is another: who cannot write it here might by that.
func (e saved) same(o saved) bool {
	if e.stamp != "" {
		return e.mode == o.mode && e.stamp == o.stamp
	}
	return e.mode == o.mode && o.stamp == "" && bytes.Equal(e.data, o.data) && (e.linked || !o.linked)
}

// stamped reports whether of some files the state alone is known, not the content.
func (g *guarded) stamped() bool {
	for _, e := range g.was {
		if e.stamp != "" {
			return true
		}
	}
	return false
}

// unbounded reads all contents: of files that are no larger than what was there, or than maxGuardedFile.
func unbounded() *Snapshot { return &Snapshot{files: -1 << 30, size: -1 << 40} }

// now is what is at and below the path, in the form in which it was remembered.
func (g *guarded) now(root *os.Root) (map[string]saved, error) {
	s := unbounded()
	found := map[string]saved{}
	whole := !g.stamped()
	err := walk(root, g.name, func(path string, i fs.FileInfo) (err error) {
		was, ok := g.was[path]
		if !whole && i.IsDir() && i.Mode() != was.mode { // so that it can be looked into
			mode := was.mode.Perm()
			if !ok || !was.mode.IsDir() {
				mode = 0o700
			}
			_ = root.Chmod(path, mode)
		}
		// What is new or has another size is not as it was, and is not read: it may be larger than the memory.
		unread := i.Mode().IsRegular() && (!ok || i.Size() > maxGuardedFile || i.Size() != int64(len(was.data)) && !g.settings)
		if (whole || ok && was.stamp == "") && !unread {
			found[path], err = s.read(root, path, i)
			return err
		}
		stamp, _ := stampOf(i)
		found[path] = saved{mode: i.Mode(), stamp: cmp.Or(stamp, "unknown")}
		return nil
	})
	return found, err
}

// restoreEach puts away what is not as it was and brings back what was kept, file by
// file: what could not be kept would not come back if all of it went, and what a call has written
// would not be as it was written. A changed file of those that were not kept is put away all the
// same, and is then missing, which is said.
func (g *guarded) restoreEach(root *os.Root, now map[string]saved, room func() (string, error)) (*Restore, error) {
	var bad []string
	back := guarded{dir: g.dir, name: g.name, was: map[string]saved{}}
	for path, e := range now {
		was, ok := g.was[path]
		switch {
		case ok && was.same(e):
		case ok && was.mode.IsDir() && e.mode.IsDir():
			_ = root.Chmod(path, was.mode.Perm())
		default:
			bad = append(bad, path)
		}
	}
	slices.Sort(bad)
	var errs []error
	r := &Restore{Path: filepath.Join(g.dir, g.name), Action: "changed"}
	last := ""
	for _, path := range bad {
		if last != "" && strings.HasPrefix(path, last+string(filepath.Separator)) {
			delete(now, path)
			continue
		}
		var err error
		if r.Quarantine, err = putAway(root, g.dir, path, room); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
			continue
		}
		last = path
		delete(now, path)
	}
	for path, e := range g.was {
		if _, ok := now[path]; !ok {
			back.was[path] = e
		}
	}
	if err := errors.Join(append(errs, back.bring(root))...); err != nil {
		return nil, fmt.Errorf("%w; what the command made of it is in %s", err, r.Quarantine)
	}
	return r, nil
}

// unchanged reports whether all is as it was.
func (g *guarded) unchanged(now map[string]saved) bool {
	return maps.EqualFunc(g.was, now, saved.same)
}

// stays reports whether nothing of it has to be put back.
func (g *guarded) stays(now map[string]saved) bool { return g.unchanged(now) || g.free(now) }
