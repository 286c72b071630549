package change

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// LastOf returns the newest change, which is no undo, of a file, or of what is in a
// directory, that is not undone; ErrNoRecord when there is none.
func (h *History) LastOf(ctx context.Context, path string) (Record, error) {
	for r, err := range h.records(ctx) {
		if err != nil {
			return Record{}, err
		}
		if r.Damaged == nil && r.Undoes == "" && r.UndoneBy == "" && h.touches(ctx, &r, path) {
			return r, nil
		}
	}
	return Record{}, fmt.Errorf("%w of %s that is not undone", ErrNoRecord, path)
}

// Undos returns the undos that are not taken back, newest first, which is the order to
// redo in, at most that many; 0 or less is all. What did a change again is no undo.
func (h *History) Undos(ctx context.Context, most int) (list []Record, err error) {
	for r, err := range h.records(ctx) {
		if err != nil {
			return nil, err
		}
		if r.UndoneBy != "" || r.Damaged != nil || !h.isUndo(r) {
			continue
		}
		if list = append(list, r); len(list) == most {
			break
		}
	}
	return list, nil
}

// isUndo tells an undo from a change and from what did one again.
func (h *History) isUndo(r Record) (undo bool) {
	for seen := map[string]bool{}; r.Undoes != "" && !seen[r.ID]; undo = !undo {
		seen[r.ID] = true
		r, _ = h.store.load(r.Undoes) // of one that is gone or damaged nothing is known
	}
	return undo
}

// Files returns the files of a change that taking it back is about, or what it did to a
// path: one that it took away with a directory is among them as what it was.
func (h *History) Files(ctx context.Context, r Record, path string) []File {
	if path == "" {
		return r.Files
	}
	if files := r.of(path); len(files) > 0 {
		return files
	}
	f := File{Path: path}
	if src, _, err := h.inside(ctx, &r, path); err == nil {
		if info, err := os.Lstat(src); err == nil {
			f.Before = printOf(info).state(info.Size())
		}
	}
	return []File{f}
}

// Within returns the slash-separated names in a directory that a change took away as a
// whole, or brought, from that directory.
func (h *History) Within(ctx context.Context, r Record, f File) (names []string) {
	dir := ""
	switch {
	case f.Before.Kind == Dir:
		dir, _, _ = h.inside(ctx, &r, f.Path)
	case f.After.Kind == Dir && f.After.Names > 0:
		dir = f.Path
	}
	if dir == "" {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && path != dir {
			names = append(names, filepath.ToSlash(path[len(dir)+1:]))
		}
		return nil
	})
	return names
}

// PartOf is the real path that an undo was only about; "" for all of a change.
func (r *Record) PartOf() string { return decodeName(r.Part) }

// InPart reports whether some of its files were taken back by themselves.
func (r *Record) InPart() bool { return len(r.undone) > 0 }

// Since returns the changes to take back, in this order, for the files to be as they were
// when the change of that ID had just been made.
func (h *History) Since(ctx context.Context, id string) (list []Record, err error) {
	if _, err := h.Get(ctx, id); err != nil {
		return nil, err
	}
	for r, err := range h.records(ctx) {
		if err != nil || r.ID <= id {
			return list, err
		}
		// An undo of something that was made later than that takes back both.
		if r.UndoneBy == "" && r.Undoes <= id {
			list = append(list, r)
		}
	}
	return list, nil
}

// touches reports whether a change did something to a name, or to what is in it, that was
// not taken back by itself.
func (h *History) touches(ctx context.Context, r *Record, path string) bool {
	if len(r.of(path)) > 0 {
		return true
	}
	if slices.ContainsFunc(r.undone, func(f File) bool { return f.Path == path }) {
		return false
	}
	src, _, err := h.inside(ctx, r, path)
	if err != nil {
		return false
	}
	_, err = os.Lstat(src)
	return err == nil
}

// above reports whether path lies in a directory.
func above(dir, path string) bool { return dir != path && safefile.Below(dir, path) }

// of returns the files of a change that are a name, or in it, with those that they were
// moved from or to, as far as they were not taken back by themselves.
func (r *Record) of(path string) (files []File) {
	names := map[string]bool{}
	for _, f := range r.Files {
		if f.Path == path || f.From == path || safefile.Below(path, f.Path) {
			names[f.Path] = true
			if f.From != "" {
				names[f.From] = true
			}
		}
	}
	for _, f := range r.Files {
		if f.From != "" && names[f.From] {
			names[f.Path] = true
		}
	}
	for _, f := range r.undone {
		delete(names, f.Path)
	}
	for _, f := range r.Files { // what had to be opened for them has to be again
		if f.Before.Kind == Dir && f.After.Kind == Dir && f.Before.Mode == f.After.Mode {
			for name := range names {
				names[f.Path] = names[f.Path] || safefile.Below(f.Path, name)
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(r.Files), func(f File) bool { return !names[f.Path] })
}

// inside finds in the journal what a name was before a change that took away a directory
// above it, or that has it on its shelf. left is what the change left there.
func (h *History) inside(ctx context.Context, r *Record, path string) (src string, left print, err error) {
	shelf := *r
	if r.Shelf != nil {
		if shelf, err = h.shelfOf(ctx, *r); err != nil {
			return "", left, err
		}
	}
	for i, f := range shelf.Files {
		rel, ok := safefile.Rel(f.Path, path)
		switch {
		case !ok && f.Path != path:
			continue
		case shelf.Shelf != nil && i < len(shelf.Shelf):
			if f.Path == path {
				left = shelf.Shelf[i].Left
			}
			src = h.session.Path(journalDir, shelfDir, shelf.ID, strconv.Itoa(shelf.Shelf[i].N))
		case f.Stash != "" && f.Before.Kind == Dir:
			src = h.session.Path(journalDir, stashDir, r.Stash, f.Stash)
		default:
			continue
		}
		return filepath.Join(src, rel), left, nil
	}
	return "", left, ErrNoRecord
}

// takeOut brings a name back, by copies, out of what a change took away with it.
func (h *History) takeOut(ctx context.Context, r, back Record, o UndoOptions) (Record, error) {
	src, left, err := h.inside(ctx, &r, o.Path)
	if err != nil {
		return Record{}, err
	}
	targets, err := copies(src, o.Path)
	if err != nil {
		return Record{}, fmt.Errorf("undoing change %s: %w: %w", r.ID, ErrDamaged, err)
	}
	w := h.walker()
	defer w.close()
	now, err := w.look(ctx, o.Path)
	if err != nil {
		return Record{}, err
	}
	if now.Kind == Dir || left.Kind == Dir {
		return Record{}, &ChangedError{r.ID, []Gap{{o.Path, "it is a directory now: take back the whole change"}}}
	}
	targets[0].Was = now.Kind
	for _, t := range targets {
		back.Files = append(back.Files, File{Path: t.Path, Before: State{Kind: t.Was}, After: t.State})
	}
	look := func() error {
		if now, err := w.look(ctx, o.Path); err != nil || !left.same(now) {
			return errors.Join(err, &ChangedError{r.ID, []Gap{{o.Path, swapDifference(now, left)}}})
		}
		return nil
	}
	if o.DryRun {
		return back, look()
	}
	back.Files = nil
	for dir := filepath.Dir(o.Path); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !missing(err) {
			break
		}
		targets = append(targets, Target{Path: dir, State: State{Kind: Dir, AnyMode: true}})
	}
	return h.Become(ctx, back, targets, look)
}

// copies are the targets that make path what src is.
func copies(src, path string) (targets []Target, err error) {
	err = filepath.WalkDir(src, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		t := Target{Path: path + name[len(src):], State: State{Mode: info.Mode() & safefile.ModeBits, MTime: info.ModTime().UnixNano()}}
		switch mode := info.Mode(); {
		case mode.IsDir():
			t.Kind = Dir
		case mode.IsRegular():
			t.Kind = Regular
			t.Open = func() (io.ReadCloser, error) { return os.Open(name) }
		case mode&fs.ModeSymlink != 0:
			t.Kind, t.Mode = Link, 0
			t.Target, err = os.Readlink(name)
		default:
			err = errors.New("it is a pipe, socket or device: take back the whole change")
		}
		targets = append(targets, t)
		return err
	})
	if missing(err) && len(targets) == 0 { // it was not there
		return []Target{{Path: path}}, nil
	}
	slices.SortFunc(targets, func(a, b Target) int { return cmp.Compare(a.Path, b.Path) })
	return targets, err
}

// isPart reports whether all that is in a directory is in another, too, and is the same there:
// so it is where some of the other's files were taken back by themselves. names is how many
// it holds.
func isPart(dir, whole string) (names int64, ok bool) {
	names = -1 // without dir itself
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		names++
		if err == nil && !isCopy(path, whole+path[len(dir):]) {
			err = fs.ErrExist
		}
		return err
	})
	return names, err == nil
}

// isCopy reports whether two names stand for the same content or target, or are both directories.
func isCopy(a, b string) bool {
	x, err := os.Lstat(a)
	y, bad := os.Lstat(b)
	if err != nil || bad != nil || x.Mode().Type() != y.Mode().Type() {
		return false
	}
	switch {
	case x.IsDir():
		return true
	case x.Mode()&fs.ModeSymlink != 0:
		to, err := os.Readlink(a)
		also, bad := os.Readlink(b)
		return err == nil && bad == nil && to == also
	case !x.Mode().IsRegular() || x.Mode() != y.Mode() || x.Size() != y.Size():
		return false
	}
	f, err := safefile.OpenRegular(a)
	if err != nil {
		return false
	}
	defer f.Close()
	g, err := safefile.OpenRegular(b)
	if err != nil {
		return false
	}
	defer g.Close()
	return sameBytes(f, g)
}
