//go:build unix

package job

import (
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// endedBy returns the signal that ended a process; 0 for none.
func endedBy(p *os.ProcessState) (int, string) {
	w, ok := p.Sys().(syscall.WaitStatus)
	if !ok || !w.Signaled() {
		return 0, ""
	}
	return int(w.Signal()), unix.SignalName(w.Signal())
}

// maxRSS is the peak memory in bytes; Linux counts it in KiB, others in bytes.
func maxRSS(p *os.ProcessState) int64 {
	u, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(u.Maxrss)
	}
	return int64(u.Maxrss) << 10
}
