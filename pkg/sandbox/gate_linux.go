//go:build linux && (amd64 || arm64)

package sandbox

import (
	"cmp"
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A gatekeeper is who holds a sandbox from outside: it answers the system calls
// that the filter holds.
type gatekeeper struct {
	*Config
	listener int
	shared   bool // the network is the machine's
	mounts   bool // the command has mounts of its own
	decide   Decider
	log      *reportLog
	begin    time.Time // sockets that are older are not the command's
	head     int
	below    bool // the command is not our child
	above    int  // the process that it and all its orphans descend from
	// processes is the command's PID namespace where it is not ours
	processes string
	root      int // the root directory as the command sees it
	ctx       context.Context
	opened    chan struct{} // closed when all is known

	cancel  context.CancelFunc
	workers atomic.Int32
	idle    atomic.Int32 // those that wait
	busy    atomic.Int32
	phase   atomic.Int32 // atStart, atLoad or under
	mu      sync.Mutex
	due     map[int]*identity  // programs that were allowed and are about to run, by process
	serving map[[2]uint64]bool // sockets in the file system, by device and inode, for which we began to listen
	copies  *copies

	removable    *removables
	quiet        *quiet // nil where nobody could wait for what is done in a view
	refusedMoves int    // renames that were left to the kernel
	proxy        *proxy // nil for none
	proxyAt      string // its address for the command
	proxyPort    uint16 // where it is
	session      *sessionNet
	servers      *servers // of the session, where the loopback is the machine's
}

const (
	maxIdle    = 3    // workers that wait for calls; one more starts when none does
	maxWorkers = 32   // a bound on questions that wait for a person, and on threads
	maxDue     = 4096 // programs that were allowed and never ran
)

// notice is struct seccomp_notif, answer struct seccomp_notif_resp.
type notice struct {
	id    uint64
	pid   uint32
	flags uint32
	nr    int32
	arch  uint32
	ip    uint64
	args  [6]uint64
}

// number is an argument that is no address, as the kernel takes it: its calls look at 32 bits, whatever the register has above them.
func (n *notice) number(i int) int { return int(int32(n.args[i])) }

type answer struct {
	id    uint64
	value int64
	errno int32
	flags uint32
}

const (
	setListenerFlags = 0x40082104 // SECCOMP_IOCTL_NOTIF_SET_FLAGS
	syncWakeUp       = 1          // SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP: Linux 6.6
)

const idValid = 0x40082102 // SECCOMP_IOCTL_NOTIF_ID_VALID

// A verdict is what the gate answers a system call.
type verdict struct {
	goOn  bool // the kernel does it
	errno unix.Errno
}

func refused(e unix.Errno) verdict { return verdict{errno: e} }

// result is what the kernel said to the gate that did the call itself.
func result(err error) verdict {
	if err == nil {
		return verdict{}
	}
	if e, ok := errors.AsType[unix.Errno](err); ok {
		return verdict{errno: e}
	}
	return verdict{errno: unix.EIO}
}

// makeRoom has enough threads run beside those that wait in the kernel, or
// each answer would wait for the scheduler to notice.
func makeRoom() {
	const room = 2 * (maxIdle + 1)
	if runtime.GOMAXPROCS(0) < room {
		runtime.GOMAXPROCS(room)
	}
}

func newGatekeeper(s *start, listener int) *gatekeeper {
	ctx, cancel := context.WithCancel(context.Background())
	var q *quiet
	if s.confiner != nil {
		q = &s.confiner.quiet
	}
	return &gatekeeper{
		quiet:  q,
		Config: s.Config, listener: listener, mounts: s.level >= L3, shared: s.level < L3 || s.network() == Open,
		decide: s.decide, log: s.log, begin: coarseNow(), head: s.pid, below: s.below, root: unix.AT_FDCWD, opened: make(chan struct{}), ctx: ctx, cancel: cancel,
		due: map[int]*identity{}, copies: newCopies(s.Copies), removable: newRemovables(s.Config),
		proxy: s.proxy, proxyAt: s.proxyAt, proxyPort: s.proxyPort, session: s.session, servers: newServers(s.Config),
	}
}

// coarseNow is the time that the file system would stamp on a new file.
func coarseNow() time.Time {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &t) != nil {
		return time.Now()
	}
	return time.Unix(t.Unix())
}

// open begins to answer. What is foregone needs nothing of what is looked up
// meanwhile.
func (g *gatekeeper) open() {
	defer close(g.opened)
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(g.listener), setListenerFlags, syncWakeUp)
	g.hire()
	if fd, err := unix.Open("/proc/"+strconv.Itoa(g.head)+"/root", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err == nil {
		g.root = fd
	}
	g.findAbove()
	theirs, _ := os.Readlink("/proc/" + strconv.Itoa(g.head) + "/ns/pid")
	if ours, err := os.Readlink("/proc/self/ns/pid"); err != nil || theirs != ours {
		g.processes = cmp.Or(theirs, "unknown")
	}
}

func (g *gatekeeper) hire() {
	g.idle.Add(1)
	g.workers.Add(1)
	go g.serve()
}

// serve answers calls until there is nobody left to make one.
func (g *gatekeeper) serve() {
	defer g.leave()
	for {
		n := notice{}
		switch err := ioctl(g.listener, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&n)); err {
		case 0:
		case unix.EINTR, unix.EAGAIN:
			continue
		case unix.ENOENT: // the caller was killed meanwhile, or the last one has ended
			if hungUp(g.listener) {
				return
			}
			continue
		default:
			return
		}
		if g.foregone(&n) {
			g.answer(&n, verdict{goOn: true})
			continue
		}
		if g.idle.Add(-1) == 0 && g.busy.Load() < maxWorkers {
			g.hire()
		}
		g.busy.Add(1)
		g.answer(&n, g.handle(&n))
		g.busy.Add(-1)
		if g.idle.Add(1) > maxIdle {
			return
		}
	}
}

func (g *gatekeeper) answer(n *notice, v verdict) {
	a := answer{id: n.id, errno: -int32(v.errno)}
	if v.goOn {
		a.flags = unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE
	}
	_ = ioctl(g.listener, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&a))
}

// foregone reports whether n belongs to the start of the command's own
// program, which was decided before: it needs no second worker. Until that
// program runs nobody else can call.
func (g *gatekeeper) foregone(n *notice) bool {
	switch g.phase.Load() {
	case atStart:
		g.phase.Store(atLoad)
		return uintptr(n.nr) == unix.SYS_EXECVE
	case atLoad:
		g.phase.Store(under)
		return loadMark != 0 && uintptr(n.nr) == loadMark && int(n.pid) == g.head
	}
	return false
}

// The phases of a gatekeeper.
const (
	atStart = iota // the command's own program is to be started
	atLoad         // it was let start
	under          // it runs
)

// hungUp reports whether nobody is left who could make a call.
func hungUp(listener int) bool {
	list := []unix.PollFd{{Fd: int32(listener)}}
	n, err := unix.Poll(list, 0)
	return err == nil && n > 0 && list[0].Revents&unix.POLLHUP != 0
}

// leave ends a worker. The last one closes up.
func (g *gatekeeper) leave() {
	g.idle.Add(-1)
	if g.workers.Add(-1) == 0 {
		g.cancel()
		_ = unix.Close(g.listener)
		g.session.leave()
		<-g.opened
		if g.root != unix.AT_FDCWD {
			_ = unix.Close(g.root)
		}
	}
}

func ioctl(fd int, request uintptr, arg unsafe.Pointer) unix.Errno {
	_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(arg))
	return e
}

// handle decides one call. Whatever goes wrong, nothing is let through for it.
func (g *gatekeeper) handle(n *notice) (v verdict) {
	defer func() {
		if recover() != nil {
			v = refused(unix.EACCES)
		}
	}()
	<-g.opened
	switch nr := uintptr(n.nr); {
	case nr == unix.SYS_EXECVE || nr == unix.SYS_EXECVEAT:
		return g.exec(n)
	case loadMark != 0 && nr == loadMark:
		return g.loaded(n)
	case nr == unix.SYS_CONNECT:
		return g.connect(n)
	case nr == unix.SYS_BIND:
		return g.bind(n)
	case nr == unix.SYS_LISTEN:
		return g.listen(n)
	}
	if nr := uintptr(n.nr); nr == unix.SYS_UNLINKAT || slices.Contains(removalsHere(), nr) {
		return g.remove(n)
	}
	if slices.Contains(renames(), uintptr(n.nr)) {
		return g.rename(n)
	}
	if empties(uintptr(n.nr)) {
		return g.opens(n)
	}
	if slices.Contains(links(), uintptr(n.nr)) {
		return g.link(n)
	}
	if v, ok := g.other(n); ok {
		return v
	}
	return g.metadata(n)
}

// valid reports whether the process still waits for the answer to n: what was
// read in between is its own and not of another with the same number.
func (g *gatekeeper) valid(n *notice) bool {
	id := n.id
	return ioctl(g.listener, idValid, unsafe.Pointer(&id)) == 0
}

// outerGate reports whether a gatekeeper of ours holds this very process. A
// gatekeeper answers this connection, which no kernel would make, with an
// error of its own, and nobody but who holds the process could.
func outerGate() bool {
	_, _, e := unix.Syscall(unix.SYS_CONNECT, ^uintptr(0), 0, greeting)
	return e == greeted
}

const (
	greeting = 0x616b6974 // the length of an address
	greeted  = unix.EUCLEAN
)

// self is the path of our own descriptor fd, which names the very file.
func self(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// descriptor returns a copy of the process's descriptor fd.
func (g *gatekeeper) descriptor(n *notice, fd int) (int, error) {
	process, err := unix.PidfdOpen(int(n.pid), unix.PIDFD_THREAD)
	if err != nil {
		if process, err = unix.PidfdOpen(group(int(n.pid)), 0); err != nil {
			return -1, err
		}
	}
	defer unix.Close(process)
	return unix.PidfdGetfd(process, fd, 0)
}

// group returns the process that a thread belongs to.
func group(tid int) int {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(tid) + "/status")
	if err != nil {
		return tid
	}
	return statusNumber(status, "Tgid:")
}
