//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/agentkit-go/agentkit/pkg/safefile"
	"golang.org/x/sys/unix"
)

// A rootHandle holds the root directory open, so that what is beneath it stays
// beneath it wherever the name may point later.
type rootHandle struct {
	f       *os.File
	fd      int
	openat2 bool // the kernel itself can refuse links at every component
}

func openRoot(root string) (rootHandle, error) {
	f, err := os.OpenFile(root, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if errors.Is(err, syscall.ENOTDIR) {
		return rootHandle{}, ErrNotDir
	}
	if err != nil {
		return rootHandle{}, err
	}
	fd := int(f.Fd())
	return rootHandle{f, fd, hasOpenat2(fd)}, nil
}

func (r rootHandle) close() { _ = r.f.Close() }

// A dir is a directory that was reached through no link. Its methods take the
// name of one file in it and never follow a link there.
type dir struct {
	fd   int
	path string
}

// openDir opens the directory abs, which is absolute and clean.
func (w *Workspace) openDir(abs string) (dir, error) {
	fd, err := w.openAt(abs, dirFlags|unix.O_DIRECTORY)
	if err != nil {
		return dir{}, err
	}
	return dir{fd, abs}, nil
}

// openReal opens the existing file abs, which is absolute and clean, if
// check, which may be nil, agrees with its type.
func (w *Workspace) openReal(abs string, flag int, check func(fs.FileMode) error) (*os.File, error) {
	fd, err := w.openAt(abs, flag|unix.O_NONBLOCK)
	if err != nil {
		return nil, err
	}
	if check != nil {
		var st unix.Stat_t
		if err = unix.Fstat(fd, &st); err == nil {
			err = check(typeBits(uint32(st.Mode))) //nolint:unconvert // it has fewer bits on other systems
		}
	}
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), abs), nil
}

// typeBits is the type of a file, nothing else, as fs knows it.
func typeBits(mode uint32) fs.FileMode {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return 0
	case unix.S_IFDIR:
		return fs.ModeDir
	}
	return fs.ModeIrregular
}

func (w *Workspace) openAt(abs string, flag int) (fd int, err error) {
	base, rel := unix.AT_FDCWD, abs
	beneath := false
	if r, ok := safefile.Rel(w.root, abs); ok {
		base, rel, beneath = w.base.fd, r, true
	}
	if w.base.openat2 {
		fd, err = openat2(base, rel, flag, beneath)
	} else {
		fd, err = openSteps(base, rel, flag)
	}
	if err != nil {
		return -1, &fs.PathError{Op: "open", Path: abs, Err: moved(err)}
	}
	return fd, nil
}

// openSteps opens a path one component after the other, so that a link at any
// of them is seen. It needs nothing of a kernel but openat.
func openSteps(base int, rel string, flag int) (int, error) {
	at, err := base, error(nil)
	if rel[0] == '/' {
		if at, err = openat(unix.AT_FDCWD, "/", dirFlags|unix.O_DIRECTORY, 0); err != nil {
			return -1, err
		}
		if rel = rel[1:]; rel == "" {
			rel = "."
		}
	}
	for {
		c, rest, more := strings.Cut(rel, "/")
		f := flag
		if more {
			f = dirFlags | unix.O_DIRECTORY
		}
		next, err := openat(at, c, f, 0)
		if errors.Is(err, unix.ENOTDIR) && isLinkAt(at, c) {
			err = unix.ELOOP
		}
		if at != base {
			unix.Close(at)
		}
		if err != nil || !more {
			return next, err
		}
		at, rel = next, rest
	}
}

func isLinkAt(fd int, name string) bool {
	var st unix.Stat_t
	return unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK
}

// openat never follows a link at name, and survives signals.
func openat(fd int, name string, flag int, perm uint32) (int, error) {
	for {
		n, err := unix.Openat(fd, name, flag|unix.O_NOFOLLOW|unix.O_CLOEXEC, perm)
		if !errors.Is(err, unix.EINTR) {
			if errors.Is(err, unix.EMLINK) { // what FreeBSD says for ELOOP
				err = unix.ELOOP
			}
			return n, err
		}
	}
}

// moved turns what the kernel says about a link where none was into ErrMoved.
// A real path has no links, and all but its last name were directories.
func moved(err error) error {
	switch {
	case errors.Is(err, unix.ELOOP), errors.Is(err, unix.EXDEV):
		return fmt.Errorf("%w: it leads through a link now", ErrMoved)
	case errors.Is(err, unix.ENOTDIR):
		return ErrNotDir
	case errors.Is(err, unix.EISDIR):
		return ErrIsDir
	}
	return err
}

func (d dir) wrap(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: join(d.path, name), Err: moved(err)}
}

func (d dir) close() { _ = unix.Close(d.fd) }

func (d dir) open(name string, flag int, perm fs.FileMode) (*os.File, error) {
	fd, err := openat(d.fd, name, flag|unix.O_NONBLOCK, uint32(perm.Perm()))
	if err != nil {
		return nil, d.wrap("open", name, err)
	}
	return os.NewFile(uintptr(fd), join(d.path, name)), nil
}

func (d dir) openDir(name string) (dir, error) {
	fd, err := openat(d.fd, name, dirFlags|unix.O_DIRECTORY, 0)
	if errors.Is(err, unix.ENOTDIR) && isLinkAt(d.fd, name) {
		err = unix.ELOOP
	}
	if err != nil {
		return dir{}, d.wrap("open", name, err)
	}
	return dir{fd, join(d.path, name)}, nil
}

func (d dir) readlink(name string) (string, error) {
	buf := make([]byte, maxPath+1)
	n, err := unix.Readlinkat(d.fd, name, buf)
	if err != nil {
		return "", d.wrap("readlink", name, err)
	}
	return string(buf[:n]), nil
}

func (d dir) mkdir(name string) error {
	return d.wrap("mkdir", name, unix.Mkdirat(d.fd, name, 0o777))
}

func (d dir) symlink(target, name string) error {
	return d.wrap("symlink", name, unix.Symlinkat(target, d.fd, name))
}

func (d dir) remove(name string, isDir bool) error {
	flag := 0
	if isDir {
		flag = unix.AT_REMOVEDIR
	}
	return d.wrap("remove", name, unix.Unlinkat(d.fd, name, flag))
}

// rename moves a file over what is at the new name, or, with keep, fails with
// fs.ErrExist when something is there.
func (d dir) rename(old string, to dir, name string, keep bool) error {
	var err error
	if keep {
		err = renameNew(d.fd, old, to.fd, name)
	} else {
		err = unix.Renameat(d.fd, old, to.fd, name)
	}
	if err == nil {
		return nil
	}
	return &os.LinkError{Op: "rename", Old: join(d.path, old), New: join(to.path, name), Err: err}
}

// linkNew gives the file a second name and takes the first away: a rename
// that never replaces, where the kernel has no such thing.
func linkNew(oldDir int, old string, newDir int, name string) error {
	if err := unix.Linkat(oldDir, old, newDir, name, 0); err != nil {
		return err
	}
	return unix.Unlinkat(oldDir, old, 0)
}

// sync makes a change of the directory's names last.
func (d dir) sync() error {
	fd, err := openat(d.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil // it can be written, but not opened: nothing to be done
	}
	defer unix.Close(fd)
	if err := unix.Fsync(fd); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOTSUP) {
		return &fs.PathError{Op: "sync", Path: d.path, Err: err}
	}
	return nil
}

// writable reports whether the file may be written: its mode has a bit for
// it, also for root, and the system would let us.
func (d dir) writable(name string, info fs.FileInfo) error {
	if info.Mode().Perm()&0o222 == 0 {
		return ErrReadOnly
	}
	err := unix.Faccessat(d.fd, name, unix.W_OK, unix.AT_EACCESS)
	switch {
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM), errors.Is(err, unix.EROFS):
		return fmt.Errorf("%w: %w", ErrReadOnly, err)
	case errors.Is(err, unix.ETXTBSY): // it is running: replacing it is fine
		return nil
	}
	return err
}

func linkCount(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink) //nolint:unconvert // it has fewer bits on other systems
	}
	return 0
}

func fileLinks(_ *os.File, info fs.FileInfo) uint64 { return linkCount(info) }

// keepOwner gives f the owner and group of info, or at least the group.
func keepOwner(f *os.File, info fs.FileInfo) error {
	want, ok := info.Sys().(*syscall.Stat_t)
	now, err := f.Stat()
	if !ok || err != nil {
		return err
	}
	have, ok := now.Sys().(*syscall.Stat_t)
	if !ok || have.Uid == want.Uid && have.Gid == want.Gid {
		return nil
	}
	if err = f.Chown(int(want.Uid), int(want.Gid)); err != nil && have.Gid != want.Gid {
		_ = f.Chown(-1, int(want.Gid)) // the owner is lost in any case, and err says so
	}
	return err
}

// setMode sets the permission bits with setuid, setgid and sticky.
func setMode(f *os.File, mode fs.FileMode) error { return f.Chmod(mode) }

const (
	openFlags = unix.O_RDONLY | unix.O_NOCTTY
	listFlags = unix.O_RDONLY | unix.O_DIRECTORY
)
