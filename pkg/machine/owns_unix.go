//go:build unix

package machine

import (
	"os"
	"syscall"
)

// Owns reports whether what is at a path belongs to the user of this process.
func Owns(path string) bool {
	var i syscall.Stat_t
	return syscall.Lstat(path, &i) == nil && int(i.Uid) == os.Geteuid()
}
