package shellparse

import "golang.org/x/sys/unix"

// oldCall describes the calls that other machines do without: which argument
// names the file that it writes, or that it opens one.
func oldCall(nr uintptr) (write bool, arg int, ok bool) {
	switch nr {
	case unix.SYS_OPEN:
		return false, 0, true
	case unix.SYS_CREAT, unix.SYS_UNLINK, unix.SYS_MKDIR, unix.SYS_RMDIR, unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_MKNOD:
		return true, 0, true
	case unix.SYS_RENAME, unix.SYS_LINK, unix.SYS_SYMLINK:
		return true, 1, true
	}
	return false, 0, false
}
