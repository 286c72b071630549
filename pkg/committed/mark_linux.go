package committed

import (
	"fmt"
	"io/fs"
	"syscall"
	"time"
)

// mark tells a file from all others, and from itself after a change.
func mark(info fs.FileInfo) string {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%x:%x:%x:%x:%x", s.Dev, s.Ino, s.Ctim.Nano(), s.Mtim.Nano(), s.Size)
}

// changedAt is when a file was changed last in any way.
func changedAt(info fs.FileInfo) time.Time {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return time.Now()
	}
	return time.Unix(s.Ctim.Unix())
}
