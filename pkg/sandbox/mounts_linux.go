//go:build linux && (amd64 || arm64)

package sandbox

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"github.com/agentkit-go/agentkit/pkg/fork"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"golang.org/x/sys/unix"
)

// mounts shows the command the file system as it may use it: read-only but for
// the writable directories, whose own mounts stay as they are; what is
// protected in them read-only and fixed in its place; what is hidden covered.
// Only paths that exist count; what is made later is not of the mounts' making.
func (p *plan) mounts(c *Config, terminal string) {
	p.Do("making the mounts private", unix.SYS_MOUNT, nil, "/", nil, unix.MS_REC|unix.MS_PRIVATE, nil)
	p.view(c) // first, so that the copies have it
	// Copies are taken while everything still is as it was.
	writable := outermost(c.writable())
	copies := make([]fork.Ref, len(writable))
	for i, dir := range writable {
		if dir != "/" {
			copies[i] = p.copyMount(dir)
		}
	}
	inside := c.opened(writable)
	insides := make([]fork.Ref, len(inside))
	for i, dir := range inside {
		insides[i] = p.copyMount(dir)
	}
	devs := p.copyDevices(terminal)
	// Where the root of the file system is writable, as in a container, nothing is
	// read-only but what is protected; a mount over "/" would not be seen anyway.
	if !slices.Contains(writable, "/") {
		p.setReadOnly("making the mounts read-only", unix.AT_FDCWD, "/", unix.AT_RECURSIVE)
		for i, dir := range writable {
			p.attach(copies[i], dir)
		}
	}
	if c.Sealed && belowAny(c.Root, writable) {
		fd := p.copyMount(c.Root)
		p.setReadOnly("sealing "+c.Root, fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE)
		p.attach(fd, c.Root)
		for i, dir := range inside {
			p.attach(insides[i], dir)
		}
	}
	shared := p.copyShared(c)
	p.device(devs, shared)
	p.pinned(c, writable, shared)
	p.protected(visible(c.ReadOnly, shared), writable)
	p.cover(visible(c.Hidden, shared), seen(covers(c.Covers), shared))
}

// A mounted is a path whose mount a cell holds.
type mounted struct {
	path string
	dir  bool
	at   fork.Ref
}

// copyShared has cells hold what lies in shared memory and the command may use: its own
// shared memory is put over the one that is there. What may only be listed is not among it:
// Landlock has no way to let a command read and write its own shared memory and not what is
// mounted in it.
func (p *plan) copyShared(c *Config) []mounted {
	var list []mounted
	there := slices.DeleteFunc(slices.Concat(c.writable(), []string{c.Root}, c.Readable), func(path string) bool { return !safefile.Below(sharedMemory, path) })
	for _, path := range outermost(there) {
		if i, err := os.Stat(path); err == nil {
			list = append(list, mounted{path, i.IsDir(), p.copyMount(path)})
		}
	}
	return list
}

// visible lists what of paths is still there behind the command's own shared memory.
func visible(paths []string, shared []mounted) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(path string) bool {
		return safefile.Below(sharedMemory, path) && !slices.ContainsFunc(shared, func(m mounted) bool { return safefile.Below(m.path, path) })
	})
}

// seen is c where the command's own shared memory does not hide it.
func seen(c *covering, shared []mounted) *covering {
	if c == nil || len(visible([]string{c.file}, shared)) == 0 {
		return nil
	}
	return c
}

// opened lists what of a root that is only read can be written, where the root lies in
// what can be written.
func (c *Config) opened(writable []string) []string {
	if !c.Sealed || !belowAny(c.Root, writable) {
		return nil
	}
	return outermost(slices.DeleteFunc(c.writable(), func(dir string) bool { return !safefile.Below(c.Root, dir) }))
}

// view puts an overlay over the root, which keeps in c.View what is changed in it. With
// userxattr (Linux 5.11) that takes no privilege outside the user namespace. Reading sets no
// times in it: by these overlay tells what was written where it is.
func (p *plan) view(c *Config) {
	if c.View == "" {
		return
	}
	escape := strings.NewReplacer(`\`, `\\`, ",", `\,`, ":", `\:`).Replace
	options := "userxattr,lowerdir=" + escape(c.Root) + ",upperdir=" + escape(filepath.Join(c.View, "upper")) + ",workdir=" + escape(filepath.Join(c.View, "work"))
	p.Do(ViewStep, unix.SYS_MOUNT, "overlay", c.Root, "overlay", unix.MS_NOATIME, options)
}

// outermost lists the directories that exist and lie in no other, the shorter
// paths first.
func outermost(dirs []string) []string {
	var list []string
	for _, d := range outerFirst(dirs) {
		if _, err := os.Stat(d); err == nil && !belowAny(d, list) {
			list = append(list, d)
		}
	}
	return list
}

// copyMount has a cell hold a copy of the mounts at path.
func (p *plan) copyMount(path string) fork.Ref {
	c := p.Cell()
	p.Do("copying the mount "+path, unix.SYS_OPEN_TREE, unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE).Keeps(c)
	return c
}

// attach puts a mount that a cell holds over path.
func (p *plan) attach(c fork.Ref, path string) {
	p.Do("mounting "+path, unix.SYS_MOVE_MOUNT, c, "", unix.AT_FDCWD, path, unix.MOVE_MOUNT_F_EMPTY_PATH)
	p.Close(c)
}

func (p *plan) setReadOnly(name string, fd any, path string, flags int) {
	attr := fork.Place(&p.Plan, unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
	p.Do(name, unix.SYS_MOUNT_SETATTR, fd, path, flags, unsafe.Pointer(attr), int(unsafe.Sizeof(*attr)))
}

// pinned makes every directory on the way to what is pinned a mount, so that it can be
// neither renamed nor removed, and nothing else can take its place.
//
// Over those of the root lies a copy of the root that was taken before, in which they are
// none, for between two mounts the kernel renames nothing. It still moves no name on which
// anything is mounted in the command's namespace, whether that can be reached or not. And
// what is closed in the copy goes with its directory, wherever that is moved to. So it is with other
// directories that can be written, but for those that hold the root.
func (p *plan) pinned(c *Config, writable []string, shared []mounted) {
	others, below := c.ways(writable, shared)
	for _, top := range writable {
		if safefile.Below(top, c.Root) || safefile.Below(sharedMemory, top) || !slices.ContainsFunc(others, func(dir string) bool { return safefile.Below(top, dir) }) {
			continue
		}
		over := p.copyMount(top)
		defer p.attach(over, top)
	}
	p.pin(others)
	if len(below) == 0 || c.Root == "/" { // over which nothing can be mounted
		p.pin(below)
		return
	}
	root := p.copyMount(c.Root)
	p.pin(below)
	p.attach(root, c.Root)
}

func (p *plan) pin(dirs []string) {
	for _, dir := range dirs {
		p.attach(p.copyMount(dir), dir)
	}
}

// ways lists the directories on the way to what is pinned, and those that keep their names, the outer ones first: those below
// the root apart from all others.
func (c *Config) ways(writable []string, shared []mounted) (others, below []string) {
	done := map[string]bool{}
	add := func(dir string) {
		switch {
		case done[dir]:
		case dir != c.Root && safefile.Below(c.Root, dir):
			below = append(below, dir)
		default:
			others = append(others, dir)
		}
		done[dir] = true
	}
	// The root too may lie in a writable directory, and is where the next call begins.
	for _, path := range visible(slices.Concat(c.Pinned, c.Private, []string{c.Root + "/."}), shared) {
		if _, err := os.Lstat(path); err != nil {
			continue
		}
		for _, dir := range between(path, writable) {
			add(dir)
		}
	}
	for _, dir := range outerFirst(visible(c.Named, shared)) {
		if i, err := os.Lstat(dir); err == nil && i.IsDir() && belowAny(dir, writable) {
			add(dir)
		}
	}
	return others, below
}

// outerFirst sorts directories so that none comes before one that it lies in.
func outerFirst(dirs []string) []string {
	return slices.SortedStableFunc(slices.Values(dirs), func(a, b string) int { return cmp.Compare(len(a), len(b)) })
}

// protected makes paths read-only.
func (p *plan) protected(paths, writable []string) {
	for _, path := range paths {
		if i, err := os.Lstat(path); err != nil || i.Mode()&os.ModeSymlink != 0 || !belowAny(path, writable) {
			continue
		}
		fd := p.copyMount(path)
		p.setReadOnly("protecting "+path, fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE)
		p.attach(fd, path)
	}
}

// between lists the directories above path that lie below a writable one, the
// outer ones first.
func between(path string, writable []string) []string {
	var list []string
	for dir := filepath.Dir(path); belowAny(dir, writable) && !slices.Contains(writable, dir); dir = filepath.Dir(dir) {
		list = append(list, dir)
	}
	slices.Reverse(list)
	return list
}

// cover puts what cannot be opened over each path.
func (p *plan) cover(hidden []string, over *covering) {
	// A link is not covered, so what is named through it has to be.
	hidden = outermost(slices.DeleteFunc(slices.Clone(hidden), func(h string) bool {
		i, err := os.Lstat(h)
		return err != nil || i.Mode()&os.ModeSymlink != 0
	}))
	if len(hidden) == 0 {
		return
	}
	if over != nil { // what holds the covering itself is covered last
		slices.SortStableFunc(hidden, func(a, b string) int {
			return b2i(safefile.Below(a, over.file)) - b2i(safefile.Below(b, over.file))
		})
	} else {
		over = &covering{"file", "dir"}
	}
	var at any = unix.AT_FDCWD
	if over.file == "file" {
		fs := p.newTmpfs("0555")
		defer p.Close(fs)
		at = fs
		// Nobody opens a device of a file system that has none; this one anybody makes.
		p.Do("making a closed file", unix.SYS_MKNODAT, fs, "file", unix.S_IFCHR, 0)
		p.Do("making a closed directory", unix.SYS_MKDIRAT, fs, "dir", 0o000)
		p.setReadOnly("closing the file system", fs, "", unix.AT_EMPTY_PATH)
	}
	for _, path := range hidden {
		closed := over.file
		if i, err := os.Lstat(path); err == nil && i.IsDir() {
			closed = over.dir
		}
		c := p.Scratch()
		p.Do("copying "+closed, unix.SYS_OPEN_TREE, at, closed, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC).Keeps(c)
		p.setReadOnly("closing "+closed, c, "", unix.AT_EMPTY_PATH)
		p.attach(c, path)
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// newTmpfs has a cell hold a new file system in memory.
func (p *plan) newTmpfs(mode string) fork.Ref {
	ctx, fs := p.Scratch(), p.Cell()
	p.Do("opening a tmpfs", unix.SYS_FSOPEN, "tmpfs", unix.FSOPEN_CLOEXEC).Keeps(ctx)
	p.Do("configuring a tmpfs", unix.SYS_FSCONFIG, ctx, unix.FSCONFIG_SET_STRING, "mode", mode, 0)
	p.Do("creating a tmpfs", unix.SYS_FSCONFIG, ctx, unix.FSCONFIG_CMD_CREATE, nil, nil, 0)
	p.Do("mounting a tmpfs", unix.SYS_FSMOUNT, ctx, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV).Keeps(fs)
	p.Close(ctx)
	return fs
}

// A dev is a device file whose mount a cell holds.
type dev struct {
	name string
	at   fork.Ref
}

// copyDevices has cells hold the harmless devices, and the terminal, if any.
func (p *plan) copyDevices(terminal string) []dev {
	var list []dev
	for _, path := range devices() {
		if _, err := os.Stat(path); err == nil {
			list = append(list, dev{filepath.Base(path), p.copyMount(path)})
		}
	}
	if terminal != "" {
		list = append(list, dev{"console", p.copyMount(terminal)})
	}
	return list
}

// device puts a new /dev in place: with the devices given, terminals and
// shared memory of the command's own, which holds of the outer one only what is given.
func (p *plan) device(list []dev, shared []mounted) {
	fs := p.newTmpfs("0755")
	p.Do("mounting /dev", unix.SYS_MOVE_MOUNT, fs, "", unix.AT_FDCWD, "/dev", unix.MOVE_MOUNT_F_EMPTY_PATH)
	for _, d := range list {
		p.Do("making /dev/"+d.name, unix.SYS_MKNODAT, fs, d.name, unix.S_IFREG|0o666, 0)
		p.attach(d.at, "/dev/"+d.name)
	}
	for _, link := range [][2]string{{"/proc/self/fd", "fd"}, {"/proc/self/fd/0", "stdin"}, {"/proc/self/fd/1", "stdout"}, {"/proc/self/fd/2", "stderr"}, {"pts/ptmx", "ptmx"}} {
		p.Do("making /dev/"+link[1], unix.SYS_SYMLINKAT, link[0], fs, link[1])
	}
	for _, dir := range []string{"pts", "shm", "mqueue"} {
		p.Do("making /dev/"+dir, unix.SYS_MKDIRAT, fs, dir, 0o755)
	}
	p.Do("mounting /dev/pts", unix.SYS_MOUNT, "devpts", "/dev/pts", "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620")
	p.Do("mounting /dev/shm", unix.SYS_MOUNT, "tmpfs", sharedMemory, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777")
	made := map[string]bool{sharedMemory: true}
	for _, m := range shared {
		p.makeWay(filepath.Dir(m.path), made)
		switch {
		case m.path == sharedMemory:
		case m.dir:
			p.Do("making "+m.path, unix.SYS_MKDIRAT, unix.AT_FDCWD, m.path, 0o755)
		default:
			p.Do("making "+m.path, unix.SYS_MKNODAT, unix.AT_FDCWD, m.path, unix.S_IFREG|0o666, 0)
		}
		p.attach(m.at, m.path)
	}
	p.setReadOnly("closing /dev", fs, "", unix.AT_EMPTY_PATH)
	p.Close(fs)
}

// makeWay makes the directories of shared memory that lead to dir.
func (p *plan) makeWay(dir string, made map[string]bool) {
	if made[dir] || !safefile.Below(sharedMemory, dir) {
		return
	}
	p.makeWay(filepath.Dir(dir), made)
	made[dir] = true
	p.Do("making "+dir, unix.SYS_MKDIRAT, unix.AT_FDCWD, dir, 0o755)
}
