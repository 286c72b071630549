package killtree

import "time"

// A Process is one entry of the process table. Pid and Start together name it
// for as long as the machine runs; a PID alone may be another process by now.
type Process struct {
	Pid     int    `json:"pid"`
	Start   uint64 `json:"start"` // when it started, in the system's own unit; 0 where unknown
	Parent  int    `json:"-"`
	Group   int    `json:"-"`
	Session int    `json:"-"`
	Name    string `json:"-"` // of the program, as the system cuts it
	State   byte   `json:"-"` // R, S, D, T, Z … as ps shows it; 0 where unknown

	CPU time.Duration `json:"-"` // processor time it has used, to 10 ms; 0 where unknown
}

// Find returns the process with that PID as it is now.
func Find(pid int) (Process, bool) { return find(pid) }

// EndHeld ends a tree whose holder, the process that started it, does not: it is
// stopped or stuck, and is killed. The method and the head are those that the tree
// had, see [Tree.Method] and [Tree.Pid]. What ends a tree when its holder is gone
// does so; it does not wait for that.
func EndHeld(method string, holder, head Process) { endHeld(method, holder, head) }

// Alive reports whether p still is the process that it was, and no zombie.
func (p Process) Alive() bool {
	now, ok := find(p.Pid)
	return ok && now.Start == p.Start && now.State != 'Z' && now.State != 'X'
}
