package killtree

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// adopt has the kernel kill the command when the thread that started it ends.
// It also makes us the parent of what the command leaves behind, so that its
// end can be seen: in a container there is often no init that would collect
// it.
func adopt(a *syscall.SysProcAttr) {
	a.Pdeathsig = syscall.SIGKILL
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
}

// bury collects the dead of a group whose leader has been waited for.
func bury(group int) {
	for {
		if pid, err := syscall.Wait4(-group, nil, syscall.WNOHANG, nil); pid <= 0 && err != syscall.EINTR {
			return
		}
	}
}
