package change

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// A survey tells whether rm, started by us, could remove a directory with all in it, so
// that it is the same whether rm does or finds it empty. It may say no where yes is true.
type survey struct {
	dirs map[inode]bool
}

type inode struct{ dev, ino uint64 }

// fixed are attributes of what cannot be removed.
const fixed = unix.STATX_ATTR_IMMUTABLE | unix.STATX_ATTR_APPEND | unix.STATX_ATTR_MOUNT_ROOT | unix.STATX_ATTR_AUTOMOUNT

// parent reports whether names can be removed from the directory above.
func (s *survey) parent(dir *os.File) bool {
	st, ok := statx(dir, ".")
	return ok && ours(&st) && st.Attributes&(fixed&^unix.STATX_ATTR_MOUNT_ROOT) == 0
}

// add reports whether a name could be removed, with what is in it.
func (s *survey) add(dir *os.File, name string) bool {
	st, ok := statx(dir, name)
	if !ok || st.Attributes&fixed != 0 {
		return false
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return true
	}
	if s.dirs == nil {
		s.dirs = map[inode]bool{}
	}
	s.dirs[inode{unix.Mkdev(st.Dev_major, st.Dev_minor), st.Ino}] = true
	return ours(&st)
}

// ours reports whether a directory's mode lets us list and change it. Rights beyond those
// of an owner, such as root's, a command need not have.
func ours(st *unix.Statx_t) bool { return int(st.Uid) == os.Geteuid() && st.Mode&0o700 == 0o700 }

// statx looks at a name; ok is false where the kernel does not tell of mounts (Linux 5.8).
func statx(dir *os.File, name string) (st unix.Statx_t, ok bool) {
	err := unix.Statx(int(dir.Fd()), name, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT, unix.STATX_TYPE|unix.STATX_MODE|unix.STATX_UID|unix.STATX_INO, &st)
	return st, err == nil && st.Attributes_mask&unix.STATX_ATTR_MOUNT_ROOT != 0
}

// inUse reports whether a process works in one of the directories, has one open or watches
// one, as far as we may see: it would go on with what is set aside. What cannot be looked
// at counts as a yes.
func (s *survey) inUse() bool {
	proc, err := os.Open("/proc")
	if err != nil {
		return true
	}
	defer proc.Close()
	names, err := proc.Readdirnames(-1)
	if err != nil || len(names) == 0 {
		return true
	}
	self := fmt.Sprint(os.Getpid())
	for _, pid := range names {
		if pid[0] < '1' || pid[0] > '9' || pid == self {
			continue
		}
		dir := filepath.Join("/proc", pid)
		if s.has(dir+"/cwd") || s.has(dir+"/root") || s.opened(dir) {
			return true
		}
	}
	return false
}

func (s *survey) has(name string) bool {
	var st unix.Stat_t
	return unix.Stat(name, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR && s.dirs[inode{st.Dev, st.Ino}]
}

// opened reports whether one of a process's descriptors is of one of the directories.
func (s *survey) opened(proc string) bool {
	fds, err := os.Open(proc + "/fd")
	if err != nil {
		return false // it is over, or another user's
	}
	defer fds.Close()
	names, _ := fds.Readdirnames(-1)
	for _, fd := range names {
		if s.has(proc + "/fd/" + fd) {
			return true
		}
		if target, _ := os.Readlink(proc + "/fd/" + fd); strings.HasSuffix(target, "inotify") {
			data, err := os.ReadFile(proc + "/fdinfo/" + fd)
			if err == nil && s.watched(data) {
				return true
			}
		}
	}
	return false
}

// watched reads the lines "inotify wd:3 ino:9e7e sdev:800013 …". Their device numbers are
// the kernel's own, so that inodes alone are compared.
func (s *survey) watched(fdinfo []byte) bool {
	inodes := map[uint64]bool{}
	for d := range s.dirs {
		inodes[d.ino] = true
	}
	for lines := bufio.NewScanner(bytes.NewReader(fdinfo)); lines.Scan(); {
		var wd int
		var ino uint64
		if _, err := fmt.Sscanf(lines.Text(), "inotify wd:%x ino:%x", &wd, &ino); err == nil && inodes[ino] {
			return true
		}
	}
	return false
}

func exchangeAt(a *os.File, name string, b *os.File, other string) error {
	return unix.Renameat2(int(a.Fd()), name, int(b.Fd()), other, unix.RENAME_EXCHANGE)
}
