//go:build linux && (amd64 || arm64)

package sandbox

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentkit-go/agentkit/pkg/safefile"
	"golang.org/x/sys/unix"
)

// On what is hidden from a command, and on each directory above it, something is mounted:
// nothing of it can be moved, which would show it, and nothing can be removed either. What
// may be removed the gatekeeper takes away in the command's place. It is not in the
// command's mount namespace, so the kernel lets it, and drops the mounts.

// maxRemoved bounds one file that is kept before it is removed.
const maxRemoved = 64 << 20

// waitMoved is how long a removal waits for the sandboxes of other commands to stand.
const waitMoved = 2 * time.Second

// A removables knows what may be removed.
type removables struct {
	hidden map[string]bool // by path
	above  map[string]bool // the directories above those
	names  map[string]bool // the last parts of both: most names that are removed are none of them

	mu    sync.Mutex
	tries map[string]int // by path
}

// maxTries is how often the removal of one name is tried, for each holds up the starts of
// other commands.
const maxTries = 16

func (r *removables) tryAgain(path string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tries[path]++
	return r.tries[path] <= maxTries
}

// tried reports whether a name was removed before, or nearly.
func (r *removables) tried(path string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tries[path] > 0
}

func newRemovables(c *Config) *removables {
	r := &removables{hidden: map[string]bool{}, above: map[string]bool{}, names: map[string]bool{}, tries: map[string]int{}}
	for _, path := range c.Removable {
		r.hidden[path], r.names[filepath.Base(path)] = true, true
		for dir := filepath.Dir(path); dir != c.Root && safefile.Below(c.Root, dir) && !r.above[dir]; dir = filepath.Dir(dir) {
			r.above[dir], r.names[filepath.Base(dir)] = true, true
		}
	}
	return r
}

// remove carries out a removal if it is one of what is hidden, or of a directory that held
// it; all others the kernel does.
func (g *gatekeeper) remove(n *notice) verdict {
	at, arg, flags := unix.AT_FDCWD, 0, 0
	switch uintptr(n.nr) {
	case unix.SYS_UNLINKAT:
		at, arg, flags = n.number(0), 1, n.number(2)
	case rmdirHere:
		flags = unix.AT_REMOVEDIR
	}
	pid := int(n.pid)
	name, err := (&memory{pid: pid}).text(n.args[arg])
	if err == nil && flags == 0 && g.empties() {
		g.removed(pid, at, name)
	}
	if err != nil || !g.removable.names[path.Base(name)] {
		return verdict{goOn: true}
	}
	base, err := g.base(pid, at, name)
	if err != nil {
		return verdict{goOn: true}
	}
	above, last := path.Split(strings.TrimRight(name, "/"))
	parent, err := g.look(pid, base, cmp.Or(above, "."), unix.O_DIRECTORY)
	if err != nil {
		return verdict{goOn: true}
	}
	defer parent.close()
	file := filepath.Join(parent.path, last)
	// What the command has made of such a name since is no mount. To look through all that is
	// mounted takes long where there are many, and a directory is removed once by nearly all.
	fixed := g.removable.hidden[file] && isMount(parent.fd, last) || g.removable.above[file] && (!g.removable.tried(file) || mountedOn(pid, file))
	if !fixed || belowAny(file, g.ReadOnly) || !belowAny(file, g.writable()) {
		return verdict{goOn: true}
	}
	if flags&unix.AT_REMOVEDIR != 0 && !emptyDir(parent.fd, last) {
		return refused(unix.ENOTEMPTY)
	}
	if !g.removable.tryAgain(file) {
		return verdict{goOn: true} // the kernel removes what is not fixed any more
	}
	if !g.valid(n) {
		return refused(unix.EINTR)
	}
	err = g.alone(func() error { return g.takeAway(pid, parent, last, file, flags) })
	if errors.Is(err, errNotKept) {
		g.log.deny(&Denial{Kind: DeniedWrite, Path: file, Pid: pid, Why: err.Error()})
		return refused(unix.EBUSY)
	}
	return result(err)
}

// isMount reports whether something is mounted over a name in a directory.
func isMount(dir int, name string) bool {
	var st unix.Statx_t
	return unix.Statx(dir, name, unix.AT_SYMLINK_NOFOLLOW, 0, &st) == nil && st.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0
}

// emptyDir reports whether a directory holds nothing, or cannot be looked at.
func emptyDir(parent int, name string) bool {
	fd, err := unix.Openat(parent, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return true
	}
	dir := os.NewFile(uintptr(fd), name)
	defer dir.Close()
	_, err = dir.Readdirnames(1)
	return err != nil
}

var errNotKept = errors.New("it is hidden, and could not be kept before it is removed")

// takeAway removes a name from a directory, but keeps what a file holds first.
func (g *gatekeeper) takeAway(pid int, parent *executable, last, file string, flags int) error {
	dir := parent.fd // in a view of the root nothing is lost
	if g.View == "" {
		own, err := g.outside(parent)
		if err != nil {
			return err
		}
		defer own.close()
		dir = own.fd
		if g.removable.hidden[file] && flags&unix.AT_REMOVEDIR == 0 {
			if err := g.put(pid, dir, last, file); err != nil {
				return err
			}
		}
	}
	return asUser(pid, func() error { return unix.Unlinkat(dir, last, flags) })
}

// put copies a file into the quarantine.
func (g *gatekeeper) put(pid, dir int, last, path string) error {
	fd := -1
	err := asUser(pid, func() (err error) {
		fd, err = unix.Openat(dir, last, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		return err
	})
	holdsNothing := []error{unix.ELOOP, unix.ENXIO, unix.ENOENT} // a link, a socket
	switch {
	case slices.ContainsFunc(holdsNothing, func(e error) bool { return errors.Is(err, e) }):
		return nil
	case err != nil:
		return errNotKept
	}
	from := os.NewFile(uintptr(fd), path)
	defer from.Close()
	if i, err := from.Stat(); err != nil || !i.Mode().IsRegular() {
		return err
	} else if i.Size() > maxRemoved {
		return errNotKept
	}
	if os.MkdirAll(g.Quarantine, 0o700) != nil {
		return errNotKept
	}
	room, err := os.MkdirTemp(g.Quarantine, "removed-")
	if err != nil {
		return errNotKept
	}
	// Under its own name it would be taken for a secret that has appeared, where our state lies in the root.
	to, err := os.OpenFile(filepath.Join(room, "content"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return errNotKept
	}
	_, err = io.Copy(to, io.LimitReader(from, maxRemoved))
	if errors.Join(err, to.Close()) != nil {
		return errNotKept
	}
	g.log.write(line{Restored: &Restore{Path: path, Action: Removed, Quarantine: room}})
	return nil
}

// alone does something while no other command's sandbox is in the making: it would look
// for what is no longer there.
func (g *gatekeeper) alone(do func() error) error {
	if g.Moves == "" {
		return do()
	}
	f, err := os.OpenFile(g.Moves, os.O_RDWR, 0)
	if err != nil {
		return unix.EBUSY
	}
	defer f.Close()
	ctx, cancel := context.WithTimeout(g.ctx, waitMoved)
	defer cancel()
	if safefile.WaitLock(ctx, f, true) != nil {
		return unix.EBUSY
	}
	defer func() { _ = safefile.Unlock(f) }()
	now := time.Now()
	_ = os.Chtimes(f.Name(), now, now)
	return do()
}
