//go:build unix

package audit

import (
	"os/signal"
	"syscall"
)

// limitFiles makes writes beyond max bytes of a file fail, as on a full disk.
func limitFiles(max uint64) error {
	signal.Ignore(syscall.SIGXFSZ)
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: max, Max: max})
}
