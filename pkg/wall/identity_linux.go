package wall

import "golang.org/x/sys/unix"

// identity is what tells a directory that has changed from one that has not. The
// time is that of the last change of any kind, which no program can set back.
func identity(dir string) (stamp int64, ino uint64, ok bool) {
	var i unix.Stat_t
	if err := unix.Lstat(dir, &i); err != nil || i.Mode&unix.S_IFMT != unix.S_IFDIR {
		return 0, 0, false
	}
	return i.Ctim.Nano(), i.Ino, true
}

// inode is the number of what is at a path; 0 where there is nothing.
func inode(path string) uint64 {
	var i unix.Stat_t
	if unix.Lstat(path, &i) != nil {
		return 0
	}
	return i.Ino
}
