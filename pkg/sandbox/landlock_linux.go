//go:build linux && (amd64 || arm64)

package sandbox

import (
	"io/fs"
	"os"
	"unsafe"

	"github.com/agentkit-go/agentkit/pkg/fork"
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

// sharedMemory is where programs share memory by name. Without mounts of its
// own a command shares it with the user's other programs.
const sharedMemory = "/dev/shm"

// landlockABI returns the version of Landlock that the kernel has; 0 for none.
func landlockABI() int {
	n, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if e != 0 {
		return 0
	}
	return int(n)
}

// A ruleset is what the plan restricts the process to.
type ruleset struct {
	*plan
	fd      fork.Ref
	handled uint64
	rules   []fork.Rule
}

type rulesetAttr struct{ fs, net, scoped uint64 }

// newRuleset begins a ruleset of everything that this version of Landlock can
// tell apart.
func (p *plan) newRuleset(abi int) *ruleset {
	attr := rulesetAttr{fs: mayDo}
	size := 8
	switch {
	case abi < 2:
		attr.fs &^= unix.LANDLOCK_ACCESS_FS_REFER | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	case abi < 3:
		attr.fs &^= unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	case abi < 5:
		attr.fs &^= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if abi >= 6 {
		attr.scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
		size = 24
	}
	r := &ruleset{plan: p, fd: p.Cell(), handled: attr.fs}
	p.Do("landlock_create_ruleset", unix.SYS_LANDLOCK_CREATE_RULESET, unsafe.Pointer(fork.Place(&p.Plan, attr)), size, 0).Keeps(r.fd)
	return r
}

// allow lets the process do access at path, if there is such a path when its
// turn comes.
func (r *ruleset) allow(path string, access uint64) { r.open(path, access, 0) }

// allowHere is allow for a path that is not followed should it be a link by then.
func (r *ruleset) allowHere(path string, access uint64) { r.open(path, access, unix.O_NOFOLLOW) }

func (r *ruleset) open(path string, access uint64, flag int) {
	r.rules = append(r.rules, fork.Rule{Path: path, Access: access & r.handled, Flags: flag})
}

// enforce restricts the process from here on.
func (r *ruleset) enforce() {
	r.Allow(r.fd, r.rules)
	r.Do("landlock_restrict_self", unix.SYS_LANDLOCK_RESTRICT_SELF, r.fd, 0)
	r.Close(r.fd)
}

// landlock adds the restriction that holds at every level. Without mounts of
// its own hidden paths are left out of what may be read.
func (p *plan) landlock(c *Config, abi int, mounts bool) {
	r := p.newRuleset(abi)
	readable := []entry{{"/", fs.ModeDir}}
	if !mounts {
		readable = around(c.Hidden, c.writable())
	}
	for _, e := range readable {
		switch {
		case e.mode&fs.ModeSymlink != 0:
			r.allow(e.path, reading(e.path, mayRead))
		case e.mode.IsDir():
			r.allow(e.path, mayRead)
		default:
			r.allow(e.path, mayRead&onFiles)
		}
	}
	for _, path := range c.writable() {
		r.allowHere(path, reading(path, mayWrite))
	}
	for _, path := range devices() {
		r.allow(path, mayUse)
	}
	for _, path := range []string{"/dev/pts", "/dev/ptmx"} {
		r.allow(path, reading(path, mayUse|unix.LANDLOCK_ACCESS_FS_READ_DIR))
	}
	r.allow(sharedMemory, mayWrite)
	if mounts {
		r.allow("/dev/console", mayUse)
	}
	r.enforce()
}

// reading limits what is allowed for path to what its type can have.
func reading(path string, access uint64) uint64 {
	if i, err := os.Stat(path); err == nil && !i.IsDir() {
		return access & onFiles
	}
	return access
}

// around lists what has to be readable for everything to be but what is
// hidden: Landlock allows whole directories only, so one that holds something
// hidden is replaced by its entries. What is written must stay readable too,
// so nothing below a writable directory is left out.
func around(hidden, writable []string) []entry {
	var split []string
	for _, h := range hidden {
		if !belowAny(h, writable) {
			split = append(split, h)
		}
	}
	if len(split) == 0 {
		return []entry{{"/", fs.ModeDir}}
	}
	return aroundIn("/", split, nil)
}
