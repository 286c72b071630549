package change

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/session"
)

// The journal of a session:
//
//	journal/pending/ID   a change on its way, locked as long as its process lives
//	journal/done/ID      a change that was made
//	journal/objects/H    a content, named by its SHA-256
//	journal/stash/ID/N   what changed places with a file of a change, whole directories too
//	journal/.lock        held shared by who adds, exclusively by who drops
//	journal/.undo        held by who undoes
//	journal/dropped      the ID of the newest change that was dropped
const (
	journalDir = "journal"
	pendingDir = "pending"
	doneDir    = "done"
	objectsDir = "objects"
	stashDir   = "stash"
	holdFile   = ".lock"
	undoFile   = ".undo"
)

// A store is where a session's journal lies. Its directories are made and
// opened when first needed.
type store struct {
	session *session.Session
	sync    bool

	mu                           sync.Mutex
	top, pending, done, contents *safefile.Dir
}

func (s *store) open(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.top != nil {
		return nil
	}
	if err := s.session.Use(ctx); err != nil { // and so keep gc away
		return err
	}
	path, err := s.session.Mkdir(journalDir)
	if err != nil {
		return err
	}
	top, err := safefile.OpenDir(path)
	if err != nil {
		return err
	}
	_, missing := top.Lstat(objectsDir)
	var dirs [3]*safefile.Dir
	for i, name := range []string{pendingDir, doneDir, objectsDir} {
		if dirs[i], err = top.Make(name); err != nil {
			return errors.Join(err, top.Close())
		}
	}
	if missing != nil {
		if err := s.syncWay(top); err != nil {
			return errors.Join(err, top.Close())
		}
	}
	s.top, s.pending, s.done, s.contents = top, dirs[0], dirs[1], dirs[2]
	return nil
}

// syncWay makes the directories last that lead to a new journal: what is in it
// is of no use when they are gone.
func (s *store) syncWay(top *safefile.Dir) error {
	way := []*safefile.Dir{top}
	for _, path := range []string{s.session.Dir(), filepath.Dir(s.session.Dir()), s.session.StateDir()} {
		d, err := safefile.OpenOwned(path)
		if err != nil {
			return err
		}
		defer d.Close()
		way = append(way, d)
	}
	return s.syncDirs(way...)
}

// openExisting is open for reading: the error is fs.ErrNotExist when there is
// no journal yet, and none is made.
func (s *store) openExisting(ctx context.Context) error {
	if _, err := os.Lstat(s.session.Path(journalDir, objectsDir)); err != nil {
		return err
	}
	return s.open(ctx)
}

func (s *store) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, d := range []**safefile.Dir{&s.top, &s.pending, &s.done, &s.contents} {
		if *d != nil {
			errs = append(errs, (*d).Close())
			*d = nil
		}
	}
	return errors.Join(errs...)
}

// hold keeps those who drop contents away until the returned function is
// called, which may be called twice.
func (s *store) hold(ctx context.Context) (release func(), err error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	f, err := s.top.OpenFile(holdFile, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	if err := safefile.WaitLock(ctx, f, false); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = f.Close() }, nil
}

// undoing keeps others who undo away until the returned function is called.
func (s *store) undoing(ctx context.Context) (free func(), err error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	f, err := s.top.Lock(ctx, undoFile)
	if err != nil {
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}

// close gives the files back; what was not saved is removed.
func (b *batch) close() {
	for _, o := range b.objs {
		if o.temp != "" {
			o.discard(b.s)
			continue
		}
		_ = o.f.Close()
	}
	clear(b.objs)
}

// syncAll syncs the files at the same time: the file system then writes its
// own journal once for all, not once for each.
func (s *store) syncAll(files ...*os.File) error {
	if !s.sync {
		return nil
	}
	if len(files) == 1 {
		return files[0].Sync() // without the detour
	}
	return eight(files, (*os.File).Sync)
}

func (s *store) syncDirs(dirs ...*safefile.Dir) error {
	if !s.sync {
		return nil
	}
	if len(dirs) == 1 {
		return dirs[0].Sync()
	}
	return eight(dirs, (*safefile.Dir).Sync)
}

// eight does something with each, eight at a time.
func eight[T any](all []T, do func(T) error) error {
	errs := make([]error, len(all))
	slots := make(chan struct{}, 8)
	var wg sync.WaitGroup
	for i, v := range all {
		slots <- struct{}{}
		wg.Go(func() {
			errs[i] = do(v)
			<-slots
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// A pending is the record of a change on its way. Its file is locked.
type pending struct {
	s *store
	f *os.File
	r *Record
}

// begin puts the record where it is found by whoever comes after a crash.
func (s *store) begin(r *Record, b *batch) (*pending, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	temp := "." + r.ID + ".tmp"
	f, err := s.pending.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return nil, err
	}
	if err = safefile.TryLock(f, true); err == nil {
		_, err = f.Write(data)
	}
	if err == nil {
		err = b.save(s.pending, func() error { return s.pending.Rename(temp, r.ID) }, f)
	}
	if err != nil {
		_, _ = s.pending.Remove(temp), s.pending.Remove(r.ID) // nothing has happened yet
		return nil, errors.Join(err, f.Close())
	}
	return &pending{s, f, r}, nil
}

// finish makes the record one of the changes that were made. It is rewritten
// where it no longer is what stood in it; durable says that a power cut must
// not bring it back, because the files cannot tell by themselves.
func (p *pending) finish(rewrite, durable bool) error {
	defer p.f.Close()
	var err error
	if rewrite {
		var data []byte
		if data, err = json.Marshal(p.r); err == nil {
			err = p.s.done.WriteFile(p.r.ID, data, p.s.sync)
		}
		if err == nil {
			err = p.s.pending.Remove(p.r.ID)
		}
	} else {
		err = os.Rename(filepath.Join(p.s.pending.Path(), p.r.ID), filepath.Join(p.s.done.Path(), p.r.ID))
	}
	if err == nil && durable {
		err = p.s.syncDirs(p.s.done, p.s.pending)
	}
	if err != nil {
		return fmt.Errorf("finishing the record: %w", err)
	}
	return nil
}

// forget removes the record of a change that was taken back.
func (p *pending) forget() error {
	defer p.f.Close()
	err := p.s.pending.Remove(p.r.ID)
	if err == nil {
		err = p.s.syncDirs(p.s.pending)
	}
	return err
}

// load reads a record that is done.
func (s *store) load(id string) (Record, error) {
	var r Record
	data, err := s.done.ReadFile(id)
	if err == nil {
		if bad := json.Unmarshal(data, &r); bad != nil {
			err = fmt.Errorf("%w: %w", ErrUnreadable, bad)
		} else if r.ID != id {
			err = fmt.Errorf("%w: it is of change %q", ErrUnreadable, r.ID)
		}
	}
	if err != nil {
		return Record{ID: id}, fmt.Errorf("reading the record of change %s: %w", id, err)
	}
	return r, nil
}

// missing reports whether err says that a file or the way to it is not there: what should be a directory may be a file.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
