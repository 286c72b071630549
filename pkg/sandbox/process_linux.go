//go:build linux && (amd64 || arm64)

package sandbox

import (
	"os"
	"slices"
	"strconv"

	"github.com/agentkit-go/agentkit/pkg/fork"
	"golang.org/x/sys/unix"
)

// A plan is what the command's process does before it is the command, with the
// parts that make up a sandbox.
type plan struct{ fork.Plan }

// terminal returns the path of the command's terminal; "" for none.
func (s *start) terminal() string {
	for _, fd := range s.attr.Files[:min(3, len(s.attr.Files))] {
		if _, err := unix.IoctlGetTermios(int(fd), unix.TCGETS); err != nil {
			continue
		}
		name, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(int(fd)))
		if _, gone := os.Stat(name); err == nil && gone == nil {
			return name
		}
	}
	return ""
}

// capabilities lists those that the command keeps where it has them: what
// builds, installers and tests of root use on files and users of their own.
func capabilities() []int {
	return []int{
		unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_DAC_READ_SEARCH, unix.CAP_FOWNER, unix.CAP_FSETID,
		unix.CAP_KILL, unix.CAP_SETGID, unix.CAP_SETUID, unix.CAP_NET_BIND_SERVICE,
	}
}

// dropCapabilities has programs that are started get no other capabilities.
func (p *plan) dropCapabilities() {
	for c := 0; c <= unix.CAP_LAST_CAP; c++ {
		if !slices.Contains(capabilities(), c) {
			p.Try("dropping a capability", 0, unix.SYS_PRCTL, unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		}
	}
	p.Try("dropping ambient capabilities", 0, unix.SYS_PRCTL, unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
}
