package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// stampOf tells one state of a file from another by what no program can set back:
// the time of its last change of any kind. It is false where there is none.
func stampOf(i fs.FileInfo) (string, bool) {
	st, ok := i.Sys().(*syscall.Stat_t)
	if !ok {
		return "", false
	}
	return fmt.Sprint(st.Ino, " ", st.Size, " ", st.Ctim.Nano()), true
}

// linked reports whether a file has more names than one.
func linked(i fs.FileInfo) bool {
	st, ok := i.Sys().(*syscall.Stat_t)
	return ok && st.Nlink > 1
}

// idOf tells a directory from all others that are there.
func idOf(dir *os.Root) (string, error) {
	i, err := dir.Stat(".")
	if err != nil {
		return "", err
	}
	st := i.Sys().(*syscall.Stat_t)
	return fmt.Sprint(st.Dev, " ", st.Ino), nil
}

// leadsTo reports whether a path leads to the directory of that id, and through no link.
func leadsTo(path, id string) bool {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if errors.Is(err, unix.ENOSYS) { // within another sandbox
		real, err := filepath.EvalSymlinks(path)
		return err == nil && real == path
	}
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	return unix.Fstat(fd, &st) == nil && fmt.Sprint(st.Dev, " ", st.Ino) == id
}

// bornAt tells what is at a path from all that ever was; "" where nothing is, or the file system has no time of birth.
func bornAt(path string) string {
	var st unix.Statx_t
	if unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_INO|unix.STATX_BTIME, &st) != nil || st.Mask&unix.STATX_BTIME == 0 {
		return ""
	}
	return fmt.Sprint(st.Dev_major, ":", st.Dev_minor, " ", st.Ino, " ", st.Btime.Sec, ".", st.Btime.Nsec)
}
