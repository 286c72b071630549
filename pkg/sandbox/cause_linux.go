//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A holder is what may keep a process from making namespaces.
type holder struct {
	root     bool   // the process runs as root
	setfcap  bool   // it has the capability that a root who maps itself needs
	filtered bool   // a seccomp filter is in force
	label    string // see label
	apparmor bool   // users get no capabilities in a namespace of their own (Ubuntu 23.10)
	forbids  bool   // users may make none (Debian 10)
	none     bool   // nobody may make any: the limit is 0
}

func thisHolder() holder {
	status := procStatus()
	caps, _ := strconv.ParseUint(status("CapEff"), 16, 64)
	setting := func(name, is string) bool {
		raw, err := os.ReadFile("/proc/sys/" + name)
		return err == nil && strings.TrimSpace(string(raw)) == is
	}
	return holder{
		root: os.Geteuid() == 0, setfcap: caps&(1<<unix.CAP_SETFCAP) != 0, filtered: status("Seccomp") == "2", label: label(),
		apparmor: setting("kernel/apparmor_restrict_unprivileged_userns", "1"),
		forbids:  setting("kernel/unprivileged_userns_clone", "0"),
		none:     setting("user/max_user_namespaces", "0"),
	}
}

// remedy says which option of a container, or setting of the machine, stands in the
// way of a level that failed as why says; "" where nothing is known.
func (h *holder) remedy(why string) string {
	refused := strings.Contains(why, unix.EPERM.Error()) || strings.Contains(why, unix.EACCES.Error()) || strings.Contains(why, unix.ENOSYS.Error())
	confined := h.label != "" && !strings.Contains(h.label, "unconfined") && h.label != "kernel"
	switch {
	case strings.Contains(why, "Landlock") && h.filtered:
		return "the seccomp profile of the container may keep it out: take a newer one, or --security-opt seccomp=unconfined"
	case strings.Contains(why, "Landlock"):
		return "a kernel of 5.13 or later needs landlock in its lsm= parameter"
	case strings.Contains(why, "mapping users") && h.root && !h.setfcap:
		return "root without the capability SETFCAP cannot map itself: start the container with --cap-add SETFCAP, or as another user (--user 1000)"
	case h.none:
		return "allow them with sysctl user.max_user_namespaces=10000, outside the container"
	case h.forbids && !h.root:
		return "allow them with sysctl kernel.unprivileged_userns_clone=1, outside the container"
	case refused && h.apparmor && !h.root:
		return "AppArmor gives them no capabilities: sysctl kernel.apparmor_restrict_unprivileged_userns=0, or a profile for agentkit with userns in it"
	case refused && h.filtered:
		return "the seccomp profile of the container keeps namespaces or mounts out: --security-opt seccomp=unconfined, or a profile that allows them, as podman's own does"
	case refused && confined && strings.Contains(h.label, ":"): // SELinux: user:role:type:level
		return "SELinux confines the container: --security-opt label=disable"
	case refused && confined:
		return "AppArmor confines the container: --security-opt apparmor=unconfined"
	}
	return ""
}

// why says why a level was not reached, and what to do.
func why(err error) string {
	text := err.Error()
	if u, ok := errors.AsType[*unreachedError](err); ok {
		text = u.why
	}
	h := thisHolder()
	if remedy := h.remedy(text); remedy != "" {
		text += "; " + remedy
	}
	return text
}
