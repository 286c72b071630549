package change

import (
	"cmp"
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
	"sync"
	"time"

	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/session"
)

// What a command destroys is put on a shelf before it runs, and stays there as the
// change's old contents:
//
//	journal/shelf/ID/N    a file, link or directory that stood there before, by a hard
//	                      link where the file system allows it, else as a copy; or
//	                      itself, where it was set aside
//	journal/shelving/ID   the record while the command runs, locked by its process, that of a job by its supervisor, too
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

	Names  []Doomed
	Shared bool     // another process holds it, too, and goes on when this one has ended: see [Shelf.Leave]
	First  []string // directories of these that the command removes with all in them before anything else looks at them

	// Apart reports whether a file that is kept has to be a copy, so that nobody who has it open,
	// or knows another name of it, decides what undo brings back; nil for none.
	Apart func(path string) bool

	// Still reports whether a small file that has this name alone is kept as a copy, so that nobody sees that it is:
	// a link sets the time of its last change of any kind, by which git takes it for changed. nil for none.
	Still func(path string, i fs.FileInfo) bool

	// Came reports whether what is at a path is something protected that a command may have made or changed
	// meanwhile: it is not kept, see [Shelf.Left]. nil for none.
	Came func(path string, i fs.FileInfo) bool

	// Losses says that no change is made where all that differs afterwards is new.
	Losses bool

	// Others reports whether other commands run in the workspace.
	Others func() bool

	MaxBytes int64         // of all that the session keeps so; default 1 GiB
	MaxNames int           // of this change; default 200,000
	MinAside int           // names of a directory from which it is set aside; default 1,000
	Age      time.Duration // how long it is kept; default 7 days
}

func (o ShelveOptions) withDefaults() ShelveOptions {
	if o.MaxBytes <= 0 {
		o.MaxBytes = 1 << 30
	}
	if o.MaxNames <= 0 {
		o.MaxNames = 200_000
	}
	if o.MinAside <= 0 {
		o.MinAside = setAsideNames
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
	Maybe   bool   // nothing says that it is: what a change that came meanwhile has done to it is that one's
}

// A Slot is what a record has on its shelf for one of its files.
type Slot struct {
	N     int   `json:"n"`
	Names int   `json:"names"`         // in what stood there before
	Bytes int64 `json:"bytes"`         // of its files
	Was   print `json:"was"`           // what stood there before, as it lies on the shelf
	Left  print `json:"left"`          // what stands there after the change
	Here  print `json:"here,omitzero"` // while the command runs: what stood there when it began

	Single bool  `json:"single,omitempty"` // it was the file's only name
	Empty  print `json:"empty,omitzero"`   // the directory that it changes places with, for the command to remove; where it is set aside

	Maybe   bool `json:"maybe,omitempty"`    // as its [Doomed]
	InPlace bool `json:"in_place,omitempty"` // a file of several names that was written where it is, and is written so again

	Closed map[string]fs.FileMode `json:"closed,omitempty"` // modes of directories that the shelf has to have open
}

// A Parent is a directory above a slot that was there on one side of the change only.
type Parent struct {
	Path string      `json:"path"`
	Mode fs.FileMode `json:"mode"`
	Made bool        `json:"made,omitempty"` // by the change; else the change took it away
}

// MarshalJSON implements json.Marshaler, as File's does.
func (p Parent) MarshalJSON() ([]byte, error) {
	type plain Parent
	p.Path = encodeName(p.Path)
	return json.Marshal(plain(p))
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *Parent) UnmarshalJSON(data []byte) error {
	type plain Parent
	err := json.Unmarshal(data, (*plain)(p))
	p.Path = decodeName(p.Path)
	return err
}

// MarshalJSON implements json.Marshaler, as File's does.
func (s Slot) MarshalJSON() ([]byte, error) {
	type plain Slot
	s.Closed = named(s.Closed, encodeName)
	return json.Marshal(plain(s))
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *Slot) UnmarshalJSON(data []byte) error {
	type plain Slot
	err := json.Unmarshal(data, (*plain)(s))
	s.Closed = named(s.Closed, decodeName)
	return err
}

// named are modes by other names.
func named(modes map[string]fs.FileMode, other func(string) string) map[string]fs.FileMode {
	if modes == nil {
		return nil
	}
	now := make(map[string]fs.FileMode, len(modes))
	for name, mode := range modes {
		now[other(name)] = mode
	}
	return now
}

// A Shelf keeps what a command is about to destroy.
type Shelf struct {
	h       *History
	o       ShelveOptions
	r       Record
	f       *os.File // the record, locked
	pins    []*os.File
	left    []string       // see Left
	since   []string       // see Since
	room    room           // for copies of what Still is true of
	slots   map[string]int // of names, as far as it is filled: see slotOf
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
	s := &Shelf{h: h, o: o, release: release, room: newRoom()}
	now := h.o.Now()
	s.r = Record{ID: session.NewSortableID("", now), Tool: o.Tool, Title: o.Title, Time: now}
	if err = s.fill(ctx, h.disjoint(o.Names)); err == nil {
		err = s.open()
	}
	if err == nil {
		err = s.setAside()
	}
	if err == nil {
		return s, nil
	}
	if bad := s.end(); bad != nil {
		err = bad
	} else if errors.Is(err, errStays) {
		o.First = nil
		return h.Shelve(ctx, o)
	}
	return nil, fmt.Errorf("keeping what the command takes away: %w", err)
}

// places opens the shelf, and what finds names in the workspace; closed ends both.
func (s *Shelf) places() (dir *os.Root, w *walker, closed func(), err error) {
	if dir, err = s.h.shelf(s.r.ID); err != nil {
		return nil, nil, nil, err
	}
	w = s.h.walker()
	return dir, w, func() { w.close(); _ = dir.Close() }, nil
}

// Add keeps more names, as they are now, while the command runs: it is about to start a
// program that takes them away. What is kept already stays as it was, and a directory in which
// something is kept is passed over: those of its files that are named, too, are kept by themselves. The error is ErrShelfFull where that would be too much;
// then none of them is kept.
func (s *Shelf) Add(ctx context.Context, names []Doomed) error {
	had, parents, gaps, apart := len(s.r.Files), len(s.r.Parents), len(s.r.Gaps), len(s.r.Apart)
	names = slices.DeleteFunc(slices.Clone(names), func(d Doomed) bool { // before others give way to it
		info, err := os.Lstat(d.Path)
		return err == nil && info.IsDir() && slices.ContainsFunc(s.r.Files, func(f File) bool { return safefile.Below(d.Path, f.Path) })
	})
	list := slices.DeleteFunc(s.h.disjoint(names), func(d Doomed) bool {
		_, is := s.slotOf(d.Path)
		return is
	})
	if len(list) == 0 {
		return nil
	}
	err := s.fill(ctx, list)
	if err == nil {
		err = s.note(&Record{Files: s.r.Files[had:], Shelf: s.r.Shelf[had:], Parents: s.r.Parents[parents:], Gaps: s.r.Gaps[gaps:], Apart: s.r.Apart[apart:]})
	}
	if err != nil {
		s.slots = nil
		s.r.Files, s.r.Shelf, s.r.Parents, s.r.Gaps, s.r.Apart = s.r.Files[:had], s.r.Shelf[:had], s.r.Parents[:parents], s.r.Gaps[:gaps], s.r.Apart[:apart]
		if dir, bad := s.h.shelf(s.r.ID); bad == nil {
			for n := range len(list) {
				_ = dir.RemoveAll(strconv.Itoa(had + n))
			}
			_ = dir.Close()
		}
		return fmt.Errorf("keeping what the command takes away: %w", err)
	}
	return nil
}

// Keeps reports whether something is kept of a name, by itself or in a directory, and whether that is another file than the one
// with this device and number, as far as it is known.
func (s *Shelf) Keeps(path string, inode [2]uint64) (kept, other bool) {
	i, is := s.slotOf(path)
	if !is {
		return false, false
	}
	dir, err := s.h.shelf(s.r.ID)
	if err != nil {
		return false, false
	}
	defer dir.Close()
	rel, _ := safefile.Rel(s.r.Files[i].Path, path)
	slot := s.r.Shelf[i]
	_, err = dir.Lstat(filepath.Join(strconv.Itoa(slot.N), rel))
	return err == nil, rel == "." && [2]uint64{slot.Here.Dev, slot.Here.Ino} != inode
}

// Holds reports whether a name is kept, by itself or in a directory. After Finish that is what the command took away or changed.
func (s *Shelf) Holds(path string) bool {
	_, is := s.slotOf(path)
	return is
}

// slotOf is the slot in which a name is kept, or the directory that it lies in.
func (s *Shelf) slotOf(path string) (i int, is bool) {
	if s.slots == nil {
		s.slots = map[string]int{}
	}
	for n := len(s.slots); n < len(s.r.Files); n++ {
		s.slots[s.r.Files[n].Path] = n
	}
	for up := range safefile.Up(s.h.w.Root(), path) {
		if i, is = s.slots[up]; is {
			return i, true
		}
	}
	return 0, false
}

// Detach makes a copy of what is kept of a file that is about to be written to where it is, also where it has another name
// by then.
func (s *Shelf) Detach(path string) error {
	info, err := os.Lstat(path)
	if err != nil || names(info) < 2 {
		return err
	}
	dir, err := s.h.shelf(s.r.ID)
	if err != nil {
		return err
	}
	defer dir.Close()
	here := printOf(info)
	for i, slot := range s.r.Shelf {
		rel, below := safefile.Rel(s.r.Files[i].Path, path)
		if !below && (slot.Here.Kind != Regular || slot.Here.Dev != here.Dev || slot.Here.Ino != here.Ino) {
			continue
		}
		if _, err := unalias(dir, filepath.Join(strconv.Itoa(slot.N), rel)); err != nil && !missing(err) {
			return err
		}
	}
	return nil
}

// Lack notes for whoever finishes it that something is not kept, and why.
func (s *Shelf) Lack(why string) error {
	s.r.Lacks = append(s.r.Lacks, why)
	return s.note(&Record{Lacks: []string{why}})
}

// Lacks are what is not kept, and why. They are known after Finish, too.
func (s *Shelf) Lacks() []string { return s.r.Lacks }

// Left are the paths of what is not kept because it came, or was changed, while other commands ran.
func (s *Shelf) Left() []string { return s.left }

// Since are, after Finish, the paths of files that were written to where they are once they were kept: what they held before is gone.
func (s *Shelf) Since() []string { return s.since }

// writtenTo reports whether what is kept of a file is the file itself, and holds something else by now.
func (s *Shelf) writtenTo(ctx context.Context, slot *Slot) bool {
	at := s.h.session.Path(journalDir, shelfDir, s.r.ID, strconv.Itoa(slot.N))
	w := &walker{root: filepath.Dir(at)}
	defer w.close()
	is, err := w.look(ctx, at)
	was := slot.Here
	was.Mode = is.Mode
	return err == nil && is.Kind == Regular && is.Dev == was.Dev && is.Ino == was.Ino && !was.same(is)
}

// note puts what was added behind the record, for whoever finds it should this process be
// killed. What is not whole was not added: the program has not begun then.
func (s *Shelf) note(added *Record) error {
	data, err := json.Marshal(added)
	if err != nil {
		return err
	}
	end, err := s.f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if _, err := s.f.Write(data); err != nil {
		return errors.Join(err, s.f.Truncate(end))
	}
	return nil
}

// read gets the record, with what was added to it.
func (s *Shelf) read() error {
	d := json.NewDecoder(s.f)
	if err := d.Decode(&s.r); err != nil {
		return err
	}
	for {
		var more Record
		if d.Decode(&more) != nil {
			return nil
		}
		s.r.Files, s.r.Shelf, s.r.Parents = append(s.r.Files, more.Files...), append(s.r.Shelf, more.Shelf...), append(s.r.Parents, more.Parents...)
		s.r.Gaps, s.r.Apart, s.r.Lacks = append(s.r.Gaps, more.Gaps...), append(s.r.Apart, more.Apart...), append(s.r.Lacks, more.Lacks...)
	}
}

// fill puts a list of names on the shelf.
func (s *Shelf) fill(ctx context.Context, list []Doomed) error {
	dir, w, closed, err := s.places()
	if err != nil {
		return err
	}
	defer closed()
	load := &load{ctx: ctx, bytes: s.o.MaxBytes, names: s.o.MaxNames, apart: s.o.Apart, came: s.o.Came, room: &s.room}
	for i := range s.r.Shelf {
		load.bytes, load.names = load.bytes-s.r.Shelf[i].Bytes, load.names-s.r.Shelf[i].Names
	}
	above, known := map[string]fs.FileMode{}, map[string]bool{}
	for _, p := range s.r.Parents {
		known[p.Path] = true
	}
	for _, d := range list {
		n := len(s.r.Files)
		slot := Slot{N: n, Maybe: d.Maybe}
		before := *load
		p, err := w.at(d.Path)
		if missing(err) {
			continue
		}
		if err == nil {
			err = s.keep(load, p, d, dir, &slot)
		}
		if errors.Is(err, errLeft) {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", d.Path, err)
		}
		slot.Names, slot.Bytes = before.names-load.names, before.bytes-load.bytes
		for at := filepath.Dir(d.Path); at != s.h.w.Root() && above[at] == 0 && !known[at] && len(at) > len(s.h.w.Root()); at = filepath.Dir(at) {
			if info, err := os.Lstat(at); err == nil && info.IsDir() {
				above[at] = info.Mode() & safefile.ModeBits
			}
		}
		s.r.Files = append(s.r.Files, File{Path: d.Path, Before: slot.Here.state(slot.Bytes)})
		s.r.Shelf = append(s.r.Shelf, slot)
	}
	s.r.Gaps, s.r.Apart, s.left = append(s.r.Gaps, load.gaps...), append(s.r.Apart, load.copied...), append(s.left, load.left...)
	for _, path := range slices.Sorted(maps.Keys(above)) {
		s.r.Parents = append(s.r.Parents, Parent{Path: path, Mode: above[path]})
	}
	return nil
}

// keep puts one thing on the shelf, or prepares that it is set aside there.
func (s *Shelf) keep(l *load, p place, d Doomed, dir *os.Root, slot *Slot) (err error) {
	l.path = d.Path
	to, before := strconv.Itoa(slot.N), *l
	if l.still = s.o.Still; slices.Contains(s.o.First, d.Path) || s.room.less(d.Path) {
		l.still = nil // nobody looks at it again, or it is too much
	}
	if slices.Contains(s.o.First, d.Path) {
		if err = l.setAside(p, dir, to, s.o.MinAside, slot); !errors.Is(err, errStays) {
			return err
		}
		*l = before
	}
	slot.Here, err = l.put(p, dir, to, d.Written, slot)
	return err
}

// disjoint leaves out what lies in a directory that is kept as a whole. What is not
// there is kept as the outermost name that is not.
func (h *History) disjoint(names []Doomed) []Doomed {
	root := h.w.Root()
	byPath := map[string]Doomed{}
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
		before, twice := byPath[path]
		byPath[path] = Doomed{path, before.Written || d.Written, d.Maybe && (before.Maybe || !twice)}
	}
	// Compared by their parts, what is in a directory comes right behind it.
	paths := slices.SortedFunc(maps.Keys(byPath), func(a, b string) int {
		return slices.Compare(strings.Split(a, string(filepath.Separator)), strings.Split(b, string(filepath.Separator)))
	})
	var list []Doomed
	for _, path := range paths {
		if n := len(list); n > 0 && safefile.Below(list[n-1].Path, path) {
			list[n-1].Written = list[n-1].Written || byPath[path].Written
			continue
		}
		list = append(list, byPath[path])
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
	if err = safefile.TryLock(s.f, !s.o.Shared); err == nil {
		_, err = s.f.Write(data)
	}
	aside := slices.ContainsFunc(s.r.Shelf, func(slot Slot) bool { return slot.Empty.Kind == Dir })
	if err == nil && aside && s.h.store.sync {
		err = s.f.Sync()
	}
	if err == nil {
		err = dir.Rename(temp, s.r.ID)
	}
	if err == nil && aside && s.h.store.sync {
		err = dir.Sync()
	}
	if err != nil {
		_ = dir.Remove(temp)
	}
	return err
}

// Path is the file that is locked while the command runs. Whoever holds a shared lock of it has what is kept wait, after Leave, until it
// lets go.
func (s *Shelf) Path() string { return s.h.session.Path(journalDir, shelvingDir, s.r.ID) }

// ID is what the change is called.
func (s *Shelf) ID() string { return s.r.ID }

// Resume opens a shelf that another process has made and left, so that more can be kept, for as long as somebody holds its Path. It is for Add
// and what looks at it: a change is made of it as Leave says.
func (h *History) Resume(id string, o ShelveOptions) (*Shelf, error) {
	s := &Shelf{h: h, o: o.withDefaults(), room: newRoom(), release: func() {}}
	if err := h.store.open(context.Background()); err != nil {
		return nil, err
	}
	dir, err := h.store.top.Make(shelvingDir)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	if s.f, err = dir.OpenFile(id, os.O_RDWR); err != nil {
		return nil, err
	}
	if err = s.read(); err != nil {
		return nil, errors.Join(err, s.f.Close())
	}
	return s, nil
}

// Leave leaves what is kept to the next process of this session that comes when nobody holds it any more: that makes a change of it as
// Finish does. It returns what that is called.
func (s *Shelf) Leave() string {
	_ = s.f.Close()
	s.release()
	s.release = nil
	return s.r.ID
}

// Close gives up what is kept, unless Finish has made a change of it.
func (s *Shelf) Close() {
	if s != nil && s.release != nil {
		_ = s.end()
	}
}

// end is Close. Where something that was set aside cannot get its place back, it stays
// kept with its record, for whoever comes next.
func (s *Shelf) end() error {
	err := s.withdraw()
	if err == nil {
		s.h.dropShelf(s.r.ID)
	}
	s.done(err == nil)
	return err
}

func (s *Shelf) withdraw() error {
	if s.f == nil {
		return nil // nothing has been set aside
	}
	dir, w, closed, err := s.places()
	if err != nil {
		return err
	}
	defer closed()
	if err := s.giveBack(dir, w); err != nil {
		return err
	}
	if slices.ContainsFunc(s.r.Shelf, func(slot Slot) bool { return slot.Empty.Kind == Dir }) {
		return errors.New("the command has removed what was set aside for it")
	}
	return nil
}

func (s *Shelf) done(whole bool) {
	for _, pin := range s.pins {
		_ = pin.Close()
	}
	if s.f != nil {
		if whole {
			_ = s.h.store.top.Remove(filepath.Join(shelvingDir, s.r.ID))
		}
		_ = s.f.Close()
	}
	s.release()
	s.release = nil
}

// Finish compares every name with what it was, and records what differs as a change
// that can be undone. A Record without ID: nothing has changed.
func (s *Shelf) Finish(ctx context.Context) (Record, error) {
	if s.o.Shared { // others may have added to it
		s.r, s.slots = Record{}, nil
		_, err := s.f.Seek(0, io.SeekStart)
		if err = cmp.Or(err, s.read()); err != nil {
			s.Close()
			return Record{}, err
		}
	}
	if err := s.settle(ctx); err != nil {
		s.Close()
		return Record{}, fmt.Errorf("recording what the command took away: %w", err)
	}
	if len(s.r.Files) == 0 {
		s.Close()
		return Record{}, nil
	}
	s.done(true)
	s.r.Dropped = s.h.pruneKept(s.o.MaxBytes, s.o.Age, s.r.ID)
	return s.r, nil
}

// settle finds what the command left, and makes a change of it.
func (s *Shelf) settle(ctx context.Context) error {
	dir, w, closed, err := s.places()
	if err != nil {
		return err
	}
	defer closed()
	if err := s.giveBack(dir, w); err != nil {
		return err
	}
	var files []File
	var slots []Slot
	newer := sync.OnceValue(func() []Record { return s.newer(ctx) })
	meanwhile := s.h.meanwhile(ctx, newer)
	for i, slot := range s.r.Shelf {
		f := s.r.Files[i]
		now, err := w.look(ctx, f.Path)
		if errors.Is(err, fs.ErrPermission) { // the command has closed a directory: the others come back all the same
			now, err = print{Kind: other}, nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
		stays := slot.Here.same(now) && (slot.Maybe || now.Kind == Dir || slot.Here.Ino == now.Ino && slot.Here.MTime == now.MTime)
		if slot.Maybe && !stays {
			if met, ok := meanwhile(f.Path, now.Kind == Missing); ok && (now.Kind == Missing || met.Kind == Dir || leftSince(newer(), f.Path, now)) {
				now, stays = met, slot.Here.same(met)
			}
		} else if !stays && slot.Here.Kind != Dir && leftSince(newer(), f.Path, now) {
			if met, ok := meanwhile(f.Path, now.Kind == Missing); ok && met.Kind != Dir && !slot.Here.same(met) {
				now = met // undone after the change, it finds that again
			}
		}
		if stays {
			_ = dir.RemoveAll(strconv.Itoa(slot.N))
			continue
		}
		f.After = now.state(now.Size)
		if slot.Here.Kind == Regular && s.writtenTo(ctx, &slot) {
			s.since = append(s.since, f.Path)
		}
		if err := part(dir, slot.N, now.Kind == Dir, slot.Single); err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
		slot.InPlace = now.Kind == Regular && slot.Here.Kind == Regular && slot.Here.Dev == now.Dev && slot.Here.Ino == now.Ino && !slot.Single
		slot.Left, slot.Here, slot.Empty = now, print{}, print{}
		files, slots = append(files, f), append(slots, slot)
	}
	if s.o.Losses && !slices.ContainsFunc(files, func(f File) bool { return f.Before.Kind != Missing }) {
		files, slots = nil, nil
	}
	if s.r.Files, s.r.Shelf, s.slots = files, slots, nil; len(files) == 0 {
		return nil
	}
	s.r.Parents = slices.DeleteFunc(s.r.Parents, func(p Parent) bool {
		_, err := os.Lstat(p.Path)
		return !errors.Is(err, fs.ErrNotExist) // where a file stands, none is made
	})
	data, err := json.Marshal(&s.r)
	if err != nil {
		return err
	}
	return s.h.store.done.WriteFile(s.r.ID, data, s.h.store.sync)
}

// meanwhile tells what the first change that came after the shelf was filled, and did something to a name, met there: that is what the
// command had left by then, and what came later is the change's. It is false where there was none, or where what it left is gone.
func (h *History) meanwhile(ctx context.Context, newer func() []Record) func(path string, gone bool) (met print, ok bool) {
	return func(path string, gone bool) (met print, ok bool) {
		stands := func(f File) bool { return f.Path == path && f.After.Kind != Missing }
		for _, r := range slices.Backward(newer()) {
			if h.touches(ctx, &r, path) && !(gone && slices.ContainsFunc(r.Files, stands)) {
				return h.metBy(ctx, &r, path), true
			}
		}
		return print{}, false
	}
}

// newer are the changes that came after the shelf was filled, the newest first.
func (s *Shelf) newer(ctx context.Context) (list []Record) {
	for r, err := range s.h.records(ctx) {
		if err != nil || r.ID <= s.r.ID {
			break
		}
		list = append(list, r)
	}
	return list
}

// leftSince reports whether the last of some changes, the newest first, that did something to a name of a file has left it as it is now.
func leftSince(newer []Record, path string, now print) bool {
	for _, r := range newer {
		i := slices.IndexFunc(r.Files, func(f File) bool { return f.Path == path })
		if i < 0 {
			continue
		}
		if r.Shelf != nil {
			return r.Shelf[i].Left.same(now)
		}
		left := r.Files[i].After
		if left.AnyMode {
			left.Mode = now.Mode
		}
		return left.print().same(now)
	}
	return false
}

// Touched returns a function that reports whether a change after the one with an ID did something to a name.
func (h *History) Touched(id string) func(path string) bool {
	var mu sync.Mutex
	var listed time.Time // what the directory of records said of itself before it was read; zero while that may be as good as now
	seen, names := map[string]bool{}, map[string]bool{}
	return func(path string) bool {
		mu.Lock()
		defer mu.Unlock()
		changed := time.Time{}
		if info, err := os.Stat(h.session.Path(journalDir, doneDir)); err == nil {
			changed = info.ModTime()
		}
		if !changed.IsZero() && changed.Equal(listed) {
			return names[path]
		}
		if listed = changed; time.Since(changed) < coarse {
			listed = time.Time{} // another record may come at the same time
		}
		ids, err := h.ids(context.Background())
		if err != nil {
			return true // nobody can tell
		}
		for _, next := range slices.Backward(ids) {
			if next <= id {
				break
			}
			if seen[next] {
				continue
			}
			r, err := h.store.load(next)
			if err != nil {
				listed = time.Time{}
				continue // it is damaged, or dropped meanwhile
			}
			seen[next] = true
			for _, f := range r.Files {
				names[f.Path] = true
			}
		}
		return names[path]
	}
}

// coarse is how far apart two changes of a directory are at least that its time tells apart. Linux' file systems take the
// time of the last tick, every ten milliseconds at most.
const coarse = 50 * time.Millisecond

// metBy is what had a name before a change did something to it.
func (h *History) metBy(ctx context.Context, r *Record, path string) print {
	for _, f := range r.Files {
		if f.Path == path && r.Shelf == nil && f.Before.Kind != Dir {
			return f.Before.print()
		}
	}
	src, _, err := h.inside(ctx, r, path)
	if err != nil {
		return print{}
	}
	w := &walker{root: filepath.Dir(src)}
	defer w.close()
	p, err := w.look(ctx, src)
	if err != nil {
		return print{Kind: other}
	}
	return p
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
		err = s.read()
		if err != nil || s.r.ID != id { // it was killed before the command began
			_, _ = dir.Remove(id), f.Close()
			continue
		}
		_, err = s.Finish(ctx)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
