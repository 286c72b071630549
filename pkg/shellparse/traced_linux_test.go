package shellparse

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A touch is one thing that a program did: it started another, used a file, or
// made a socket.
type touch struct {
	kind string // "exec", "read", "write" or "net"
	path string
}

// traced runs a program under ptrace(2) and asks allow about everything that it
// is about to do, or where not all is asked for, about the programs that have
// been started, with their arguments. At the first no all is ended, before it has happened.
func traced(t *testing.T, dir string, argv, env []string, all bool, allow func(touch) bool) (refused *touch, ok bool) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	must(t, err)
	defer null.Close()
	p, err := os.StartProcess(argv[0], argv, &os.ProcAttr{
		Dir: dir, Env: env, Files: []*os.File{null, null, null},
		Sys: &syscall.SysProcAttr{Ptrace: true, Setpgid: true, Pdeathsig: syscall.SIGKILL},
	})
	must(t, err)
	defer func() {
		_ = unix.Kill(-p.Pid, unix.SIGKILL)
		var ws unix.WaitStatus
		for {
			if _, err := unix.Wait4(-1, &ws, unix.WALL|unix.WNOTHREAD, nil); err != nil && err != unix.EINTR {
				return
			}
		}
	}()
	var ws unix.WaitStatus
	if _, err := unix.Wait4(p.Pid, &ws, 0, nil); err != nil || !ws.Stopped() {
		t.Fatal("not traced: ", err)
	}
	const follow = unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACECLONE
	must(t, unix.PtraceSetOptions(p.Pid, unix.PTRACE_O_TRACESYSGOOD|unix.PTRACE_O_EXITKILL|unix.PTRACE_O_TRACEEXEC|follow))
	resume := unix.PtraceSyscall
	if !all {
		resume = unix.PtraceCont
	}
	must(t, resume(p.Pid, 0))
	for steps := 0; ; steps++ {
		pid, err := unix.Wait4(-1, &ws, unix.WALL|unix.WNOTHREAD, nil)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil || steps > 200_000:
			return nil, false
		case ws.Exited() || ws.Signaled():
			if pid == p.Pid {
				return nil, ws.Exited() && ws.ExitStatus() == 0
			}
			continue
		}
		signal := 0
		switch sig := ws.StopSignal(); {
		case ws.TrapCause() == unix.PTRACE_EVENT_EXEC:
			at, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe")
			words, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
			_, words, _ = bytes.Cut(bytes.ReplaceAll(words, []byte{0}, []byte{' '}), []byte{' '})
			if d := (touch{"exec", at + " " + string(words)}); err == nil && !all && !allow(d) {
				return &d, false
			}
		case sig == unix.SIGTRAP|0x80:
			if d := pending(pid); d != nil && !allow(*d) {
				return d, false
			}
		case sig != unix.SIGTRAP && sig != unix.SIGSTOP:
			signal = int(sig)
		}
		_ = resume(pid, signal)
	}
}

// pending tells what the call that a process has stopped at would do; nil for
// nothing that matters.
func pending(pid int) *touch {
	var info struct {
		op       uint8
		_        [3]uint8
		arch     uint32
		ip, sp   uint64
		nr       uint64
		args     [6]uint64
		reserved [32]byte
	}
	const getSyscallInfo = 0x420e
	_, _, e := unix.Syscall6(unix.SYS_PTRACE, getSyscallInfo, uintptr(pid), unsafe.Sizeof(info), uintptr(unsafe.Pointer(&info)), 0, 0)
	if e != 0 || info.op != 1 { // not the beginning of a call
		return nil
	}
	at := func(dir, name uint64) string { return namedBy(pid, int(int32(dir)), info.args[name]) }
	const here = uint64(0xffffff9c) // AT_FDCWD
	use := func(flags uint64) string {
		if flags&(unix.O_WRONLY|unix.O_RDWR|unix.O_CREAT|unix.O_TRUNC) != 0 {
			return "write"
		}
		return "read"
	}
	switch nr := uintptr(info.nr); nr {
	case unix.SYS_EXECVE:
		return &touch{"exec", at(here, 0)}
	case unix.SYS_EXECVEAT:
		return &touch{"exec", at(info.args[0], 1)}
	case unix.SYS_OPENAT:
		return &touch{use(info.args[2]), at(info.args[0], 1)}
	case unix.SYS_OPENAT2:
		return &touch{"write", at(info.args[0], 1)}
	case unix.SYS_UNLINKAT, unix.SYS_MKDIRAT, unix.SYS_MKNODAT, unix.SYS_FCHMODAT, unix.SYS_FCHOWNAT:
		return &touch{"write", at(info.args[0], 1)}
	case unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2:
		return &touch{"write", at(info.args[2], 3)}
	case unix.SYS_SYMLINKAT:
		return &touch{"write", at(info.args[1], 2)}
	case unix.SYS_LINKAT:
		return &touch{"write", at(info.args[2], 3)}
	case unix.SYS_TRUNCATE:
		return &touch{"write", at(here, 0)}
	case unix.SYS_SOCKET:
		if info.args[0] != unix.AF_UNIX {
			return &touch{"net", ""}
		}
	default:
		if write, arg, ok := oldCall(nr); ok {
			if d := (&touch{"write", at(here, uint64(arg))}); write {
				return d
			}
			return &touch{use(info.args[1]), at(here, 0)}
		}
	}
	return nil
}

// namedBy is the path that a process names by a string in its memory.
func namedBy(pid, dir int, addr uint64) string {
	proc := "/proc/" + strconv.Itoa(pid)
	f, err := os.Open(proc + "/mem")
	if err != nil {
		return "?"
	}
	defer f.Close()
	b := make([]byte, 4096)
	n, _ := f.ReadAt(b, int64(addr))
	b, _, _ = bytes.Cut(b[:n], []byte{0})
	name := string(b)
	if !filepath.IsAbs(name) {
		base := proc + "/cwd"
		if dir != unix.AT_FDCWD {
			base = proc + "/fd/" + strconv.Itoa(dir)
		}
		at, err := os.Readlink(base)
		if err != nil {
			return "?"
		}
		name = at + "/" + name
	}
	return filepath.Clean(name)
}

// installed lists those of the programs that this machine has.
func installed(names ...string) (out []string) {
	for _, n := range names {
		if p, err := exec.LookPath(n); err == nil && !strings.Contains(p, "shims") {
			out = append(out, p)
		}
	}
	return out
}
