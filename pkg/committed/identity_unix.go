//go:build unix

package committed

import (
	"fmt"
	"os"
	"syscall"
)

// identity names a regular file whatever its path is; "" for what is none.
func identity(path string) string {
	if i, err := os.Lstat(path); err != nil || !i.Mode().IsRegular() {
		return ""
	}
	return lasting(path)
}

// lasting tells what is at a path from all else that there is.
func lasting(path string) string {
	i, err := os.Lstat(path)
	if err != nil {
		return ""
	}
	s, ok := i.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%x:%x", s.Dev, s.Ino)
}
