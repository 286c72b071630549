//go:build linux && (amd64 || arm64)

package sandbox

import (
	"encoding/binary"
	"math"
	"os"
	"slices"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// dir is where the command starts.
func (s *start) dir() string {
	if s.attr.Dir != "" {
		return s.attr.Dir
	}
	dir, err := os.Readlink("/proc/self/cwd")
	if err != nil {
		return "/"
	}
	return dir
}

// session adds what gives the child its place among the processes.
func (s *start) session(p *plan) {
	a := s.attr.Sys
	if a == nil {
		return
	}
	if a.Setsid {
		p.do("setsid", unix.SYS_SETSID)
	}
	if a.Setpgid {
		p.do("setpgid", unix.SYS_SETPGID, 0, a.Pgid)
	}
}

// credentials adds the change of user, and what a change of user undoes.
func (s *start) credentials(p *plan) {
	a := s.attr.Sys
	if a == nil {
		return
	}
	if c := a.Credential; c != nil {
		if !c.NoSetGroups {
			groups := append([]uint32{0}, c.Groups...)[1:]
			raw := make([]byte, 0, 4*len(groups)+4)
			for _, g := range groups {
				raw = binary.NativeEndian.AppendUint32(raw, g)
			}
			p.do("setgroups", unix.SYS_SETGROUPS, len(groups), append(raw, 0))
		}
		p.do("setgid", unix.SYS_SETGID, int(c.Gid))
		p.do("setuid", unix.SYS_SETUID, int(c.Uid))
	}
	if a.Pdeathsig != 0 {
		p.do("pdeathsig", unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, int(a.Pdeathsig), 0, 0, 0)
	}
}

// files adds the handing on of descriptors: first all to numbers beyond the
// ones to be filled, so that none is overwritten before its turn.
func (s *start) files(p *plan) {
	n := len(s.attr.Files)
	high := make([]ref, n)
	for i, fd := range s.attr.Files {
		if fd == ^uintptr(0) {
			continue
		}
		high[i] = p.cell()
		p.do("dup", unix.SYS_FCNTL, fd, unix.F_DUPFD_CLOEXEC, s.tell+1).keeps(high[i])
	}
	for i := range high {
		if high[i] == 0 {
			p.try("close", 0, unix.SYS_CLOSE, i)
			continue
		}
		p.do("dup3", unix.SYS_DUP3, high[i], i, 0)
	}
	if a := s.attr.Sys; a != nil && a.Setctty {
		p.do("controlling terminal", unix.SYS_IOCTL, a.Ctty, unix.TIOCSCTTY, 1)
	}
	p.try("close-on-exec for the rest", 0, unix.SYS_CLOSE_RANGE, n, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
}

// terminal returns the path of the command's terminal; "" for none.
func (s *start) terminal() string {
	for _, fd := range s.attr.Files[:min(3, len(s.attr.Files))] {
		if _, err := unix.IoctlGetTermios(int(fd), unix.TCGETS); err != nil {
			continue
		}
		name, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(int(fd)))
		if _, gone := os.Stat(name); err == nil && gone == nil {
			return name
		}
	}
	return ""
}

// capabilities lists those that the command keeps where it has them: what
// builds, installers and tests of root use on files and users of their own.
func capabilities() []int {
	return []int{
		unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_DAC_READ_SEARCH, unix.CAP_FOWNER, unix.CAP_FSETID,
		unix.CAP_KILL, unix.CAP_SETGID, unix.CAP_SETUID, unix.CAP_NET_BIND_SERVICE,
	}
}

// dropCapabilities has programs that are started get no other capabilities.
func (p *plan) dropCapabilities() {
	for c := 0; c <= unix.CAP_LAST_CAP; c++ {
		if !slices.Contains(capabilities(), c) {
			p.try("dropping a capability", 0, unix.SYS_PRCTL, unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		}
	}
	p.try("dropping ambient capabilities", 0, unix.SYS_PRCTL, unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
}

// limits gives the child the limit on open files that we were started with.
// Go raises its own and knows the old one only in syscall.Exec, which restores
// it before it fails for want of a name.
func (p *plan) limits() {
	var mine, first unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &mine) != nil {
		return
	}
	_ = syscall.Exec("", nil, nil)
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &first) != nil || first == mine {
		return
	}
	_ = unix.Prlimit(0, unix.RLIMIT_NOFILE, &mine, nil)
	p.try("limit on open files", 0, unix.SYS_PRLIMIT64, 0, unix.RLIMIT_NOFILE, unsafe.Pointer(&first), nil)
}
