package policy

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// writeFile replaces a file atomically: after a crash the old or the new
// content stands there. The file is private and so is its directory, when it
// has to be made. A link is followed, so that a linked policy stays linked.
func writeFile(name string, data []byte) (err error) {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		name = real
	}
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "."+filepath.Base(name)+".*.tmp") // mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	if _, err = f.Write(data); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// locked runs f while no other process holds the lock file. The lock goes
// with the process that holds it.
func locked(name string, f func() error) (err error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := lockFile(file); err != nil {
		return err
	}
	return f()
}

// readOrNothing reads a file; one that does not exist is empty.
func readOrNothing(name string) ([]byte, error) {
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}
