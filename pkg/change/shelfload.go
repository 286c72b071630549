package change

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/gitindex"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// A load looks at things, puts them on a shelf where there is one, and counts down
// what there is room for.
type load struct {
	ctx   context.Context
	bytes int64
	names int
	gaps  []Gap
	same  bool // nothing had to be copied

	path   string                                // of what is put there, in the workspace
	apart  func(path string) bool                // see ShelveOptions
	came   func(path string, i fs.FileInfo) bool // likewise
	left   []string                              // the paths that came is true of
	copied []string                              // the paths that apart is true of, encoded
	still  func(path string, i fs.FileInfo) bool // likewise
	room   *room                                 // for copies of what still is true of
	survey *survey                               // of a directory that is to be set aside; else nil
}

// maxSummed bounds the files that are known by their content, too; maxIndex those that git
// writes anew whenever it looks, which are known by what they say.
const (
	maxSummed = 64 << 10
	maxIndex  = 32 << 20
)

// put looks at what stands at p, and puts it on the shelf under a name; a nil shelf is
// none. Of the slot it fills in what lies on the shelf.
func (l *load) put(p place, shelf *os.Root, to string, written bool, slot *Slot) (print, error) {
	info, err := p.dir.Lstat(p.name)
	if missing(err) {
		return print{}, nil
	}
	if err != nil {
		return print{}, err
	}
	here := printOf(info)
	if l.isNew(".", info) {
		return print{}, errLeft
	}
	if err := l.count(info); err != nil {
		return here, err
	}
	if here.Kind == Dir {
		return l.putDir(p, here, shelf, to, written, slot)
	}
	l.same = true
	var from, dest *os.File
	if shelf != nil {
		if from, err = p.dir.Open("."); err != nil {
			return here, err
		}
		defer from.Close()
		if dest, err = shelf.Open("."); err != nil {
			return here, err
		}
		defer dest.Close()
		if err := l.take(p, from, shelf, dest, to, info, written || safefile.BelowGit(l.path) && !strings.Contains(l.path, "/objects/"), "."); err != nil {
			return here, err
		}
	}
	if here.Sum, err = sumOf(p, here); err != nil {
		return here, err
	}
	if slot != nil {
		slot.Single = here.Kind == Regular && names(info) == 1
		if slot.Was = here; !l.same {
			slot.Was = l.shelved(shelf, to, here)
		}
	}
	return here, nil
}

// shelved is the print of a copy.
func (l *load) shelved(shelf *os.Root, to string, here print) print {
	info, err := shelf.Lstat(to)
	if err != nil {
		return print{}
	}
	was := printOf(info)
	was.Sum, was.Mode = here.Sum, here.Mode
	return was
}

func (l *load) putDir(p place, here print, shelf *os.Root, to string, written bool, slot *Slot) (print, error) {
	src, err := enter(p.dir, p.name)
	if err != nil {
		return here, err
	}
	defer src.Close()
	if !l.opened(src, ".", here) {
		return print{}, errLeft
	}
	sum := sha256.New()
	t := &treeLoad{load: l, sum: sum, written: written}
	if slot != nil {
		t.closed = map[string]fs.FileMode{}
	}
	l.same = true
	var dst *os.Root
	if shelf != nil {
		if dst, err = t.makeDir(shelf, to); err != nil {
			return here, err
		}
		defer dst.Close()
	}
	if err := t.walk(src, dst, "."); err != nil {
		return here, err
	}
	here.Sum = hex.EncodeToString(sum.Sum(nil))
	if shelf == nil || slot == nil {
		return here, nil
	}
	t.finishDir(shelf, to, ".", src)
	slot.Closed = t.closed
	if slot.Was = here; !l.same { // copies have times and inodes of their own
		again := &load{ctx: l.ctx, bytes: 1 << 62, names: 1 << 30}
		slot.Was, err = again.put(place{shelf, to}, nil, "", false, nil)
		slot.Was.Mode = here.Mode
	}
	return here, err
}

func (l *load) count(info fs.FileInfo) error {
	l.names--
	if info.Mode().IsRegular() {
		l.bytes -= info.Size()
	}
	if l.names < 0 || l.bytes < 0 {
		return ErrShelfFull
	}
	return context.Cause(l.ctx)
}

// A treeLoad takes a directory with all that is in it.
type treeLoad struct {
	*load
	sum     hash.Hash
	written bool
	closed  map[string]fs.FileMode
	within  gitPart // of a repository
}

func (t *treeLoad) makeDir(shelf *os.Root, name string) (*os.Root, error) {
	if err := shelf.Mkdir(name, 0o700); err != nil {
		return nil, err
	}
	return enter(shelf, name) // the shelf may be the workspace
}

// finishDir gives a directory of the shelf the mode and time of the one it stands for.
func (t *treeLoad) finishDir(shelf *os.Root, name, rel string, src *os.Root) {
	info, err := src.Stat(".")
	if err != nil {
		return
	}
	mode := info.Mode()
	if mode&0o700 != 0o700 {
		if t.closed != nil {
			t.closed[rel] = mode & safefile.ModeBits
		}
		mode |= 0o700
	}
	_ = safefile.Chmod(shelf, name, mode&safefile.ModeBits)
	_ = shelf.Chtimes(name, info.ModTime(), info.ModTime())
}

// walk takes what is in src to dst; a nil dst is none.
func (t *treeLoad) walk(src, dst *os.Root, rel string) error {
	from, err := src.Open(".")
	if err != nil {
		return err
	}
	defer from.Close()
	entries, err := from.ReadDir(-1)
	if err != nil {
		return err
	}
	var dest *os.File
	if dst != nil {
		if dest, err = dst.Open("."); err != nil {
			return err
		}
		defer dest.Close()
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	outer := t.within
	defer func() { t.within = outer }()
	switch {
	case outer == gitKeeps && filepath.Base(rel) == "objects" && !strings.Contains(rel, "/refs/"):
		t.within = gitObjects
	case outer == noPart && isRepository(filepath.Join(t.path, rel), entries):
		t.within = gitKeeps
	}
	for _, e := range entries {
		info, err := src.Lstat(e.Name())
		if missing(err) {
			continue
		}
		if err == nil && t.isNew(filepath.Join(rel, e.Name()), info) {
			if t.survey != nil {
				return errStays
			}
			continue
		}
		if err == nil {
			err = t.count(info)
		}
		if err == nil && t.survey != nil && (!t.survey.add(from, e.Name()) || t.copies(filepath.Join(rel, e.Name()))) {
			err = errStays
		}
		if err != nil {
			return err
		}
		p, name := place{src, e.Name()}, filepath.Join(rel, e.Name())
		here := printOf(info)
		if here.Kind == Dir {
			if err := t.sub(p, dst, name, here); err != nil {
				return err
			}
			continue
		}
		if here.Kind == Link {
			if here.Sum, err = sumOf(p, here); err != nil {
				return err
			}
		}
		fmt.Fprintf(t.sum, "%q %s %o %d %d %s\n", name, here.Kind, here.Mode, here.Size, here.MTime, here.Sum)
		if dst == nil {
			continue
		}
		if err := t.take(p, from, dst, dest, e.Name(), info, t.written || t.within == gitKeeps, name); err != nil {
			return err
		}
	}
	return nil
}

func (t *treeLoad) sub(p place, dst *os.Root, rel string, here print) error {
	fmt.Fprintf(t.sum, "%q dir %o\n", rel, here.Mode)
	sub, err := enter(p.dir, p.name)
	if err != nil {
		return err
	}
	defer sub.Close()
	if !t.opened(sub, rel, here) {
		return nil
	}
	if dst == nil {
		return t.walk(sub, nil, rel)
	}
	to, err := t.makeDir(dst, p.name)
	if err != nil {
		return err
	}
	defer to.Close()
	if err := t.walk(sub, to, rel); err != nil {
		return err
	}
	t.finishDir(dst, p.name, rel, sub)
	return nil
}

// A gitPart is where in a repository something lies. What git keeps is copied but for objects: there a file that
// has another name is taken for one that a command has put there for git to write to.
type gitPart int

const (
	noPart gitPart = iota
	gitKeeps
	gitObjects
)

// isRepository reports whether a directory is, or is part of, what git keeps of a repository.
func isRepository(dir string, entries []fs.DirEntry) bool {
	has := func(name string) bool {
		_, is := slices.BinarySearchFunc(entries, name, func(e fs.DirEntry, name string) int { return strings.Compare(e.Name(), name) })
		return is
	}
	return safefile.InGit(dir) || has("HEAD") && has("objects") && has("refs")
}

// errLeft says that what has a name is left out: undo leaves it as it is then.
var errLeft = errors.New("it came, or was changed, meanwhile")

// isNew reports whether what is called so there is left out, and notes that it is.
func (l *load) isNew(rel string, info fs.FileInfo) bool {
	path := filepath.Join(l.path, rel)
	if l.came == nil || !l.came(path, info) {
		return false
	}
	l.left = append(l.left, path)
	return true
}

// opened reports whether a directory that was opened is the one that was looked at before, where others may
// change that; one that is not is left out.
func (l *load) opened(dir *os.Root, rel string, here print) bool {
	if l.came == nil {
		return true
	}
	if info, err := dir.Stat("."); err == nil {
		if now := printOf(info); now.Dev == here.Dev && now.Ino == here.Ino {
			return true
		}
	}
	l.left = append(l.left, filepath.Join(l.path, rel))
	return false
}

// copies reports whether what is called so in what is put there has to be a copy.
func (l *load) copies(rel string) bool {
	path := filepath.Join(l.path, rel)
	if l.apart == nil || !l.apart(path) {
		return false
	}
	l.copied = append(l.copied, encodeName(path))
	return true
}

// take puts one file, link or pipe on the shelf: what is called so in what is put there.
func (l *load) take(p place, from *os.File, shelf *os.Root, dest *os.File, to string, info fs.FileInfo, written bool, rel string) error {
	apart := l.copies(rel)
	if !apart && (!written || !info.Mode().IsRegular()) {
		if l.copyStill(p, shelf, to, info, rel) || linkAt(from, p.name, dest, to) == nil {
			return nil
		}
	}
	if err := l.copy(p, shelf, to, info); err != nil || !apart || l.came == nil {
		return err
	}
	if now, err := p.dir.Lstat(p.name); err == nil && lastChange(now) == lastChange(info) {
		return nil
	}
	l.left = append(l.left, filepath.Join(p.dir.Name(), p.name)) // it was changed while it was copied
	return shelf.Remove(to)
}

// lastChange tells a file as it is from all others, and from what it was before.
func lastChange(info fs.FileInfo) [3]uint64 {
	dev, ino, changed := identity(info)
	return [3]uint64{dev, ino, uint64(changed)}
}

// copy is take without another name of the same file.
func (l *load) copy(p place, shelf *os.Root, to string, info fs.FileInfo) error {
	l.same = false
	switch {
	case info.Mode().IsRegular():
		return copyThing(p, shelf, to, info)
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := p.dir.Readlink(p.name)
		if err != nil {
			return err
		}
		return shelf.Symlink(target, to)
	}
	l.gaps = append(l.gaps, Gap{filepath.Join(p.dir.Name(), p.name), "it is no file, directory or link"})
	return nil
}

// copyThing copies a file with its mode and time, and its owner where we may; its blocks are shared where the file
// system can.
func copyThing(p place, shelf *os.Root, to string, info fs.FileInfo) error {
	return copyBy(p, shelf, to, info, func(f, from *os.File) (err error) {
		if clone(f, from) != nil {
			_, err = io.Copy(f, from)
		}
		giveAway(f, info)
		return err
	})
}

// copyBy makes a file with the mode and time of another one; fill gives it what that holds.
func copyBy(p place, shelf *os.Root, to string, info fs.FileInfo, fill func(f, from *os.File) error) error {
	from, err := p.dir.OpenFile(p.name, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return err
	}
	defer from.Close()
	if now, err := from.Stat(); err != nil || !os.SameFile(info, now) {
		return &fs.PathError{Op: "copy", Path: p.name, Err: workspace.ErrMoved}
	}
	f, err := shelf.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = fill(f, from)
	if bad := f.Chmod(info.Mode() & safefile.ModeBits); err == nil {
		err = bad
	}
	if bad := f.Close(); err == nil {
		err = bad
	}
	if err == nil {
		err = shelf.Chtimes(to, info.ModTime(), info.ModTime())
	}
	return err
}

// sumOf sums up a link's target, or what a small file holds, where it may be read.
func sumOf(p place, here print) (string, error) {
	switch {
	case here.Kind == Link:
		target, err := p.dir.Readlink(p.name)
		return Hash([]byte(target)), err
	case here.Kind != Regular || here.Size > maxIndex:
		return "", nil
	}
	f, err := p.dir.OpenFile(p.name, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return "", nil //nolint:nilerr // its inode and time are known
	}
	defer f.Close()
	if here.Size > maxSummed {
		var head [len(gitindex.Magic)]byte
		if _, err := f.ReadAt(head[:], 0); err != nil || string(head[:]) != gitindex.Magic {
			return "", nil //nolint:nilerr // its inode and time are known
		}
	}
	data, err := io.ReadAll(io.LimitReader(f, maxIndex+1))
	if err != nil || int64(len(data)) != here.Size {
		return "", nil //nolint:nilerr // its inode and time are known
	}
	if sum, ok := gitindex.Sum(data); ok {
		return hex.EncodeToString(sum[:]), nil
	}
	if here.Size > maxSummed {
		return "", nil
	}
	return Hash(data), nil
}
