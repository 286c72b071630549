package machine

import (
	"os"

	"golang.org/x/sys/unix"
)

// flushInput drops what was typed on a terminal and not read.
func flushInput(tty *os.File) {
	if c, err := tty.SyscallConn(); err == nil { // Fd would have reads of it outlive Close
		_ = c.Control(func(fd uintptr) { _ = unix.IoctlSetInt(int(fd), unix.TCFLSH, unix.TCIFLUSH) })
	}
}
