//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/safefile"
	"golang.org/x/sys/unix"
)

// What a program empties or replaces by itself, as a shell does with >, no program's start tells. The
// filter shows the calls that do so, and no others: its flags say whether opening empties a file. The Decider is told
// while the program waits; what another thread writes to the memory meanwhile is not noticed.

// empties reports whether the Decider is told of what is emptied.
func (c *Config) empties() bool { return c.Gate && c.Emptied && c.View == "" }

// An opening is a call that can empty a file by its name.
type opening struct {
	nr    uintptr
	flags int // the argument that has the flags; less than 0 for none: it always does
}

func opens() []opening {
	return append(opensHere(), opening{unix.SYS_OPENAT, 2}, opening{unix.SYS_TRUNCATE, -1})
}

func empties(nr uintptr) bool {
	return slices.ContainsFunc(opens(), func(o opening) bool { return o.nr == nr })
}

// empties has the gatekeeper see the calls that do.
func (p *seccompProgram) empties() {
	for _, o := range opens() {
		if o.flags < 0 {
			p.on(unix.SECCOMP_RET_USER_NOTIF, o.nr)
		} else {
			p.onBits(unix.SECCOMP_RET_USER_NOTIF, o.nr, o.flags, unix.O_TRUNC)
		}
	}
}

// opens tells of a file that is emptied.
func (g *gatekeeper) opens(n *notice) verdict {
	at, word := unix.AT_FDCWD, n.args[0]
	if uintptr(n.nr) == unix.SYS_OPENAT {
		at, word = int(int32(n.args[0])), n.args[1]
	}
	pid := int(n.pid)
	name, err := (&memory{pid: pid}).text(word)
	if err != nil || name == "/dev/null" {
		return verdict{goOn: true}
	}
	base, err := g.base(pid, at, name)
	if err != nil {
		return verdict{goOn: true}
	}
	if f, err := g.named(pid, base, name); err == nil {
		defer f.close()
		if f.st.Mode&unix.S_IFMT == unix.S_IFREG && f.st.Size > 0 && f.st.Nlink > 0 {
			g.emptied(&Exec{Emptied: f.path, Pid: pid}, &f.st)
		}
	}
	return verdict{goOn: true}
}

// named opens the file that a process calls name in directory base. Most names that are opened to be emptied are new: only where links
// lead that are no names the kernel is asked twice.
func (g *gatekeeper) named(pid int, base, name string) (*executable, error) {
	if !strings.HasPrefix(name, "/") {
		name = base + "/" + name
	}
	fd, err := unix.Openat2(g.root, name, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT})
	if errors.Is(err, unix.ENOENT) && !strings.HasPrefix(name, "/proc/") && !strings.HasPrefix(name, "/dev/") {
		return nil, err
	}
	if err == nil {
		return g.file(fd, nil)
	}
	return g.look(pid, base, name, 0)
}

// replaces tells of a file that another takes the name of.
func (g *gatekeeper) replaces(pid, at int, word uint64) {
	s, ok := g.spot(pid, at, word)
	defer s.close()
	if !ok {
		return
	}
	var st unix.Stat_t
	if unix.Fstatat(s.parent.fd, s.name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Mode&unix.S_IFMT != unix.S_IFDIR {
		g.emptied(&Exec{Emptied: s.path, Replaced: true, Pid: pid}, &st)
	}
}

func (g *gatekeeper) emptied(e *Exec, st *unix.Stat_t) {
	e.Inode = [2]uint64{st.Dev, st.Ino}
	if safefile.Below(g.Root, e.Emptied) && !safefile.BelowGit(e.Emptied) {
		g.decide(g.ctx, e)
	}
}
