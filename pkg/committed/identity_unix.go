//go:build unix

package committed

import (
	"fmt"
	"os"
	"syscall"
)

// identity names a regular file whatever its path is; "" for what is none.
func identity(path string) string {
	i, err := os.Lstat(path)
	if err != nil || !i.Mode().IsRegular() {
		return ""
	}
	s, ok := i.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%x:%x", s.Dev, s.Ino)
}
