package session

import (
	"context"
	"errors"
	"os"
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

// WaitLock is TryLock that waits until ctx ends.
func WaitLock(ctx context.Context, f *os.File, exclusive bool) error {
	for wait := newBackoff(); ; {
		err := TryLock(f, exclusive)
		if !errors.Is(err, ErrLocked) {
			return err
		}
		if err := wait.sleep(ctx); err != nil {
			return err
		}
	}
}

// A backoff paces the attempts to get a lock: waiting in the kernel could not
// be ended by a context.
type backoff struct{ pause time.Duration }

func newBackoff() *backoff { return &backoff{50 * time.Microsecond} }

func (b *backoff) sleep(ctx context.Context) error {
	timer := time.NewTimer(b.pause)
	defer timer.Stop()
	b.pause = min(2*b.pause, 2*time.Millisecond)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
