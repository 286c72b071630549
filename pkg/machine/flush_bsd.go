//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package machine

import (
	"os"

	"golang.org/x/sys/unix"
)

// readQueue is FREAD of sys/fcntl.h.
const readQueue = 1

// flushInput drops what was typed on a terminal and not read.
func flushInput(tty *os.File) {
	if c, err := tty.SyscallConn(); err == nil {
		_ = c.Control(func(fd uintptr) { _ = unix.IoctlSetPointerInt(int(fd), unix.TIOCFLUSH, readQueue) })
	}
}
