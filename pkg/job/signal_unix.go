//go:build unix

package job

import (
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// ParseSignal finds a signal by its name, with or without SIG, in any case, or by
// its number, as kill(1) does: INT, SIGHUP, usr1, 9, -9.
func ParseSignal(name string) (syscall.Signal, error) {
	name = strings.ToUpper(strings.TrimPrefix(strings.TrimSpace(name), "-"))
	if n, err := strconv.Atoi(name); err == nil && unix.SignalName(syscall.Signal(n)) != "" {
		return syscall.Signal(n), nil
	}
	full := "SIG" + strings.TrimPrefix(name, "SIG")
	if s := unix.SignalNum(full); s != 0 {
		return s, nil
	}
	return 0, unknownSignal(name)
}
