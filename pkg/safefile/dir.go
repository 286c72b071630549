package safefile

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A Dir is a private directory, held open: ours, 0700, no link. Names given to
// its methods are single path elements; no operation leaves the directory.
type Dir struct {
	root *os.Root
	path string
	info fs.FileInfo // as it was opened: which directory it is
}

// OpenDir opens the private directory at path. The error is ErrUnsafe when it
// is a link, not a directory, not ours or open to others.
func OpenDir(path string) (*Dir, error) { return openChecked(path, true) }

// MakeDir is OpenDir for a directory that may be missing: it and its parents
// are then created with mode 0700.
func MakeDir(path string) (*Dir, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	if err := makePrivate(path); err != nil {
		return nil, err
	}
	return OpenDir(path)
}

// OpenOwned is OpenDir for a directory that others may look into, but not
// change: one that may have been there before us.
func OpenOwned(path string) (*Dir, error) { return openChecked(path, false) }

// MakeOwned is OpenOwned for a directory that is created private when it is
// missing; the one above it exists.
func MakeOwned(path string) (*Dir, error) {
	if err := makePrivate(path); err != nil {
		return nil, err
	}
	return OpenOwned(path)
}

// Check says why OpenDir, or with owned OpenOwned, would not open the directory.
func Check(path string, owned bool) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	return checkDir(path, info, !owned)
}

func makePrivate(path string) error {
	err := os.Mkdir(path, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.Chmod(path, 0o700) // #nosec a directory; the umask may have taken our own bits
}

func openChecked(path string, private bool) (*Dir, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if err := checkDir(path, info, private); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return same(&Dir{root: root, path: path}, info)
}

// same closes d and fails when it is not what info was taken of: someone put a
// link in its place in between.
func same(d *Dir, info fs.FileInfo) (*Dir, error) {
	now, err := d.root.Stat(".")
	if err == nil && !os.SameFile(info, now) {
		err = fmt.Errorf("%w: %s changed while it was opened", ErrUnsafe, d.path)
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	d.info = now
	return d, nil
}

// Path returns the path the directory was opened by.
func (d *Dir) Path() string { return d.path }

// Close lets go of the directory.
func (d *Dir) Close() error { return d.root.Close() }

// Sub opens a private directory in d.
func (d *Dir) Sub(name string) (*Dir, error) {
	path := filepath.Join(d.path, name)
	info, err := d.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if err := checkDir(path, info, true); err != nil {
		return nil, err
	}
	root, err := d.root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return same(&Dir{root: root, path: path}, info)
}

// Make is Sub for a directory that is created when missing.
func (d *Dir) Make(name string) (*Dir, error) {
	err := d.root.Mkdir(name, 0o700)
	if err == nil {
		err = d.root.Chmod(name, 0o700)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return d.Sub(name)
}

// OpenFile opens a regular file of ours with the flags of os.OpenFile, with
// mode 0600 when it creates it. Links, devices, other people's files and files
// with a second hard link are ErrUnsafe.
func (d *Dir) OpenFile(name string, flag int) (*os.File, error) {
	path := filepath.Join(d.path, name)
	before, err := d.root.Lstat(name)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return nil, err
	}
	if !missing {
		if err := checkFile(path, before); err != nil {
			return nil, err
		}
	}
	f, err := d.root.OpenFile(name, flag|nonblock, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = checkFile(path, info)
	}
	if err == nil && modes && info.Mode().Perm() != 0o600 {
		err = f.Chmod(0o600)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Lstat describes what name is, links not followed.
func (d *Dir) Lstat(name string) (fs.FileInfo, error) { return d.root.Lstat(name) }

// ReadDir lists the directory, sorted by name.
func (d *Dir) ReadDir() ([]fs.DirEntry, error) { return fs.ReadDir(d.root.FS(), ".") }

// ReadFile returns the content of a file of at most MaxFile bytes.
func (d *Dir) ReadFile(name string) ([]byte, error) {
	f, err := d.OpenFile(name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err == nil && len(data) > MaxFile {
		err = fmt.Errorf("reading %s: larger than %d bytes", filepath.Join(d.path, name), MaxFile)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

// Check says why OpenFile would refuse an existing file.
func (d *Dir) Check(name string) error {
	info, err := d.root.Lstat(name)
	if err != nil {
		return err
	}
	return checkFile(filepath.Join(d.path, name), info)
}

// WriteFile replaces the content of name atomically. With sync the new content
// is on the disk before it takes the old one's place, so that a power cut too
// leaves the one or the other.
func (d *Dir) WriteFile(name string, data []byte, sync bool) error {
	if err := d.Check(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return d.replace(name, data, sync)
}

func (d *Dir) replace(name string, data []byte, sync bool) error {
	temp := "." + name + "." + strings.ToLower(rand.Text()) + TempSuffix
	err := d.writeTemp(temp, data, sync)
	if err == nil {
		err = d.root.Rename(temp, name)
	}
	if err != nil {
		_ = d.root.Remove(temp) // it may not even exist
	}
	return err
}

func (d *Dir) writeTemp(temp string, data []byte, sync bool) error {
	f, err := d.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil && sync {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// Remove removes a file or an empty directory.
func (d *Dir) Remove(name string) error { return d.root.Remove(name) }

// RemoveAll removes a file, or a directory with all it holds. A missing one is
// no error.
func (d *Dir) RemoveAll(name string) error {
	err := d.root.RemoveAll(name)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	// What was closed to all has to be opened to be emptied.
	_ = fs.WalkDir(d.root.FS(), name, func(path string, e fs.DirEntry, _ error) error {
		if e != nil && e.IsDir() && d.root.Chmod(path, 0o700) != nil {
			return fs.SkipDir
		}
		return nil
	})
	return d.root.RemoveAll(name)
}

// FS shows what the directory holds.
func (d *Dir) FS() fs.FS { return d.root.FS() }

// Touch sets the time of a file.
func (d *Dir) Touch(name string, t time.Time) error { return d.root.Chtimes(name, t, t) }

// Again opens the directory once more, for another who closes it.
func (d *Dir) Again() (*Dir, error) {
	root, err := d.root.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	return &Dir{root, d.path, d.info}, nil
}

// Rename renames within the directory.
func (d *Dir) Rename(from, to string) error { return d.root.Rename(from, to) }

// Sync puts the directory's entries on the disk, where the system can.
func (d *Dir) Sync() error {
	if !modes {
		return nil
	}
	f, err := d.root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Lock takes the lock file name, created when missing, exclusively and returns
// it open; closing it gives the lock back. It waits until ctx ends. A lock
// counts between processes and between goroutines and dies with its holder.
func (d *Dir) Lock(ctx context.Context, name string) (f *os.File, err error) {
	err = Retry(ctx, isLocked, func() error {
		f, err = d.TryLock(name, true)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("locking %s: %w", filepath.Join(d.path, name), err)
	}
	return f, nil
}

// TryLock is Lock, shared or exclusive, that fails with ErrLocked at once.
func (d *Dir) TryLock(name string, exclusive bool) (*os.File, error) {
	f, err := d.OpenFile(name, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	return claim(f, exclusive, func() (fs.FileInfo, error) { return d.root.Lstat(name) })
}

// Locked reports whether someone holds the lock of an existing file.
func (d *Dir) Locked(name string) bool {
	f, err := d.OpenFile(name, os.O_RDWR)
	if err != nil {
		return false
	}
	defer f.Close()
	locked, err := Locked(f, true)
	return locked || err != nil
}

// Current reports whether the directory is still the one at its path.
func (d *Dir) Current() bool {
	now, err := os.Lstat(d.path)
	return err == nil && os.SameFile(d.info, now)
}

func checkDir(path string, info fs.FileInfo, private bool) error {
	if err := checkOurs(path, info); err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%w: %s is not a directory", ErrUnsafe, path)
	}
	open := fs.FileMode(0o022)
	if private {
		open = 0o077
	}
	if perm := info.Mode().Perm(); modes && perm&open != 0 {
		return fmt.Errorf("%w: %s has mode %04o, others can get in; run chmod 700 on it", ErrUnsafe, path, perm)
	}
	return nil
}

func checkFile(path string, info fs.FileInfo) error {
	if err := checkOurs(path, info); err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%w: %s is not a regular file", ErrUnsafe, path)
	}
	if links(info) > 1 {
		return fmt.Errorf("%w: %s has a second hard link", ErrUnsafe, path)
	}
	return nil
}

func checkOurs(path string, info fs.FileInfo) error {
	if info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%w: %s is a symbolic link", ErrUnsafe, path)
	}
	if !ours(info) {
		if info.IsDir() && info.Mode().Perm() == 0 { // so the sandbox shows what it hides
			return fmt.Errorf("%w: %s is hidden, as from every command that runs in a sandbox", ErrUnsafe, path)
		}
		return fmt.Errorf("%w: %s belongs to another user", ErrUnsafe, path)
	}
	return nil
}
