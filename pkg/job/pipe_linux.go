package job

import (
	"os"

	"golang.org/x/sys/unix"
)

// enlarge makes a pipe hold 1 MiB where the system allows it, so that a
// command that prints a lot waits less for us.
func enlarge(f *os.File) {
	if c, err := f.SyscallConn(); err == nil {
		_ = c.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, 1<<20) })
	}
}

// unread returns how many bytes wait in a pipe or terminal.
func unread(f *os.File) (n int) {
	if c, err := f.SyscallConn(); err == nil {
		_ = c.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
	}
	return n
}

// atEnd reports whether nobody can print to a pipe or terminal any more.
func atEnd(f *os.File) (ended bool) {
	if c, err := f.SyscallConn(); err == nil {
		_ = c.Control(func(fd uintptr) {
			list := []unix.PollFd{{Fd: int32(fd)}}
			n, err := unix.Poll(list, 0)
			ended = err == nil && n == 1 && list[0].Revents&unix.POLLHUP != 0
		})
	}
	return ended
}
