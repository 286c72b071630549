//go:build unix

package remote

import (
	"os/exec"
	"syscall"
)

// apart keeps the interrupts of a terminal from the carrier: the far end is told of them
// in its own way, and has a result to send yet. A carrier that asks for a password opens
// the terminal, which only the processes in front may read, so it stays among them where
// there is one.
func apart(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: !hasTerminal()}
}

// end ends the carrier, and what it has started where it is apart.
func end(c *exec.Cmd) {
	if c.SysProcAttr.Setpgid {
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
