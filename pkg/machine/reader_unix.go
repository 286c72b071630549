//go:build unix

package machine

import (
	"os"

	"golang.org/x/sys/unix"
)

// ReaderGone reports whether f is the end of a pipe or socket that nobody reads any
// longer. It does not wait.
func ReaderGone(f *os.File) bool {
	raw, err := f.SyscallConn()
	if err != nil {
		return false
	}
	gone := false
	_ = raw.Control(func(fd uintptr) {
		list := []unix.PollFd{{Fd: int32(fd)}}
		n, err := unix.Poll(list, 0)
		gone = err == nil && n > 0 && list[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
	})
	return gone
}
