//go:build unix

package killtree

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// CloseInherited closes what a process that outlives its starter was born with beyond its
// standard streams: somebody may wait for the end of it. Only that lacks the flag close-on-exec.
func CloseInherited() {
	for _, fd := range openFiles() {
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			_ = unix.Close(fd)
		}
	}
}

// openFiles lists the descriptors that may be open beyond the standard streams.
func openFiles() (list []int) {
	dir, err := os.Open("/proc/self/fd")
	if err == nil {
		defer dir.Close()
		names, err := dir.Readdirnames(-1)
		for _, name := range names {
			if fd, bad := strconv.Atoi(name); bad == nil && fd > 2 {
				list = append(list, fd)
			}
		}
		if err == nil && len(names) > 0 {
			return list
		}
	}
	for fd := 3; fd < 1024; fd++ {
		list = append(list, fd)
	}
	return list
}
