package change

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// A large directory that its command removes before anything else looks at it is not
// linked file by file. It changes places with an empty directory, which the command then
// removes. Where the command does not come to that, the directory gets its place back.

// errStays says that a directory cannot be set aside and has to be linked.
var errStays = errors.New("the directory is not one that can be set aside")

// setAsideNames is the number of names from which a directory is set aside: to link
// fewer takes some milliseconds.
const setAsideNames = 1000

// setAside looks at the directory p, and makes the empty one that it is to change places
// with: errStays where the command could not remove all of it, or a process uses it.
func (l *load) setAside(p place, shelf *os.Root, to string, least int, slot *Slot) error {
	info, err := p.dir.Lstat(p.name)
	if err != nil || !info.IsDir() {
		return errStays
	}
	from, err := p.dir.Open(".")
	if err != nil {
		return err
	}
	defer from.Close()
	seen, had := &survey{}, l.names
	if !seen.parent(from) || !seen.add(from, p.name) {
		return errStays
	}
	l.survey = seen
	slot.Here, err = l.put(p, nil, "", false, nil)
	l.survey = nil
	if err != nil {
		return err
	}
	if had-l.names < least || seen.inUse() {
		return errStays
	}
	slot.Was = slot.Here
	if err := shelf.Mkdir(to, 0o700); err != nil {
		return err
	}
	if err := shelf.Chmod(to, info.Mode()); err != nil {
		return err
	}
	empty, err := shelf.Lstat(to)
	if err != nil {
		return err
	}
	slot.Empty = printOf(empty)
	slot.Empty.MTime = empty.ModTime().UnixNano()
	return nil
}

// setAside has what was prepared for it change places. The record is on the disk.
func (s *Shelf) setAside() error {
	dir, w, closed, err := s.places()
	if err != nil {
		return err
	}
	defer closed()
	for i := range s.r.Shelf {
		slot := &s.r.Shelf[i]
		if slot.Empty.Kind != Dir {
			continue
		}
		at, err := w.at(s.r.Files[i].Path)
		if err != nil {
			return err
		}
		aside := place{dir, strconv.Itoa(slot.N)}
		// While it is open no other directory gets its inode.
		pin, err := dir.Open(aside.name)
		if err != nil {
			return err
		}
		s.pins = append(s.pins, pin)
		if err := exchange(at, aside); err != nil {
			return errors.Join(errStays, err)
		}
		s.h.reach("set aside")
		if !aside.is(slot.Here) {
			return errStays
		}
		if s.o.Came != nil && s.o.Others() { // which may have been there until now
			look := &load{ctx: context.Background(), bytes: 1 << 62, names: 1 << 30, path: s.r.Files[i].Path, came: s.o.Came, survey: &survey{}}
			if _, err := look.put(aside, nil, "", false, nil); err != nil {
				return errors.Join(errStays, err)
			}
		}
	}
	return nil
}

// is reports whether a directory is the one that was seen.
func (p place) is(seen print) bool {
	info, err := p.dir.Lstat(p.name)
	if err != nil {
		return false
	}
	now := printOf(info)
	return now.Kind == Dir && now.Dev == seen.Dev && now.Ino == seen.Ino
}

// giveBack gives directories their places back that the command has not removed, and
// forgets those that it has not taken.
func (s *Shelf) giveBack(dir *os.Root, w *walker) error {
	for i, slot := range slices.Backward(s.r.Shelf) {
		if slot.Empty.Kind != Dir {
			continue
		}
		aside := place{dir, strconv.Itoa(slot.N)}
		at, err := w.at(s.r.Files[i].Path)
		if aside.is(slot.Here) {
			if missing(err) || err == nil && !s.waits(at, slot.Empty) {
				continue
			}
			if err == nil {
				err = exchange(at, aside)
			}
		}
		if err == nil {
			err = empty(aside, at)
		}
		if err != nil {
			return err
		}
		w.again()
		s.r.Files, s.r.Shelf = slices.Delete(s.r.Files, i, i+1), slices.Delete(s.r.Shelf, i, i+1)
	}
	return nil
}

// waits reports whether an empty directory still stands where it was put. By its inode
// alone that is known only while it is held open.
func (s *Shelf) waits(at place, empty print) bool {
	info, err := at.dir.Lstat(at.name)
	return err == nil && at.is(empty) && (len(s.pins) > 0 || info.ModTime().UnixNano() == empty.MTime)
}

// empty moves to another directory what somebody has put into one that only stood for
// it, and removes that.
func empty(from, to place) error {
	src, err := enter(from.dir, from.name)
	if missing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer src.Close()
	entries, err := fs.ReadDir(src.FS(), ".")
	if err != nil || len(entries) == 0 {
		return errors.Join(err, from.dir.Remove(from.name))
	}
	dst, err := enter(to.dir, to.name)
	if err != nil {
		return err
	}
	defer dst.Close()
	for _, e := range entries {
		at, there := place{src, e.Name()}, place{dst, e.Name()}
		if old, err := dst.Lstat(e.Name()); err == nil && (old.IsDir() || e.IsDir()) {
			if old.IsDir() && e.IsDir() {
				if err := empty(at, there); err != nil {
					return err
				}
				continue
			}
			if err := dst.RemoveAll(e.Name()); err != nil { // what is newer stays
				return err
			}
		}
		if err := rename(at, there); err != nil {
			return err
		}
	}
	return from.dir.Remove(from.name)
}

// between opens the directories of two places for a system call.
func between(a, b place, do func(a, b *os.File) error) error {
	from, err := a.dir.Open(".")
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := b.dir.Open(".")
	if err != nil {
		return err
	}
	defer to.Close()
	return do(from, to)
}

func rename(a, b place) error {
	return between(a, b, func(from, to *os.File) error { return renameAt(from, a.name, to, b.name) })
}

// exchange has two directories change places, and keep their times.
func exchange(a, b place) error {
	first, err := a.dir.Lstat(a.name)
	if err != nil {
		return err
	}
	err = between(a, b, func(from, to *os.File) error { return exchangeAt(from, a.name, to, b.name) })
	if err != nil {
		return &fs.PathError{Op: "exchange", Path: filepath.Join(a.dir.Name(), a.name), Err: err}
	}
	if now, err := b.dir.Lstat(b.name); err == nil && !now.ModTime().Equal(first.ModTime()) { // XFS notes the move in it
		_ = b.dir.Chtimes(b.name, first.ModTime(), first.ModTime())
	}
	return nil
}
