//go:build linux && (amd64 || arm64)

package sandbox

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A plan is the list of system calls that make a process the sandboxed
// command, from the fork on. It is written while all of Go is there and carried
// out by a child that has nothing of it: no scheduler, no memory allocation,
// no growth of the stack. Nothing in it may point to a stack.
type plan struct {
	steps []step
	names []string // beside steps: for errors
	keep  []any    // the memory that steps point to
	cells [maxCells]cell
	used  int
	temp  ref
	free  []ref
}

// maxCells bounds the results that a plan can hold on to.
const maxCells = 128

// A cell is the result of a step, mostly a descriptor, for later steps.
type cell int32

// A step is one system call.
type step struct {
	nr      uintptr
	args    [6]uintptr
	from    [6]int16 // 1 + the cell that an argument comes from, 0 for args
	to      int16    // 1 + the cell that the result goes to
	at      *int32   // for kind poke
	kind    uint8
	skip    uint8 // how many of the following are left out when it fails; only for kind optional
	retried bool  // EINTR repeats it
}

// The kinds of step.
const (
	must     = iota // its failure ends the child
	optional        // its failure is passed over
	poke            // no call: stores cell from[0] at at
	reset           // no call: handlers of signals become the default
)

// A ref stands for a cell in an argument.
type ref int16

// cell reserves a cell; close gives it back.
func (p *plan) cell() ref {
	if n := len(p.free); n > 0 {
		c := p.free[n-1]
		p.free = p.free[:n-1]
		return c
	}
	if p.used == maxCells {
		panic("sandbox: a plan has too many cells")
	}
	p.used++
	return ref(p.used)
}

// scratch returns a cell whose content the next that asks for it overwrites.
func (p *plan) scratch() ref {
	if p.temp == 0 {
		p.temp = p.cell()
	}
	return p.temp
}

// do adds a call that must succeed. Arguments are numbers, refs, strings,
// *T of memory that does not move, or nil.
func (p *plan) do(name string, nr uintptr, args ...any) *step {
	s := step{nr: nr}
	for i, a := range args {
		switch a := a.(type) {
		case nil:
		case int:
			s.args[i] = uintptr(a)
		case uintptr:
			s.args[i] = a
		case uint64:
			s.args[i] = uintptr(a)
		case ref:
			s.from[i] = int16(a)
		case string:
			s.args[i] = p.text(a)
		case []byte:
			p.keep = append(p.keep, a)
			s.args[i] = uintptr(unsafe.Pointer(unsafe.SliceData(a)))
		case unsafe.Pointer:
			p.keep = append(p.keep, a)
			s.args[i] = uintptr(a)
		default:
			panic(fmt.Sprintf("sandbox: a plan cannot pass %T", a))
		}
	}
	p.steps = append(p.steps, s)
	p.names = append(p.names, name)
	return &p.steps[len(p.steps)-1]
}

// try adds a call that may fail; then the next skip steps are left out.
func (p *plan) try(name string, skip int, nr uintptr, args ...any) *step {
	s := p.do(name, nr, args...)
	s.kind, s.skip = optional, uint8(skip)
	return s
}

// keeps has the step's result stored in cell c.
func (s *step) keeps(c ref) *step {
	s.to = int16(c)
	return s
}

// poke stores cell c as an int32 at address at when its turn comes.
func (p *plan) poke(c ref, at *int32) {
	s := p.do("store", 0)
	s.kind, s.from[0], s.at = poke, int16(c), at
}

// text returns the address of s as C has it.
func (p *plan) text(s string) uintptr {
	b := append([]byte(s), 0)
	p.keep = append(p.keep, b)
	return uintptr(unsafe.Pointer(&b[0]))
}

// list returns the address of an array of strings as C has it.
func (p *plan) list(words []string) uintptr {
	array := make([]uintptr, len(words)+1)
	size := 0
	for _, w := range words {
		size += len(w) + 1
	}
	all := make([]byte, 0, size)
	for i, w := range words {
		at := len(all)
		all = append(append(all, w...), 0)
		array[i] = uintptr(unsafe.Pointer(&all[at : at+1][0]))
	}
	p.keep = append(p.keep, all, array)
	return uintptr(unsafe.Pointer(&array[0]))
}

// close adds the closing of a cell's descriptor.
func (p *plan) close(c ref) {
	p.try("close", 0, unix.SYS_CLOSE, c)
	if c != p.temp {
		p.free = append(p.free, c)
	}
}

// fork makes a child with the clone flags given, which carries out the plan
// and ends, should it come to its end, or a step fail: then it writes a
// failure to descriptor tell. The caller's thread must be locked.
//
//go:norace
func (p *plan) fork(flags uintptr, tell int) (pid int, err unix.Errno) {
	defer runtime.KeepAlive(p)
	all, old := ^uint64(0), uint64(0)
	steps, n, cells := &p.steps[0], len(p.steps), &p.cells[0]
	// No signal may find the child while it still has our handlers.
	if _, _, e := unix.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&all)), uintptr(unsafe.Pointer(&old)), 8, 0, 0); e != 0 {
		return 0, e
	}
	r, e := clone(flags, steps, n, cells, &old, tell)
	unix.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&old)), 0, 8, 0, 0)
	return int(r), e
}

// clone forks and, in the child, does not return.
//
//go:norace
//go:nosplit
//go:noinline
func clone(flags uintptr, steps *step, n int, cells *cell, mask *uint64, tell int) (uintptr, unix.Errno) {
	r, _, e := unix.RawSyscall6(unix.SYS_CLONE, flags|uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if e != 0 || r != 0 {
		return r, e
	}
	carryOut(steps, n, cells, mask, tell)
	return 0, 0
}

// carryOut is the child.
//
//go:norace
//go:nosplit
//go:noinline
func carryOut(first *step, n int, cells *cell, mask *uint64, tell int) {
	for i := 0; i < n; i++ {
		s := (*step)(unsafe.Add(unsafe.Pointer(first), uintptr(i)*unsafe.Sizeof(step{})))
		switch s.kind {
		case poke:
			*s.at = int32(*at(cells, s.from[0]))
			continue
		case reset:
			resetSignals(mask)
			continue
		}
		var a [6]uintptr
		for k := range a {
			a[k] = s.args[k]
			if s.from[k] != 0 {
				a[k] = uintptr(*at(cells, s.from[k]))
			}
		}
		r, _, e := unix.RawSyscall6(s.nr, a[0], a[1], a[2], a[3], a[4], a[5])
		for e == unix.EINTR && s.retried {
			r, _, e = unix.RawSyscall6(s.nr, a[0], a[1], a[2], a[3], a[4], a[5])
		}
		if e != 0 && s.kind == must {
			fail(tell, i, e)
		}
		if e != 0 {
			i += int(s.skip)
			continue
		}
		if s.to != 0 {
			*at(cells, s.to) = cell(r)
		}
	}
	fail(tell, n, 0)
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
func fail(tell, i int, e unix.Errno) {
	msg := [2]uint32{uint32(i), uint32(e)}
	unix.RawSyscall6(unix.SYS_WRITE, uintptr(tell), uintptr(unsafe.Pointer(&msg)), 8, 0, 0, 0)
	for {
		unix.RawSyscall6(unix.SYS_EXIT_GROUP, 125, 0, 0, 0, 0, 0)
	}
}

// resetSignals puts every signal that has a handler back to its default and
// restores the mask.
//
//go:norace
//go:nosplit
func resetSignals(mask *uint64) {
	for sig := uintptr(1); sig <= 64; sig++ {
		var act [4]uintptr // handler, flags, restorer, mask; arm64 keeps the same size
		if _, _, e := unix.RawSyscall6(unix.SYS_RT_SIGACTION, sig, 0, uintptr(unsafe.Pointer(&act)), 8, 0, 0); e != 0 || act[0] <= 1 {
			continue
		}
		act = [4]uintptr{}
		unix.RawSyscall6(unix.SYS_RT_SIGACTION, sig, uintptr(unsafe.Pointer(&act)), 0, 8, 0, 0)
	}
	unix.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(mask)), 0, 8, 0, 0)
}
