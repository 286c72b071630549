package job

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// detach starts a supervisor with a console that nobody sees and in a group of
// its own. Without any, each program of the job would open a window, and none
// could be asked to end.
func detach(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NO_WINDOW | windows.CREATE_NEW_PROCESS_GROUP}
}
