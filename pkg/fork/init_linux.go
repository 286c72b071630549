//go:build linux && (amd64 || arm64)

package fork

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Record is a message of an init over the link. The init ends when nothing
// that descends from it is left.
type Record struct {
	Kind   byte
	Left   bool  // Ended: something else still runs
	Status int32 // as wait(2) has it
	User   int64 // processor time in microseconds, of the command and what it waited for
	System int64
	MaxRSS int64 // KiB
}

// Bytes returns r as a message.
func (r Record) Bytes() []byte {
	return append([]byte(nil), unsafe.Slice((*byte)(unsafe.Pointer(&r)), RecordSize)...)
}

// RecordSize is the length of a message in bytes.
const RecordSize = int(unsafe.Sizeof(Record{}))

// ReadRecord reads a message.
func ReadRecord(msg []byte) Record { return *(*Record)(unsafe.Pointer(&msg[0])) }

// Wait returns the status as the standard library has it.
func (r Record) Wait() syscall.WaitStatus { return syscall.WaitStatus(r.Status) }

// dirAtCwd is AT_FDCWD as a register has it.
const dirAtCwd = ^uintptr(-unix.AT_FDCWD - 1)

// LinkFd is the link of an init once its plan is carried out, and of the program
// that a reaper becomes.
const LinkFd = 0

// The other descriptors of an init.
const (
	signalsFd = 1
	programFd = 2 // our own program, of a reaper
)

// Init adds the making of the second child of an [Init], and what the first one
// does then: it holds on to nothing but the link, which must have a number
// beyond those that the command is given, and its signals. name is what it is
// called from then on, at most 15 bytes. Nothing that may fail comes after the
// command was made: who sees a failure may start it in another way.
func (p *Plan) Init(link int, name string) { p.init(link, name, nil) }

// init is Init where the command is made as clone3 has it from how; nil for
// nothing out of the ordinary.
func (p *Plan) init(link int, name string, how *cloneArgs) {
	rest := signalsFd + 1 // the first descriptor that is closed
	if p.becomes != nil {
		rest = programFd + 1
	}
	blocked := make([]byte, 8)
	blocked[(unix.SIGCHLD-1)/8] |= 1 << ((unix.SIGCHLD - 1) % 8)
	signals, high := p.Cell(), p.Cell()
	p.Do("signalfd", unix.SYS_SIGNALFD4, -1, blocked, 8, unix.SFD_CLOEXEC|unix.SFD_NONBLOCK).Keeps(signals)
	p.Do("dup", unix.SYS_FCNTL, signals, unix.F_DUPFD_CLOEXEC, link).Keeps(high)
	p.Do("close_range", unix.SYS_CLOSE_RANGE, int(^uint32(0)), int(^uint32(0)), 0) // there is none: whether it can be called
	s := p.Do("starting the command", 0, unsafe.Pointer(how), unsafe.Sizeof(*how))
	s.kind = spawn
	// The command may belong to the same user.
	p.Try("dumpable", 0, unix.SYS_PRCTL, unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	p.anonymous(name)
	p.Try("dup3", 0, unix.SYS_DUP3, link, LinkFd, unix.O_CLOEXEC)
	p.Try("dup3", 0, unix.SYS_DUP3, high, signalsFd, unix.O_CLOEXEC)
	if p.becomes != nil {
		p.Try("dup3", 0, unix.SYS_DUP3, p.becomes.program, programFd, unix.O_CLOEXEC)
	}
	p.Try("close_range", 0, unix.SYS_CLOSE_RANGE, rest, int(^uint32(0)), 0)
	p.Try("chdir", 0, unix.SYS_CHDIR, "/")
}

// stay is the init. It has all signals blocked; what is sent to the first
// process of a namespace from within does not end it anyway.
//
//go:norace
//go:nosplit
//go:noinline
func (c *child) stay() {
	c.poll[0].Fd, c.poll[0].Events = LinkFd, unix.POLLIN
	c.poll[1].Fd, c.poll[1].Events = signalsFd, unix.POLLIN
	for {
		for c.reap() {
			c.send()
		}
		if !c.rec.Left && c.ended {
			c.leave()
		}
		syscall.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&c.poll)), 2, 0, 0, 0, 0)
		if c.poll[1].Revents != 0 {
			syscall.RawSyscall6(unix.SYS_READ, signalsFd, uintptr(unsafe.Pointer(&c.buf)), uintptr(len(c.buf)), 0, 0, 0)
		}
		if c.poll[0].Revents != 0 && !c.listen() {
			c.become()
		}
	}
}

// leave ends the init when nothing is left.
//
//go:norace
//go:nosplit
//go:noinline
func (c *child) leave() {
	if c.becomes != nil && c.becomes.cgroup != 0 {
		syscall.RawSyscall6(unix.SYS_UNLINKAT, dirAtCwd, c.becomes.cgroup, unix.AT_REMOVEDIR, 0, 0, 0)
	}
	c.exit(0)
}

// listen does what it is told; when nobody is left to tell, it ends all. It
// reports whether it could: only a reaper cannot.
//
//go:norace
//go:nosplit
//go:noinline
func (c *child) listen() bool {
	n, _, e := syscall.RawSyscall6(unix.SYS_READ, LinkFd, uintptr(unsafe.Pointer(&c.buf)), 2, 0, 0, 0)
	switch {
	case e == unix.EINTR || e == unix.EAGAIN:
		return true
	case e != 0 || n == 0:
		c.poll[0].Fd = -1
		c.buf[0] = KillAll
	}
	if c.becomes != nil && (c.ended || c.buf[0] != SignalGroup) {
		return false
	}
	signal := uintptr(c.buf[1])
	all := ^uintptr(0) // everything but the caller
	switch c.buf[0] {
	case SignalGroup:
		// Its number stays taken while the group has a member; after that
		// nobody but the tree itself can have it.
		syscall.RawSyscall6(unix.SYS_KILL, uintptr(-c.head), signal, 0, 0, 0, 0)
	case SignalAll:
		syscall.RawSyscall6(unix.SYS_KILL, all, signal, 0, 0, 0, 0)
	case KillAll:
		c.killing = true
		syscall.RawSyscall6(unix.SYS_KILL, all, uintptr(unix.SIGKILL), 0, 0, 0, 0)
	}
	return true
}

// reap collects the dead and reports whether something is to be told; then it
// is to be called again.
//
//go:norace
//go:nosplit
//go:noinline
func (c *child) reap() bool {
	told := c.ended
	for {
		options := uintptr(unix.WNOHANG)
		if !c.ended {
			options |= unix.WUNTRACED
		}
		any := ^uintptr(0)
		pid, _, e := syscall.RawSyscall6(unix.SYS_WAIT4, any, uintptr(unsafe.Pointer(&c.status)), options, uintptr(unsafe.Pointer(&c.usage)), 0, 0)
		if e == unix.EINTR {
			continue
		}
		if e != 0 || pid == 0 {
			c.rec.Left = e == 0
			break
		}
		if int(pid) != c.head || c.ended {
			continue
		}
		if c.status&0xff == 0x7f { // stopped
			if c.killing {
				continue
			}
			c.rec.Kind, c.rec.Status = Stopped, c.status
			return true
		}
		c.ended = true
		c.rec.Kind, c.rec.Status = Ended, c.status
		c.rec.User = c.usage.Utime.Sec*1e6 + c.usage.Utime.Usec
		c.rec.System = c.usage.Stime.Sec*1e6 + c.usage.Stime.Usec
		c.rec.MaxRSS = c.usage.Maxrss
	}
	return c.ended && !told
}

//go:norace
//go:nosplit
//go:noinline
func (c *child) send() {
	flags := uintptr(unix.MSG_NOSIGNAL)
	if c.rec.Kind == Stopped {
		flags |= unix.MSG_DONTWAIT // one that is lost does no harm
	}
	syscall.RawSyscall6(unix.SYS_SENDTO, LinkFd, uintptr(unsafe.Pointer(&c.rec)), uintptr(RecordSize), flags, 0, 0)
}
