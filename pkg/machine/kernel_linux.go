package machine

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// newestLandlock is the version of Landlock that has all that is used: signals and
// abstract sockets (Linux 6.12).
const newestLandlock = 6

func kernel() (name string, features []Feature) {
	name = "Linux " + setting("/proc/sys/kernel/osrelease")
	return name, []Feature{landlock(), filters(), namespaces(), cgroups(), pidfds()}
}

// setting is what a file of the kernel holds; "" where there is none.
func setting(path string) string {
	raw, _ := safefile.ReadKernel(path)
	return strings.TrimSpace(string(raw))
}

func landlock() Feature {
	f := Feature{Name: "landlock", Use: "holds files and TCP, from level 2 on"}
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	switch {
	case errno == unix.EOPNOTSUPP:
		f.Fix = "switch it on: add landlock to the lsm= of the kernel's command line"
	case errno != 0:
		f.Fix = "run a kernel from 5.13 on (6.2 for level 2) that has Landlock compiled in; a container's seccomp profile must let its system calls pass"
	default:
		f.Have = fmt.Sprint("version ", version)
		if version < newestLandlock {
			f.Rest = fmt.Sprintf("version %d (Linux 6.12) holds signals and abstract sockets, too", newestLandlock)
		}
	}
	return f
}

func filters() Feature {
	f := Feature{Name: "seccomp", Use: "keeps system calls from commands, and asks about each program that one starts"}
	actions := strings.Fields(setting("/proc/sys/kernel/seccomp/actions_avail"))
	switch {
	case slices.Contains(actions, "user_notif"):
		f.Have = "with user notification"
	case len(actions) > 0:
		f.Have, f.Fix = "without user notification", "run a kernel from 5.0 on"
	default:
		f.Fix = "run a kernel with CONFIG_SECCOMP_FILTER"
	}
	return f
}

// namespaces says whether an ordinary user may make user namespaces, as far as settings
// tell.
func namespaces() Feature {
	f := Feature{Name: "user namespaces", Use: "hold reading inside the root and the network, and end all that a command started: level 3"}
	switch {
	case !safefile.Exists("/proc/self/ns/user"):
		f.Fix = "run a kernel with CONFIG_USER_NS"
	case setting("/proc/sys/user/max_user_namespaces") == "0":
		f.Fix = "sysctl user.max_user_namespaces=15000"
	case setting("/proc/sys/kernel/unprivileged_userns_clone") == "0":
		f.Fix = "sysctl kernel.unprivileged_userns_clone=1"
	case setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1":
		f.Fix = "give agentkit an AppArmor profile with the rule userns, or sysctl kernel.apparmor_restrict_unprivileged_userns=0"
	default:
		f.Have = "allowed by the settings"
	}
	return f
}

func cgroups() Feature {
	f := Feature{Name: "cgroups", Use: "end what a command started where namespaces cannot be made"}
	switch {
	case safefile.Exists("/sys/fs/cgroup/cgroup.controllers"):
		f.Have = "version 2"
	case safefile.Exists("/sys/fs/cgroup/pids"), safefile.Exists("/sys/fs/cgroup/memory"):
		f.Have, f.Fix = "version 1", "boot with systemd.unified_cgroup_hierarchy=1; not needed where user namespaces are allowed"
	default:
		f.Fix = "mount cgroup2 at /sys/fs/cgroup; not needed where user namespaces are allowed"
	}
	return f
}

func pidfds() Feature {
	f := Feature{Name: "pidfd", Use: "names a process without a race"}
	fd, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		f.Fix = "run a kernel from 5.3 on; a container's seccomp profile must let pidfd_open pass"
		return f
	}
	_ = unix.Close(fd)
	f.Have = "there"
	return f
}
