package job

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/agentkit-go/agentkit/pkg/killtree"
)

// readers are the processes of the job that may read what is typed, and whether its
// terminal hands over whole lines.
func (s *supervisor) readers() (list []Reader, lines bool) {
	src, err := s.source()
	if err != nil {
		return nil, false
	}
	members := s.run.tree.Members()
	var waiting []int
	for _, p := range members {
		if p.State != 'Z' && src.readBy(p) != readsNot {
			waiting = append(waiting, p.Pid)
		}
	}
	fed := fedBy(members, waiting)
	for _, p := range members {
		base := "/proc/" + strconv.Itoa(p.Pid) + "/"
		if p.State == 'Z' || fedApart(base) && !slices.Contains(fed, p.Pid) {
			continue
		}
		argv := arguments(p)
		if len(argv) == 0 {
			continue
		}
		r := Reader{Pid: p.Pid, Argv: argv, Waits: slices.Contains(waiting, p.Pid), Fed: slices.Contains(fed, p.Pid)}
		// What has been removed is shown with " (deleted)" behind it, and is not there.
		if dir, err := os.Readlink(base + "cwd"); err == nil {
			if i, err := os.Stat(dir); err == nil && i.IsDir() {
				r.Dir = dir
			}
		}
		if c, err := readCall(base + "syscall"); err == nil && c.nr == unix.SYS_READ && src.is(p, base, int(int32(c.arg[0]))) {
			r.Takes = int(min(c.arg[2], 1<<20))
		}
		list = append(list, r)
	}
	return list, src.lines
}

// fedBy are the processes that read a pipe into which some others write, or what these feed.
func fedBy(members []killtree.Process, from []int) (fed []int) {
	if len(from) == 0 || len(members) < 2 {
		return nil
	}
	reads, writes := map[int][]string{}, map[int][]string{}
	for _, p := range members {
		reads[p.Pid], writes[p.Pid] = pipeEnds(p.Pid)
	}
	for todo := slices.Clone(from); len(todo) > 0; todo = todo[1:] {
		for _, p := range members {
			if p.Pid == todo[0] || slices.Contains(fed, p.Pid) || !slices.ContainsFunc(writes[todo[0]], func(pipe string) bool { return slices.Contains(reads[p.Pid], pipe) }) {
				continue
			}
			fed, todo = append(fed, p.Pid), append(todo, p.Pid)
		}
	}
	return fed
}

// pipeEnds are the pipes that a process has open, by device and inode.
func pipeEnds(pid int) (reads, writes []string) {
	base := "/proc/" + strconv.Itoa(pid) + "/"
	fds, _ := os.ReadDir(base + "fd")
	for _, fd := range fds {
		var st unix.Stat_t
		if unix.Stat(base+"fd/"+fd.Name(), &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFIFO {
			continue
		}
		info, _ := os.ReadFile(base + "fdinfo/" + fd.Name())
		_, after, _ := strings.Cut(string(info), "flags:")
		word, _, _ := strings.Cut(strings.TrimLeft(after, " \t"), "\n")
		flags, err := strconv.ParseInt(word, 8, 64)
		if err != nil {
			continue
		}
		pipe := fmt.Sprint(st.Dev, ":", st.Ino)
		if mode := flags & unix.O_ACCMODE; mode != unix.O_WRONLY {
			reads = append(reads, pipe)
		}
		if mode := flags & unix.O_ACCMODE; mode != unix.O_RDONLY {
			writes = append(writes, pipe)
		}
	}
	return reads, writes
}

// hidden reports whether the terminal does not show what is typed now.
func (s *supervisor) hidden() bool {
	src, err := s.source()
	return err == nil && src.secret
}

// fedApart reports whether a process's standard input is none that what is typed could
// come to: a file, /dev/null, or nothing.
func fedApart(base string) bool {
	var st unix.Stat_t
	switch err := unix.Stat(base+"fd/0", &st); err {
	case nil:
	case unix.ENOENT:
		return true
	default:
		return false // another user's
	}
	//nolint:unconvert // on some machines the number has 32 bits
	null := st.Mode&unix.S_IFMT == unix.S_IFCHR && uint64(st.Rdev) == unix.Mkdev(1, 3)
	return null || st.Mode&unix.S_IFMT == unix.S_IFREG
}
