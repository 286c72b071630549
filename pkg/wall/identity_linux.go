package wall

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// A base is a directory from which others are named, which takes the kernel a
// shorter way than from the root of the file system. The zero value is none.
type base struct {
	fd  int // -1 where it cannot be opened
	dir string
}

func openBase(dir string) base {
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		fd = -1
	}
	return base{fd, dir}
}

func (b base) close() {
	if b.fd >= 0 {
		_ = unix.Close(b.fd)
	}
}

// identity is what tells a directory that has changed from one that has not. The
// time is that of the last change of any kind, which no program can set back.
func (b base) identity(dir string) (stamp int64, ino uint64, ok bool) {
	var i unix.Stat_t
	if b.lstat(dir, &i) != nil || i.Mode&unix.S_IFMT != unix.S_IFDIR {
		return 0, 0, false
	}
	return i.Ctim.Nano(), i.Ino, true
}

// lstat is unix.Lstat.
func (b base) lstat(path string, i *unix.Stat_t) error {
	if rel, below := safefile.Rel(b.dir, path); below && b.dir != "" && b.fd >= 0 && rel != "." {
		return unix.Fstatat(b.fd, rel, i, unix.AT_SYMLINK_NOFOLLOW)
	}
	return unix.Lstat(path, i)
}

// shut reports whether dir is a directory of ours that we may not look into as it is: a
// command can change that at any time.
func shut(dir string) bool {
	var i unix.Stat_t
	return unix.Lstat(dir, &i) == nil && int(i.Uid) == os.Geteuid() && i.Mode&0o500 != 0o500 && unix.Faccessat(unix.AT_FDCWD, dir, unix.R_OK|unix.X_OK, unix.AT_EACCESS) != nil
}

// links are how many names a regular file has, and what tells it from others.
func links(path string) (n uint64, id [2]uint64) {
	var i unix.Stat_t
	if unix.Lstat(path, &i) != nil || i.Mode&unix.S_IFMT != unix.S_IFREG {
		return 0, id
	}
	return uint64(i.Nlink), [2]uint64{uint64(i.Dev), i.Ino} //nolint:unconvert // narrower on some machines
}

// changedAt is when what is at a path was changed last in any way, also by being moved or
// linked, or may have been, see latest; the beginning of time where that cannot be told.
func changedAt(path string) time.Time { return base{}.changedAt(path) }

// changedAt is that of a path below a base, which is faster.
func (b base) changedAt(path string) time.Time {
	var i unix.Stat_t
	if b.lstat(path, &i) != nil {
		return time.Time{}
	}
	return latest(time.Unix(i.Ctim.Unix()))
}

// changedIn is that of what has a name in a base.
func (b base) changedIn(name string) time.Time {
	var i unix.Stat_t
	if b.fd < 0 || unix.Fstatat(b.fd, name, &i, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return b.changedAt(filepath.Join(b.dir, name))
	}
	return latest(time.Unix(i.Ctim.Unix()))
}

// changedOf is changedAt for what was looked at.
func changedOf(i fs.FileInfo) time.Time {
	st, ok := i.Sys().(*syscall.Stat_t)
	if !ok {
		return time.Time{}
	}
	return latest(time.Unix(st.Ctim.Unix()))
}

// identified says that idOf tells one from another.
const identified = true

// idOfInfo is idOf as far as that is known of what was looked at.
func idOfInfo(i fs.FileInfo) fileID {
	st, ok := i.Sys().(*syscall.Stat_t)
	if !ok {
		return fileID{}
	}
	return fileID{Device: uint64(st.Dev), Inode: st.Ino} //nolint:unconvert // other architectures have other types
}

// idOf tells what is at a path from all else; the zero value where there is nothing.
func idOf(path string) fileID {
	var i unix.Statx_t
	if unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT, unix.STATX_INO|unix.STATX_BTIME, &i) != nil {
		return fileID{}
	}
	id := fileID{Device: unix.Mkdev(i.Dev_major, i.Dev_minor), Inode: i.Ino}
	if i.Mask&unix.STATX_BTIME != 0 {
		id.Born = i.Btime.Sec*1e9 + int64(i.Btime.Nsec)
	}
	return id
}

// overlaid reports whether a path lies in an overlay of file systems.
func overlaid(path string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(path, &fs) == nil && fs.Type == unix.OVERLAYFS_SUPER_MAGIC
}
