package change

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// places are the names of a workspace and the entries of a stash, both on one mount, so
// that a rename takes one to the other. No link is followed on the way to a name.
type places struct {
	root, stash string
	rootFD, fd  int // of these
	last        string
	lastFD      int // the directory that was looked up last
}

// openPlaces opens the stash of that path. It is ErrApart where no rename leads from one
// to the other.
func openPlaces(root, stash string) (*places, error) {
	p := &places{root: root, stash: stash, rootFD: -1, fd: -1, lastFD: -1}
	var err error
	if p.rootFD, err = unix.Open(root, pathFlags, 0); err == nil {
		p.fd, err = unix.Open(stash, pathFlags, 0)
	}
	if err != nil {
		p.close()
		return nil, &fs.PathError{Op: "open", Path: stash, Err: err}
	}
	if a, b := mountOf(p.rootFD), mountOf(p.fd); a == 0 || a != b {
		p.close()
		return nil, ErrApart
	}
	return p, nil
}

// onOneMount reports whether two directories are on one mount.
func onOneMount(a, b string) bool {
	p, err := openPlaces(a, b)
	if err == nil {
		p.close()
	}
	return err == nil
}

const pathFlags = unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

// mountOf numbers the mount that a directory is on; 0 when the kernel does not tell (before 5.8).
func mountOf(fd int) uint64 {
	var st unix.Statx_t
	err := unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_MNT_ID, &st)
	if err != nil || st.Mask&unix.STATX_MNT_ID == 0 {
		return 0
	}
	return st.Mnt_id
}

func (p *places) close() {
	p.forget()
	for _, fd := range []int{p.rootFD, p.fd} {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}

func (p *places) forget() {
	if p.lastFD >= 0 {
		_ = unix.Close(p.lastFD)
	}
	p.last, p.lastFD = "", -1
}

// dir opens the directory that a name is in: fs.ErrNotExist where there is none.
func (p *places) dir(abs string) (fd int, name string, err error) {
	dir, name := filepath.Split(abs)
	if dir = strings.TrimSuffix(dir, "/"); dir == p.root {
		return p.rootFD, name, nil
	}
	if dir == p.last && p.lastFD >= 0 {
		return p.lastFD, name, nil
	}
	rel, ok := safefile.Rel(p.root, dir)
	if !ok {
		return -1, "", ErrApart
	}
	p.forget()
	how := unix.OpenHow{Flags: pathFlags, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_XDEV}
	for tries := 0; ; tries++ {
		fd, err = unix.Openat2(p.rootFD, rel, &how)
		if !errors.Is(err, unix.EINTR) && (!errors.Is(err, unix.EAGAIN) || tries == 100) {
			break
		}
	}
	switch {
	case err == nil:
		p.last, p.lastFD = dir, fd
		return fd, name, nil
	case errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ELOOP):
		err = fs.ErrNotExist // beneath a file or a link there is nothing
	case errors.Is(err, unix.EXDEV), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM):
		err = ErrApart
	}
	return -1, "", &fs.PathError{Op: "open", Path: dir, Err: err}
}

// look says what stands at a name; nothing is no error.
func (p *places) look(abs string) (State, error) {
	fd, name, err := p.dir(abs)
	if missing(err) {
		return State{}, nil
	}
	if err != nil {
		return State{}, err
	}
	return lookAt(fd, name)
}

// entry says what stands in the stash.
func (p *places) entry(name string) (State, error) { return lookAt(p.fd, name) }

// ModeOf is the permissions of a mode as stat(2) has it, with the set-user-ID, set-group-ID and
// sticky bits, and without the kind of file.
func ModeOf(raw uint32) fs.FileMode {
	mode := fs.FileMode(raw & 0o777)
	for _, bit := range [...]struct {
		raw uint32
		is  fs.FileMode
	}{{unix.S_ISUID, fs.ModeSetuid}, {unix.S_ISGID, fs.ModeSetgid}, {unix.S_ISVTX, fs.ModeSticky}} {
		if raw&bit.raw != 0 {
			mode |= bit.is
		}
	}
	return mode
}

func lookAt(fd int, name string) (State, error) {
	var st unix.Stat_t
	err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, unix.ENOENT) {
		return State{}, nil
	}
	if err != nil {
		return State{}, &fs.PathError{Op: "lstat", Path: name, Err: err}
	}
	s := State{Ino: st.Ino, CTime: st.Ctim.Nano(), MTime: st.Mtim.Nano(), Mode: ModeOf(st.Mode), Links: int64(st.Nlink)}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		s.Kind = Dir
	case unix.S_IFREG:
		s.Kind, s.Size = Regular, st.Size
	case unix.S_IFLNK:
		s.Kind, s.Mode = Link, 0
	default:
		s.Kind = other
	}
	return s, nil
}

// swap makes a name and an entry of the stash change places. One of them may be missing:
// then the other goes there.
func (p *places) swap(f *File) error {
	fd, name, err := p.dir(f.Path)
	if err != nil {
		return err
	}
	if f.Before.Kind == Dir || f.After.Kind == Dir {
		defer p.forget() // it may be on the way to that one
	}
	switch {
	case f.Before.Kind == Missing:
		err = unix.Renameat2(p.fd, f.Stash, fd, name, unix.RENAME_NOREPLACE)
	case f.After.Kind == Missing:
		err = unix.Renameat2(fd, name, p.fd, f.Stash, unix.RENAME_NOREPLACE)
	default:
		err = unix.Renameat2(fd, name, p.fd, f.Stash, unix.RENAME_EXCHANGE)
	}
	if errors.Is(err, unix.EXDEV) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		err = ErrApart
	}
	if err != nil {
		return &os.LinkError{Op: "exchange", Old: f.Path, New: f.Stash, Err: err}
	}
	return nil
}

func (p *places) mkdir(abs string) error {
	fd, name, err := p.dir(abs)
	if err == nil {
		err = wrapped("mkdir", abs, unix.Mkdirat(fd, name, 0o777))
	}
	return err
}

func (p *places) rmdir(abs string) error {
	fd, name, err := p.dir(abs)
	defer p.forget()
	if err == nil {
		err = wrapped("rmdir", abs, unix.Unlinkat(fd, name, unix.AT_REMOVEDIR))
	}
	return err
}

// chmod sets the mode of a directory, of the workspace or of the stash.
func (p *places) chmod(abs string, mode fs.FileMode) error {
	fd, name := p.fd, abs
	if strings.Contains(abs, "/") {
		var err error
		if fd, name, err = p.dir(abs); err != nil {
			return err
		}
	}
	dir, err := unix.Openat(fd, name, pathFlags, 0) // never through a link
	if err != nil {
		return wrapped("open", abs, err)
	}
	defer unix.Close(dir)
	return os.Chmod("/proc/self/fd/"+strconv.Itoa(dir), mode)
}

func wrapped(op, path string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}

// put has an entry of the stash be what a target is to become: the file of its From,
// under one more name, or a new one.
func (p *places) put(name string, t *Target) (State, error) {
	err := fs.ErrNotExist
	if t.From != "" {
		err = unix.Linkat(unix.AT_FDCWD, t.From, p.fd, name, 0)
		if err == nil {
			err = p.plain(name)
		}
		if errors.Is(err, unix.EACCES) && t.Kind == Regular { // who may not write a file may not take its attributes off; it gets its mode below
			if err = os.Chmod(p.name(name), 0o600); err == nil {
				err = p.plain(name)
			}
		}
	}
	if err != nil {
		if err = p.make(name, t); err != nil {
			return State{}, fmt.Errorf("preparing %s: %w", t.Path, err)
		}
	}
	s, err := p.entry(name)
	if err == nil && t.Kind == Regular && s.Mode != t.Mode {
		err = os.Chmod(p.name(name), t.Mode)
		s.Mode = t.Mode
	}
	return s, err
}

func (p *places) name(entry string) string { return filepath.Join(p.stash, entry) }

// plain takes off what the kernel's overlay noted about a file.
func (p *places) plain(name string) error {
	var list [512]byte
	n, err := unix.Llistxattr(p.name(name), list[:])
	if n == 0 || errors.Is(err, unix.ENOTSUP) {
		return nil
	}
	for attr := range strings.SplitSeq(string(list[:max(n, 0)]), "\x00") {
		if strings.HasPrefix(attr, "user.overlay.") {
			err = errors.Join(err, unix.Lremovexattr(p.name(name), attr))
		}
	}
	return err
}

func (p *places) make(name string, t *Target) error {
	switch {
	case t.Kind == Link:
		return unix.Symlinkat(t.Target, p.fd, name)
	case t.Kind == Dir:
		return unix.Mkdirat(p.fd, name, 0o700)
	case t.Open == nil:
		return ErrApart
	}
	from, err := t.Open()
	if err != nil {
		return err
	}
	defer from.Close()
	f, err := os.OpenFile(p.name(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err = f.ReadFrom(from); err == nil && t.MTime != 0 {
		err = os.Chtimes(p.name(name), time.Time{}, time.Unix(0, t.MTime))
	}
	return errors.Join(err, f.Close())
}
