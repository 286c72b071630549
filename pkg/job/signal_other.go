//go:build !unix

package job

import (
	"strings"
	"syscall"
)

// ParseSignal finds a signal by its name, with or without SIG, in any case.
// This system has INT, TERM and KILL.
func ParseSignal(name string) (syscall.Signal, error) {
	switch strings.TrimPrefix(strings.ToUpper(strings.TrimPrefix(strings.TrimSpace(name), "-")), "SIG") {
	case "INT", "2":
		return syscall.SIGINT, nil
	case "TERM", "15":
		return syscall.SIGTERM, nil
	case "KILL", "9":
		return syscall.SIGKILL, nil
	}
	return 0, unknownSignal(name)
}
