package killtree

import (
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// inits are the stages of this process that have not been collected. They are a
// fact about the process: no tree can see another one through it.
var inits census

// A census keeps the processes that are no orphans.
type census struct {
	mu   sync.RWMutex
	pids map[int]bool
}

// enter runs start, which returns a new process; 0 for none. Nobody takes it for an
// orphan meanwhile.
func (c *census) enter(start func() int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if pid := start(); pid > 0 {
		if c.pids == nil {
			c.pids = map[int]bool{}
		}
		c.pids[pid] = true
	}
}

func (c *census) leave(pid int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pids, pid)
}

// adoptOrphans makes us the parent of what a stage that is killed leaves, so that
// it can be found. What a stage that lives has lost is its own.
func adoptOrphans(m string) {
	if !namespaces(m) {
		_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	}
}

// sweep ends what a stage that was killed has left: our children that are in a
// session of their own, as every command is, and are no stages.
func sweep() {
	us := unix.Getpid()
	session, _ := unix.Getsid(0)
	for deadline := time.Now().Add(2 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if inits.sweep(us, session) == 0 {
			return
		}
	}
}

// sweep is one look: how many orphans there were.
func (c *census) sweep(us, session int) int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	left := slices.DeleteFunc(children(us), func(p Process) bool { return c.pids[p.Pid] || p.Session == session })
	for _, p := range left {
		p.send(unix.SIGSTOP) // it makes no more while its own are listed
		for _, d := range descendants(p.Pid) {
			d.send(unix.SIGKILL)
		}
		p.send(unix.SIGKILL)
		_, _ = unix.Wait4(p.Pid, nil, unix.WNOHANG, nil)
	}
	return len(left)
}
