//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package policy

import (
	"io/fs"
	"os"
	"syscall"
)

// lockFile waits until the file is locked for this process alone.
func lockFile(f *os.File) error {
	for {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != syscall.EINTR {
			return err
		}
	}
}

// writableByAll reports whether anybody on the machine may change the file.
func writableByAll(info fs.FileInfo) bool { return info.Mode().Perm()&0o002 != 0 }
