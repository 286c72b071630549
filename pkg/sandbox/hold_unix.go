//go:build unix

package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// Hold leaves s beside the report of a command whose end this process means to
// see, in case it is killed before: see [Recover]. Release takes it away, but for what
// Restore had no room for.
func (s *Snapshot) Hold(report, quarantine string) (release func(), err error) {
	raw, err := s.stored(quarantine)
	var let func(left []byte)
	if err == nil {
		let, err = hold(report+holdSuffix, raw)
	}
	if err == nil {
		if err = meet(report); err != nil {
			let(nil)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("keeping what is protected: %w", err)
	}
	return func() {
		var left []byte
		if len(s.unsettled) > 0 {
			rest := &Snapshot{paths: s.unsettled, homes: s.homes, ids: s.ids}
			if left, err = rest.stored(quarantine); err != nil {
				left = raw
			}
		}
		let(left)
	}, nil
}

// hold makes the file name with this content, locked until release removes it or leaves
// another content to whoever looks next: the old one, where there is no room.
// It gets its name when it is whole and locked: under that name nobody finds
// one that no living process holds but those of processes that were killed. A
// kill before that leaves a temporary file for the session's gc.
func hold(name string, raw []byte) (release func(left []byte), err error) {
	dir, base := filepath.Split(name)
	temp := dir + "." + base + safefile.TempSuffix
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if err = safefile.TryLock(f, true); err == nil {
		_, err = f.Write(raw)
	}
	if err == nil {
		err = os.Rename(temp, name)
	}
	if err != nil {
		return nil, errors.Join(err, os.Remove(temp), f.Close())
	}
	return func(left []byte) {
		if left == nil {
			_ = os.Remove(name) // while it is locked, so that nobody takes it for a killed process's
		} else {
			_ = safefile.WriteFile(name, left, false)
		}
		_ = f.Close()
	}, nil
}

// Recover restores what is held in the directory dir by processes that are no
// more.
func Recover(dir string, find Finder) error {
	names, err := ending(dir, holdSuffix)
	for _, name := range names {
		err = errors.Join(err, recoverOne(name, find))
	}
	return err
}

func recoverOne(name string, find Finder) error {
	f, err := safefile.TryLockFile(name)
	if err != nil {
		return nil //nolint:nilerr // its command goes on, or it was released just now
	}
	defer f.Close()
	var i unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &i); err != nil || int(i.Uid) != os.Geteuid() || i.Mode&0o077 != 0 {
		return nil //nolint:nilerr // nobody else tells us what to write
	}
	raw, err := io.ReadAll(f)
	if err == nil && json.Valid(raw) { // else an older version was killed before it started the command
		_, err = restoreStored(raw, find)
	}
	if safefile.DiskFull(err) { // the next call tries again, and may itself make room
		return nil
	}
	if err != nil {
		return fmt.Errorf("putting back what is protected: %w", err)
	}
	return os.Remove(name)
}
