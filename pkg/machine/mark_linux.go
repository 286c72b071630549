package machine

import "golang.org/x/sys/unix"

// The mark that a command carries to all that it starts are two hard limits, which
// nobody but root can raise again, whatever becomes of parents, environment and
// namespaces: the memory for message queues is one byte below what the kernel lets
// every process have, and the time of a real-time program, which is unlimited everywhere, is
// not. Nobody misses either. One alone is no mark: a machine may have set it.
const (
	markQueues = 819199
	markTime   = 1 << 61 // microseconds
)

// MarkCommands has what this process starts from now on count as started by us.
func MarkCommands() {
	for _, m := range []struct {
		resource int
		most     uint64
	}{{unix.RLIMIT_MSGQUEUE, markQueues}, {unix.RLIMIT_RTTIME, markTime}} {
		var l unix.Rlimit
		if unix.Getrlimit(m.resource, &l) == nil && l.Max > m.most {
			l.Max = m.most
			l.Cur = min(l.Cur, l.Max)
			_ = unix.Setrlimit(m.resource, &l)
		}
	}
}

// carriesMark reports whether this process was started after MarkCommands.
func carriesMark() bool {
	var queues, time unix.Rlimit
	return unix.Getrlimit(unix.RLIMIT_MSGQUEUE, &queues) == nil && unix.Getrlimit(unix.RLIMIT_RTTIME, &time) == nil &&
		queues.Max <= markQueues && time.Max <= markTime
}
