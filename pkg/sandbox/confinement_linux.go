package sandbox

import (
	"bytes"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// Confinement tells what something outside holds this process by: capabilities,
// seccomp filters, security modules. Equal text does not mean the same filters.
func Confinement() string {
	status := procStatus()
	var b strings.Builder
	for _, key := range []string{"Uid", "Gid", "CapPrm", "CapEff", "CapBnd", "NoNewPrivs", "Seccomp", "Seccomp_filters"} {
		b.WriteString(status(key) + " ")
	}
	b.WriteString(label())
	return b.String()
}

// procStatus returns the values of /proc/self/status by their keys; "" is none.
func procStatus() func(key string) string {
	raw, _ := safefile.ReadKernel("/proc/self/status")
	return func(key string) string {
		_, value, _ := bytes.Cut(raw, []byte("\n"+key+":"))
		value, _, _ = bytes.Cut(value, []byte("\n"))
		return string(bytes.TrimSpace(value))
	}
}

// label is what a security module calls this process, such as docker-default (enforce).
func label() string {
	raw, _ := safefile.ReadKernel("/proc/self/attr/current")
	return strings.Trim(string(raw), "\x00\n ")
}
