package killtree

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// find reads /proc/PID/stat: the name stands in parentheses and may hold
// anything, the rest are words.
func find(pid int) (Process, bool) {
	var buf [1024]byte
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return Process{}, false
	}
	n, err := unix.Read(fd, buf[:])
	_ = unix.Close(fd)
	if err != nil || n <= 0 {
		return Process{}, false
	}
	return parseStat(buf[:n])
}

func parseStat(line []byte) (p Process, ok bool) {
	open, end := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 0 || end < open {
		return p, false
	}
	p.Name = string(line[open+1 : end])
	p.Pid, _ = strconv.Atoi(string(bytes.TrimSpace(line[:open])))
	i, ticks := 0, 0
	for word := range bytes.FieldsSeq(line[end+1:]) {
		switch i {
		case 0:
			p.State = word[0]
		case 1:
			p.Parent, _ = strconv.Atoi(string(word))
		case 2:
			p.Group, _ = strconv.Atoi(string(word))
		case 3:
			p.Session, _ = strconv.Atoi(string(word))
		case 11, 12: // in user mode, and in the kernel; the unit is USER_HZ, 100 on every machine
			n, _ := strconv.Atoi(string(word))
			ticks += n
			p.CPU = time.Duration(ticks) * (time.Second / 100)
		case 19:
			p.Start, _ = strconv.ParseUint(string(word), 10, 64)
			return p, p.Pid > 0
		}
		i++
	}
	return p, false
}

// table lists all processes.
func table() []Process {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	list := make([]Process, 0, len(names))
	for _, name := range names {
		if name[0] < '0' || name[0] > '9' {
			continue
		}
		if pid, err := strconv.Atoi(name); err == nil {
			if p, ok := find(pid); ok {
				list = append(list, p)
			}
		}
	}
	return list
}

// descendants follows the lists of children that the kernel keeps, which
// costs by the size of the tree and not by that of the machine; where it does
// not keep them, the whole table is read.
func descendants(root int) []Process {
	p, ok := find(root)
	if !ok {
		return nil
	}
	if _, err := os.Stat("/proc/self/task/" + strconv.Itoa(os.Getpid()) + "/children"); err != nil {
		return living(descent(table(), root))
	}
	out := []Process{p}
	for i := 0; i < len(out) && i < 1<<16; i++ {
		out = append(out, children(out[i].Pid)...)
	}
	return living(out)
}

// children lists those of every thread of pid.
func children(pid int) (out []Process) {
	base := "/proc/" + strconv.Itoa(pid) + "/task/"
	threads, err := os.ReadDir(base)
	if err != nil {
		return nil
	}
	for _, thread := range threads {
		line, _ := os.ReadFile(base + thread.Name() + "/children")
		for word := range bytes.FieldsSeq(line) {
			n, _ := strconv.Atoi(string(word))
			// A thread that ends hands its children to another one.
			if p, ok := find(n); ok && p.Parent == pid {
				out = append(out, p)
			}
		}
	}
	return out
}

// send signals exactly the process that p describes, or none: the descriptor
// holds on to it while its start time is compared.
func (p Process) send(s unix.Signal) {
	fd, err := unix.PidfdOpen(p.Pid, 0)
	if err != nil {
		if err == unix.ENOSYS && p.Alive() {
			_ = unix.Kill(p.Pid, s)
		}
		return
	}
	defer unix.Close(fd)
	if now, ok := find(p.Pid); ok && now.Start == p.Start {
		_ = unix.PidfdSendSignal(fd, s, nil, 0)
	}
}

// remind sends SIGTERM once more to the processes of the tree that it would have ended: they
// were forked, or have become another program, while it was sent. What a process that
// catches the signal starts may be its way to end, and is left alone.
func (t *Tree) remind() {
	ends := map[int]bool{t.Pid(): t.method != unstaged}
	for _, p := range t.Members() {
		status, err := os.ReadFile("/proc/" + strconv.Itoa(p.Pid) + "/status")
		if above, known := ends[p.Parent]; known && !above || err != nil || !endedBy(status, unix.SIGTERM) {
			ends[p.Pid] = false
			continue
		}
		ends[p.Pid] = true
		p.send(unix.SIGTERM)
	}
}

// endedBy reports whether a process with this status in /proc neither blocks, ignores nor catches a
// signal.
func endedBy(status []byte, s unix.Signal) bool {
	for _, set := range []string{"\nSigBlk:", "\nSigIgn:", "\nSigCgt:"} {
		_, rest, found := bytes.Cut(status, []byte(set))
		line, _, _ := bytes.Cut(rest, []byte("\n"))
		mask, err := strconv.ParseUint(string(bytes.TrimSpace(line)), 16, 64)
		if !found || err != nil || mask&(1<<(s-1)) != 0 {
			return false
		}
	}
	return true
}
