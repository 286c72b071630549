//go:build unix

package job

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

func signalName(s syscall.Signal) string { return unix.SignalName(s) }

const brokenPipe = syscall.SIGPIPE

// closeInherited closes what a supervisor was born with beyond its standard
// streams: somebody may wait for the end of it. Only that lacks the flag.
func closeInherited() {
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

// detach gives a supervisor a session of its own.
func detach(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
