//go:build unix

package remote

import (
	"os/exec"
	"syscall"
)

// apart keeps the interrupts of a terminal from the carrier: the far end is told of them
// in its own way, and has a result to send yet. A carrier that asks for a password opens
// the terminal, which only the processes in front may read, so it stays among them, and
// begins with interrupts ignored, to which ssh and kubectl keep.
func apart(c *exec.Cmd, asks bool) {
	if !asks {
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		return
	}
	c.SysProcAttr = new(syscall.SysProcAttr)
	c.Args = append([]string{"sh", "-c", `trap "" INT QUIT; exec "$0" "$@"`, c.Path}, c.Args[1:]...)
	c.Path = "/bin/sh"
}

// away has a process go on when this one and its terminal are gone.
func away(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// end ends the carrier, and what it has started where it is apart.
func end(c *exec.Cmd) {
	if c.SysProcAttr.Setsid {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
	}
	_ = c.Process.Kill()
}

// hasTerminal reports whether the process has a controlling terminal.
func hasTerminal() bool {
	f, err := syscall.Open("/dev/tty", syscall.O_RDWR|syscall.O_CLOEXEC|syscall.O_NOCTTY, 0)
	if err == nil {
		_ = syscall.Close(f)
	}
	return err == nil
}
