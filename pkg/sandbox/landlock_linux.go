//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"unsafe"

	"github.com/agentkit-go/agentkit/pkg/fork"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"golang.org/x/sys/unix"
)

// What Landlock can be asked to allow for a file and, below a directory, for
// everything in it.
const (
	mayRead  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	mayDo    = unix.LANDLOCK_ACCESS_FS_IOCTL_DEV<<1 - 1 // everything that ABI 5 knows
	mayWrite = mayDo &^ (unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV)
	mayUse   = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	onFiles  = mayUse | unix.LANDLOCK_ACCESS_FS_EXECUTE // what can be allowed for a file
)

// devices lists the ones that everybody may use.
func devices() []string {
	return []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}
}

// landlockABI returns the version of Landlock that the kernel has; 0 for none.
func landlockABI() int {
	n, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if e != 0 {
		return 0
	}
	return int(n)
}

// A ruleset is what a process may be restricted to.
type ruleset struct {
	attr  rulesetAttr
	size  int // of attr that this version knows
	rules []fork.Rule
	exact map[string]bool // of paths, see fork.Rule
}

type rulesetAttr struct{ fs, net, scoped uint64 }

// newRuleset begins a ruleset of everything that this version of Landlock can
// tell apart.
func newRuleset(abi int) *ruleset {
	r := &ruleset{attr: rulesetAttr{fs: mayDo}, size: 8}
	switch {
	case abi < 2:
		r.attr.fs &^= unix.LANDLOCK_ACCESS_FS_REFER | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	case abi < 3:
		r.attr.fs &^= unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	case abi < 5:
		r.attr.fs &^= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if abi >= 6 {
		r.attr.scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
		r.size = 24
	}
	return r
}

// allow lets the process do access at path, if there is such a path when its
// turn comes.
func (r *ruleset) allow(path string, access uint64) { r.open(path, access, 0) }

// allowHere is allow for a path that is not followed should it be a link by then.
func (r *ruleset) allowHere(path string, access uint64) { r.open(path, access, unix.O_NOFOLLOW) }

func (r *ruleset) open(path string, access uint64, flag int) {
	r.rules = append(r.rules, fork.Rule{Path: path, Access: access & r.attr.fs, Flags: flag, Exact: r.exact[path]})
}

// fill adds the rules that hold at every level. Without mounts of its own hidden
// paths are left out of what may be read.
func (r *ruleset) fill(c *Config, mounts bool) {
	within := []string{"/"}
	if c.Readable != nil {
		within = outermost(append([]string{c.Root}, c.Readable...))
	}
	r.exact = map[string]bool{}
	for _, path := range c.Granted { // somebody may put a link in its way, which would give away what that leads to
		r.exact[path] = true
	}
	hidden := c.Hidden
	if mounts { // they are covered
		hidden = nil
	}
	readable := around(within, hidden, c.writable())
	for _, path := range c.Listed {
		r.allow(path, unix.LANDLOCK_ACCESS_FS_READ_DIR)
	}
	writable := map[string]bool{}
	for _, path := range c.writable() {
		writable[path] = true
	}
	for _, e := range readable {
		switch {
		case writable[e.path]: // that is more
		case e.mode&fs.ModeSymlink != 0: // where it leads is allowed by its own name, or hidden
		case e.mode.IsDir():
			r.allowHere(e.path, mayRead)
		default:
			r.allowHere(e.path, mayRead&onFiles)
		}
	}
	for _, path := range c.writable() {
		switch mode, known := c.types[path]; {
		case !known:
			r.allowHere(path, reading(path, mayWrite))
		case mode.IsDir():
			r.allowHere(path, mayWrite)
		default:
			r.allowHere(path, mayWrite&onFiles)
		}
	}
	for _, path := range devices() {
		r.allow(path, mayUse)
	}
	for _, path := range []string{"/dev/pts", "/dev/ptmx"} {
		r.allow(path, reading(path, mayUse|unix.LANDLOCK_ACCESS_FS_READ_DIR))
	}
	if mounts { // these are its own; without mounts shared memory is one of the writable directories
		r.allow(sharedMemory, mayWrite)
		r.allow("/dev/console", mayUse)
	}
}

// landlock has the child make the ruleset and restrict itself to it.
func (p *plan) landlock(r *ruleset) {
	fd := p.Cell()
	p.Do("landlock_create_ruleset", unix.SYS_LANDLOCK_CREATE_RULESET, unsafe.Pointer(fork.Place(&p.Plan, r.attr)), r.size, 0).Keeps(fd)
	p.Allow(fd, r.rules)
	p.Do("landlock_restrict_self", unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0)
	p.Close(fd)
}

// A shared is a ruleset that we make while the child is made, for it to restrict
// itself to: it sees the same files as we do.
type shared struct {
	fd   int
	done chan error
}

// share begins to make the ruleset.
func (r *ruleset) share(fill func(*ruleset)) (*shared, error) {
	fd, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&r.attr)), uintptr(r.size), 0)
	if e != 0 {
		return nil, fmt.Errorf("landlock_create_ruleset: %w", e)
	}
	s := &shared{fd: int(fd), done: make(chan error, 1)}
	go func() {
		fill(r)
		s.done <- r.add(s.fd)
	}()
	return s, nil
}

// add adds the rules to the ruleset that is open as fd.
func (r *ruleset) add(fd int) error {
	for _, rule := range r.rules {
		how := rule.How()
		at, err := unix.Openat2(unix.AT_FDCWD, rule.Path, &how)
		if errors.Is(err, unix.ENOSYS) { // a sandbox around ours refuses it, and holds what a link leads to
			at, err = unix.Open(rule.Path, int(how.Flags), 0)
		}
		if err != nil {
			continue
		}
		attr := fork.PathRule{Access: rule.Access, Fd: int32(at)}
		_, _, e := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(fd), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
		_ = unix.Close(at)
		if e != 0 {
			return fmt.Errorf("landlock_add_rule: %s: %w", rule.Path, e)
		}
	}
	return nil
}

// ready waits until the ruleset is whole, and lets go of it: the child has its own
// hold on it.
func (s *shared) ready() error {
	if s == nil || s.fd < 0 {
		return nil
	}
	err := <-s.done
	_ = unix.Close(s.fd)
	s.fd = -1
	return err
}

// reading limits what is allowed for path to what its type can have.
func reading(path string, access uint64) uint64 {
	if i, err := os.Stat(path); err == nil && !i.IsDir() {
		return access & onFiles
	}
	return access
}

// closed reports whether the user may not read what is at path anyway, nor change
// that: what programs are started gets no more rights than we have.
func closed(path string) bool {
	var i unix.Stat_t
	if err := unix.Lstat(path, &i); err != nil || int(i.Uid) == os.Geteuid() || i.Mode&unix.S_IFMT == unix.S_IFLNK {
		return false
	}
	may := func(mode uint32) bool { return unix.Faccessat(unix.AT_FDCWD, path, mode, unix.AT_EACCESS) == nil }
	return !may(unix.R_OK) && (i.Mode&unix.S_IFMT != unix.S_IFDIR || !may(unix.X_OK))
}

// around lists what has to be readable for what lies within to be but what is
// hidden: Landlock allows whole directories only, so one that holds something
// hidden is replaced by its entries. What is written must stay readable too,
// so nothing below a writable directory is left out.
func around(within, hidden, writable []string) []entry {
	var split []string
	for _, h := range hidden {
		if !belowAny(h, writable) && !closed(h) {
			split = append(split, h)
		}
	}
	var list []entry
	for _, dir := range within {
		i, err := os.Lstat(dir)
		switch {
		case err != nil || belowAny(dir, split):
		case i.IsDir() && slices.ContainsFunc(split, func(h string) bool { return safefile.Below(dir, h) }):
			list = aroundIn(dir, split, list)
		default:
			list = append(list, entry{dir, i.Mode().Type()})
		}
	}
	return list
}
