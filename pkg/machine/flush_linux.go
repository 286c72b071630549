package machine

import (
	"os"

	"golang.org/x/sys/unix"
)

// flushInput drops what was typed on a terminal and not read.
func flushInput(tty *os.File) {
	_ = unix.IoctlSetInt(int(tty.Fd()), unix.TCFLSH, unix.TCIFLUSH)
}
