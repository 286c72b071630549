package job

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// readers are the processes of the job that may read what is typed, and whether its
// terminal hands over whole lines.
func (s *supervisor) readers() (list []Reader, lines bool) {
	src, err := s.source()
	if err != nil {
		return nil, false
	}
	for _, p := range s.run.tree.Members() {
		base := "/proc/" + strconv.Itoa(p.Pid) + "/"
		if p.State == 'Z' || fedApart(base) {
			continue
		}
		argv := arguments(p)
		if len(argv) == 0 {
			continue
		}
		r := Reader{Pid: p.Pid, Argv: argv, Waits: src.readBy(p) != readsNot}
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
