package safefile

import (
	"errors"
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// ChmodAt sets the mode of what is called name in a directory that is open. It follows no
// link, and does nothing to one.
func ChmodAt(dir int, name string, mode fs.FileMode) error {
	fd, err := unix.Openat(dir, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT == unix.S_IFLNK {
		return unix.ELOOP
	}
	err = os.Chmod("/proc/self/fd/"+strconv.Itoa(fd), mode) // fchmod takes no such descriptor
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return err
}

// Chmod sets the mode of what is called name in a directory. It follows no link, as os.Root
// does where one stays in it, and does nothing to one.
func Chmod(dir *os.Root, name string, mode fs.FileMode) error {
	f, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	if err := ChmodAt(int(f.Fd()), name, mode); err != nil {
		return &fs.PathError{Op: "chmod", Path: name, Err: err}
	}
	return nil
}
