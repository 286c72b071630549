package committed

import "golang.org/x/sys/unix"

// limitMemory bounds the memory of a process that has just been started; where that fails it has no bound.
func limitMemory(pid int) {
	_ = unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: maxMemory, Max: maxMemory}, nil)
}
