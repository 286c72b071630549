//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package change

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// overwritten reports whether a write will have to overwrite the file where it
// is: it has other names, is a mount point, or its directory is not ours to
// write.
func overwritten(path string, info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || st.Nlink > 1 {
		return true
	}
	parent := filepath.Dir(path)
	if dir, err := os.Lstat(parent); err == nil {
		if d, ok := dir.Sys().(*syscall.Stat_t); ok && d.Dev != st.Dev {
			return true
		}
	}
	return unix.Faccessat(unix.AT_FDCWD, parent, unix.W_OK, unix.AT_EACCESS) != nil
}

// identity is what stays when a file is renamed, and when its inode last
// changed, in nanoseconds, where the system tells.
func identity(info fs.FileInfo) (dev, ino uint64, ctime int64) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, 0
	}
	return uint64(st.Dev), uint64(st.Ino), changed(st) //nolint:unconvert // other widths on other systems
}

func notEmpty(err error) bool {
	return errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.EEXIST)
}

// kept is what the system keeps of a mode.
func kept(mode fs.FileMode) fs.FileMode { return mode }
