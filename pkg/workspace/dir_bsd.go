//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const dirFlags = unix.O_RDONLY

func hasOpenat2(int) bool { return false }

func openat2(int, string, int, bool) (int, error) { return -1, unix.ENOSYS }

func (w *Workspace) probe(string, string) (fs.FileInfo, bool) { return nil, false }

func (w *Workspace) statReal(abs string) (fs.FileInfo, error) {
	if abs == "/" {
		return os.Lstat(abs)
	}
	parent, name := dirOf(abs)
	d, err := w.openDir(parent)
	if err != nil {
		return nil, err
	}
	defer d.close()
	return d.stat(name)
}

// stat asks twice, by handle and by name, for only the second gives an
// fs.FileInfo that os.SameFile knows. Both must be the same file.
func (d dir) stat(name string) (fs.FileInfo, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return nil, d.wrap("stat", name, err)
	}
	info, err := os.Lstat(join(d.path, name))
	if err != nil {
		return nil, err
	}
	if sys, ok := info.Sys().(*syscall.Stat_t); !ok || uint64(sys.Ino) != uint64(st.Ino) || uint64(sys.Dev) != uint64(st.Dev) {
		return nil, d.wrap("stat", name, fmt.Errorf("%w: it is another file now", ErrMoved))
	}
	return info, nil
}

func (d dir) chmod(name string, mode fs.FileMode) error {
	bits := uint32(mode.Perm())
	for bit, is := range map[uint32]fs.FileMode{unix.S_ISUID: fs.ModeSetuid, unix.S_ISGID: fs.ModeSetgid, unix.S_ISVTX: fs.ModeSticky} {
		if mode&is != 0 {
			bits |= bit
		}
	}
	return d.wrap("chmod", name, unix.Fchmodat(d.fd, name, bits, unix.AT_SYMLINK_NOFOLLOW))
}

func renameNew(oldDir int, old string, newDir int, name string) error {
	return linkNew(oldDir, old, newDir, name)
}

// writtenTo is not known here, nor asked where nothing is exchanged.
func writtenTo(*os.File) bool { return false }

func (d dir) exchange(string, string) error { return errors.ErrUnsupported }

func reserve(*os.File, int64) error { return nil }
