//go:build linux && (amd64 || arm64)

package fork

import (
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ofFirst marks the failures of the first plan of an Init.
const ofFirst = 1 << 31

// A child is all that the code of a child works with. It lies in the memory of
// its first plan, and nothing in it that the child changes is a pointer: storing
// one may call the garbage collector.
type child struct {
	first   *step // of the plan
	n       int
	cells   *cell
	second  *step // of the plan of the command, for an init
	n2      int
	cells2  *cell
	mask    uint64    // the signals that were blocked before
	becomes *becoming // for an init that is a reaper
	join    *joining  // what a stand-in joins before it makes the child; nil for no stand-in
	tell    int       // where failures are written
	mark    uint32    // ofFirst while the first plan is carried out
	head    int       // the command's process, for an init
	ended   bool      // the command has ended
	killing bool      // all is being killed
	poll    [2]unix.PollFd
	status  int32
	usage   unix.Rusage
	buf     [128]byte
	msg     [2]uint32
	act     sigaction
	rec     Record
	rule    PathRule
}

// Fork makes a child with the clone flags given, which carries out p and ends,
// should it come to its end, or a step fail: then it writes what [Explain]
// reads to descriptor tell. The caller's thread must be locked, and no other
// goroutine may start a process meanwhile that is not made by syscall.
func (p *Plan) Fork(flags uintptr, tell int) (pid int, err unix.Errno) {
	c := child{tell: tell, join: p.join}
	c.first, c.n, c.cells = p.place()
	return Place(p, c).fork(flags, p, nil)
}

// Init makes a child as [Plan.Fork] does, which carries out first, and in it
// the steps of [Plan.Init] make a child in turn, which carries out command. The
// child stays as the parent of last resort of all that descends from it, see
// [Record]: it is meant to be the first process of a PID namespace.
func Init(first, command *Plan, flags uintptr, tell int) (pid int, err unix.Errno) {
	c := child{tell: tell, mark: ofFirst, becomes: first.becomes, join: first.join}
	c.first, c.n, c.cells = first.place()
	c.second, c.n2, c.cells2 = command.place()
	return Place(first, c).fork(flags, first, command)
}

//go:norace
func (c *child) fork(flags uintptr, first, command *Plan) (pid int, err unix.Errno) {
	defer runtime.KeepAlive(first)
	defer runtime.KeepAlive(command)
	defer runtime.KeepAlive(c)
	plans := []*Plan{first}
	if command != nil {
		plans = append(plans, command)
	}
	syscall.ForkLock.Lock()
	defer syscall.ForkLock.Unlock()
	defer withhold(plans...)()
	all := ^uint64(0)
	// No signal may find the child while it still has our handlers.
	if _, _, e := syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&all)), uintptr(unsafe.Pointer(&c.mask)), 8, 0, 0); e != 0 {
		return 0, e
	}
	r, e := c.clone(flags, uintptr(unix.Getpagesize()))
	syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&c.mask)), 0, 8, 0, 0)
	if c.join != nil && e == 0 {
		return c.join.made(int(r))
	}
	return int(r), e
}

// clone forks and, in the child, does not return.
//
//go:norace
//go:nosplit
//go:noinline
func (c *child) clone(flags, page uintptr) (uintptr, unix.Errno) {
	if e := stackFor(page); e != 0 {
		return 0, e
	}
	own := flags
	if c.join != nil {
		own = 0 // of the stand-in
	}
	r, _, e := syscall.RawSyscall6(unix.SYS_CLONE, own|uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if e != 0 || r != 0 {
		return r, e
	}
	if c.join != nil {
		c.standIn(flags)
	}
	// One after the other, not one in the other: there is little stack, and the
	// linker counts.
	c.carryOut()
	if c.mark == ofFirst {
		c.stay()
	}
	c.fail(c.n, 0)
	return 0, 0
}

// carryOut is the child until its plan has come to its end.
//
//go:norace
//go:nosplit
//go:noinline
func (c *child) carryOut() {
	first, n, cells := c.first, c.n, c.cells
	for i := 0; i < n; i++ {
		s := (*step)(unsafe.Add(unsafe.Pointer(first), uintptr(i)*unsafe.Sizeof(step{})))
		switch s.kind {
		case poke:
			*s.at = int32(s.arg(0, cells))
			continue
		case reset:
			c.resetSignals()
			continue
		case spawn:
			r, e := s.spawn()
			if e != 0 {
				c.fail(i, e)
			}
			if r == 0 {
				first, n, cells, i = c.second, c.n2, c.cells2, -1
				c.mark = 0
				continue
			}
			c.head = int(r)
			continue
		case allow:
			if e := c.allow(s, cells); e != 0 {
				c.fail(i, e)
			}
			continue
		}
		r, e := s.call(cells)
		for e == unix.EINTR && s.retried {
			r, e = s.call(cells)
		}
		if e == 0 && r == 0 && s.some {
			e = unix.EPIPE
		}
		if e != 0 && s.kind == must {
			c.fail(i, e)
		}
		if e != 0 {
			i += int(s.skip)
			continue
		}
		if s.to != 0 {
			*at(cells, s.to) = cell(r)
		}
	}
	c.n = n
}

// allow adds Landlock's rules.
//
//go:norace
//go:nosplit
//go:noinline
func (c *child) allow(s *step, cells *cell) unix.Errno {
	rules, n := *(*unsafe.Pointer)(unsafe.Pointer(&s.args[1])), s.args[2]
	for k := range n {
		r := (*placedRule)(unsafe.Add(rules, k*unsafe.Sizeof(placedRule{})))
		fd, _, e := syscall.RawSyscall6(unix.SYS_OPENAT2, dirAtCwd, r.path, uintptr(unsafe.Pointer(&r.how)), unix.SizeofOpenHow, 0, 0)
		if e == unix.ENOSYS { // a sandbox around ours refuses it, and holds what a link leads to
			fd, _, e = syscall.RawSyscall6(unix.SYS_OPENAT, dirAtCwd, r.path, uintptr(r.how.Flags), 0, 0, 0)
		}
		if e != 0 {
			continue
		}
		c.rule.Access, c.rule.Fd = r.access, int32(fd)
		_, _, e = syscall.RawSyscall6(s.nr, s.arg(0, cells), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&c.rule)), 0, 0, 0)
		syscall.RawSyscall6(unix.SYS_CLOSE, fd, 0, 0, 0, 0, 0)
		if e != 0 {
			return e
		}
	}
	return 0
}

// spawn is fork, or clone3 where the step has arguments for it.
//
//go:norace
//go:nosplit
//go:noinline
func (s *step) spawn() (r uintptr, e unix.Errno) {
	if s.args[0] != 0 {
		r, _, e = syscall.RawSyscall6(unix.SYS_CLONE3, s.args[0], s.args[1], 0, 0, 0, 0)
		return r, e
	}
	r, _, e = syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	return r, e
}

// call makes the step's call.
//
//go:norace
//go:nosplit
//go:noinline
func (s *step) call(cells *cell) (uintptr, unix.Errno) {
	r, _, e := syscall.RawSyscall6(s.nr, s.arg(0, cells), s.arg(1, cells), s.arg(2, cells), s.arg(3, cells), s.arg(4, cells), s.arg(5, cells))
	return r, e
}

// arg is the k-th argument, without a check of bounds, which could panic.
//
//go:norace
//go:nosplit
func (s *step) arg(k uintptr, cells *cell) uintptr {
	if from := *(*int16)(unsafe.Add(unsafe.Pointer(&s.from), k*unsafe.Sizeof(s.from[0]))); from != 0 {
		return uintptr(*at(cells, from))
	}
	return *(*uintptr)(unsafe.Add(unsafe.Pointer(&s.args), k*unsafe.Sizeof(s.args[0])))
}

//go:norace
//go:nosplit
func at(cells *cell, ref int16) *cell {
	return (*cell)(unsafe.Add(unsafe.Pointer(cells), uintptr(ref-1)*unsafe.Sizeof(cell(0))))
}

// fail tells which step failed, and ends the child.
//
//go:norace
//go:nosplit
func (c *child) fail(i int, e unix.Errno) {
	c.msg[0], c.msg[1] = uint32(i)|c.mark, uint32(e)
	syscall.RawSyscall6(unix.SYS_WRITE, uintptr(c.tell), uintptr(unsafe.Pointer(&c.msg)), FailureSize, 0, 0, 0)
	c.exit(125)
}

//go:norace
//go:nosplit
func (c *child) exit(code uintptr) {
	for {
		syscall.RawSyscall6(unix.SYS_EXIT_GROUP, code, 0, 0, 0, 0, 0)
	}
}

// resetSignals puts every signal that has a handler back to its default and
// restores the mask.
//
//go:norace
//go:nosplit
func (c *child) resetSignals() {
	for sig := uintptr(1); sig <= 64; sig++ {
		if _, _, e := syscall.RawSyscall6(unix.SYS_RT_SIGACTION, sig, 0, uintptr(unsafe.Pointer(&c.act)), 8, 0, 0); e != 0 || c.act.handler <= 1 {
			continue
		}
		c.act.handler, c.act.flags, c.act.restorer, c.act.mask = 0, 0, 0, 0
		syscall.RawSyscall6(unix.SYS_RT_SIGACTION, sig, uintptr(unsafe.Pointer(&c.act)), 0, 8, 0, 0)
	}
	syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&c.mask)), 0, 8, 0, 0)
}

// A sigaction is struct sigaction as the kernel has it; arm64 has no restorer
// and keeps the same size.
type sigaction struct{ handler, flags, restorer, mask uintptr }
