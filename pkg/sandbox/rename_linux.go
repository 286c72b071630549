//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/safefile"
	"golang.org/x/sys/unix"
)

// In a view of the root the kernel renames no directory that stood there before: it says
// EXDEV, as between file systems, and not every program copies then. So the gatekeeper
// carries such a rename out in the command's place: the directory is copied beside its new
// name, takes that name by a rename, and what stood at the old one is removed. All of it
// happens in the view, so the root stays as it is. Where that would not be the same as a
// rename, or is too much, the kernel answers.

// What is copied for one rename.
const (
	maxMovedNames = 20_000
	maxMovedBytes = 256 << 20
)

// maxApart bounds the renames that a report names.
const maxApart = 20

// renames lists the calls.
func renames() []uintptr {
	list := []uintptr{unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2}
	if renameHere != ^uintptr(0) {
		list = append(list, renameHere)
	}
	return list
}

// A spot is a name in a directory, as the command sees it.
type spot struct {
	parent *executable
	name   string
	path   string
}

func (s *spot) close() {
	if s.parent != nil {
		s.parent.close()
	}
}

// dir opens a directory by its name for the command.
func (g *gatekeeper) dir(name string) (*executable, error) {
	return g.file(unix.Openat2(g.root, name, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC | unix.O_DIRECTORY, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS}))
}

// stands reports whether the directory that process pid starts names from is what has its
// path: one that was removed has none, and another one may be called so.
func (g *gatekeeper) stands(pid, at int, path string) bool {
	dir, err := g.dir(path)
	if err != nil {
		return false
	}
	defer dir.close()
	var st unix.Stat_t
	return unix.Stat(startOf(pid, at), &st) == nil && st.Dev == dir.st.Dev && st.Ino == dir.st.Ino
}

// spot finds what process pid means by a name. What leads through a link of /proc that is no
// name, such as /proc/self/cwd, is not found: each process has its own.
func (g *gatekeeper) spot(pid, at int, name string) (s spot, ok bool) {
	above, last := path.Split(strings.TrimRight(name, "/"))
	if last == "" || last == "." || last == ".." {
		return s, false
	}
	base, err := g.base(pid, at, name)
	if err != nil {
		return s, false
	}
	if !strings.HasPrefix(above, "/") {
		if !g.stands(pid, at, base) {
			return s, false
		}
		base, above = g.shorter(base, above)
		above = base + "/" + above // not Join: x/.. is not nothing when x is a link
	}
	if s.parent, err = g.dir(above); err != nil {
		s.parent = nil
		return s, false
	}
	s.name, s.path = last, filepath.Join(s.parent.path, last)
	return s, true
}

// rename carries out the rename of a directory that stood before; all others the kernel does.
func (g *gatekeeper) rename(n *notice) verdict {
	at, word, flags := [2]int{unix.AT_FDCWD, unix.AT_FDCWD}, [2]uint64{n.args[0], n.args[1]}, 0
	if uintptr(n.nr) != renameHere {
		at, word = [2]int{n.number(0), n.number(2)}, [2]uint64{n.args[1], n.args[3]}
	}
	if uintptr(n.nr) == unix.SYS_RENAMEAT2 {
		flags = n.number(4)
	}
	pid := int(n.pid)
	read, name := memory{pid: pid}, [2]string{}
	for i, at := range word {
		var err error
		if name[i], err = read.text(at); err != nil {
			return verdict{goOn: true}
		}
	}
	if g.empties() {
		g.renamed(pid, at, name, flags)
	}
	switch {
	case g.View != "":
	case len(g.Settings) > 0 && g.mounts:
		return g.settings(n, at, name, flags)
	default:
		return verdict{goOn: true}
	}
	from, ok := g.spot(pid, at[0], name[0])
	defer from.close()
	if !ok || !g.stoodBefore(&from) {
		return verdict{goOn: true}
	}
	to, ok := g.spot(pid, at[1], name[1])
	defer to.close()
	if !ok || flags&^unix.RENAME_NOREPLACE != 0 || safefile.Below(from.path, to.path) || from.parent.st.Dev != to.parent.st.Dev {
		return verdict{goOn: true}
	}
	for _, path := range []string{from.path, to.path} {
		if !safefile.Below(g.Root, path) || path == g.Root || belowAny(path, g.ReadOnly) || !belowAny(path, g.writable()) || mountedOn(pid, path) {
			return verdict{goOn: true} // it says EBUSY of what is fixed
		}
	}
	if g.quiet == nil || !g.quiet.begin() {
		return verdict{goOn: true}
	}
	defer g.quiet.end()
	m := &mover{g: g, n: n, ends: map[[2]uint64]string{}}
	err := asUser(pid, func() error { return m.move(&from, &to, flags) })
	if apart, ok := errors.AsType[*apartError](err); ok {
		g.apart(from.path, apart.why)
		return verdict{goOn: true}
	}
	return result(err)
}

// apart notes a rename that the kernel refuses.
func (g *gatekeeper) apart(path, why string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.refusedMoves++; g.refusedMoves <= maxApart {
		g.log.write(line{Apart: path + ": " + why})
	}
}

// stoodBefore reports whether a name is a directory that the root has, too, and that the
// view shows.
func (g *gatekeeper) stoodBefore(s *spot) bool {
	var st unix.Stat_t
	if unix.Fstatat(s.parent.fd, s.name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil || st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return false
	}
	rel, ok := safefile.Rel(g.Root, s.path)
	if !ok || rel == "." {
		return false
	}
	if unix.Lstat(s.path, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return false
	}
	at := filepath.Join(g.View, "upper")
	for name := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		at = filepath.Join(at, name)
		if unix.Lstat(at, &st) != nil {
			return true
		}
		var value [1]byte
		if n, err := unix.Lgetxattr(at, "user.overlay.opaque", value[:]); err == nil && n == 1 && value[0] == 'y' {
			return false // it was made anew
		}
	}
	return true
}

// An apartError says why a rename is left to the kernel, which refuses it.
type apartError struct{ why string }

func (e *apartError) Error() string { return e.why }

func apart(why string) error { return &apartError{why} }

// A mover copies one directory and removes it.
type mover struct {
	g     *gatekeeper
	n     *notice
	names int
	bytes int64
	top   int                  // the copy
	ends  map[[2]uint64]string // where the copies of files with several names are, from top
}

const openDir = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

func (m *mover) move(from, to *spot, flags int) error {
	src, err := unix.Openat(from.parent.fd, from.name, openDir, 0)
	if err != nil {
		return apart("it cannot be read")
	}
	defer unix.Close(src)
	var st unix.Statx_t
	if err := unix.Statx(from.parent.fd, from.name, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BASIC_STATS, &st); err != nil {
		return err
	}
	if isMount(from.parent.fd, from.name) || isMount(to.parent.fd, to.name) {
		return apart("it holds what the policy keeps from the command")
	}
	if err := m.survey(src, &st); err != nil {
		return err
	}
	switch {
	case m.g.inUse(int(m.n.pid), from.path):
		return apart("a program works in it")
	case !m.writable(from.parent.fd) || !m.writable(to.parent.fd):
		return unix.EACCES
	}
	temp := ".agentkit-moved-" + strconv.FormatUint(rand.Uint64(), 36)
	if err := unix.Mkdirat(to.parent.fd, temp, 0o700); err != nil {
		return err
	}
	err = m.fill(src, to.parent.fd, temp, &st)
	if err == nil && !m.g.valid(m.n) {
		err = unix.EINTR
	}
	if err == nil {
		err = unix.Renameat2(to.parent.fd, temp, to.parent.fd, to.name, uint(flags))
	}
	if err != nil {
		_ = removeTree(to.parent.fd, temp)
		return err
	}
	return removeTree(from.parent.fd, from.name)
}

// fill makes the copy what the directory is.
func (m *mover) fill(src, parent int, name string, st *unix.Statx_t) (err error) {
	if m.top, err = unix.Openat(parent, name, openDir, 0); err != nil {
		return err
	}
	defer unix.Close(m.top)
	if err := m.copyDir(src, m.top, ""); err != nil {
		return err
	}
	return dress(src, m.top, st)
}

// writable reports whether names can be made in a directory and taken away again.
func (m *mover) writable(dir int) bool {
	probe := ".agentkit-moved-" + strconv.FormatUint(rand.Uint64(), 36)
	if unix.Mkdirat(dir, probe, 0o700) != nil {
		return false
	}
	return unix.Unlinkat(dir, probe, unix.AT_REMOVEDIR) == nil
}

// survey counts what is to be copied: an *apartError where that cannot stand for a rename.
func (m *mover) survey(dir int, self *unix.Statx_t) error {
	if self.Mode&0o700 != 0o700 && int(self.Uid) != os.Geteuid() {
		return apart("it holds directories that are closed")
	}
	return each(dir, func(name string, st *unix.Statx_t) error {
		if m.names++; m.names > maxMovedNames {
			return apart("it holds more than " + strconv.Itoa(maxMovedNames) + " names")
		}
		if st.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0 {
			return apart("it holds what the policy keeps from the command")
		}
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFDIR:
			in, err := unix.Openat(dir, name, openDir, 0)
			if err != nil {
				return apart("not all of it can be read")
			}
			defer unix.Close(in)
			return m.survey(in, st)
		case unix.S_IFREG:
			if m.bytes += int64(st.Size); m.bytes > maxMovedBytes {
				return apart("it holds more than " + strconv.Itoa(maxMovedBytes>>20) + " MiB")
			}
		case unix.S_IFLNK:
		default:
			return apart("it holds a pipe, a socket or a device")
		}
		return nil
	})
}

// each visits the names in a directory.
func each(dir int, visit func(name string, st *unix.Statx_t) error) error {
	fd, err := unix.Openat(dir, ".", openDir, 0)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), ".")
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, name := range names {
		var st unix.Statx_t
		if err := unix.Statx(dir, name, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT, unix.STATX_BASIC_STATS, &st); err != nil {
			return err
		}
		if err := visit(name, &st); err != nil {
			return err
		}
	}
	return nil
}

// copyDir copies what a directory holds into another, which is at rel in the copy.
func (m *mover) copyDir(src, dst int, rel string) error {
	return each(src, func(name string, st *unix.Statx_t) error {
		if !m.g.valid(m.n) { // nobody waits for it any more
			return unix.EINTR
		}
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFDIR:
			if err := unix.Mkdirat(dst, name, 0o700); err != nil {
				return err
			}
			in, err := unix.Openat(src, name, openDir, 0)
			if err != nil {
				return err
			}
			defer unix.Close(in)
			out, err := unix.Openat(dst, name, openDir, 0)
			if err != nil {
				return err
			}
			defer unix.Close(out)
			if err := m.copyDir(in, out, path.Join(rel, name)); err != nil {
				return err
			}
			return dress(in, out, st)
		case unix.S_IFLNK:
			return copyLink(src, dst, name, st)
		case unix.S_IFREG:
			return m.copyFile(src, dst, name, path.Join(rel, name), st)
		}
		return apart("it holds a pipe, a socket or a device")
	})
}

func copyLink(src, dst int, name string, st *unix.Statx_t) error {
	target := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(src, name, target)
	if err != nil {
		return err
	}
	if err := unix.Symlinkat(string(target[:n]), dst, name); err != nil {
		return err
	}
	var made unix.Stat_t
	if err := unix.Fstatat(dst, name, &made, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	if made.Uid != st.Uid || made.Gid != st.Gid {
		if err := unix.Fchownat(dst, name, int(st.Uid), int(st.Gid), unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return apart("its owner cannot be kept")
		}
	}
	return unix.UtimesNanoAt(dst, name, timesOf(st), unix.AT_SYMLINK_NOFOLLOW)
}

// copyFile copies a file; one that is there under another name already gets one more.
func (m *mover) copyFile(src, dst int, name, rel string, st *unix.Statx_t) error {
	id := [2]uint64{unix.Mkdev(st.Dev_major, st.Dev_minor), st.Ino}
	if first, ok := m.ends[id]; ok && st.Nlink > 1 {
		fd, err := unix.Openat2(m.top, first, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS})
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return unix.Linkat(unix.AT_FDCWD, self(fd), dst, name, unix.AT_SYMLINK_FOLLOW)
	}
	m.ends[id] = rel
	in, err := unix.Openat(src, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return apart("not all of it can be read")
	}
	from := os.NewFile(uintptr(in), name)
	defer from.Close()
	out, err := unix.Openat(dst, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	to := os.NewFile(uintptr(out), name)
	defer to.Close()
	if n, err := io.Copy(to, io.LimitReader(from, maxMovedBytes)); err != nil {
		return err
	} else if n != int64(st.Size) {
		return apart("it changes meanwhile")
	}
	return dress(in, out, st)
}

func timesOf(st *unix.Statx_t) []unix.Timespec {
	at := func(t unix.StatxTimestamp) unix.Timespec { return unix.Timespec{Sec: t.Sec, Nsec: int64(t.Nsec)} }
	return []unix.Timespec{at(st.Atime), at(st.Mtime)}
}

// dress gives a copy the owner, attributes, mode and times of what it is a copy of.
func dress(from, to int, st *unix.Statx_t) error {
	var made unix.Stat_t
	if err := unix.Fstat(to, &made); err != nil {
		return err
	}
	if made.Uid != st.Uid || made.Gid != st.Gid {
		if err := unix.Fchown(to, int(st.Uid), int(st.Gid)); err != nil {
			return apart("its owner cannot be kept")
		}
	}
	list := make([]byte, maxAttribute)
	n, err := unix.Flistxattr(from, list)
	if err != nil && !errors.Is(err, unix.ENOTSUP) {
		return err
	}
	for name := range strings.SplitSeq(string(list[:max(n, 0)]), "\x00") {
		if !strings.HasPrefix(name, "user.") && !strings.HasPrefix(name, "system.posix_acl_") {
			continue
		}
		value := make([]byte, maxAttribute)
		n, err := unix.Fgetxattr(from, name, value)
		if err == nil {
			err = unix.Fsetxattr(to, name, value[:n], 0)
		}
		if err != nil {
			return apart("its attributes cannot be kept")
		}
	}
	if err := unix.Fchmod(to, uint32(st.Mode&0o7777)); err != nil {
		return err
	}
	return unix.UtimesNanoAt(unix.AT_FDCWD, self(to), timesOf(st), 0)
}

// removeTree removes a name with all below it.
func removeTree(parent int, name string) error {
	dir, err := unix.Openat(parent, name, openDir, 0)
	if err == nil {
		_ = unix.Fchmod(dir, 0o700)
		err = each(dir, func(in string, st *unix.Statx_t) error {
			if st.Mode&unix.S_IFMT == unix.S_IFDIR {
				return removeTree(dir, in)
			}
			return unix.Unlinkat(dir, in, 0)
		})
		_ = unix.Close(dir)
	}
	if err != nil {
		return err
	}
	return unix.Unlinkat(parent, name, unix.AT_REMOVEDIR)
}

// inUse reports whether a program of the command works in a directory, has one below it
// open, or writes to a file there: it would go on with what is removed.
func (g *gatekeeper) inUse(pid int, dir string) bool {
	ours, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/ns/mnt")
	if err != nil {
		return true
	}
	proc, err := os.Open("/proc")
	if err != nil {
		return true
	}
	defer proc.Close()
	names, err := proc.Readdirnames(-1)
	if err != nil {
		return true
	}
	for _, name := range names {
		at := "/proc/" + name
		if name[0] < '1' || name[0] > '9' {
			continue
		}
		if mounts, err := os.Readlink(at + "/ns/mnt"); err != nil || mounts != ours {
			continue // it is over, or not of the command
		}
		if cwd, err := os.Readlink(at + "/cwd"); err == nil && safefile.Below(dir, cwd) {
			return true
		}
		fds, _ := os.ReadDir(at + "/fd")
		for _, fd := range fds {
			file, err := os.Readlink(at + "/fd/" + fd.Name())
			if err != nil || !safefile.Below(dir, file) {
				continue
			}
			var st unix.Stat_t
			info, _ := os.ReadFile(at + "/fdinfo/" + fd.Name())
			_, flags, _ := strings.Cut(string(info), "flags:")
			flags, _, _ = strings.Cut(strings.TrimSpace(flags), "\n")
			bits, err := strconv.ParseUint(flags, 8, 64)
			if err != nil || bits&unix.O_ACCMODE != unix.O_RDONLY || unix.Stat(at+"/fd/"+fd.Name(), &st) != nil || st.Mode&unix.S_IFMT == unix.S_IFDIR {
				return true
			}
		}
	}
	return false
}
