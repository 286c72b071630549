package change

import (
	"context"
	"encoding/json"
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
	"time"

	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/session"
)

// What a command destroys is put on a shelf before it runs, and stays there as the
// change's old contents:
//
//	journal/shelf/ID/N    a file, link or directory that stood there before, by a hard
//	                      link where the file system allows it, else as a copy
//	journal/shelving/ID   the record while the command runs, locked by its process
//
// To undo such a change is to swap: what stands there now goes to the shelf of the
// undo, and what stood there before comes back by a rename, with its times, owner,
// attributes and other names. So an undo can be undone in the same way.
const (
	shelfDir    = "shelf"
	shelvingDir = "shelving"
)

// ErrShelfFull says that there is more to be kept than may be.
var ErrShelfFull = errors.New("too much to be kept")

// ShelveOptions say what Shelve keeps, and how much. Zero limits are the defaults.
type ShelveOptions struct {
	Tool, Title string // for the record

	Names []Doomed

	MaxBytes int64         // of all that the session keeps so; default 1 GiB
	MaxNames int           // of this change; default 200,000
	Age      time.Duration // how long it is kept; default 7 days
}

func (o ShelveOptions) withDefaults() ShelveOptions {
	if o.MaxBytes <= 0 {
		o.MaxBytes = 1 << 30
	}
	if o.MaxNames <= 0 {
		o.MaxNames = 200_000
	}
	if o.Age <= 0 {
		o.Age = 7 * 24 * time.Hour
	}
	return o
}

// A Doomed is a name that a command is about to remove, replace, overwrite or make. A
// directory stands for all that is in it.
type Doomed struct {
	Path    string // real path in the workspace
	Written bool   // it may be overwritten where it is, so that a link to it would change too
}

// A Slot is what a record has on its shelf for one of its files.
type Slot struct {
	N     int   `json:"n"`
	Names int   `json:"names"`         // in what stood there before
	Bytes int64 `json:"bytes"`         // of its files
	Was   print `json:"was"`           // what stood there before, as it lies on the shelf
	Left  print `json:"left"`          // what stands there after the change
	Here  print `json:"here,omitzero"` // while the command runs: what stood there when it began

	Single bool `json:"single,omitempty"` // it was the file's only name

	Closed map[string]fs.FileMode `json:"closed,omitempty"` // modes of directories that the shelf has to have open
}

// A Parent is a directory above a slot that was there on one side of the change only.
type Parent struct {
	Path string      `json:"path"`
	Mode fs.FileMode `json:"mode"`
	Made bool        `json:"made,omitempty"` // by the change; else the change took it away
}

// A Shelf keeps what a command is about to destroy.
type Shelf struct {
	h       *History
	o       ShelveOptions
	r       Record
	f       *os.File // the record, locked
	release func()
}

// Shelve keeps the names as they are now. End it with Finish or Close. The error is
// ErrShelfFull where that would be too much; then nothing is kept.
func (h *History) Shelve(ctx context.Context, o ShelveOptions) (*Shelf, error) {
	o = o.withDefaults()
	release, err := h.store.hold(ctx)
	if err != nil {
		return nil, err
	}
	s := &Shelf{h: h, o: o, release: release}
	now := h.o.Now()
	s.r = Record{ID: session.NewSortableID("", now), Tool: o.Tool, Title: o.Title, Time: now}
	if err = s.fill(ctx); err == nil {
		err = s.open()
	}
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("keeping what the command takes away: %w", err)
	}
	return s, nil
}

// fill puts everything on the shelf.
func (s *Shelf) fill(ctx context.Context) error {
	dir, err := s.h.shelf(s.r.ID)
	if err != nil {
		return err
	}
	defer dir.Close()
	w := s.h.walker()
	defer w.close()
	load := &load{ctx: ctx, bytes: s.o.MaxBytes, names: s.o.MaxNames}
	above := map[string]fs.FileMode{}
	for _, d := range s.h.disjoint(s.o.Names) {
		n := len(s.r.Files)
		slot := Slot{N: n}
		before := *load
		p, err := w.at(d.Path)
		if missing(err) {
			continue
		}
		if err == nil {
			slot.Here, err = load.put(p, dir, strconv.Itoa(n), d.Written, &slot)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", d.Path, err)
		}
		slot.Names, slot.Bytes = before.names-load.names, before.bytes-load.bytes
		for at := filepath.Dir(d.Path); at != s.h.w.Root() && above[at] == 0 && len(at) > len(s.h.w.Root()); at = filepath.Dir(at) {
			if info, err := os.Lstat(at); err == nil && info.IsDir() {
				above[at] = info.Mode() & permBits
			}
		}
		s.r.Files = append(s.r.Files, File{Path: d.Path, Before: slot.Here.state(slot.Bytes)})
		s.r.Shelf = append(s.r.Shelf, slot)
	}
	s.r.Gaps = load.gaps
	for _, path := range slices.Sorted(maps.Keys(above)) {
		s.r.Parents = append(s.r.Parents, Parent{Path: path, Mode: above[path]})
	}
	return nil
}

// disjoint leaves out what lies in a directory that is kept as a whole. What is not
// there is kept as the outermost name that is not.
func (h *History) disjoint(names []Doomed) []Doomed {
	root := h.w.Root()
	byPath := map[string]bool{}
	for _, d := range names {
		path := filepath.Clean(d.Path)
		if path == root || !safefile.Below(root, path) || safefile.Below(h.session.StateDir(), path) || safefile.Below(path, h.session.StateDir()) {
			continue
		}
		for up := filepath.Dir(path); up != root; up = filepath.Dir(up) {
			if _, err := os.Lstat(up); err == nil {
				break
			}
			path = up
		}
		byPath[path] = byPath[path] || d.Written
	}
	// Compared by their parts, what is in a directory comes right behind it.
	paths := slices.SortedFunc(maps.Keys(byPath), func(a, b string) int {
		return slices.Compare(strings.Split(a, string(filepath.Separator)), strings.Split(b, string(filepath.Separator)))
	})
	var list []Doomed
	for _, path := range paths {
		if n := len(list); n > 0 && safefile.Below(list[n-1].Path, path) {
			list[n-1].Written = list[n-1].Written || byPath[path]
			continue
		}
		list = append(list, Doomed{path, byPath[path]})
	}
	return list
}

// open writes the record to where it is found should this process be killed.
func (s *Shelf) open() error {
	data, err := json.Marshal(&s.r)
	if err != nil {
		return err
	}
	dir, err := s.h.store.top.Make(shelvingDir)
	if err != nil {
		return err
	}
	defer dir.Close()
	temp := "." + s.r.ID + ".tmp"
	if s.f, err = dir.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL); err != nil {
		return err
	}
	if err = safefile.TryLock(s.f, true); err == nil {
		_, err = s.f.Write(data)
	}
	if err == nil {
		err = dir.Rename(temp, s.r.ID)
	}
	if err != nil {
		_ = dir.Remove(temp)
	}
	return err
}

// Close gives up what is kept, unless Finish has made a change of it.
func (s *Shelf) Close() {
	if s == nil || s.release == nil {
		return
	}
	s.h.dropShelf(s.r.ID)
	s.done()
}

func (s *Shelf) done() {
	if s.f != nil {
		_ = s.h.store.top.Remove(filepath.Join(shelvingDir, s.r.ID))
		_ = s.f.Close()
	}
	s.release()
	s.release = nil
}

// Finish compares every name with what it was, and records what differs as a change
// that can be undone. A Record without ID: nothing has changed.
func (s *Shelf) Finish(ctx context.Context) (Record, error) {
	if err := s.settle(ctx); err != nil {
		s.Close()
		return Record{}, fmt.Errorf("recording what the command took away: %w", err)
	}
	if len(s.r.Files) == 0 {
		s.Close()
		return Record{}, nil
	}
	s.done()
	s.r.Dropped = s.h.pruneKept(s.o.MaxBytes, s.o.Age)
	return s.r, nil
}

// settle finds what the command left, and makes a change of it.
func (s *Shelf) settle(ctx context.Context) error {
	dir, err := s.h.shelf(s.r.ID)
	if err != nil {
		return err
	}
	defer dir.Close()
	w := s.h.walker()
	defer w.close()
	files, slots := s.r.Files, s.r.Shelf
	s.r.Files, s.r.Shelf = nil, nil
	for i, slot := range slots {
		now, err := w.look(ctx, files[i].Path)
		if err != nil {
			return fmt.Errorf("%s: %w", files[i].Path, err)
		}
		if slot.Here.same(now) && (now.Kind == Dir || slot.Here.Ino == now.Ino && slot.Here.MTime == now.MTime) {
			_ = dir.RemoveAll(strconv.Itoa(slot.N))
			continue
		}
		files[i].After = now.state(now.Size)
		if err := part(dir, slot.N, now.Kind == Dir, slot.Single); err != nil {
			return fmt.Errorf("%s: %w", files[i].Path, err)
		}
		slot.Left, slot.Here = now, print{}
		s.r.Files, s.r.Shelf = append(s.r.Files, files[i]), append(s.r.Shelf, slot)
	}
	if len(s.r.Files) == 0 {
		return nil
	}
	s.r.Parents = slices.DeleteFunc(s.r.Parents, func(p Parent) bool {
		_, err := os.Lstat(p.Path)
		return !missing(err)
	})
	data, err := json.Marshal(&s.r)
	if err != nil {
		return err
	}
	return s.h.store.done.WriteFile(s.r.ID, data, s.h.store.sync)
}

// part makes copies of files on a shelf that are there in the workspace still, under this
// or another name: what is written there would change them, and a file with a second name
// is one that the policy is wary of.
func part(dir *os.Root, n int, stands, single bool) error {
	name := strconv.Itoa(n)
	info, err := dir.Lstat(name)
	switch {
	case missing(err):
		return nil
	case err != nil:
		return err
	case info.Mode().IsRegular() && (stands || single):
		_, err := unalias(dir, name)
		return err
	case !info.IsDir() || !stands:
		return nil
	}
	return fs.WalkDir(dir.FS(), name, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		_, err = unalias(dir, path)
		return err
	})
}

// recoverShelves makes changes of what commands of this session took away whose
// agentkit was killed.
func (h *History) recoverShelves(ctx context.Context) error {
	ids, err := readNames(h.session.Path(journalDir, shelvingDir))
	if err != nil || len(ids) == 0 {
		return err
	}
	release, err := h.store.hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	dir, err := h.store.top.Make(shelvingDir)
	if err != nil {
		return err
	}
	defer dir.Close()
	var errs []error
	for _, id := range ids {
		f, err := dir.OpenFile(id, os.O_RDWR)
		if err != nil || safefile.TryLock(f, true) != nil { // it is gone, or at work
			if err == nil {
				_ = f.Close()
			}
			continue
		}
		s := &Shelf{h: h, o: ShelveOptions{}.withDefaults(), f: f, release: func() {}}
		data, err := io.ReadAll(f)
		if err == nil {
			err = json.Unmarshal(data, &s.r)
		}
		if err != nil || s.r.ID != id { // it was killed before the command began
			_, _ = dir.Remove(id), f.Close()
			continue
		}
		_, err = s.Finish(ctx)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
