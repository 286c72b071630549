package workspace

import (
	"errors"
	"io/fs"
	"os"

	"github.com/agentkit-go/agentkit/pkg/safefile"
	"golang.org/x/sys/unix"
)

// dirFlags open a directory for walking: reading it needs no right.
const dirFlags = unix.O_PATH

const noLinks = unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS

// hasOpenat2 reports whether the kernel has openat2 (Linux 5.6) and no filter
// forbids it.
func hasOpenat2(fd int) bool {
	n, err := openat2(fd, ".", unix.O_PATH, true)
	if err == nil {
		unix.Close(n)
	}
	return err == nil
}

// openat2 opens rel with no link allowed at any component.
func openat2(fd int, rel string, flag int, beneath bool) (int, error) {
	how := unix.OpenHow{Flags: uint64(flag | unix.O_CLOEXEC), Resolve: noLinks}
	if beneath {
		how.Resolve |= unix.RESOLVE_BENEATH
	}
	for tries := 0; ; tries++ {
		n, err := unix.Openat2(fd, rel, &how)
		if errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN) && tries < 100 {
			continue // EAGAIN: something was renamed while the kernel looked
		}
		return n, err
	}
}

// probe looks at rel beneath the root if no link leads there.
func (w *Workspace) probe(rel, abs string) (fs.FileInfo, bool) {
	if !w.base.openat2 {
		return nil, false
	}
	fd, err := openat2(w.base.fd, rel, unix.O_PATH, true)
	if err != nil {
		return nil, false
	}
	unix.Close(fd)
	// The facts are of this moment either way; asking by name costs less than
	// making an os.File of the descriptor, and what is opened later is checked
	// again.
	info, err := os.Lstat(abs)
	return info, err == nil && !isLink(info)
}

// statReal looks at the file abs without opening it.
func (w *Workspace) statReal(abs string) (fs.FileInfo, error) {
	fd, err := w.openAt(abs, unix.O_PATH|unix.O_NOFOLLOW)
	if err != nil {
		return nil, err
	}
	return statClose(fd, abs)
}

func (d dir) stat(name string) (fs.FileInfo, error) {
	fd, err := openat(d.fd, name, unix.O_PATH, 0)
	if err != nil {
		return nil, d.wrap("stat", name, err)
	}
	return statClose(fd, join(d.path, name))
}

func statClose(fd int, name string) (fs.FileInfo, error) {
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	return f.Stat()
}

func (d dir) chmod(name string, mode fs.FileMode) error {
	return d.wrap("chmod", name, safefile.ChmodAt(d.fd, name, mode))
}

// renameNew renames without ever replacing a file.
func renameNew(oldDir int, old string, newDir int, name string) error {
	err := unix.Renameat2(oldDir, old, newDir, name, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return linkNew(oldDir, old, newDir, name) // a file system, or a kernel, without it
	}
	return err
}

// writtenTo reports whether somebody has the file open for writing. Only then does the
// kernel refuse a lease to read it, but also to those who do not own the file.
func writtenTo(f *os.File) bool {
	raw, err := f.SyscallConn()
	if err != nil {
		return false
	}
	_ = raw.Control(func(fd uintptr) {
		if _, err = unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_RDLCK); err == nil {
			_, _ = unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_UNLCK)
		}
	})
	return errors.Is(err, unix.EAGAIN)
}

// exchange lets two files swap their names. It is errors.ErrUnsupported where
// the file system, or the kernel, cannot.
func (d dir) exchange(a, b string) error {
	err := unix.Renameat2(d.fd, a, d.fd, b, unix.RENAME_EXCHANGE)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS):
		err = errors.ErrUnsupported
	}
	return &os.LinkError{Op: "exchange", Old: join(d.path, a), New: join(d.path, b), Err: err}
}

// reserve makes sure that size bytes will fit before the old ones are touched.
func reserve(f *os.File, size int64) error {
	if size <= 0 {
		return nil
	}
	err := unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, 0, size)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINTR) {
		return nil
	}
	return err
}
