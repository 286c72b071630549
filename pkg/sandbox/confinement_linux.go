package sandbox

import (
	"os"
	"strings"
)

// Confinement tells what something outside holds this process by: capabilities,
// seccomp filters, security modules. Equal text does not mean the same filters.
func Confinement() string {
	status := procStatus()
	var b strings.Builder
	for _, key := range []string{"Uid", "Gid", "CapPrm", "CapEff", "CapBnd", "NoNewPrivs", "Seccomp", "Seccomp_filters"} {
		b.WriteString(status[key] + " ")
	}
	b.WriteString(label())
	return b.String()
}

// procStatus is /proc/self/status by its keys.
func procStatus() map[string]string {
	raw, _ := os.ReadFile("/proc/self/status")
	list := map[string]string{}
	for line := range strings.Lines(string(raw)) {
		if key, value, ok := strings.Cut(line, ":"); ok {
			list[key] = strings.TrimSpace(value)
		}
	}
	return list
}

// label is what a security module calls this process, such as docker-default (enforce).
func label() string {
	raw, _ := os.ReadFile("/proc/self/attr/current")
	return strings.Trim(string(raw), "\x00\n ")
}
