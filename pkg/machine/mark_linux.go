package machine

import "golang.org/x/sys/unix"

// markLimit is one byte less than the memory for message queues that the kernel lets
// every process have. It is a mark that a command carries to all that it starts:
// who is no root cannot raise a hard limit again, whatever becomes of its
// parents, its environment and its namespaces. Nobody misses the byte.
const markLimit = 819199

// MarkCommands has what this process starts from now on count as started by us.
func MarkCommands() {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_MSGQUEUE, &l) == nil && l.Max > markLimit {
		l.Max = markLimit
		l.Cur = min(l.Cur, l.Max)
		_ = unix.Setrlimit(unix.RLIMIT_MSGQUEUE, &l)
	}
}

// carriesMark reports whether this process was started after MarkCommands.
func carriesMark() bool {
	var l unix.Rlimit
	return unix.Getrlimit(unix.RLIMIT_MSGQUEUE, &l) == nil && l.Max <= markLimit
}
