//go:build linux && (amd64 || arm64)

package fork

import (
	"fmt"
	"math"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Plan is the list of system calls that a child carries out. It is written
// while all of Go is there. What its calls point to must lie in its own memory,
// see [Place]: the child has that, but not Go's heap. The zero value is an empty
// plan.
type Plan struct {
	memory
	steps   []step
	names   []string // beside steps: for errors
	used    int
	temp    Ref
	free    []Ref
	reached *int32 // 1 when the child has come to the start of its program, see Crashed
	// becomes is for an init that is a reaper
	becomes *becoming
	join    *joining // namespaces that the child starts in; nil for ours
}

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
	some    bool  // a result of 0 is a failure
}

// The kinds of step.
const (
	must     = iota // its failure ends the child
	optional        // its failure is passed over
	poke            // no call: stores the first argument at at
	reset           // no call: handlers of signals become the default
	spawn           // no call: a child is made that carries out the second plan
	allow           // three calls for each Rule at args[1], args[2] of them
)

// A Rule is what Landlock is to allow at a path.
type Rule struct {
	Path   string
	Access uint64
	Flags  int  // for openat2(2), besides O_PATH
	Exact  bool // no link is followed anywhere on the way, where there is openat2
}

// How is how the path of a rule is opened.
func (r *Rule) How() (how unix.OpenHow) {
	how.Flags = uint64(r.Flags | unix.O_PATH | unix.O_CLOEXEC)
	if r.Exact {
		how.Resolve = unix.RESOLVE_NO_SYMLINKS
	}
	return how
}

// A PathRule is struct landlock_path_beneath_attr, of which the kernel reads 12
// bytes.
type PathRule struct {
	Access uint64
	Fd     int32
	_      int32
}

// A placedRule is a Rule as the child has it. A plan may have hundreds.
type placedRule struct {
	access uint64
	path   uintptr
	how    unix.OpenHow
}

// Allow adds the rules to the Landlock ruleset that is open as ruleset. Paths that
// cannot be opened are passed over.
func (p *Plan) Allow(ruleset Ref, rules []Rule) {
	placed := make([]placedRule, len(rules))
	for i, r := range rules {
		placed[i] = placedRule{access: r.Access, path: p.text(r.Path), how: r.How()}
	}
	p.Do("landlock_add_rule", unix.SYS_LANDLOCK_ADD_RULE, ruleset, unsafe.Pointer(PlaceAll(p, placed)), len(rules)).kind = allow
}

// A Ref stands for the result of a step in an argument of a later one.
type Ref int16

// A Step is one that was added last, for refinement. It is valid until the
// next one is added.
type Step struct{ *step }

// Cell reserves a place for a result; Close gives it back. A plan that needs
// more than 32,767 at a time panics; no process may open as many files by default.
func (p *Plan) Cell() Ref {
	if n := len(p.free); n > 0 {
		c := p.free[n-1]
		p.free = p.free[:n-1]
		return c
	}
	if p.used == math.MaxInt16 {
		panic("fork: a plan has too many cells")
	}
	p.used++
	return Ref(p.used)
}

// Scratch returns a place whose content the next that asks for it overwrites.
func (p *Plan) Scratch() Ref {
	if p.temp == 0 {
		p.temp = p.Cell()
	}
	return p.temp
}

// Do adds a call that must succeed. name is what errors call it. Arguments are
// numbers, Refs, strings and bytes, which are copied, pointers to what was
// placed, or nil.
func (p *Plan) Do(name string, nr uintptr, args ...any) Step {
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
		case Ref:
			s.from[i] = int16(a)
		case string:
			s.args[i] = p.text(a)
		case []byte:
			s.args[i] = uintptr(unsafe.Pointer(PlaceAll(p, a)))
		case unsafe.Pointer:
			s.args[i] = uintptr(a)
		default:
			panic(fmt.Sprintf("fork: a plan cannot pass %T", a))
		}
	}
	p.steps = append(p.steps, s)
	p.names = append(p.names, name)
	return Step{&p.steps[len(p.steps)-1]}
}

// Try adds a call that may fail; then the next skip steps are left out.
func (p *Plan) Try(name string, skip int, nr uintptr, args ...any) Step {
	s := p.Do(name, nr, args...)
	s.kind, s.skip = optional, uint8(skip)
	return s
}

// Keeps has the step's result stored in cell c.
func (s Step) Keeps(c Ref) Step {
	s.to = int16(c)
	return s
}

// Retried has the step repeated when a signal interrupts it.
func (s Step) Retried() { s.retried = true }

// Poke stores cell c at address at, which was placed, when its turn comes.
func (p *Plan) Poke(c Ref, at *int32) {
	p.Do("store", 0, c).poke(at)
}

// poke makes s one that stores its argument at address at.
func (s Step) poke(at *int32) { s.kind, s.at = poke, at }

// ResetSignals adds that every signal that has a handler gets its default
// back, and that those are let in which were before the fork. It belongs right
// before the start of a program.
func (p *Plan) ResetSignals() { p.Do("resetting the signals", 0).kind = reset }

// text returns the address of s as C has it.
func (p *Plan) text(s string) uintptr {
	b := p.room(len(s)+1, 1)
	copy(b, s)
	return uintptr(unsafe.Pointer(&b[0]))
}

// list returns the address of an array of strings as C has it, with the
// addresses of more at its end.
func (p *Plan) list(words []string, more ...uintptr) uintptr {
	array := make([]uintptr, 0, len(words)+len(more)+1)
	for _, w := range words {
		array = append(array, p.text(w))
	}
	array = append(append(array, more...), 0)
	return uintptr(unsafe.Pointer(PlaceAll(p, array)))
}

// place puts what the child follows to where the child finds it.
func (p *Plan) place() (first *step, n int, cells *cell) {
	return PlaceAll(p, p.steps), len(p.steps), PlaceAll(p, make([]cell, p.used))
}

// Close adds the closing of a cell's descriptor.
func (p *Plan) Close(c Ref) {
	p.Try("close", 0, unix.SYS_CLOSE, c)
	if c != p.temp {
		p.free = append(p.free, c)
	}
}

// FailureSize is the length in bytes of the message that a child writes when a
// step fails.
const FailureSize = 8

// Explain reads such a message: the name of the step, "" when a plan came to
// its end without a program, and what the kernel said. first is the plan of an
// [Init], nil where there is none.
func Explain(msg []byte, first, command *Plan) (step string, errno unix.Errno) {
	at := *(*uint32)(unsafe.Pointer(&msg[0]))
	errno = unix.Errno(*(*uint32)(unsafe.Pointer(&msg[4])))
	p := command
	if at >= ofFirst {
		p, at = first, at-ofFirst
	}
	if p != nil && int(at) < len(p.names) {
		step = p.names[at]
	}
	return step, errno
}
