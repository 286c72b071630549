package change

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/session"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// undoShelf takes a change back whose old contents lie on a shelf. The journal is held
// and nobody else undoes.
func (h *History) undoShelf(ctx context.Context, r Record, o UndoOptions) (Record, error) {
	at, err := h.shelfOf(ctx, r)
	if err != nil {
		return Record{}, err
	}
	back, err := h.swapping(ctx, &r, &at, o)
	if err != nil || o.DryRun {
		return back, err
	}
	lock, err := h.lockFiles(ctx, r.ID, back.Files)
	if err != nil {
		return Record{}, err
	}
	defer lock.Unlock()
	if back, err = h.swapping(ctx, &r, &at, o); err != nil { // now that nobody changes them
		return Record{}, err
	}
	back.Time = h.o.Now()
	back.ID = session.NewSortableID("", back.Time)
	b := h.store.batch()
	defer b.close()
	p, err := h.store.begin(&back, b)
	if err != nil {
		return Record{}, fmt.Errorf("recording the change: %w", err)
	}
	h.reach("recorded")
	if err := h.swap(ctx, &back, false); err != nil {
		_ = p.f.Close() // it stays: who comes next goes on
		return back, fmt.Errorf("undoing change %s: %w: %w", r.ID, ErrUnfinished, err)
	}
	if err := p.finish(true, true); err != nil {
		return back, err
	}
	h.dropShelf(at.ID)
	return back, nil
}

// shelfOf is the record whose shelf holds what r destroyed: its own, or, where it was
// undone and done again, that of what did it again.
func (h *History) shelfOf(ctx context.Context, r Record) (Record, error) {
	var all []Record // the changes since
	for {
		if _, err := os.Lstat(h.session.Path(journalDir, shelfDir, r.ID)); err == nil {
			return r, nil
		}
		id := r.ID
		if all == nil {
			for u, err := range h.records(ctx) {
				if err != nil {
					return r, err
				}
				if u.ID <= id {
					break
				}
				all = append(all, u)
			}
		}
		for _, u := range all {
			if u.Undoes != r.ID {
				continue
			}
			if i := slices.IndexFunc(all, func(a Record) bool { return a.Undoes == u.ID }); i >= 0 {
				r = all[i]
				break
			}
		}
		if r.ID == id {
			return r, fmt.Errorf("%w: %s", ErrDropped, id)
		}
	}
}

// OnShelf tells by device and inode number what an undo of a change would put in the place of each of its files, as
// far as that lies on a shelf.
func (h *History) OnShelf(ctx context.Context, r Record) map[string][2]uint64 {
	at, err := h.shelfOf(ctx, r)
	if err != nil {
		return nil
	}
	dir, err := h.shelf(at.ID)
	if err != nil {
		return nil
	}
	defer dir.Close()
	on := map[string][2]uint64{}
	for i, slot := range at.Shelf {
		if info, err := dir.Lstat(strconv.Itoa(slot.N)); err == nil {
			dev, ino, _ := identity(info)
			on[at.Files[i].Path] = [2]uint64{dev, ino}
		}
	}
	return on
}

// swapping looks whether all is as the change r left it, and says what is to be swapped
// with the shelf of at.
func (h *History) swapping(ctx context.Context, r, at *Record, o UndoOptions) (Record, error) {
	back := Record{Tool: o.Tool, Title: r.Title, Undoes: r.ID, ShelfOf: at.ID, Apart: r.Apart}
	w := h.walker()
	defer w.close()
	dir, err := h.shelf(at.ID)
	if err != nil {
		return back, err
	}
	defer dir.Close()
	var changed, lost []Gap
	for i, slot := range at.Shelf {
		f := at.Files[i]
		now, err := w.look(ctx, f.Path)
		if err != nil {
			return back, fmt.Errorf("%s: %w", f.Path, err)
		}
		switch {
		case slot.Left.same(now):
		case slot.Was.same(now):
			continue
		case len(r.undone) > 0 && now.Kind == Dir && slot.Was.Kind == Dir && slot.Left.Kind == Missing && h.partOfShelf(at, f.Path, slot.N):
		default:
			changed = append(changed, Gap{f.Path, swapDifference(now, slot.Left)})
		}
		if _, err := dir.Lstat(strconv.Itoa(slot.N)); err != nil && slot.Was.Kind != Missing {
			lost = append(lost, Gap{f.Path, "what was kept of it is gone"})
		}
		back.Files = append(back.Files, File{Path: f.Path, Before: f.After, After: f.Before})
		back.Shelf = append(back.Shelf, Slot{N: slot.N, Names: 1, Bytes: now.Size, Was: now, Left: slot.Was, InPlace: slot.InPlace, Closed: slot.Closed})
	}
	backward(back.Files, back.Shelf)
	for _, p := range at.Parents {
		back.Parents = append(back.Parents, Parent{p.Path, p.Mode, !p.Made})
	}
	if len(changed) > 0 {
		return back, &ChangedError{r.ID, changed}
	}
	if len(lost) > 0 {
		return back, fmt.Errorf("%w: %w", ErrDamaged, &GapError{r.ID, lost})
	}
	return back, nil
}

// backward turns the order of the files that are written where they are: where two of the
// names are one file, the last that was written is what it holds, and has to be the first
// that is taken back.
func backward(files []File, slots []Slot) {
	var in []int
	for i := range slots {
		if slots[i].InPlace {
			in = append(in, i)
		}
	}
	for n := range len(in) / 2 {
		i, j := in[n], in[len(in)-1-n]
		files[i], files[j] = files[j], files[i]
		slots[i], slots[j] = slots[j], slots[i]
	}
}

// partOfShelf reports whether a directory is a part of what a shelf has.
func (h *History) partOfShelf(at *Record, dir string, n int) bool {
	_, ok := isPart(dir, h.session.Path(journalDir, shelfDir, at.ID, strconv.Itoa(n)))
	return ok
}

func swapDifference(now, want print) string {
	switch {
	case now.Kind != want.Kind:
		return otherKind(now.Kind, want.Kind)
	case now.Kind == Dir:
		return "something in it is not as it was"
	}
	return "it is not as it was"
}

// swap puts what stands at each name of back on the shelf of back, and what lies on the
// shelf of the change that it undoes there instead. What is done already it leaves, so
// that it can be called again for one that was interrupted: then nothing is known of
// the copies that were made.
func (h *History) swap(ctx context.Context, back *Record, again bool) error {
	from, err := h.shelf(back.ShelfOf)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := h.shelf(back.ID)
	if err != nil {
		return err
	}
	defer to.Close()
	w := h.walker()
	defer w.close()
	for _, p := range back.Parents {
		if p.Made {
			if err := h.makeParent(w, p); err != nil {
				return err
			}
		}
	}
	w.again()
	s := &swapper{ctx: ctx, h: h, from: from, to: to, w: w, again: again}
	var stay []error
	for i := range back.Shelf {
		if err := s.one(back.Files[i].Path, &back.Shelf[i]); errors.Is(err, errNewer) || errors.Is(err, ErrDamaged) {
			stay = append(stay, fmt.Errorf("%s: %w", back.Files[i].Path, err))
			continue
		} else if err != nil {
			return fmt.Errorf("%s: %w", back.Files[i].Path, err)
		}
		if back.Shelf[i].Was.Kind == Missing {
			back.Files[i].Before = State{}
		}
		h.reach(back.Files[i].Path)
	}
	if len(stay) > 0 {
		return errors.Join(stay...)
	}
	for i := range back.Shelf { // one may have been written again under another name
		if slot := &back.Shelf[i]; slot.InPlace {
			if slot.Left, err = w.look(ctx, back.Files[i].Path); err != nil {
				return err
			}
		}
	}
	err = back.apart(to, func(i int) string { return strconv.Itoa(back.Shelf[i].N) }, func(path string, err error) error { return fmt.Errorf("%s: %w", path, err) })
	if err != nil {
		return err
	}
	for _, p := range slices.Backward(back.Parents) {
		if !p.Made {
			if at, err := w.at(p.Path); err == nil {
				_ = at.dir.Remove(at.name) // others may have put something there
			}
			w.again()
		}
	}
	return nil
}

func (h *History) makeParent(w *walker, p Parent) error {
	w.again()
	at, err := w.at(p.Path)
	if err != nil {
		return err
	}
	if err := at.dir.Mkdir(at.name, 0o700); errors.Is(err, fs.ErrExist) {
		return nil
	} else if err != nil {
		return err
	}
	return safefile.Chmod(at.dir, at.name, p.Mode)
}

type swapper struct {
	ctx      context.Context
	h        *History
	from, to *os.Root
	w        *walker
	again    bool
}

func (s *swapper) one(path string, slot *Slot) error {
	name := strconv.Itoa(slot.N)
	has := func(p place) bool { _, err := p.dir.Lstat(p.name); return err == nil }
	waits, put := slot.Left.Kind != Missing && has(place{s.from, name}), has(place{s.to, name})
	at, err := s.w.at(path)
	if missing(err) && waits { // the directory above it is gone, but not for what comes back
		at, err = s.above(path)
	}
	if err != nil && !missing(err) {
		return err
	}
	if err != nil || !has(at) { // somebody has removed it meanwhile, or it was put away already
		slot.InPlace = false
		if !put {
			slot.Was = print{}
		}
	}
	if err != nil {
		slot.Left = print{}
		return nil
	}
	defer opened(at.dir)()
	if slot.InPlace {
		return s.content(at, name, slot)
	}
	if s.again && has(at) {
		if waits && (put || slot.Was.Kind == Missing) && !s.remains(at, path, name, slot) {
			if waits, err = s.waits(at, path, name, slot); err != nil {
				return err
			}
		}
		if err := s.ours(at, path, name, slot, waits, put); err != nil {
			return err
		}
		put = put || !waits && slot.Left.Kind != Missing
	}
	moved := true
	if slot.Was.Kind != Missing {
		switch {
		case !put:
			if moved, err = s.h.move(at, place{s.to, name}, slot.Was); err != nil {
				return err
			}
			s.h.reach("put away")
		case has(at) && (waits || slot.Left.Kind == Missing): // it was copied, and not removed yet
			if s.remains(at, path, name, slot) {
				if err := at.dir.RemoveAll(at.name); err != nil {
					return err
				}
			}
		}
		if aliased, err := unalias(s.to, name); err != nil && !missing(err) {
			return err
		} else if aliased || !moved || s.again {
			if slot.Was, err = s.kept(name, slot.Was); err != nil {
				return err
			}
		}
	}
	if !waits {
		if s.again && slot.Left.Kind != Missing {
			slot.Left, err = s.w.look(s.ctx, path)
		}
		return err
	}
	if moved, err = s.h.move(place{s.from, name}, at, slot.Left); err != nil {
		return err
	}
	if slot.Left.Kind == Dir {
		s.close(at, slot)
	}
	if !moved || len(slot.Closed) > 0 {
		slot.Left, err = s.w.look(s.ctx, path)
	}
	slot.Closed = nil
	return err
}

// ours makes sure, after a crash, that what stands at a name is what the undo found or left there. It is errNewer for
// anything else, and ErrDamaged where what is to come back is neither there nor on the shelf.
func (s *swapper) ours(at place, path, name string, slot *Slot, waits, put bool) error {
	if put || slot.Was.Kind == Missing {
		if waits && !s.remains(at, path, name, slot) {
			return errNewer // it would be overwritten
		}
		return nil
	}
	comes := slot.Left.Kind != Missing
	now, err := s.w.look(s.ctx, path)
	if err != nil {
		return err
	}
	if now.Kind == Dir { // it is opened before it is moved
		now.Mode = slot.Was.Mode
	}
	switch {
	case comes && !waits && now.same(slot.Left):
		return nil // somebody had taken away what it replaces
	case !now.same(slot.Was):
		return errNewer
	case comes && !waits:
		return fmt.Errorf("%w: what was kept of it is gone", ErrDamaged)
	}
	return nil
}

// waits reports, after a crash, whether what is to come back is on the shelf still, and not the rest of what was copied
// and not removed yet.
func (s *swapper) waits(at place, path, name string, slot *Slot) (bool, error) {
	if _, copied := isPart(filepath.Join(s.from.Name(), name), path); !copied {
		return true, nil
	}
	if slot.Left.Kind == Dir {
		s.close(at, slot)
	}
	return false, s.from.RemoveAll(name)
}

// remains reports whether what stands at a name is what was copied to the shelf, all or a part of it, and was not removed yet.
func (s *swapper) remains(at place, path, name string, slot *Slot) bool {
	info, err := at.dir.Lstat(at.name)
	if err != nil {
		return false
	}
	if now := printOf(info); now.Dev != slot.Was.Dev || now.Ino != slot.Was.Ino || now.Kind != slot.Was.Kind {
		return false
	}
	if now, err := s.w.look(s.ctx, path); err == nil && now.same(slot.Was) {
		return true
	}
	_, part := isPart(path, filepath.Join(s.to.Name(), name))
	return part && slot.Was.Kind == Dir
}

// opened has names come and go in a directory, and returns what closes it again.
func opened(dir *os.Root) func() {
	is, err := dir.Stat(".")
	if err != nil || is.Mode()&0o300 == 0o300 || dir.Chmod(".", is.Mode()&safefile.ModeBits|0o300) != nil {
		return func() {}
	}
	return func() { _ = dir.Chmod(".", is.Mode()&safefile.ModeBits) }
}

// above makes the directory that a name is to stand in.
func (s *swapper) above(path string) (place, error) {
	dir, err := s.h.path(filepath.Dir(path))
	if err == nil {
		_, err = s.h.w.Mkdir(dir)
	}
	if err != nil {
		return place{}, err
	}
	s.w.again()
	return s.w.at(path)
}

// content exchanges what a file holds with what the shelf has of it, so that its other names
// hold that, too.
func (s *swapper) content(at place, name string, slot *Slot) error {
	_, err := s.to.Lstat(name)
	if s.again && !s.woven(at, name, missing(err), slot) {
		return errNewer
	}
	if missing(err) {
		info, err := at.dir.Lstat(at.name)
		if err != nil {
			return err
		}
		temp := ".agentkit-shelf-" + name + ".tmp"
		_ = s.to.Remove(temp)
		if err := copyThing(at, s.to, temp, info); err != nil {
			return err
		}
		if err := s.to.Rename(temp, name); err != nil {
			return err
		}
	}
	s.h.reach("put away")
	err = overwrite(place{s.from, name}, at)
	switch {
	case err == nil:
		err = s.from.Remove(name)
	case missing(err): // it was written before this was interrupted
		err = nil
	}
	if err == nil {
		slot.Was, err = s.kept(name, slot.Was)
	}
	return err
}

// woven reports whether a file that an undo writes where it is holds nothing but what the undo found there, or,
// where that is on the shelf, bytes of that and of what is to come.
func (s *swapper) woven(at place, name string, whole bool, slot *Slot) bool {
	now, err := at.dir.Open(at.name)
	if err != nil {
		return false
	}
	defer now.Close()
	if whole {
		info, err := now.Stat()
		if err != nil {
			return false
		}
		is := printOf(info)
		is.Sum, err = sumOf(at, is)
		return err == nil && is.same(slot.Was)
	}
	before, err := s.to.Open(name)
	if err != nil {
		return false
	}
	defer before.Close()
	after, err := s.from.Open(name)
	if missing(err) {
		return true // it was written, and what came then nobody touches
	}
	if err != nil {
		return false
	}
	defer after.Close()
	return woven(now, before, after)
}

// overwrite gives a file the content, mode and time of another, where it is.
func overwrite(from, at place) error {
	is, err := from.dir.Lstat(from.name)
	if err != nil {
		return err
	}
	src, err := from.dir.Open(from.name)
	if err != nil {
		return err
	}
	defer src.Close()
	was, err := at.dir.Lstat(at.name)
	if err != nil || !was.Mode().IsRegular() {
		return errors.Join(err, &fs.PathError{Op: "write", Path: at.name, Err: workspace.ErrMoved})
	}
	if was.Mode()&0o200 == 0 {
		_ = safefile.Chmod(at.dir, at.name, was.Mode()&safefile.ModeBits|0o200)
	}
	f, err := at.dir.OpenFile(at.name, os.O_WRONLY|nonBlocking, 0)
	if err != nil {
		return err
	}
	if now, bad := f.Stat(); bad != nil || !os.SameFile(was, now) {
		err = &fs.PathError{Op: "write", Path: at.name, Err: workspace.ErrMoved}
	}
	n := int64(0)
	if err == nil {
		n, err = io.Copy(f, src)
	}
	if err == nil {
		err = f.Truncate(n)
	}
	if err == nil {
		err = f.Chmod(is.Mode() & safefile.ModeBits)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return at.dir.Chtimes(at.name, is.ModTime(), is.ModTime())
}

// close gives directories the modes that the shelf could not have them with, those that lie
// deeper first.
func (s *swapper) close(at place, slot *Slot) {
	for _, rel := range slices.Backward(slices.Sorted(maps.Keys(slot.Closed))) {
		if rel != "." {
			_ = chmodIn(at, rel, slot.Closed[rel])
		}
	}
	_ = safefile.Chmod(at.dir, at.name, slot.Left.Mode)
}

// chmodIn sets the mode of what lies in a directory, and follows no link on the way.
func chmodIn(at place, rel string, mode fs.FileMode) error {
	sub, err := enter(at.dir, at.name)
	if err != nil {
		return err
	}
	defer sub.Close()
	if name, rest, deeper := strings.Cut(filepath.ToSlash(rel), "/"); deeper {
		return chmodIn(place{sub, name}, rest, mode)
	}
	return safefile.Chmod(sub, rel, mode)
}

// kept is the print of what lies on the shelf now.
func (s *swapper) kept(name string, was print) (print, error) {
	now, err := (&load{ctx: s.ctx, bytes: 1 << 62, names: 1 << 30}).put(place{s.to, name}, nil, "", false, nil)
	now.Mode = was.Mode
	return now, err
}

// unalias gives a file of a shelf an inode of its own where another name has it too,
// through which it would be changed.
func unalias(shelf *os.Root, name string) (bool, error) {
	info, err := shelf.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || names(info) < 2 {
		return false, err
	}
	err = copied(shelf, name)
	return err == nil, err
}

// move renames a thing, or copies it to another file system; moved is false for a copy.
func (h *History) move(from, to place, is print) (moved bool, err error) {
	if is.Kind == Dir && is.Mode&0o700 != 0o700 { // else nobody but root may move it
		_ = safefile.Chmod(from.dir, from.name, is.Mode|0o700)
	}
	src, err := from.dir.Open(".")
	if err != nil {
		return false, err
	}
	defer src.Close()
	dst, err := to.dir.Open(".")
	if err != nil {
		return false, err
	}
	defer dst.Close()
	if err = renameAt(src, from.name, dst, to.name); err == nil || !otherDevice(err) {
		return true, err
	}
	temp := ".agentkit-shelf-" + to.name + ".tmp"
	if err := to.dir.RemoveAll(temp); err != nil {
		return false, err
	}
	l := &load{ctx: context.Background(), bytes: 1 << 62, names: 1 << 30}
	if _, err := l.put(from, to.dir, temp, true, &Slot{}); err != nil {
		return false, err
	}
	if err := to.dir.Rename(temp, to.name); err != nil {
		return false, err
	}
	return false, from.dir.RemoveAll(from.name)
}

// settleShelf goes on with an undo whose process is dead.
func (h *History) settleShelf(ctx context.Context, p *pending) (*Recovery, error) {
	var paths []workspace.Path
	for _, f := range p.r.Files {
		if path, err := h.path(f.Path); err == nil && f.Before.Kind != Dir && f.After.Kind != Dir {
			paths = append(paths, path)
		}
	}
	lock, err := h.w.Lock(ctx, paths...)
	if err != nil {
		return nil, err
	}
	defer lock.Unlock()
	if err := h.swap(ctx, p.r, true); err != nil {
		return nil, err
	}
	if err := p.finish(true, true); err != nil {
		return nil, err
	}
	h.dropShelf(p.r.ShelfOf)
	return &Recovery{Record: *p.r, Finished: true}, nil
}
