//go:build unix

package killtree

import (
	"os/exec"
	"syscall"
)

const method = "group"

func prepare(c *exec.Cmd) {
	if c.SysProcAttr == nil {
		c.SysProcAttr = &syscall.SysProcAttr{}
	}
	c.SysProcAttr.Setsid = true
	adopt(c.SysProcAttr)
}

// alive asks for the whole group: the pid of its leader stays taken as long
// as the group has a member, so it cannot be someone else's by now.
func alive(t *Tree) bool {
	if t.State() == nil {
		return true
	}
	bury(t.cmd.Process.Pid)
	return syscall.Kill(-t.cmd.Process.Pid, 0) != syscall.ESRCH
}

func terminate(t *Tree) { signal(t, syscall.SIGTERM) }

func kill(t *Tree) { signal(t, syscall.SIGKILL) }

// signal also wakes what is stopped, for a stopped process takes no SIGTERM.
func signal(t *Tree, s syscall.Signal) {
	_ = syscall.Kill(-t.cmd.Process.Pid, s)
	_ = syscall.Kill(-t.cmd.Process.Pid, syscall.SIGCONT)
}
