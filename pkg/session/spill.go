package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// ErrSpillFull is returned by Write when a limit is reached; the bytes before
// it are written.
var ErrSpillFull = errors.New("the spill file has reached its limit")

// spillDir holds the spill files; spillLock in it is taken to create, grow and
// remove them.
const (
	spillDir  = "spill"
	spillLock = ".lock"
)

// A Spill is a file that takes what did not fit into a result. It may be read
// while it is written. Its methods may be called concurrently.
type Spill struct {
	s    *Session
	path string
	name string

	mu      sync.Mutex
	dir     *safefile.Dir
	f       *os.File // locked while it is open: no one removes it
	size    int64
	granted int64 // up to here it may grow without looking at the others
	full    bool
}

// A SpillInfo is a spill file as it stands.
type SpillInfo struct {
	Name string
	Path string
	Size int64
	At   time.Time // when it was written last
}

// Spills are the session's spill files, the newest first.
func (s *Session) Spills() ([]SpillInfo, error) {
	dir, _, err := s.openParent(spillDir + "/x")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing spill files: %w", err)
	}
	defer dir.Close()
	entries, err := dir.ReadDir()
	if err != nil {
		return nil, fmt.Errorf("listing spill files: %w", err)
	}
	var list []SpillInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && e.Name()[0] != '.' {
			list = append(list, SpillInfo{e.Name(), filepath.Join(dir.Path(), e.Name()), info.Size(), info.ModTime()})
		}
	}
	slices.SortFunc(list, func(a, b SpillInfo) int { return strings.Compare(b.Name, a.Name) })
	return list, nil
}

// Spill creates the file spill/<time-sortable id>.<kind>; kind is a file name
// extension of 1 to 16 lower-case letters and digits. One file and all files
// of the session are bounded by Limits: to make room the oldest finished spill
// goes first, never one that is still written, and finished ones beyond their
// age go at every look.
func (s *Session) Spill(kind string) (*Spill, error) {
	if !validKind(kind) {
		return nil, fmt.Errorf("creating a spill file of kind %q: %w", kind, ErrName)
	}
	name := s.spillID() + "." + kind
	dir, _, err := s.makeParent(context.Background(), spillDir+"/"+name)
	if err != nil {
		return nil, fmt.Errorf("creating a spill file: %w", err)
	}
	p := &Spill{s: s, dir: dir, name: name, path: filepath.Join(dir.Path(), name)}
	if err := p.create(); err != nil {
		return nil, fmt.Errorf("creating a spill file: %w", errors.Join(err, dir.Close()))
	}
	return p, nil
}

// Owns reports whether path is a spill file of this session: a regular file
// that lies in its spill directory itself. Reading these back needs no
// permission. The path is absolute, either resolved or by the state directory
// as given in Options.
func (s *Session) Owns(path string) bool {
	path = filepath.Clean(path)
	parent, base := filepath.Dir(path), filepath.Base(path)
	given := filepath.Join(s.o.State, s.hash, s.o.ID, spillDir)
	if parent != s.Path(spillDir) && parent != given || base[0] == '.' {
		return false
	}
	dir, err := s.openDir()
	if err != nil {
		return false
	}
	defer dir.Close()
	spills, err := dir.Sub(spillDir)
	if err != nil {
		return false
	}
	defer spills.Close()
	return spills.Check(base) == nil
}

// Path returns the file's absolute path.
func (p *Spill) Path() string { return p.path }

// Write appends b. Where a limit is reached it writes what fits and returns
// ErrSpillFull, and then nothing more is taken.
func (p *Spill) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.f == nil {
		return 0, os.ErrClosed
	}
	done := 0
	for done < len(b) {
		if p.size == p.granted {
			if err := p.grow(); err != nil {
				return done, err
			}
		}
		n := int(min(int64(len(b)-done), p.granted-p.size))
		m, err := p.f.Write(b[done : done+n])
		p.size += int64(m)
		done += m
		if safefile.DiskFull(err) && p.makeRoom() {
			continue
		}
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// Close ends the writing; from now on the file may be removed to make room.
func (p *Spill) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.f == nil {
		return nil
	}
	err := errors.Join(p.f.Close(), p.dir.Close())
	p.f = nil
	return err
}

// create makes and locks the file while no one else looks at the directory.
func (p *Spill) create() error {
	lock, err := p.lock()
	if err != nil {
		return err
	}
	defer lock.Close()
	f, err := p.dir.OpenFile(p.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND)
	if err != nil {
		return err
	}
	if err := safefile.TryLock(f, true); err != nil {
		return errors.Join(err, f.Close())
	}
	p.f = f
	return nil
}

func (p *Spill) lock() (*os.File, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return p.dir.Lock(ctx, spillLock)
}

// grow moves granted on by one step, making room by removing finished spills.
// Steps keep the looks at the directory rare; as every writer is granted whole
// steps, a file still written counts as its size rounded up to one, and the
// total holds whatever the others do.
func (p *Spill) grow() error {
	limits := p.s.o.Limits
	if p.full || p.size >= limits.SpillFile {
		p.full = true
		return ErrSpillFull
	}
	lock, err := p.lock()
	if err != nil {
		return err
	}
	defer lock.Close()
	step := spillStep(limits)
	others, err := scanSpills(p.dir, p.name)
	if err != nil {
		return err
	}
	want := min((p.size/step+1)*step, limits.SpillFile)
	used := makeRoom(p.dir, others, limits.SpillTotal-want, step, p.s.o.Now().Add(-limits.SpillAge))
	want = min(want, limits.SpillTotal-used)
	if want <= p.size {
		p.full = true
		return ErrSpillFull
	}
	p.granted = want
	return nil
}

// makeRoom removes all finished spills of the session, because the disk is full.
func (p *Spill) makeRoom() bool {
	lock, err := p.lock()
	if err != nil {
		return false
	}
	defer lock.Close()
	others, err := scanSpills(p.dir, p.name)
	if err != nil {
		return false
	}
	before := len(others)
	makeRoom(p.dir, others, 0, 1, time.Time{})
	others, err = scanSpills(p.dir, p.name)
	return err == nil && len(others) < before
}

// spillStep is 4 MiB, less where the limit is small.
func spillStep(l Limits) int64 {
	return max(min(4<<20, l.SpillTotal/64, l.SpillFile), 1)
}

// A spillFile is one file of the spill directory.
type spillFile struct {
	name string
	size int64
	mod  time.Time
}

// scanSpills lists the spill files but one, oldest first.
func scanSpills(dir *safefile.Dir, but string) ([]spillFile, error) {
	entries, err := dir.ReadDir()
	if err != nil {
		return nil, err
	}
	files := make([]spillFile, 0, len(entries))
	for _, entry := range entries {
		if entry.Name() == but || entry.Name()[0] == '.' || !entry.Type().IsRegular() {
			continue
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		files = append(files, spillFile{entry.Name(), info.Size(), info.ModTime()})
	}
	slices.SortFunc(files, func(a, b spillFile) int { return cmp.Compare(a.name, b.name) })
	return files, nil
}

// makeRoom removes finished spills, oldest first, until the rest counts at
// most target bytes, and those last written before expired in any case. It
// returns what the rest counts.
func makeRoom(dir *safefile.Dir, files []spillFile, target, step int64, expired time.Time) (used int64) {
	// Finding out who is still written costs an open and a lock per file: not
	// needed as long as there is room even if all of them were.
	var most int64
	old := false
	for _, f := range files {
		most += roundUp(f.size, step)
		old = old || f.mod.Before(expired)
	}
	if most <= target && !old {
		return most
	}
	finished := files[:0]
	for _, f := range files {
		if dir.Locked(f.name) {
			used += roundUp(f.size, step)
			continue
		}
		used += f.size
		finished = append(finished, f)
	}
	for _, f := range finished {
		if used <= target && !f.mod.Before(expired) {
			continue
		}
		if err := dir.Remove(f.name); err == nil || errors.Is(err, fs.ErrNotExist) {
			used -= f.size
		}
	}
	return used
}

func roundUp(size, step int64) int64 { return (size/step + 1) * step }

// spillID is unique and later than every other of this Session.
func (s *Session) spillID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = max(s.o.Now().UnixMicro(), s.last+1)
	return NewSortableID("", time.UnixMicro(s.last))
}

func validKind(kind string) bool {
	return kind != "" && len(kind) <= 16 && strings.Trim(kind, "abcdefghijklmnopqrstuvwxyz0123456789") == ""
}
