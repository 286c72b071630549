package safefile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// TryLock takes a lock on an open file, shared or exclusive, without waiting.
// It belongs to f: closing f, or the end of the process, gives it back. The
// error is ErrLocked when someone else is in the way. The lock is advisory and
// leaves the file's content readable and writable on every platform.
func TryLock(f *os.File, exclusive bool) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var lockErr error
	err = conn.Control(func(fd uintptr) { lockErr = tryLock(fd, exclusive) })
	return errors.Join(err, lockErr)
}

// Unlock gives back the lock of an open file.
func Unlock(f *os.File) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var lockErr error
	err = conn.Control(func(fd uintptr) { lockErr = unlock(fd) })
	return errors.Join(err, lockErr)
}

// Locked reports whether someone is in the way of a lock on an open file, shared
// or exclusive. It asks by taking that lock, for a moment in which it is in the way
// of others.
func Locked(f *os.File, exclusive bool) (bool, error) {
	switch err := TryLock(f, exclusive); {
	case errors.Is(err, ErrLocked):
		return true, nil
	case err != nil:
		return false, err
	}
	// Closing f would not do: a child between fork and exec has it open as well.
	return false, Unlock(f)
}

// WaitLock is TryLock that waits until ctx ends.
func WaitLock(ctx context.Context, f *os.File, exclusive bool) error {
	return Retry(ctx, isLocked, func() error { return TryLock(f, exclusive) })
}

// Lock takes the lock file at path, which is created, with the directories above
// it, private when missing. It returns the file open: closing it gives the lock
// back. It waits until ctx ends. A holder may remove the file before it closes
// it, so that none stays behind.
func Lock(ctx context.Context, path string) (f *os.File, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	err = Retry(ctx, isLocked, func() error {
		f, err = tryLockFile(path, os.O_CREATE)
		return err
	})
	return f, err
}

// OpenLock opens the lock file at path, which is created, with the directories above it,
// private when missing. Nobody may remove it.
func OpenLock(path string) (*os.File, error) {
	const flags = os.O_RDWR | os.O_CREATE | nonblock | nofollow
	f, err := os.OpenFile(path, flags, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
		f, err = os.OpenFile(path, flags, 0o600)
	}
	return f, err
}

// TryLockFile is Lock for a file that exists already, and that fails with
// ErrLocked at once.
func TryLockFile(path string) (*os.File, error) { return tryLockFile(path, 0) }

func tryLockFile(path string, create int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|create|nonblock|nofollow, 0o600)
	if err != nil {
		return nil, err
	}
	return claim(f, true, func() (fs.FileInfo, error) { return os.Lstat(path) })
}

// claim locks f, which it closes when it fails. The file may have been removed
// between opening and locking it, and a lock on it would keep nobody out:
// lstat says which file its name stands for now.
func claim(f *os.File, exclusive bool, lstat func() (fs.FileInfo, error)) (*os.File, error) {
	if err := TryLock(f, exclusive); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	held, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if now, err := lstat(); err != nil || !os.SameFile(held, now) {
		return nil, errors.Join(ErrLocked, f.Close())
	}
	return f, nil
}

func isLocked(err error) bool { return errors.Is(err, ErrLocked) }

// Retry calls do until it fails with no error that passing says will pass, or
// ctx ends: the kernel has no way to wait for a lock that a context could end.
// The error then is the cause of that end.
func Retry(ctx context.Context, passing func(error) bool, do func() error) error {
	for pause := 50 * time.Microsecond; ; pause = min(2*pause, 4*time.Millisecond) {
		err := do()
		if err == nil || !passing(err) {
			return err
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		case <-timer.C:
		}
	}
}
