//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// A rootHandle holds the root directory open. Here os.Root does what openat
// does elsewhere: it never leaves its directory, and that each component is
// no link is checked by file identity before and after.
type rootHandle struct{ r *os.Root }

func openRoot(root string) (rootHandle, error) {
	info, err := os.Stat(root)
	if err != nil {
		return rootHandle{}, err
	}
	if !info.IsDir() {
		return rootHandle{}, ErrNotDir
	}
	r, err := os.OpenRoot(root)
	return rootHandle{r}, err
}

func (r rootHandle) close() { r.r.Close() }

type dir struct {
	r    *os.Root
	path string
}

func (w *Workspace) openDir(abs string) (dir, error) {
	var d dir
	rel, ok := safefile.Rel(w.root, abs)
	if ok {
		r, err := w.base.r.OpenRoot(".")
		if err != nil {
			return dir{}, err
		}
		d = dir{r, w.root}
	} else {
		top := filepath.VolumeName(abs) + string(filepath.Separator)
		r, err := os.OpenRoot(top)
		if err != nil {
			return dir{}, err
		}
		d, rel = dir{r, top}, strings.TrimPrefix(abs, top)
	}
	for c := range strings.FieldsFuncSeq(rel, isSeparator) {
		if c == "." {
			continue
		}
		next, err := d.openDir(c)
		d.close()
		if err != nil {
			return dir{}, err
		}
		d = next
	}
	return d, nil
}

func (w *Workspace) openReal(abs string, flag int, check func(fs.FileMode) error) (*os.File, error) {
	parent, name := dirOf(abs)
	d, err := w.openDir(parent)
	if err != nil {
		return nil, err
	}
	defer d.close()
	f, err := d.open(name, flag, 0)
	if err != nil || check == nil {
		return f, err
	}
	info, err := f.Stat()
	if err == nil {
		err = check(info.Mode())
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (w *Workspace) statReal(abs string) (fs.FileInfo, error) {
	parent, name := dirOf(abs)
	d, err := w.openDir(parent)
	if err != nil {
		return nil, err
	}
	defer d.close()
	return d.stat(name)
}

func (w *Workspace) probe(string, string) (fs.FileInfo, bool) { return nil, false }

func (d dir) close() { d.r.Close() }

func (d dir) movedError(op, name string) error {
	return &fs.PathError{Op: op, Path: join(d.path, name), Err: fmt.Errorf("%w: it leads through a link now", ErrMoved)}
}

func (d dir) open(name string, flag int, perm fs.FileMode) (*os.File, error) {
	if info, err := d.r.Lstat(name); err == nil && isLink(info) {
		return nil, d.movedError("open", name)
	}
	f, err := d.r.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	before, err := d.r.Lstat(name)
	after, err2 := f.Stat()
	if err = errors.Join(err, err2); err == nil && !os.SameFile(before, after) {
		err = d.movedError("open", name)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (d dir) openDir(name string) (dir, error) {
	before, err := d.r.Lstat(name)
	if err != nil {
		return dir{}, err
	}
	if isLink(before) {
		return dir{}, d.movedError("open", name)
	}
	if !before.IsDir() {
		return dir{}, &fs.PathError{Op: "open", Path: join(d.path, name), Err: ErrNotDir}
	}
	r, err := d.r.OpenRoot(name)
	if err != nil {
		return dir{}, err
	}
	if after, err := r.Stat("."); err != nil || !os.SameFile(before, after) {
		r.Close()
		return dir{}, d.movedError("open", name)
	}
	return dir{r, join(d.path, name)}, nil
}

func (d dir) stat(name string) (fs.FileInfo, error) { return d.r.Lstat(name) }

func (d dir) readlink(name string) (string, error) { return d.r.Readlink(name) }

func (d dir) mkdir(name string) error { return d.r.Mkdir(name, 0o777) }

func (d dir) symlink(target, name string) error { return d.r.Symlink(target, name) }

func (d dir) chmod(name string, mode fs.FileMode) error { return safefile.Chmod(d.r, name, mode) }

func (d dir) remove(name string, _ bool) error { return d.r.Remove(name) }

func (d dir) rename(old string, to dir, name string, keep bool) error {
	if keep {
		// No rename here refuses by itself: the moment between the look and
		// the rename is unguarded.
		if _, err := to.r.Lstat(name); err == nil {
			return &os.LinkError{Op: "rename", Old: join(d.path, old), New: join(to.path, name), Err: fs.ErrExist}
		}
	}
	if d.path == to.path {
		return d.r.Rename(old, name)
	}
	return os.Rename(join(d.path, old), join(to.path, name)) // os.Root has no rename between two roots
}

func (d dir) sync() error { return nil } // directories cannot be synced here

func (d dir) writable(_ string, info fs.FileInfo) error {
	if info.Mode().Perm()&0o222 == 0 {
		return ErrReadOnly
	}
	return nil
}

func keepOwner(*os.File, fs.FileInfo) error { return nil }

// setMode sets no more than the read-only attribute on Windows, and not by an
// open file's handle.
func setMode(f *os.File, mode fs.FileMode) error {
	if runtime.GOOS == "windows" && mode.Perm()&0o222 != 0 {
		return nil
	}
	return f.Chmod(mode)
}

// writtenTo is not known here, nor asked where nothing is exchanged.
func writtenTo(*os.File) bool { return false }

func (d dir) exchange(string, string) error { return errors.ErrUnsupported }

func reserve(*os.File, int64) error { return nil }

func linkCount(fs.FileInfo) uint64 { return 0 } // not known without opening the file

const (
	openFlags = os.O_RDONLY
	listFlags = os.O_RDONLY
)
