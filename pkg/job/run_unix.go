//go:build unix

package job

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

func signalName(s syscall.Signal) string { return unix.SignalName(s) }

const brokenPipe = syscall.SIGPIPE

// detach gives a supervisor a session of its own.
func detach(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
