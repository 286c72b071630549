package change

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"io/fs"

	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

func (a *applier) unlock(_ context.Context, s *step, now State) error {
	return a.h.w.Chmod(s.path, now.Mode|0o700)
}

func (a *applier) dirMode(_ context.Context, s *step, _ State) error {
	return a.h.w.Chmod(s.path, s.After.Mode)
}

func (a *applier) remove(_ context.Context, s *step, now State) error {
	if err := a.unchanged(s, now); err != nil {
		return err
	}
	return a.h.w.Remove(s.path)
}

func (a *applier) mkdir(_ context.Context, s *step, _ State) error {
	_, err := a.h.w.Mkdir(s.path)
	if err != nil || s.After.AnyMode {
		return err
	}
	return a.h.w.Chmod(s.path, s.After.Mode|0o700) // what lies in it is still to come
}

func (a *applier) move(_ context.Context, s *step, _ State) error {
	from := a.by[s.From]
	if err := a.unchanged(from, from.Before); err != nil {
		return err
	}
	return a.h.w.Rename(from.path, s.path)
}

// rmdir leaves a directory that holds something else: it is somebody's.
func (a *applier) rmdir(_ context.Context, s *step, _ State) error {
	p, err := a.h.path(s.Path) // resolved before, it may have been a file or nothing
	if err == nil {
		err = a.h.w.Remove(p)
	}
	s.path = workspace.Path{} // what comes in its place is no directory
	if a.force && (missing(err) || s.After.Kind == Missing && notEmpty(err)) {
		return nil
	}
	return err
}

func (a *applier) fill(ctx context.Context, s *step, now State) error {
	switch {
	case s.After.Kind == Link:
		return a.link(s, now)
	case now.sameContent(s.After):
		return a.h.chmod(s.path, s.After.Mode)
	}
	o := workspace.WriteOptions{Lock: a.lock, CreateOnly: now.Kind == Missing, Version: s.After.Version()}
	if !s.After.AnyMode && (now.Kind == Missing || now.Mode != s.After.Mode) {
		o.Mode = &s.After.Mode
	}
	if now.Kind == Regular && s.From == "" {
		o.IfVersion = now.Version()
		if now.Hash == s.Before.Hash {
			o.Was = s.old
		}
	}
	if a.force && now.Kind == Regular && now.Mode.Perm()&0o200 == 0 {
		if err := a.h.chmod(s.path, now.Mode|0o200); err != nil {
			return err
		}
		if o.Mode == nil {
			o.Mode = &s.After.Mode
		}
	}
	return a.write(ctx, s, o)
}

func (a *applier) write(ctx context.Context, s *step, o workspace.WriteOptions) error {
	r, err := a.h.newContent(s)
	if err != nil {
		return err
	}
	defer r.Close()
	s.Result, err = a.h.w.WriteFrom(context.WithoutCancel(ctx), s.path, r, o)
	if a.force && safefile.DiskFull(err) && !o.CreateOnly {
		// What stands there takes the room. It is not lost: the journal has
		// what belongs there, and says so until it is back.
		if _, err := a.h.w.WriteFile(context.WithoutCancel(ctx), s.path, nil, workspace.WriteOptions{Lock: o.Lock}); err != nil {
			return err
		}
		again, err := a.h.newContent(s)
		if err != nil {
			return err
		}
		defer again.Close()
		o.IfVersion = ""
		s.Result, err = a.h.w.WriteFrom(context.WithoutCancel(ctx), s.path, again, o)
		return err
	}
	return err
}

// A checked reader ends in an error instead of EOF when what it gave is not
// what was announced: then nothing gets into the file.
type checked struct {
	io.Closer
	r    io.Reader
	h    hash.Hash
	want string
}

func check(r io.ReadCloser, want string) *checked {
	h := sha256.New()
	return &checked{r, io.TeeReader(r, h), h, want}
}

// Read implements io.Reader.
func (c *checked) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if errors.Is(err, io.EOF) && hex.EncodeToString(c.h.Sum(nil)) != c.want {
		err = ErrSource
	}
	return n, err
}

func (a *applier) link(s *step, now State) error {
	if now.Kind == Link {
		if err := a.h.w.Remove(s.path); err != nil {
			return err
		}
	}
	return a.h.w.Symlink(s.path, s.After.Target)
}

// unchanged looks once more whether the file is what was kept of it. A link
// or a directory can only be removed or moved as it is.
func (a *applier) unchanged(s *step, want State) error {
	if want.Kind != Regular || want.Hash == "" {
		return nil
	}
	have, _, err := a.h.look(s.path, nil)
	if err != nil {
		return err
	}
	if !have.sameContent(want) {
		return &workspace.ConflictError{Path: s.Path, Have: have.Version(), Want: want.Version()}
	}
	return nil
}

// chmod sets the mode of a file through the file itself, so that no link is
// followed.
func (h *History) chmod(p workspace.Path, mode fs.FileMode) error {
	f, err := h.w.OpenFile(p)
	if errors.Is(err, fs.ErrPermission) { // not even we may read it
		return h.w.Chmod(p, mode)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Chmod(mode); err != nil || h.o.NoSync {
		return err
	}
	return f.Sync()
}
