package job

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// closeInherited does nothing: handles are inherited by name only.
func closeInherited() {}

// detach starts a supervisor without a console and in a group of its own.
func detach(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP}
}
