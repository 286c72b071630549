//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/safefile"
	"golang.org/x/sys/unix"
)

// What a program empties, replaces or removes by itself, as a shell does with >, no program's start tells. The
// filter shows the calls that do so, and no others: its flags say whether opening empties a file, and that it is no directory that goes. The Decider is told
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
	p.onValues(unix.SECCOMP_RET_USER_NOTIF, unix.SYS_UNLINKAT, 2, 0)
	if unlinkHere != ^uintptr(0) {
		p.on(unix.SECCOMP_RET_USER_NOTIF, unlinkHere)
	}
}

// opens tells of a file that is emptied.
func (g *gatekeeper) opens(n *notice) verdict {
	at, word := unix.AT_FDCWD, n.args[0]
	if uintptr(n.nr) == unix.SYS_OPENAT {
		at, word = n.number(0), n.args[1]
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
	base, name = g.shorter(base, name)
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

// shorter goes down a name that is too long to be opened together with the directory that it starts from.
func (g *gatekeeper) shorter(base, name string) (dir, rest string) {
	for !strings.HasPrefix(name, "/") && len(base)+1+len(name) >= unix.PathMax {
		cut := strings.LastIndexByte(name[:max(min(unix.PathMax-len(base)-2, len(name)), 0)], '/')
		if cut < 0 {
			break
		}
		f, err := g.dir(base + "/" + name[:cut+1])
		if err != nil {
			break
		}
		base, name = f.path, strings.TrimLeft(name[cut:], "/")
		f.close()
	}
	return base, name
}

// renamed tells of a file that another takes the name of, and of one that loses its name.
func (g *gatekeeper) renamed(pid int, at [2]int, name [2]string, flags int) {
	from, source, ok := g.end(pid, at[0], name[0])
	defer from.close()
	if !ok || source.Nlink == 0 {
		return
	}
	to, target, ok := g.end(pid, at[1], name[1])
	defer to.close()
	switch there := target.Nlink > 0; {
	case !ok, source.Dev == target.Dev && source.Ino == target.Ino: // the kernel does nothing
		return
	case there && flags&unix.RENAME_NOREPLACE != 0, !there && flags&unix.RENAME_EXCHANGE != 0:
		return
	case flags&unix.RENAME_EXCHANGE != 0:
		g.moved(pid, &target, to.path, from.path)
	case there && target.Mode&unix.S_IFMT != unix.S_IFDIR:
		g.emptied(&Exec{Emptied: to.path, Replaced: true, Pid: pid}, &target)
	}
	g.moved(pid, &source, from.path, to.path)
}

// removed tells of a file that loses a name to nothing.
func (g *gatekeeper) removed(pid, at int, name string) {
	s, st, ok := g.end(pid, at, name)
	defer s.close()
	if kind := st.Mode & unix.S_IFMT; ok && st.Nlink > 0 && (kind == unix.S_IFREG || kind == unix.S_IFLNK) {
		g.emptied(&Exec{Emptied: s.path, Replaced: true, Removed: true, Pid: pid}, &st)
	}
}

// end is one name of a rename, or of what is removed, and what stands there: without names where nothing does.
func (g *gatekeeper) end(pid, at int, name string) (s spot, st unix.Stat_t, ok bool) {
	if s, ok = g.spot(pid, at, name); !ok {
		s.close()
		s, ok = g.linkedSpot(pid, at, name)
	}
	if ok && unix.Fstatat(s.parent.fd, s.name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		st = unix.Stat_t{}
	}
	return s, st, ok
}

// moved tells of a file that loses its name to another, of a directory only where nobody looks for what it holds, or where git does.
func (g *gatekeeper) moved(pid int, st *unix.Stat_t, path, to string) {
	if st.Mode&unix.S_IFMT != unix.S_IFDIR || !g.watches(to) || safefile.InGit(path) {
		g.emptied(&Exec{Emptied: path, Moved: to, Pid: pid}, st)
	}
}

// linkedSpot is spot for what leads through a link of /proc that is no name.
func (g *gatekeeper) linkedSpot(pid, at int, name string) (s spot, ok bool) {
	above, last := path.Split(strings.TrimRight(name, "/"))
	base, err := g.base(pid, at, name)
	if err != nil || above == "" || last == "" || last == "." || last == ".." {
		return s, false
	}
	parent, err := g.look(pid, base, above, unix.O_DIRECTORY)
	if err != nil {
		return s, false
	}
	return spot{parent, last, filepath.Join(parent.path, last)}, true
}

// watches reports whether what lies at a path may be nowhere else by its place.
func (g *gatekeeper) watches(path string) bool {
	return safefile.Below(g.Root, path) && !safefile.BelowGit(path)
}

// emptied tells of a file of the root, or of one that has another name, which may lie there.
func (g *gatekeeper) emptied(e *Exec, st *unix.Stat_t) {
	e.Inode, e.Links = [2]uint64{st.Dev, st.Ino}, uint64(st.Nlink) //nolint:unconvert // narrower on some machines
	watched := safefile.Below(g.Root, e.Emptied) && !(safefile.BelowGit(e.Emptied) && safefile.GitPasses(e.Emptied))
	if watched || !e.Replaced && e.Moved == "" && st.Nlink > 1 {
		g.decide(g.ctx, e)
	}
}
