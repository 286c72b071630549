package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// ErrName is returned for a name that is not a slash-separated path below the
// session's directory, or that has an element starting with a dot.
var ErrName = errors.New("not a name for a state file")

// Lock takes the session's lock of that name, across processes, and returns
// the function that gives it back; the kernel does so for a process that dies.
// It waits until ctx ends. WriteFile and Update of a file take the lock of the
// file's name: do not call them for it while holding that lock.
func (s *Session) Lock(ctx context.Context, name string) (unlock func(), err error) {
	dir, base, err := s.makeParent(ctx, name)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	f, err := dir.Lock(ctx, lockName(base))
	if err != nil {
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}

func lockName(base string) string { return "." + base + ".lock" }

// ReadFile returns the content of a file of the session, at most MaxFile
// bytes. It creates nothing; a missing file is fs.ErrNotExist.
func (s *Session) ReadFile(name string) ([]byte, error) {
	if _, err := split(name); err != nil {
		return nil, err
	}
	if _, err := os.Lstat(s.Path(name)); errors.Is(err, fs.ErrNotExist) {
		return nil, err // mostly, and sixteen system calls earlier
	}
	dir, base, err := s.openParent(name)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	data, err := dir.ReadFile(base)
	if err != nil {
		return nil, fmt.Errorf("reading the session's %s: %w", name, err)
	}
	return data, nil
}

// WriteFile replaces the content of a file of the session, creating the
// directories above it.
func (s *Session) WriteFile(ctx context.Context, name string, data []byte) error {
	return s.Update(ctx, name, func([]byte) ([]byte, error) {
		if data == nil {
			return []byte{}, nil
		}
		return data, nil
	})
}

// Update reads a file of the session, hands the content to change and writes
// what that returns, all under the lock of the file's name. A missing file is
// nil, and a nil result removes the file. When change fails, or returns what
// it was given, nothing is written.
func (s *Session) Update(ctx context.Context, name string, change func(old []byte) ([]byte, error)) error {
	dir, base, err := s.makeParent(ctx, name)
	if err != nil {
		return err
	}
	defer dir.Close()
	lock, err := dir.Lock(ctx, lockName(base))
	if err != nil {
		return err
	}
	defer lock.Close()
	old, err := dir.ReadFile(base)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return fmt.Errorf("updating the session's %s: %w", name, err)
	}
	data, err := change(old)
	switch {
	case err != nil:
		return err
	case data == nil && missing, data != nil && !missing && bytes.Equal(data, old):
		return nil
	case data == nil:
		err = dir.Remove(base)
	default:
		err = dir.WriteFile(base, data, !s.o.NoSync)
	}
	if err != nil {
		return fmt.Errorf("updating the session's %s: %w", name, err)
	}
	return nil
}

// OpenFile opens a file of the session with the flags of os.OpenFile, for what
// is appended to or streamed: it takes no lock. With os.O_CREATE directories
// and file are created, private; without it nothing is.
func (s *Session) OpenFile(name string, flag int) (*os.File, error) {
	open := s.openParent
	if flag&os.O_CREATE != 0 {
		open = func(name string) (*safefile.Dir, string, error) { return s.makeParent(context.Background(), name) }
	}
	dir, base, err := open(name)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.OpenFile(base, flag)
}

// Mkdir creates a directory of the session and those above it, and returns its
// path.
func (s *Session) Mkdir(name string) (string, error) {
	dir, base, err := s.makeParent(context.Background(), name)
	if err != nil {
		return "", err
	}
	defer dir.Close()
	sub, err := dir.Make(base)
	if err != nil {
		return "", fmt.Errorf("creating the session's %s: %w", name, err)
	}
	return sub.Path(), sub.Close()
}

// RemoveAll removes a file or directory of the session with all it holds. A
// missing one is no error.
func (s *Session) RemoveAll(name string) error {
	dir, base, err := s.openParent(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.RemoveAll(base)
}

// openParent opens the directory that holds name; makeParent creates it too.
// The Dir is the caller's to close.
func (s *Session) openParent(name string) (*safefile.Dir, string, error) {
	parts, err := split(name)
	if err != nil {
		return nil, "", err
	}
	dir, err := s.openDir()
	if err != nil {
		return nil, "", err
	}
	return descend(dir, parts, (*safefile.Dir).Sub)
}

func (s *Session) makeParent(ctx context.Context, name string) (*safefile.Dir, string, error) {
	parts, err := split(name)
	if err != nil {
		return nil, "", err
	}
	held, err := s.enter(ctx)
	if err != nil {
		return nil, "", err
	}
	dir, err := held.Again()
	if err != nil {
		return nil, "", err
	}
	return descend(dir, parts, (*safefile.Dir).Make)
}

// descend closes every directory it passes, dir too.
func descend(dir *safefile.Dir, parts []string, step func(*safefile.Dir, string) (*safefile.Dir, error)) (*safefile.Dir, string, error) {
	last := len(parts) - 1
	for _, part := range parts[:last] {
		next, err := step(dir, part)
		if err = errors.Join(err, dir.Close()); err != nil {
			return nil, "", err
		}
		dir = next
	}
	return dir, parts[last], nil
}

func split(name string) ([]string, error) {
	parts := strings.Split(name, "/")
	for _, part := range parts {
		if part == "" || part[0] == '.' || !filepath.IsLocal(part) || strings.ContainsAny(part, "\\\x00") {
			return nil, fmt.Errorf("%q: %w", name, ErrName)
		}
	}
	return parts, nil
}
