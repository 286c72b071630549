//go:build !unix

package job

import (
	"strings"
	"syscall"
)

// ParseSignal finds a signal by its name, with or without SIG, in any case.
// This system has INT, TERM and KILL.
func ParseSignal(name string) (syscall.Signal, error) {
	switch strings.TrimPrefix(strings.ToUpper(strings.TrimSpace(name)), "SIG") {
	case "INT":
		return syscall.SIGINT, nil
	case "TERM":
		return syscall.SIGTERM, nil
	case "KILL":
		return syscall.SIGKILL, nil
	}
	return 0, unknownSignal(name)
}
