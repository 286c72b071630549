//go:build linux && (amd64 || arm64)

package sandbox

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/agentkit-go/agentkit/pkg/fork"
	"github.com/agentkit-go/agentkit/pkg/killtree"
)

// limit bounds what the command may use. users says that it is in a user namespace,
// where only its own processes count.
func (p *plan) limit(l Limits, users bool) {
	processes := int64(l.Processes)
	if processes > 0 && !users {
		processes += int64(killtree.Tasks()) // the user's own would do, but to count them takes a look at every one
	}
	for _, r := range []struct {
		resource int
		most     int64
	}{
		{unix.RLIMIT_NPROC, processes}, {unix.RLIMIT_FSIZE, l.File}, {unix.RLIMIT_DATA, l.Memory},
	} {
		if r.most <= 0 {
			continue
		}
		most := unix.Rlimit{Cur: uint64(r.most), Max: uint64(r.most)}
		var have unix.Rlimit
		if unix.Getrlimit(r.resource, &have) == nil {
			most.Cur, most.Max = min(most.Cur, have.Max), min(most.Max, have.Max)
		}
		p.Do("setting a limit", unix.SYS_PRLIMIT64, 0, r.resource, unsafe.Pointer(fork.Place(&p.Plan, most)), 0)
	}
	// Should the machine run out of memory, it is not another program that goes.
	const score = "500"
	fd := p.Scratch()
	// A copy of a gatekeeper that shows itself to nobody could not open its own file.
	p.Try("opening itself", 0, unix.SYS_PRCTL, unix.PR_SET_DUMPABLE, 1, 0, 0, 0)
	p.Try("opening oom_score_adj", 2, unix.SYS_OPENAT, unix.AT_FDCWD, "/proc/self/oom_score_adj", unix.O_WRONLY|unix.O_CLOEXEC, 0).Keeps(fd)
	p.Try("being the first to go", 0, unix.SYS_WRITE, fd, []byte(score), len(score))
	p.Close(fd)
}
