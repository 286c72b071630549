//go:build linux && (amd64 || arm64)

package fork

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// SocketPair returns the two ends of a connection that keeps messages apart:
// the parent's, and the child's with a number of at least least, beyond the
// descriptors that the child hands on.
func SocketPair(least int) (pair [2]int, err error) {
	pair, err = unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return pair, fmt.Errorf("making a socket: %w", err)
	}
	low := pair[1]
	pair[1], err = unix.FcntlInt(uintptr(low), unix.F_DUPFD_CLOEXEC, least)
	_ = unix.Close(low)
	if err != nil {
		_ = unix.Close(pair[0])
		return pair, fmt.Errorf("making a socket: %w", err)
	}
	return pair, nil
}

// Failed is the failure of a step as os/exec has it where it is the command's
// affair; nil where it is not.
func Failed(step string, errno unix.Errno, path, dir string) error {
	switch step {
	case StepExec:
		return &fs.PathError{Op: "fork/exec", Path: path, Err: errno}
	case StepChdir:
		return &fs.PathError{Op: "chdir", Path: dir, Err: errno}
	}
	return nil
}

// Dir is where a process with these attributes starts.
func Dir(attr *syscall.ProcAttr) string {
	if attr.Dir != "" {
		return attr.Dir
	}
	dir, err := os.Readlink("/proc/self/cwd")
	if err != nil {
		return "/"
	}
	return dir
}

// Session adds what gives the child its place among the processes.
func (p *Plan) Session(attr *syscall.ProcAttr) {
	a := attr.Sys
	if a == nil {
		return
	}
	if a.Setsid {
		p.Do("setsid", unix.SYS_SETSID)
	}
	if a.Setpgid {
		p.Do("setpgid", unix.SYS_SETPGID, 0, a.Pgid)
	}
}

// Credentials adds the change of user, and what a change of user undoes.
func (p *Plan) Credentials(attr *syscall.ProcAttr) {
	a := attr.Sys
	if a == nil {
		return
	}
	if c := a.Credential; c != nil {
		if !c.NoSetGroups {
			raw := make([]byte, 0, 4*len(c.Groups)+4)
			for _, g := range c.Groups {
				raw = binary.NativeEndian.AppendUint32(raw, g)
			}
			p.Do("setgroups", unix.SYS_SETGROUPS, len(c.Groups), append(raw, 0))
		}
		p.Do("setgid", unix.SYS_SETGID, int(c.Gid))
		p.Do("setuid", unix.SYS_SETUID, int(c.Uid))
	}
	if a.Pdeathsig != 0 {
		p.Do("pdeathsig", unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, int(a.Pdeathsig), 0, 0, 0)
	}
}

// Files adds the handing on of descriptors: first all to numbers beyond the
// ones to be filled, so that none is overwritten before its turn. above is a
// number that none of those may have.
func (p *Plan) Files(attr *syscall.ProcAttr, above int) {
	n := len(attr.Files)
	high := make([]Ref, n)
	for i, fd := range attr.Files {
		if fd == ^uintptr(0) {
			continue
		}
		high[i] = p.Cell()
		p.Do("dup", unix.SYS_FCNTL, fd, unix.F_DUPFD_CLOEXEC, above+1).Keeps(high[i])
	}
	for i := range high {
		if high[i] == 0 {
			p.Try("close", 0, unix.SYS_CLOSE, i)
			continue
		}
		p.Do("dup3", unix.SYS_DUP3, high[i], i, 0)
	}
	if a := attr.Sys; a != nil && a.Setctty {
		p.Do("controlling terminal", unix.SYS_IOCTL, a.Ctty, unix.TIOCSCTTY, 1)
	}
	p.Try("close-on-exec for the rest", 0, unix.SYS_CLOSE_RANGE, n, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
}

// restoreLimits gives this process, and so its children, the limit on open
// files back that it was started with: programs that use select(2) break with
// a higher one. Go raises its own and knows the old one only in syscall.Exec,
// which restores it before it fails for want of a name. It is not raised again:
// Go would have forgotten the old one for the programs that os/exec starts.
func restoreLimits() { _ = syscall.Exec("", nil, nil) }

// anonymous adds that the child, which is a copy of us, does not look like us:
// /proc shows a process's words and environment to whoever may see it, and
// what is withheld from a command must not be found there. name is what it is
// called instead, at most 15 bytes.
func (p *Plan) anonymous(name string) {
	p.Try("naming the process", 0, unix.SYS_PRCTL, unix.PR_SET_NAME, name, 0, 0, 0)
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return
	}
	const argStart, argEnd, envStart, envEnd = 48, 49, 50, 51 // fields, see proc(5)
	_, rest, _ := strings.Cut(string(stat), ") ")
	if i := strings.LastIndex(rest, ") "); i >= 0 {
		rest = rest[i+2:]
	}
	f := strings.Fields(rest) // from the third field on
	if len(f) < envEnd-2 {
		return
	}
	for _, part := range [][2]int{{argStart, argEnd}, {envStart, envEnd}} {
		from, _ := strconv.ParseUint(f[part[0]-3], 10, 64)
		to, _ := strconv.ParseUint(f[part[1]-3], 10, 64)
		if from == 0 || to <= from {
			continue
		}
		fd := p.Scratch()
		p.Try("opening /dev/zero", 2, unix.SYS_OPENAT, unix.AT_FDCWD, "/dev/zero", unix.O_RDONLY|unix.O_CLOEXEC, 0).Keeps(fd)
		p.Try("forgetting", 0, unix.SYS_READ, fd, from, to-from)
		p.Close(fd)
		if part[0] == argStart && to-from > uint64(len(name)) {
			p.Try("opening the name", 2, unix.SYS_OPENAT, unix.AT_FDCWD, "/proc/self/comm", unix.O_RDONLY|unix.O_CLOEXEC, 0).Keeps(fd)
			p.Try("taking the name", 0, unix.SYS_READ, fd, from, len(name))
			p.Close(fd)
		}
	}
}

// StepChdir and StepExec name the steps whose failure is the command's affair.
const (
	StepChdir = "chdir to the directory of the command"
	StepExec  = "exec"
)

// Chdir adds the change to the directory of the command.
func (p *Plan) Chdir(dir string) { p.Do(StepChdir, unix.SYS_CHDIR, dir) }

// Exec adds the start of the program, which ends a plan, with the limit on open
// files that we were started with.
func (p *Plan) Exec(path string, argv, env []string) {
	restoreLimits()
	p.ResetSignals()
	p.mark()
	p.Do(StepExec, unix.SYS_EXECVE, path, p.list(argv), p.list(env))
}

// mark adds that the child notes, where we see it, that it has come this far.
func (p *Plan) mark() {
	page, err := unix.Mmap(-1, 0, unix.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANONYMOUS)
	if err != nil {
		return // then it is believed
	}
	runtime.AddCleanup(p, func(b []byte) { _ = unix.Munmap(b) }, page)
	p.reached = (*int32)(unsafe.Pointer(&page[0]))
	p.Do("noting the start", 0, 1).poke(p.reached)
}

// Crashed reports whether a child that is gone without a word has not come to the
// start of its program. What children rely on in Go and in the kernel may be missing
// one day: then another way to start the command is to be used.
func (p *Plan) Crashed() bool { return p.reached != nil && atomic.LoadInt32(p.reached) == 0 }

// Await adds waiting for a byte over the socket fd. theirs is the parent's end of
// it, which the child has a copy of: closing that is how it sees that the parent
// is gone. users says that [MapUsers] follows.
func (p *Plan) Await(fd, theirs int, users bool) {
	p.Try("close", 0, unix.SYS_CLOSE, theirs)
	if users {
		// Where this process shows itself to nobody, the files of /proc that give a
		// copy of it its users would be root's.
		p.Do("opening itself", unix.SYS_PRCTL, unix.PR_SET_DUMPABLE, 1, 0, 0, 0)
	}
	s := p.Do("waiting for the parent", unix.SYS_READ, fd, make([]byte, 1), 1)
	s.retried, s.some = true, true
}

// openLimit is how long a child may take for its first steps.
const openLimit = time.Second

// MapUsers gives the user namespace of a child its users: every user's number
// but the last stays, or where that takes a privilege that we lack, our own alone.
func MapUsers(pid int) error {
	for begin := time.Now(); ; time.Sleep(50 * time.Microsecond) {
		err := mapUsers(pid)
		open, _ := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
		if !errors.Is(err, fs.ErrPermission) || open != 0 || time.Since(begin) > openLimit {
			return err // else the child has not opened itself yet, see Await
		}
	}
}

func mapUsers(pid int) error {
	dir := "/proc/" + strconv.Itoa(pid) + "/"
	all := []byte("0 0 4294967294\n") // but for one, see the sandbox's covers
	if os.WriteFile(dir+"uid_map", all, 0) == nil {
		if err := os.WriteFile(dir+"gid_map", all, 0); err != nil {
			return fmt.Errorf("mapping groups: %w", err)
		}
		return nil
	}
	if err := os.WriteFile(dir+"setgroups", []byte("deny"), 0); err != nil {
		return fmt.Errorf("mapping groups: %w", err)
	}
	for name, id := range map[string]int{"uid_map": os.Geteuid(), "gid_map": os.Getegid()} {
		if err := os.WriteFile(dir+name, fmt.Appendf(nil, "%d %d 1\n", id, id), 0); err != nil {
			if p, ok := errors.AsType[*fs.PathError](err); ok {
				err = p.Err // the number of the process means nothing to anyone
			}
			return fmt.Errorf("mapping users: %w", err)
		}
	}
	return nil
}
