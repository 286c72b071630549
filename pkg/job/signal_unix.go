//go:build unix

package job

import (
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// ParseSignal finds a signal by its name, with or without SIG, in any case:
// INT, SIGHUP, usr1.
func ParseSignal(name string) (syscall.Signal, error) {
	full := "SIG" + strings.TrimPrefix(strings.ToUpper(strings.TrimSpace(name)), "SIG")
	if s := unix.SignalNum(full); s != 0 {
		return s, nil
	}
	return 0, unknownSignal(name)
}
