package job

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/killtree"
	"golang.org/x/sys/unix"
)

// A source is what the job's input comes from.
type source struct {
	file   unix.Stat_t
	tty    bool
	front  int  // process group in the foreground of the terminal
	secret bool // the terminal takes a line and does not show it
}

// blocked finds a process of the job that waits to read the job's input, and
// whether it does so without showing it. It asks the kernel what each thread
// does at this moment; what the output looks like does not matter.
func (s *supervisor) blocked() (p killtree.Process, secret, ok bool) {
	src, err := s.source()
	if err != nil {
		return p, false, false
	}
	for _, q := range s.run.tree.Members() {
		if q.State == 'S' && src.readBy(q) {
			return q, src.secret, true
		}
	}
	return p, false, false
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
			src.secret = t.Lflag&unix.ICANON != 0 && t.Lflag&unix.ECHO == 0
		}
	})
	return src, errors.Join(err, failed)
}

// readBy reports whether p waits to read the source.
func (src source) readBy(p killtree.Process) bool {
	base := "/proc/" + strconv.Itoa(p.Pid) + "/"
	threads, err := os.ReadDir(base + "task")
	if err != nil {
		return false
	}
	for _, t := range threads {
		line, err := os.ReadFile(base + "task/" + t.Name() + "/syscall")
		if errors.Is(err, fs.ErrPermission) {
			// Another user's program, such as sudo. What it does is hidden,
			// but the terminal tells that a secret is being read.
			return src.secret && p.Group == src.front
		}
		if err != nil || !src.waits(p, base, line) {
			continue
		}
		// A thread on the side that reads the input of a server, or of a
		// client of one, says nothing about what the program does.
		if t.Name() == strconv.Itoa(p.Pid) || !hasSocket(base) {
			return true
		}
	}
	return false
}

// waits reports whether a thread that is in this system call waits for the
// source and for nothing else.
func (src source) waits(p killtree.Process, base string, line []byte) bool {
	f := bytes.Fields(line)
	if len(f) < 7 {
		return false // it runs
	}
	nr, err := strconv.Atoi(string(f[0]))
	if err != nil {
		return false
	}
	var arg [6]uint64
	for i := range arg {
		arg[i], _ = strconv.ParseUint(strings.TrimPrefix(string(f[i+1]), "0x"), 16, 64)
	}
	switch nr {
	case unix.SYS_READ, unix.SYS_READV:
		return src.is(p, base, int(int32(arg[0])))
	case sysPoll:
		return src.polled(p, base, arg[0], arg[1], patient(int32(arg[2])))
	case unix.SYS_PPOLL:
		return src.polled(p, base, arg[0], arg[1], arg[2] == 0)
	case unix.SYS_EPOLL_PWAIT, sysEpollWait:
		return patient(int32(arg[3])) && src.watched(p, base, int(int32(arg[0])))
	case unix.SYS_PSELECT6, sysSelect:
		return src.selected(p, base, arg[1], arg[0])
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
