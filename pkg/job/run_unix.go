//go:build unix

package job

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

func signalName(s syscall.Signal) string { return unix.SignalName(s) }

const brokenPipe = syscall.SIGPIPE

// closeInherited closes what a supervisor was born with beyond its standard
// streams: somebody may wait for the end of it. Only that lacks the flag.
func closeInherited() {
	for fd := 3; fd < 1024; fd++ {
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			_ = unix.Close(fd)
		}
	}
}

// detach gives a supervisor a session of its own.
func detach(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
