//go:build linux && (amd64 || arm64)

package sandbox

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A covering is what is mounted over what is hidden: a file and a directory that
// cannot be opened. The file has a size, for what asks whether a secret is empty. Root inside could open whatever belongs to a user that is one
// inside too, so they belong to one that is none there.
type covering struct{ file, dir string }

// covers makes the covering in dir, or finds the one that is there; nil where
// there can be none.
func covers(dir string) *covering {
	owner := nobodyInside()
	if dir == "" || owner < 0 || os.MkdirAll(dir, 0o700) != nil {
		return nil
	}
	c := &covering{filepath.Join(dir, "file-"+strconv.Itoa(owner)), filepath.Join(dir, "dir-"+strconv.Itoa(owner))}
	if cover(c.file, owner, false) != nil || cover(c.dir, owner, true) != nil {
		return nil
	}
	return c
}

func cover(path string, owner int, isDir bool) error {
	closed := func() bool {
		var i unix.Stat_t
		err := unix.Lstat(path, &i)
		return err == nil && int(i.Uid) == owner && i.Mode&0o7777 == 0 && (i.Mode&unix.S_IFMT == unix.S_IFDIR) == isDir && (isDir || i.Size > 0) && i.Size <= 4096
	}
	if closed() {
		return nil
	}
	temp := fmt.Sprintf("%s.%d", path, os.Getpid())
	make := func() error { return os.Mkdir(temp, 0) }
	if !isDir {
		make = func() error { return os.WriteFile(temp, []byte("\n"), 0) }
	}
	err := make()
	if err == nil {
		err = os.Chmod(temp, 0)
	}
	if err == nil && owner != os.Geteuid() {
		err = os.Lchown(temp, owner, -1)
	}
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		_ = os.Remove(temp)
		if closed() { // by another call
			return nil
		}
	}
	return err
}

// nobodyInside is a user of ours that fork.MapUsers leaves out; -1 for none.
func nobodyInside() int {
	if os.Geteuid() != 0 {
		return os.Geteuid() // who has no rights inside but those of the mode
	}
	data, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return -1
	}
	for line := range strings.Lines(string(data)) {
		var first, outside, n int64
		if _, err := fmt.Sscan(line, &first, &outside, &n); err != nil {
			return -1
		}
		switch {
		case first == 0 && n == math.MaxUint32:
			return math.MaxUint32 - 1
		case first == 0 && n == math.MaxUint32-1:
			return -1 // all are mapped
		case first > 0:
			return int(first)
		case n > 1:
			return 1
		}
	}
	return -1
}
