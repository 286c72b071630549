package job

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/killtree"
	"golang.org/x/sys/unix"
)

// A source is what the job's input comes from.
type source struct {
	file   unix.Stat_t
	tty    bool
	front  int    // process group in the foreground of the terminal
	lines  bool   // the terminal hands over whole lines
	ends   string // what ends one
	secret bool   // the terminal takes a line and does not show it
}

// blocked finds a process of the job that waits to read the job's input, and
// whether it does so without showing it. It asks the kernel what each thread
// does at this moment. A server that would also take commands reads its input,
// too, and so does a monitor that draws its screen every second: so either a
// prompt has been shown, or whoever reads can do nothing else. Who has been sent
// something since it went to sleep will wake up, and waits no more.
func (s *supervisor) blocked(members []killtree.Process) (b blocking) {
	if i, _ := s.snapshot(); !i.OpenStdin {
		return b
	}
	src, err := s.source()
	if err != nil {
		return b
	}
	asked := src.secret
	called := s.asleep()
	for _, q := range members {
		if q.State != 'S' {
			continue
		}
		how := src.readBy(q)
		if how == readsNot || slices.Contains(called, q.Pid) {
			continue
		}
		b.reads = true
		asked = asked || prompts(s.tail())
		if asked || how == readsOnly || how == readsIdly && alone(q, members) {
			b.who, b.secret, b.waits = q, src.secret, true
			return b
		}
	}
	return b
}

// A sleep is what a process is in while none of its threads has woken.
type sleep struct {
	pid   int
	count int64 // how often its threads have gone to sleep, see proc_pid_status(5); -1 where that is not shown
}

func sleepOf(pid int) sleep {
	tasks := "/proc/" + strconv.Itoa(pid) + "/task/"
	threads, err := os.ReadDir(tasks)
	if err != nil {
		return sleep{pid, -1}
	}
	all := sleep{pid: pid}
	for _, t := range threads {
		raw, _ := os.ReadFile(tasks + t.Name() + "/status")
		_, after, _ := bytes.Cut(raw, []byte("\nvoluntary_ctxt_switches:"))
		line, _, _ := bytes.Cut(after, []byte("\n"))
		count, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 10, 64)
		if err != nil {
			return sleep{pid, -1}
		}
		all.count += count
	}
	return all
}

// wakes is called before text is sent to the job. Whoever sleeps until there is
// input waits for nothing more from then on, although a busy machine may leave it
// asleep for long: see blocked.
func (s *supervisor) wakes(text []byte) {
	src, err := s.source()
	if err != nil || !src.passes(text) {
		return
	}
	var list []sleep
	for _, p := range s.run.tree.Members() {
		if p.State != 'S' || src.readBy(p) == readsNot {
			continue
		}
		if now := sleepOf(p.Pid); now.count >= 0 {
			list = append(list, now)
		}
	}
	s.called.Store(&list)
}

// asleep are the processes that the text sent last will wake, while all of them sleep
// on: one that has woken may have taken it.
func (s *supervisor) asleep() (pids []int) {
	list := s.called.Load()
	if list == nil {
		return nil
	}
	for _, l := range *list {
		if sleepOf(l.pid) != l {
			s.called.CompareAndSwap(list, nil)
			return nil
		}
		pids = append(pids, l.pid)
	}
	return pids
}

// passes reports whether a part of text surely comes to whoever reads the source.
// A terminal keeps a line until it is complete, and takes what sends signals or
// holds the output for itself.
func (src source) passes(text []byte) bool {
	switch {
	case !src.tty:
		return len(text) > 0
	case src.lines:
		return bytes.ContainsAny(text, src.ends)
	}
	return len(bytes.Trim(text, "\x03\x11\x13\x1a\x1c")) > 0
}

// alone reports whether the others are there for p only: those that have started
// it, down from the command.
func alone(p killtree.Process, members []killtree.Process) bool {
	parents := map[int]int{}
	for _, q := range members {
		parents[q.Pid] = q.Parent
	}
	line := map[int]bool{}
	for pid := p.Pid; pid > 0 && !line[pid]; pid = parents[pid] {
		line[pid] = true
	}
	for _, q := range members {
		if !line[q.Pid] && q.State != 'Z' && q.State != 'T' {
			return false
		}
	}
	return true
}

func (s *supervisor) source() (src source, err error) {
	f := s.run.input
	if s.Spec.TTY {
		f = s.run.terminal
	}
	if f == nil {
		return src, fs.ErrClosed
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return src, err
	}
	failed := raw.Control(func(fd uintptr) {
		if !s.Spec.TTY {
			err = unix.Fstat(int(fd), &src.file)
			return
		}
		var n int
		if n, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN); err != nil {
			return
		}
		src.tty = true
		if err = unix.Stat("/dev/pts/"+strconv.Itoa(n), &src.file); err != nil {
			return
		}
		src.front, _ = unix.IoctlGetInt(int(fd), unix.TIOCGPGRP)
		if t, err := unix.IoctlGetTermios(int(fd), unix.TCGETS); err == nil {
			src.lines, src.ends = t.Lflag&unix.ICANON != 0, "\n"+string(t.Cc[unix.VEOF])
			if t.Iflag&unix.ICRNL != 0 && t.Iflag&unix.IGNCR == 0 {
				src.ends += "\r"
			}
			src.secret = src.lines && t.Lflag&unix.ECHO == 0
		}
	})
	return src, errors.Join(err, failed)
}

// A reading is how a process waits for the job's input.
type reading int

const (
	readsNot  reading = iota
	readsToo          // it does other things besides, or will in a while
	readsIdly         // it does nothing else itself, but may serve others of the job
	readsOnly         // its one thread is held until there is input
)

// readBy says how p waits to read the source.
func (src source) readBy(p killtree.Process) reading {
	base := "/proc/" + strconv.Itoa(p.Pid) + "/"
	threads, err := os.ReadDir(base + "task")
	if err != nil {
		return readsNot
	}
	for _, t := range threads {
		call, err := readCall(base + "task/" + t.Name() + "/syscall")
		if errors.Is(err, fs.ErrPermission) {
			// Another user's program, such as sudo. What it does is hidden,
			// but the terminal tells that a secret is being read.
			if src.secret && p.Group == src.front {
				return readsToo
			}
			return readsNot
		}
		if err != nil || !src.waits(p, base, call) {
			continue
		}
		// A thread on the side that reads the input of a server, or of a
		// client of one, says nothing about what the program does.
		aside := t.Name() != strconv.Itoa(p.Pid)
		serves := len(threads) > 1 && hasSocket(base)
		switch main, err := readCall(base + "syscall"); {
		case aside && serves:
			continue
		case serves, !call.endless(), aside && (err != nil || !main.joins()):
			return readsToo
		case len(threads) == 1 && call.reads():
			return readsOnly
		}
		return readsIdly
	}
	return readsNot
}

// A sysCall is what a thread is in.
type sysCall struct {
	nr  int
	arg [6]uint64
}

// readCall reads a file of /proc that shows it; that of a thread that runs is an
// error.
func readCall(name string) (c sysCall, err error) {
	line, err := os.ReadFile(name)
	if err != nil {
		return c, err
	}
	f := bytes.Fields(line)
	if len(f) < 7 {
		return c, errRuns
	}
	if c.nr, err = strconv.Atoi(string(f[0])); err != nil {
		return c, err
	}
	for i := range c.arg {
		c.arg[i], _ = strconv.ParseUint(strings.TrimPrefix(string(f[i+1]), "0x"), 16, 64)
	}
	return c, nil
}

var errRuns = errors.New("the thread is in no system call")

// endless reports whether a call that waits for descriptors has no time limit.
func (c sysCall) endless() bool {
	switch c.nr {
	case sysPoll:
		return int32(c.arg[2]) < 0
	case unix.SYS_PPOLL:
		return c.arg[2] == 0
	case unix.SYS_EPOLL_PWAIT, sysEpollWait:
		return int32(c.arg[3]) < 0
	case unix.SYS_PSELECT6, sysSelect:
		return c.arg[4] == 0
	}
	return true
}

// reads reports whether the call is one that reads.
func (c sysCall) reads() bool { return c.nr == unix.SYS_READ || c.nr == unix.SYS_READV }

// joins reports whether the call waits, without a time limit, for another thread or
// a child.
func (c sysCall) joins() bool {
	switch c.nr {
	case unix.SYS_FUTEX:
		return c.arg[3] == 0
	case unix.SYS_WAIT4, unix.SYS_WAITID:
		return true
	}
	return false
}

// waits reports whether a thread that is in this system call waits for the
// source and for nothing else.
func (src source) waits(p killtree.Process, base string, c sysCall) bool {
	switch c.nr {
	case unix.SYS_READ, unix.SYS_READV:
		return src.is(p, base, int(int32(c.arg[0])))
	case sysPoll:
		return src.polled(p, base, c.arg[0], c.arg[1], patient(int32(c.arg[2])))
	case unix.SYS_PPOLL:
		return src.polled(p, base, c.arg[0], c.arg[1], c.arg[2] == 0)
	case unix.SYS_EPOLL_PWAIT, sysEpollWait:
		return patient(int32(c.arg[3])) && src.watched(p, base, int(int32(c.arg[0])))
	case unix.SYS_PSELECT6, sysSelect:
		return src.selected(p, base, c.arg[1], c.arg[0])
	}
	return false
}

// is reports whether p's descriptor is the source. In a sandbox a terminal may
// have another name.
func (src source) is(p killtree.Process, base string, fd int) bool {
	var st unix.Stat_t
	if unix.Stat(base+"fd/"+strconv.Itoa(fd), &st) != nil {
		return false
	}
	//nolint:unconvert // on some machines the number has 32 bits
	terminal := st.Mode&unix.S_IFMT == unix.S_IFCHR && uint64(st.Rdev) == unix.Mkdev(5, 0) // the one that controls the process
	return st.Dev == src.file.Dev && st.Ino == src.file.Ino || src.tty && terminal && p.Group == src.front
}

// patient reports whether a wait of so many milliseconds, or for ever, is one
// for somebody and not a pause between two looks.
func patient(ms int32) bool { return ms < 0 || ms >= 1000 }

// polled reports whether an array of struct pollfd waits for the source, and
// beside it at most, where the wait is a patient one, for what the process
// tells itself.
func (src source) polled(p killtree.Process, base string, at, n uint64, patient bool) bool {
	if n == 0 || n > 64 {
		return false
	}
	mem := peek(base, at, int(n)*8)
	var list []int
	for ; len(mem) >= 8; mem = mem[8:] {
		fd, events := int32(binary.NativeEndian.Uint32(mem)), binary.NativeEndian.Uint16(mem[4:])
		if fd >= 0 && events&unix.POLLIN != 0 {
			list = append(list, int(fd))
		}
	}
	return src.among(p, base, list, patient)
}

// watched reports the same of an epoll instance.
func (src source) watched(p killtree.Process, base string, epoll int) bool {
	raw, err := os.ReadFile(base + "fdinfo/" + strconv.Itoa(epoll))
	if err != nil {
		return false
	}
	var list []int
	for line := range strings.Lines(string(raw)) {
		f := strings.Fields(line) // tfd: 20 events: 19 …
		if len(f) < 4 || f[0] != "tfd:" {
			continue
		}
		fd, err := strconv.Atoi(f[1])
		events, err2 := strconv.ParseUint(f[3], 16, 32)
		if err != nil || err2 != nil {
			return false
		}
		if events&unix.EPOLLIN != 0 {
			list = append(list, fd)
		}
	}
	return src.among(p, base, list, true)
}

// among reports whether the source is among the descriptors that p waits for,
// and the others, if there may be any, carry nothing from outside.
func (src source) among(p killtree.Process, base string, fds []int, others bool) bool {
	found, more := false, false
	for _, fd := range fds {
		switch {
		case src.is(p, base, fd):
			found = true
		case others && inner(base, fd):
			more = true
		default:
			return false
		}
	}
	return found && (!more || idle(base))
}

// inner reports whether a descriptor is one by which a process tells itself
// something: an event, a signal, or a pipe of which it has both ends.
func inner(base string, fd int) bool {
	link, err := os.Readlink(base + "fd/" + strconv.Itoa(fd))
	if err != nil {
		return false
	}
	if link == "anon_inode:[eventfd]" || link == "anon_inode:[signalfd]" {
		return true
	}
	list, err := os.ReadDir(base + "fd")
	if err != nil || !strings.HasPrefix(link, "pipe:") {
		return false
	}
	ends := 0
	for _, e := range list {
		if other, err := os.Readlink(base + "fd/" + e.Name()); err == nil && other == link {
			ends++
		}
	}
	return ends > 1
}

// idle reports whether no thread of a process works.
func idle(base string) bool {
	threads, err := os.ReadDir(base + "task")
	if err != nil {
		return false
	}
	for _, t := range threads {
		stat, err := os.ReadFile(base + "task/" + t.Name() + "/stat")
		i := bytes.LastIndex(stat, []byte(") "))
		if err == nil && i >= 0 && !bytes.HasPrefix(stat[i+2:], []byte("S")) {
			return false
		}
	}
	return true
}

// selected reports whether a set of descriptors holds the source alone.
func (src source) selected(p killtree.Process, base string, at, n uint64) bool {
	if at == 0 || n == 0 || n > 1024 {
		return false
	}
	mem := peek(base, at, int(n+7)/8)
	found := false
	for fd := range min(int(n), len(mem)*8) {
		if mem[fd/8]&(1<<(fd%8)) == 0 {
			continue
		}
		if !src.is(p, base, fd) {
			return false
		}
		found = true
	}
	return found
}

// peek reads a process's memory.
func peek(base string, at uint64, n int) []byte {
	f, err := os.Open(base + "mem")
	if err != nil {
		return nil
	}
	defer f.Close()
	buf := make([]byte, n)
	if got, err := f.ReadAt(buf, int64(at)); err != nil || got < n {
		return nil
	}
	return buf
}

func hasSocket(base string) bool {
	list, err := os.ReadDir(base + "fd")
	if err != nil {
		return true
	}
	for _, e := range list {
		if link, err := os.Readlink(base + "fd/" + e.Name()); err == nil && strings.HasPrefix(link, "socket:") {
			return true
		}
	}
	return false
}

// arguments are a process's, as it shows them itself.
func arguments(p killtree.Process) []string {
	f, err := os.Open("/proc/" + strconv.Itoa(p.Pid) + "/cmdline")
	if err != nil {
		return nil
	}
	defer f.Close()
	buf := make([]byte, 4096)
	n, _ := f.Read(buf)
	if n == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(buf[:n]), "\x00"), "\x00")
}
