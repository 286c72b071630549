//go:build linux && (amd64 || arm64)

package sandbox

import (
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// A reach is a system call that changes how another process runs, or signals
// it: the kernel lets every process of the same user do so.
type reach struct {
	nr   uintptr
	pid  int   // the argument that names the process; 0 there is the caller itself
	kind int   // the argument that says what pid is; -1 for none
	only int64 // the only kind that is let through: a process
	sig  int   // of a signal: the argument that says which
}

// reaches lists those that only Linux's users keep apart. Signals are among
// them where Landlock does not hold them.
func reaches(signals bool) []reach {
	list := []reach{
		{unix.SYS_PRLIMIT64, 0, -1, 0, 0},
		{unix.SYS_SETPRIORITY, 1, 0, unix.PRIO_PROCESS, 0},
		{unix.SYS_IOPRIO_SET, 1, 0, 1, 0}, // IOPRIO_WHO_PROCESS
		{unix.SYS_SCHED_SETAFFINITY, 0, -1, 0, 0},
		{unix.SYS_SCHED_SETATTR, 0, -1, 0, 0},
		{unix.SYS_SCHED_SETPARAM, 0, -1, 0, 0},
		{unix.SYS_SCHED_SETSCHEDULER, 0, -1, 0, 0},
	}
	if signals {
		list = append(list,
			reach{unix.SYS_KILL, 0, -1, 0, 1},
			reach{unix.SYS_TKILL, 0, -1, 0, 1},
			reach{unix.SYS_TGKILL, 0, -1, 0, 2},
			reach{unix.SYS_RT_SIGQUEUEINFO, 0, -1, 0, 1},
			reach{unix.SYS_RT_TGSIGQUEUEINFO, 0, -1, 0, 2})
	}
	return list
}

// harmful are the signals that end or stop a process that waits for a command:
// Go's runtime and the init live with all others. Only these are worth that a
// watched call, unlike a plain one, may be interrupted.
func harmful() []uint32 {
	return []uint32{
		uint32(unix.SIGKILL), uint32(unix.SIGSTOP), uint32(unix.SIGTSTP), uint32(unix.SIGTTIN), uint32(unix.SIGTTOU), uint32(unix.SIGQUIT), uint32(unix.SIGILL),
		uint32(unix.SIGTRAP), uint32(unix.SIGABRT), uint32(unix.SIGBUS), uint32(unix.SIGFPE), uint32(unix.SIGSEGV), uint32(unix.SIGSTKFLT), uint32(unix.SIGSYS),
	}
}

// initPID is the init of a PID namespace, which is ours.
const initPID = 1

// others keeps the command from processes that are not its own. In a PID
// namespace of its own that is the init alone; elsewhere the gatekeeper looks
// where a process comes from.
func (p *seccompProgram) others(w watched) {
	p.on(refuse(unix.EPERM), unix.SYS_PROCESS_MADVISE, unix.SYS_PROCESS_MRELEASE, unix.SYS_MIGRATE_PAGES)
	p.unlessValues(refuse(unix.EPERM), unix.SYS_MOVE_PAGES, 0, 0)
	// A file can send any signal to whom it names as its owner.
	p.onValues(refuse(unix.EPERM), unix.SYS_FCNTL, 1, unix.F_SETSIG)
	if w.signals { // by a number they are watched
		p.on(refuse(unix.ENOSYS), unix.SYS_PIDFD_SEND_SIGNAL)
	}
	for _, r := range reaches(w.signals) {
		if r.kind >= 0 {
			p.unlessValues(refuse(unix.EPERM), r.nr, r.kind, uint32(r.only))
		}
		switch {
		case w.apart:
			p.onValues(refuse(unix.EPERM), r.nr, r.pid, initPID)
		case r.sig > 0:
			p.onValues(unix.SECCOMP_RET_USER_NOTIF, r.nr, r.sig, harmful()...)
		default:
			p.unlessValues(unix.SECCOMP_RET_USER_NOTIF, r.nr, r.pid, 0)
		}
	}
}

// other decides about a call that reaches another process.
func (g *gatekeeper) other(n *notice) (v verdict, ok bool) {
	list := reaches(true)
	i := slices.IndexFunc(list, func(r reach) bool { return r.nr == uintptr(n.nr) })
	if i < 0 {
		return verdict{}, false
	}
	pid := n.number(list[i].pid)
	switch {
	case pid == 0, uintptr(n.nr) == unix.SYS_PRLIMIT64 && n.args[2] == 0: // itself; only a look
		return verdict{goOn: true}, true
	case pid == -1: // everything that the user runs
		return refused(unix.EPERM), true
	}
	who := max(pid, -pid) // a process group is named by its first process
	if _, err := os.Stat("/proc/" + strconv.Itoa(who)); err != nil {
		return refused(unix.ESRCH), true
	}
	if !g.commands(who) {
		return refused(unix.EPERM), true
	}
	return verdict{goOn: true}, true
}

// commands reports whether a process, or the one that a thread belongs to,
// descends from the init, which all that lost their parents belong to.
func (g *gatekeeper) commands(pid int) bool {
	pid = group(pid)
	for range 1 << 16 {
		status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
		if err != nil || pid == g.above {
			return false
		}
		if pid = statusNumber(status, "PPid:"); pid == g.above {
			return true
		}
	}
	return false
}

// parents lists the processes above pid, as far as the command goes.
func (g *gatekeeper) parents(pid int) (list []int) {
	for len(list) < 1<<10 {
		status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
		if err != nil {
			return list
		}
		if pid = statusNumber(status, "PPid:"); pid <= 1 || pid == g.above || pid == os.Getpid() {
			return list
		}
		list = append(list, pid)
	}
	return list
}

// findAbove finds the process that the command and all its orphans descend from.
func (g *gatekeeper) findAbove() {
	g.above = os.Getpid()
	if g.below {
		status, err := os.ReadFile("/proc/" + strconv.Itoa(g.head) + "/status")
		if err != nil {
			g.above = -1 // nobody's
			return
		}
		g.above = statusNumber(status, "PPid:")
	}
}
