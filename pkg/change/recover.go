package change

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/session"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// A Recovery says what became of a change whose process was killed.
type Recovery struct {
	Record   Record
	Session  string // whose change it was
	Finished bool   // all of it had happened: it is done now, and can be undone. Otherwise none of it is left
	Kept     []Gap  // files that were not put back, because someone changed them since, or they cannot be
	Stuck    string // neither can be: the path of its record now, see [History.Stuck]
}

// Recover takes back or finishes the changes that killed processes left in
// this workspace, whichever session they belong to. Call it before the first
// change; Lock and Commit do it for the files they are about. With nothing to
// do it costs one look at a directory per session.
func (h *History) Recover(ctx context.Context) ([]Recovery, error) {
	left, err := h.unfinished(nil)
	err = errors.Join(err, h.recoverShelves(ctx))
	var all []Recovery
	for _, l := range left {
		f, openErr := openPending(l.path)
		if openErr != nil {
			continue
		}
		busy := safefile.TryLock(f, true) // its process is alive
		_ = f.Close()
		if busy != nil {
			continue
		}
		r, oneErr := h.recover(ctx, l)
		if err = errors.Join(err, oneErr); r != nil {
			all = append(all, *r)
		}
	}
	return all, err
}

// A leftover is a change on its way, of a process that may be dead.
type leftover struct {
	session, id string
	path        string
	r           Record
}

// unfinished finds the changes on their way, in all sessions of this
// workspace, that touch one of the names; nil is any.
func (h *History) unfinished(names map[string]bool) ([]leftover, error) {
	base := filepath.Dir(h.session.Dir())
	sessions, err := readNames(base)
	if err != nil {
		return nil, fmt.Errorf("looking for unfinished changes: %w", err)
	}
	var all []leftover
	for _, id := range sessions {
		dir := filepath.Join(base, id, journalDir, pendingDir)
		ids, err := readNames(dir)
		if err != nil {
			return nil, fmt.Errorf("looking for unfinished changes: %w", err)
		}
		for _, name := range ids {
			l := leftover{session: id, id: name, path: filepath.Join(dir, name)}
			if name[0] == '.' || !l.read() {
				continue
			}
			if names == nil || slices.ContainsFunc(l.r.Files, func(f File) bool { return f.about(names) }) {
				all = append(all, l)
			}
		}
	}
	return all, nil
}

// about reports whether a file is one of these, or a directory that goes or comes with
// one of them in it.
func (f *File) about(names map[string]bool) bool {
	if names[f.Path] || f.Stash == "" || f.Before.Kind != Dir && f.After.Kind != Dir {
		return names[f.Path]
	}
	for name := range names {
		if safefile.Below(f.Path, name) {
			return true
		}
	}
	return false
}

// read gets the record; one that is gone, or not whole because the power went
// before it got to the disk, describes nothing that has happened.
func (l *leftover) read() bool {
	f, err := openPending(l.path)
	if err != nil {
		return false
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	return err == nil && json.Unmarshal(data, &l.r) == nil
}

func openPending(path string) (*os.File, error) {
	dir, err := safefile.OpenDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.OpenFile(filepath.Base(path), os.O_RDWR)
}

// readNames lists a directory; one that is missing is empty.
func readNames(dir string) ([]string, error) {
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// recover takes one change back or finishes it. It waits for others that are
// at it, and returns nil when they have done it.
func (h *History) recover(ctx context.Context, l leftover) (*Recovery, error) {
	owner := h
	if l.session != h.session.ID() {
		s, err := session.Open(session.Options{State: h.session.StateDir(), Root: h.w.Root(), ID: l.session})
		if err != nil {
			return nil, err
		}
		defer s.Close()
		o := h.o
		o.Limits = Limits{}
		owner = Open(h.w, s, o)
		defer owner.Close()
	}
	release, err := owner.store.hold(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	p, err := owner.store.take(ctx, l)
	if p == nil {
		return nil, err
	}
	defer p.f.Close()
	r, err := owner.settle(ctx, p)
	if blocked(err) {
		path, bad := p.stuck(err)
		if bad == nil {
			return &Recovery{Record: l.r, Session: l.session, Stuck: path}, nil
		}
		err = errors.Join(err, bad)
	}
	if err != nil {
		return nil, fmt.Errorf("recovering change %s: %w: %w", l.id, ErrUnfinished, err)
	}
	r.Session = l.session
	return r, nil
}

// take locks the record of a change on its way; nil when it is gone.
func (s *store) take(ctx context.Context, l leftover) (*pending, error) {
	f, err := s.pending.OpenFile(l.id, os.O_RDWR)
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := safefile.WaitLock(ctx, f, true); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	held, err := f.Stat()
	now, err2 := s.pending.Lstat(l.id)
	if err != nil || err2 != nil || !os.SameFile(held, now) {
		return nil, f.Close()
	}
	return &pending{s, f, &l.r}, nil
}

// settle decides what becomes of a change whose process is dead.
func (h *History) settle(ctx context.Context, p *pending) (*Recovery, error) {
	if p.r.Shelf != nil {
		return h.settleShelf(ctx, p)
	}
	if p.r.Stash != "" {
		return h.settleSwap(ctx, p)
	}
	var paths []workspace.Path
	for _, f := range p.r.Files {
		if path, err := h.path(f.Path); err == nil {
			paths = append(paths, path)
		}
	}
	if len(paths) > 0 {
		lock, err := h.w.Lock(ctx, paths...)
		if err != nil {
			return nil, err
		}
		defer lock.Unlock()
		h.sweep(p.r)
		if h.happened(p.r) {
			return &Recovery{Record: *p.r, Finished: true}, p.finish(h.dropLarge(p.r), true)
		}
		kept, err := h.restore(ctx, lock, p.r)
		if err != nil {
			return nil, err
		}
		return &Recovery{Record: *p.r, Kept: kept}, p.forget()
	}
	return &Recovery{Record: *p.r, Kept: []Gap{{Why: "none of its files can be reached"}}}, p.forget()
}

// happened reports whether every file is as the record wants it.
func (h *History) happened(r *Record) bool {
	l := linksOf(r.Files)
	for _, f := range r.Files {
		_, now, err := h.find(f.Path, l)
		if err != nil || !now.sameContent(f.After) || !now.sameMode(f.After) {
			return false
		}
	}
	return true
}
