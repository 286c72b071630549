//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package change

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// nonBlocking keeps from waiting at a pipe.
const nonBlocking = unix.O_NONBLOCK

func linkAt(from *os.File, name string, to *os.File, as string) error {
	return unix.Linkat(int(from.Fd()), name, int(to.Fd()), as, 0)
}

func renameAt(from *os.File, name string, to *os.File, as string) error {
	return unix.Renameat(int(from.Fd()), name, int(to.Fd()), as)
}

func otherDevice(err error) bool { return errors.Is(err, syscall.EXDEV) }

// names is how many names a file has.
func names(info fs.FileInfo) uint64 {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 1
	}
	return uint64(st.Nlink) //nolint:unconvert // other widths on other systems
}

// giveAway makes a copy belong to whom the file belongs, where we may.
func giveAway(f *os.File, info fs.FileInfo) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 {
		_ = f.Chown(int(st.Uid), int(st.Gid))
	}
}
