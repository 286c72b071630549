//go:build unix

package safefile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// modes says that permission bits mean something here.
const modes = true

// nonblock keeps an open from waiting should the file turn out to be a FIFO;
// nofollow makes it fail at a symbolic link.
const nonblock, nofollow = syscall.O_NONBLOCK, syscall.O_NOFOLLOW

func ours(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Uid == uint32(os.Geteuid())
}

func links(info fs.FileInfo) uint64 {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 1
	}
	return uint64(st.Nlink) //nolint:unconvert // of another type on other machines
}

// DiskFull reports whether there was no room for what was to be written.
func DiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
