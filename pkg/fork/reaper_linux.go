//go:build linux && (amd64 || arm64)

package fork

import (
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Reaper says what becomes of an init that is in no PID namespace of its own.
// One system call cannot reach all that descends from it, and to find them takes
// more than the copy of one thread can do. Its parent does that while it lives. When
// it has ended, or the init is told to do more than to signal the process group of a
// command that still runs, the init becomes our own program once more, which has the
// link as [LinkFd] and goes on from there.
type Reaper struct {
	Argv, Env []string // of that program; one more word is added, see [ReadTask]
	Cgroup    string   // the directory of a cgroup v2 where the command starts, removed in the end; "" for none
	CgroupFd  int      // the same, open
}

// A Task is what the program is to do first.
type Task struct {
	Head   int  // the command's PID
	Ended  bool // it has ended, and its PID may be another's
	What   byte // as over the link
	Signal syscall.Signal
}

// A becoming is a Reaper as the child has it.
type becoming struct {
	argv, env uintptr
	task      *[taskSize]byte
	cgroup    uintptr // 0 for none
	killFile  uintptr // of that
	program   Ref     // the cell that our own program is open in, before it is programFd
	nothing   byte
	one       byte
}

// The word of a Task: ten digits, 0 or 1, a letter, three digits.
const (
	pidDigits    = 10
	signalDigits = 3
	taskSize     = pidDigits + 2 + signalDigits
)

// ReadTask reads the last word that the program was given.
func ReadTask(word string) (t Task, ok bool) {
	if len(word) != taskSize {
		return t, false
	}
	head, err := strconv.Atoi(word[:pidDigits])
	signal, bad := strconv.Atoi(word[pidDigits+2:])
	return Task{Head: head, Ended: word[pidDigits] == '1', What: word[pidDigits+1], Signal: syscall.Signal(signal)}, err == nil && bad == nil
}

// cloneArgs is struct clone_args as Linux 5.7 has it.
type cloneArgs struct {
	flags, pidfd, childTid, parentTid, exitSignal, stack, stackSize, tls, setTid, setTidSize, cgroup uint64
}

// Reaper is [Plan.Init] for a child that gets what loses its parent below it
// without being the first of a namespace.
func (p *Plan) Reaper(link int, name string, r *Reaper) {
	task := Place(p, [taskSize + 1]byte{})
	b := becoming{argv: p.list(r.Argv, uintptr(unsafe.Pointer(task))), env: p.list(r.Env), task: (*[taskSize]byte)(task[:])}
	p.Do("subreaper", unix.SYS_PRCTL, unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	low, high := p.Cell(), p.Cell()
	p.Do("opening our own program", unix.SYS_OPENAT, unix.AT_FDCWD, "/proc/self/exe", unix.O_PATH|unix.O_CLOEXEC, 0).Keeps(low)
	p.Do("dup", unix.SYS_FCNTL, low, unix.F_DUPFD_CLOEXEC, link).Keeps(high)
	p.Close(low)
	b.program = high
	var how *cloneArgs
	if r.Cgroup != "" {
		b.cgroup, b.killFile, b.one = p.text(r.Cgroup), p.text(r.Cgroup+"/cgroup.kill"), '1'
		how = Place(p, cloneArgs{flags: unix.CLONE_INTO_CGROUP, exitSignal: uint64(unix.SIGCHLD), cgroup: uint64(r.CgroupFd)})
	}
	p.becomes = Place(p, b)
	p.init(link, name, how)
}

// become ends the init in favour of our own program, which finds what it is to
// do in its last word. A kernel that does not start it leaves the one way to end
// what can be ended: the command dies with its parent.
//
//go:norace
//go:nosplit
//go:noinline
func (c *child) become() {
	b := c.becomes
	number(unsafe.Pointer(b.task), pidDigits, uint32(c.head))
	number(unsafe.Add(unsafe.Pointer(b.task), pidDigits+2), signalDigits, uint32(c.buf[1]))
	b.task[pidDigits] = '0'
	if c.ended {
		b.task[pidDigits] = '1'
	}
	b.task[pidDigits+1] = c.buf[0]
	if c.buf[0] == KillAll {
		// Should the program not start, the command at least has ended.
		if !c.ended {
			syscall.RawSyscall6(unix.SYS_KILL, uintptr(-c.head), uintptr(unix.SIGKILL), 0, 0, 0, 0)
		}
		if b.killFile != 0 {
			if fd, _, e := syscall.RawSyscall6(unix.SYS_OPENAT, dirAtCwd, b.killFile, unix.O_WRONLY|unix.O_CLOEXEC, 0, 0, 0); e == 0 {
				syscall.RawSyscall6(unix.SYS_WRITE, fd, uintptr(unsafe.Pointer(&b.one)), 1, 0, 0, 0)
			}
		}
	}
	// A gatekeeper further out reads what a program is started with.
	syscall.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_DUMPABLE, 1, 0, 0, 0, 0)
	syscall.RawSyscall6(unix.SYS_FCNTL, LinkFd, unix.F_SETFD, 0, 0, 0, 0)
	syscall.RawSyscall6(unix.SYS_EXECVEAT, programFd, uintptr(unsafe.Pointer(&b.nothing)), b.argv, b.env, unix.AT_EMPTY_PATH, 0)
	if !c.ended {
		syscall.RawSyscall6(unix.SYS_KILL, uintptr(-c.head), uintptr(unix.SIGKILL), 0, 0, 0, 0)
	}
	c.exit(125)
}

// number writes n with that many digits.
//
//go:norace
//go:nosplit
func number(to unsafe.Pointer, digits int, n uint32) {
	for i := digits - 1; i >= 0; i-- {
		*(*byte)(unsafe.Add(to, i)) = '0' + byte(n%10)
		n /= 10
	}
}
