//go:build linux && (amd64 || arm64)

package fork

import (
	"bytes"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Memory is the memory of a plan. It does not lie on Go's heap, which a child
// does not get: copying the page tables of the heap takes longer than all else
// that a fork does, and after it every page that either side writes to must be
// copied while all threads wait.
type memory struct {
	chunks [][]byte
	rest   []byte // of the last one
}

// chunk is the least that memory asks the kernel for. What is not written to
// costs nothing.
const chunk = 256 << 10

// room returns n bytes of zero, which do not move, until p is collected.
func (p *Plan) room(n, align int) []byte {
	if at := uintptr(unsafe.Pointer(unsafe.SliceData(p.rest))); len(p.rest) > 0 {
		p.rest = p.rest[min(int(-at&uintptr(align-1)), len(p.rest)):]
	}
	if n >= len(p.rest) {
		size := max(chunk, n+1)
		fresh, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
		if err != nil {
			panic("fork: no memory for a plan: " + err.Error()) // as Go does when its heap gets none
		}
		runtime.AddCleanup(p, func(b []byte) { _ = unix.Munmap(b) }, fresh)
		p.chunks = append(p.chunks, fresh)
		p.rest = fresh
	}
	b := p.rest[:n:n]
	p.rest = p.rest[n:]
	return b
}

// Place returns where a copy of v lies that the child will have. It is valid as
// long as the plan is. What v points to must have been placed too.
func Place[T any](p *Plan, v T) *T {
	return PlaceAll(p, []T{v})
}

// PlaceAll does the same for a slice and returns where its first element lies.
func PlaceAll[T any](p *Plan, s []T) *T {
	var zero T
	b := p.room(max(len(s)*int(unsafe.Sizeof(zero)), 1), int(unsafe.Alignof(zero)))
	first := (*T)(unsafe.Pointer(&b[0]))
	copy(unsafe.Slice(first, len(s)), s)
	return first
}

// Around the place where clone keeps its variables: what the functions below
// it may use, of which the linker sees to it that it is less than a kilobyte,
// and what the caller keeps for it.
const (
	stackBelow = 16 << 10
	stackAbove = 1 << 10
)

// global lies among the variables that have no value at the start.
var global byte

// A span is a piece of memory.
type span struct{ begin, end uintptr }

// withhold keeps the memory of Go and of the C library from the children of
// this thread, but for the plans' and what [stackFor] gives back, until the
// result is called. What it cannot find out, or withhold, costs time alone: the
// child has more than it needs. Who holds syscall.ForkLock may call it: children
// that package syscall makes may need the heap.
func withhold(plans ...*Plan) (restore func()) {
	var spans []span // what lies side by side is one
	restore = func() {
		for _, s := range spans {
			madvise(s.begin, s.end-s.begin, unix.MADV_DOFORK)
		}
	}
	locks, errno := locksOfThread()
	maps, err := readAll("/proc/self/maps")
	if err != nil || errno != 0 {
		return restore
	}
	globals := uintptr(unsafe.Pointer(&global)) // an instrumented build counts there
	for line := range bytes.Lines(maps) {
		s, ok := anonymous(line)
		n := len(spans)
		switch {
		case !ok || s.has(locks) || s.has(globals):
		case n > 0 && spans[n-1].end == s.begin:
			spans[n-1].end = s.end
		default:
			spans = append(spans, s)
		}
	}
	for _, s := range spans {
		madvise(s.begin, s.end-s.begin, unix.MADV_DONTFORK)
	}
	for _, p := range plans {
		for _, c := range p.chunks {
			// This parts a mapping, and a process may have only so many.
			if madvise(uintptr(unsafe.Pointer(&c[0])), uintptr(len(c)), unix.MADV_DOFORK) != 0 {
				restore()
				return func() {}
			}
		}
	}
	return restore
}

func (s span) has(at uintptr) bool { return s.begin <= at && at < s.end }

// locksOfThread is where the C library has the list of this thread's locks; 0
// where there is no such library. Beside it lies the library's description of
// the thread, to which the kernel writes whenever the thread, or a child of it,
// goes on to run on another processor (rseq(2)).
func locksOfThread() (list uintptr, err unix.Errno) {
	var size uintptr
	_, _, err = syscall.RawSyscall(unix.SYS_GET_ROBUST_LIST, 0, uintptr(unsafe.Pointer(&list)), uintptr(unsafe.Pointer(&size)))
	return list, err
}

// anonymous reads a line of /proc/PID/maps. It reports whether that is memory
// without a file and without a name: Go's heap and tables, the stacks of
// threads, and what is only reserved.
func anonymous(line []byte) (s span, ok bool) {
	// 7fcc5889a000-7fcc5909a000 rw-p 00000000 00:00 0
	f := bytes.Fields(line)
	if len(f) < 5 || string(f[4]) != "0" || len(f[1]) != 4 || f[1][2] != '-' || f[1][3] != 'p' {
		return s, false
	}
	if len(f) > 5 && !bytes.Contains(line, []byte(" [anon: Go: ")) {
		return s, false
	}
	a, b, _ := bytes.Cut(f[0], []byte("-"))
	x, err := strconv.ParseUint(string(a), 16, 64)
	y, err2 := strconv.ParseUint(string(b), 16, 64)
	return span{uintptr(x), uintptr(y)}, err == nil && err2 == nil
}

// readAll reads a file of /proc without the poller of package os.
func readAll(name string) ([]byte, error) {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	var all []byte
	for {
		all = slices.Grow(all, 4<<10)
		n, err := unix.Read(fd, all[len(all):cap(all)])
		if err != nil || n == 0 {
			return all, err
		}
		all = all[:len(all)+n]
	}
}

// stackFor gives children the stack that the caller runs on. Where it fails
// there must be none.
//
//go:norace
//go:nosplit
func stackFor(page uintptr) unix.Errno {
	var here byte
	at := uintptr(unsafe.Pointer(&here))
	from := (at - stackBelow) &^ (page - 1)
	to := (at + stackAbove + page - 1) &^ (page - 1)
	return madvise(from, to-from, unix.MADV_DOFORK)
}

//go:norace
//go:nosplit
func madvise(at, n, advice uintptr) unix.Errno {
	_, _, e := syscall.RawSyscall6(unix.SYS_MADVISE, at, n, advice, 0, 0, 0)
	return e
}
