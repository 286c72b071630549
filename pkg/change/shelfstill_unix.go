//go:build linux || darwin

package change

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// likewise gives a copy the owner, the group and the attributes of a file.
func likewise(f, from *os.File, info fs.FileInfo) error {
	is, err := f.Stat()
	if err != nil {
		return err
	}
	now, ok := is.Sys().(*syscall.Stat_t)
	was, also := info.Sys().(*syscall.Stat_t)
	if !ok || !also {
		return errors.ErrUnsupported
	}
	if now.Uid != was.Uid || now.Gid != was.Gid {
		if err := f.Chown(int(was.Uid), int(was.Gid)); err != nil {
			return err
		}
	}
	var list [512]byte
	n, err := unix.Flistxattr(int(from.Fd()), list[:])
	if n <= 0 || err != nil {
		if errors.Is(err, unix.ENOTSUP) {
			err = nil
		}
		return err
	}
	var value [1024]byte
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list[:n]), "\x00"), "\x00") {
		n, err := unix.Fgetxattr(int(from.Fd()), name, value[:])
		if err == nil {
			err = unix.Fsetxattr(int(f.Fd()), name, value[:n], 0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
