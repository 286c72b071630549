package overlay

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/agentkit-go/agentkit/pkg/change"
	"golang.org/x/sys/unix"
)

// A collector reads from an overlay's upper directory what became of the root.
type collector struct {
	root, upper string
	began       int64 // what changed in the root later is not the command's
	changes     []Change
	shared      map[uint64][]Change // files as they were, of which upper has several names
	written     map[uint64][]Change // files of several names that were written where they are, by their inode in the root
}

// collect lists what upper changes in root, sorted by path.
func collect(root, upper string, began int64) ([]Change, error) {
	c := &collector{root: root, upper: upper, began: began, shared: map[uint64][]Change{}, written: map[uint64][]Change{}}
	if err := c.dir("", true, false); err != nil {
		return nil, fmt.Errorf("reading what the command changed: %w", err)
	}
	c.linked()
	if err := c.otherNames(); err != nil {
		return nil, fmt.Errorf("looking for other names of what the command wrote: %w", err)
	}
	slices.SortFunc(c.changes, func(a, b Change) int { return strings.Compare(string(a.Path), string(b.Path)) })
	return c.changes, nil
}

// dir compares a directory of upper, which is there in the root too where shadows is
// set. What an opaque one does not have is gone from the root.
func (c *collector) dir(rel string, shadows, opaque bool) error {
	path := filepath.Join(c.upper, rel)
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o700 != 0o700 { // for us to read it now, and to remove it later
		if err := os.Chmod(path, info.Mode().Perm()|0o700); err != nil {
			return err
		}
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	have := map[string]bool{}
	for _, e := range entries {
		have[e.Name()] = true
		if err := c.entry(filepath.Join(rel, e.Name()), shadows, opaque); err != nil {
			return err
		}
	}
	if !shadows || !opaque {
		return nil
	}
	return c.gone(rel, have)
}

// gone notes that the directory of the root lost all but what is in kept.
func (c *collector) gone(rel string, kept map[string]bool) error {
	entries, err := readReal(filepath.Join(c.root, rel))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if kept[e.Name()] {
			continue
		}
		if err := c.remove(filepath.Join(rel, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func (c *collector) remove(rel string) error {
	before, err := statReal(filepath.Join(c.root, rel))
	if err != nil || before.Kind == change.Missing { // made and removed again
		return err
	}
	c.add(rel, before, State{})
	if before.Kind == change.Dir {
		return c.gone(rel, nil)
	}
	return nil
}

func (c *collector) add(rel string, before, after State) {
	f := change.File{Before: change.State{Kind: before.Kind}, After: change.State{Kind: after.Kind}}
	action := f.Action()
	if before.Kind != change.Missing && after.Kind != change.Missing {
		action = "replace"
	}
	c.note(action, rel, before, after)
}

func (c *collector) note(action, rel string, before, after State) {
	c.changes = append(c.changes, c.change(action, rel, before, after))
}

func (c *collector) change(action, rel string, before, after State) Change {
	return Change{
		Path: Name(filepath.ToSlash(rel)), Action: action, Before: before, After: after,
		Outside: before.Kind != change.Dir && before.CTime > c.began,
	}
}

// linked adds the files that got another name: they are one file with that then.
func (c *collector) linked() {
	got := map[uint64]bool{}
	for i := range c.changes {
		if s := &c.changes[i].After; s.Kind == change.Regular && s.Links > 1 {
			got[s.Ino] = true
		}
	}
	for ino, list := range c.shared {
		if got[ino] {
			c.changes = append(c.changes, list...)
		}
	}
}

// otherNames adds the names in the root of files that were written where they are under
// one of their names: in a view each name is a file of its own as soon as it is written.
// Where that happened under two of them, each stays what it is.
func (c *collector) otherNames() error {
	changed := map[string]bool{}
	for i := range c.changes {
		changed[string(c.changes[i].Path)] = true
	}
	files := map[uint64]Change{}
	for ino, list := range c.written {
		if !slices.ContainsFunc(list, func(f Change) bool { return f.After.Ino != list[0].After.Ino }) {
			files[ino] = list[0]
		}
	}
	if len(files) == 0 {
		return nil
	}
	return filepath.WalkDir(c.root, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return skipped(err)
		}
		if !e.Type().IsRegular() {
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return skipped(err)
		}
		f, ok := files[info.Sys().(*syscall.Stat_t).Ino]
		rel, _ := filepath.Rel(c.root, name)
		if !ok || changed[filepath.ToSlash(rel)] {
			return nil
		}
		before, err := statReal(name)
		if err != nil || before.Dev != f.Before.Dev || before.Ino != f.Before.Ino {
			return err
		}
		other := c.change(f.Action, rel, before, f.After)
		other.Of = f.Path
		c.changes = append(c.changes, other)
		return nil
	})
}

// skipped is for what goes while it is walked, or is closed to us.
func skipped(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}

// inPlace reports whether a file of several names was written where it is, or given a mode,
// and not replaced by another. The copy that the overlay makes of it has the time of its last
// reading, which nothing in the view changes but a program that sets it, and no origin, as
// the copy of a file of one name has that was renamed to it.
func (c *collector) inPlace(rel string, before, after State, same bool) bool {
	const tick = 20e6 // by which the time of a file may be behind the clock
	if before.Links < 2 || after.Kind != change.Regular || after.ATime != before.ATime || !same && after.MTime < c.began-tick || same && after.MTime != before.MTime {
		return false
	}
	_, err := unix.Lgetxattr(filepath.Join(c.upper, rel), "user.overlay.origin", nil)
	return errors.Is(err, unix.ENODATA)
}

// entry compares one name of upper with the root.
func (c *collector) entry(rel string, shadows, opaque bool) error {
	path := filepath.Join(c.upper, rel)
	after, err := stat(path)
	if err != nil {
		return err
	}
	if after.Kind == whiteout {
		if !shadows {
			return nil
		}
		return c.remove(rel)
	}
	var before State
	if shadows {
		if before, err = statReal(filepath.Join(c.root, rel)); err != nil {
			return err
		}
	}
	both := before.Kind == change.Dir && after.Kind == change.Dir
	if before.Kind == change.Dir && !both {
		if err := c.gone(rel, nil); err != nil {
			return err
		}
	}
	if err := c.compare(rel, before, after); err != nil || after.Kind != change.Dir {
		return err
	}
	return c.dir(rel, both, opaque || isOpaque(path))
}

// compare notes what differs between two states of a name.
func (c *collector) compare(rel string, before, after State) error {
	same := before.Kind == after.Kind
	switch {
	case !same:
	case after.Kind == change.Regular && before.Size == after.Size:
		var err error
		if same, err = equalFiles(filepath.Join(c.root, rel), before, filepath.Join(c.upper, rel)); err != nil {
			return err
		}
	case after.Kind != change.Dir:
		same = before.Size == after.Size && before.Target == after.Target && after.Kind != Other
	}
	action := ""
	switch {
	case !same:
		action = "replace"
		c.add(rel, before, after)
	case before.Mode != after.Mode:
		action = "mode"
		c.note("mode", rel, before, after)
	case before.MTime != after.MTime && after.Kind == change.Regular:
		c.note("touch", rel, before, after)
	case after.Kind == change.Regular && after.Links > 1:
		action = "link"
		c.shared[after.Ino] = append(c.shared[after.Ino], c.change("link", rel, before, after))
	}
	if action != "" && c.inPlace(rel, before, after, same) {
		c.written[before.Ino] = append(c.written[before.Ino], c.change(action, rel, before, after))
	}
	return nil
}

// whiteout stands in upper for what was removed.
const whiteout change.Kind = "whiteout"

// stat says what a name stands for; nothing is no error.
func stat(path string) (State, error) { return statAt(unix.AT_FDCWD, path) }

// statReal is stat of a name in the root. What a link on the way leads to, which somebody
// has put there since, is nothing that the root has at that name.
func statReal(path string) (State, error) {
	dir, err := openDir(filepath.Dir(path))
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return State{}, nil
	}
	if err != nil {
		return State{}, fmt.Errorf("looking at %s: %w", path, err)
	}
	defer unix.Close(dir)
	return statAt(dir, filepath.Base(path))
}

func statAt(dir int, name string) (State, error) {
	var st unix.Stat_t
	err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
		return State{}, nil
	}
	if err != nil {
		return State{}, &fs.PathError{Op: "lstat", Path: name, Err: err}
	}
	s := stateOf(&st)
	if s.Kind == change.Link {
		target := make([]byte, unix.PathMax)
		n, err := unix.Readlinkat(dir, name, target)
		if err != nil {
			return State{}, &fs.PathError{Op: "readlink", Path: name, Err: err}
		}
		s.Target = Name(target[:n])
	}
	return s, nil
}

func stateOf(st *unix.Stat_t) State {
	s := State{Mode: change.ModeOf(st.Mode), MTime: st.Mtim.Nano(), CTime: st.Ctim.Nano(), ATime: st.Atim.Nano(), Dev: st.Dev, Ino: st.Ino}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		s.Kind = change.Dir
	case unix.S_IFLNK:
		s.Kind, s.Mode = change.Link, 0
	case unix.S_IFREG:
		s.Kind, s.Size, s.Links = change.Regular, st.Size, uint64(st.Nlink) //nolint:unconvert // of 32 bits on other machines
	default:
		if s.Kind = Other; st.Mode&unix.S_IFMT == unix.S_IFCHR && st.Rdev == 0 {
			s.Kind = whiteout
		}
	}
	return s
}

// openReal opens a file or directory of the root for reading: no link is followed, and
// nothing is waited for.
func openReal(path string) (*os.File, error) {
	dir, err := openDir(filepath.Dir(path))
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(dir)
	fd, err := unix.Openat(dir, filepath.Base(path), unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// openSeen is openReal of the very file that was seen there: errMoved where it is none.
func openSeen(path string, was State) (*os.File, error) {
	f, err := openReal(path)
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, fs.ErrNotExist) {
		return nil, errMoved
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		if st := info.Sys().(*syscall.Stat_t); info.Mode().IsRegular() && st.Ino == was.Ino && st.Dev == was.Dev {
			return f, nil
		}
		err = errMoved
	}
	return nil, errors.Join(err, f.Close())
}

// readReal lists a directory of the root.
func readReal(path string) ([]fs.DirEntry, error) {
	f, err := openReal(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}

// setTime sets when a file or link was last modified.
func setTime(path string, mtime int64) {
	dir, err := openDir(filepath.Dir(path))
	if err != nil {
		return // it leads elsewhere by now
	}
	defer unix.Close(dir)
	t := unix.NsecToTimespec(mtime)
	_ = unix.UtimesNanoAt(dir, filepath.Base(path), []unix.Timespec{{Nsec: unix.UTIME_OMIT}, t}, unix.AT_SYMLINK_NOFOLLOW)
}

const asDir = unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC

// openDir opens a directory, and follows no link on the way.
func openDir(path string) (fd int, err error) {
	fd, err = unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: asDir, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if errors.Is(err, unix.ENOSYS) { // within another sandbox
		return openEach(path)
	}
	return fd, err
}

// openEach is openDir by one name after the other.
func openEach(path string) (fd int, err error) {
	fd, err = unix.Open("/", asDir, 0)
	for name := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '/' }) {
		if err != nil {
			break
		}
		above := fd
		fd, err = unix.Openat(above, name, asDir|unix.O_NOFOLLOW, 0)
		_ = unix.Close(above)
	}
	return fd, err
}

// isOpaque reports whether a directory of upper hides the one of the root.
func isOpaque(path string) bool {
	value := make([]byte, 1)
	n, err := unix.Lgetxattr(path, "user.overlay.opaque", value)
	return err == nil && n == 1 && value[0] == 'y'
}

// equalFiles compares the contents of two files of the same size: one of the root, as it
// was seen there, and one of upper.
func equalFiles(a string, was State, b string) (bool, error) {
	x, err := openSeen(a, was)
	if errors.Is(err, errMoved) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer x.Close()
	y, err := openAnyway(b)
	if err != nil {
		return false, err
	}
	defer y.Close()
	p, q := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, errX := io.ReadFull(x, p)
		m, errY := io.ReadFull(y, q)
		if !bytes.Equal(p[:n], q[:m]) {
			return false, nil
		}
		if errX != nil || errY != nil {
			if ended(errX) && ended(errY) {
				return true, nil
			}
			return false, errors.Join(errX, errY)
		}
	}
}

func ended(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
