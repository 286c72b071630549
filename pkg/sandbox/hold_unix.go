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
)

// holdSuffix ends the name of the file in which Hold leaves a snapshot.
const holdSuffix = ".held"

// Hold leaves s beside the report of a command whose end this process means to
// see, in case it is killed before: see [Recover]. Release takes it away.
func (s *Snapshot) Hold(report, quarantine string) (release func(), err error) {
	raw, err := s.stored(quarantine)
	var f *os.File
	if err == nil {
		f, err = os.OpenFile(report+holdSuffix, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("keeping what is protected: %w", err)
	}
	release = func() {
		_ = os.Remove(f.Name())
		_ = f.Close()
	}
	if err = lock(f); err == nil {
		_, err = f.Write(raw)
	}
	if err != nil {
		release()
		return nil, fmt.Errorf("keeping what is protected: %w", err)
	}
	return release, nil
}

// Recover restores what is held in the directory dir by processes that are no
// more.
func Recover(dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, "*"+holdSuffix))
	for _, name := range names {
		err = errors.Join(err, recoverOne(name))
	}
	return err
}

func recoverOne(name string) error {
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil // it was released just now
	}
	defer f.Close()
	var i unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &i); err != nil || int(i.Uid) != os.Geteuid() || i.Mode&0o077 != 0 {
		return nil // nobody else tells us what to write
	}
	if lock(f) != nil {
		return nil // its command goes on
	}
	raw, err := io.ReadAll(f)
	if err == nil && json.Valid(raw) { // else it was killed before the command was started
		_, err = restoreStored(raw)
	}
	if err != nil {
		return fmt.Errorf("putting back what is protected: %w", err)
	}
	return os.Remove(name)
}

func lock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }
