//go:build !linux

package rg

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// A dirHandle is an open directory: what is opened beside it stays below it,
// whatever its path may lead to meanwhile.
type dirHandle struct {
	r    *os.Root
	path string
}

// A fileHandle is an open file.
type fileHandle struct {
	f     *os.File
	local bool // always false, see atEnd
}

type nameBuf []byte

func openRootDir(path string, resolved bool) (dirHandle, error) {
	if !resolved {
		r, err := os.OpenRoot(path)
		return dirHandle{r, path}, err
	}
	volume := filepath.VolumeName(path) + string(filepath.Separator)
	r, err := os.OpenRoot(volume)
	d := dirHandle{r, volume}
	for name := range strings.SplitSeq(strings.TrimPrefix(path, volume), string(filepath.Separator)) {
		if err != nil || name == "" {
			break
		}
		var next dirHandle
		next, err = d.openDir(nil, name, false)
		d.close()
		d = next
	}
	if errors.Is(err, errLink) {
		err = workspace.ErrMoved
	}
	return d, err
}

func openRootFile(path string, resolved bool) (fileHandle, error) {
	if !resolved {
		f, err := os.Open(path)
		return fileHandle{f: f}, err
	}
	d, err := openRootDir(filepath.Dir(path), true)
	if err != nil {
		return fileHandle{}, err
	}
	defer d.close()
	f, err := d.openFile(nil, filepath.Base(path), false)
	if errors.Is(err, errLink) {
		err = workspace.ErrMoved
	}
	return f, err
}

var errLink = errors.New("a symbolic link")

func (d dirHandle) openDir(_ *nameBuf, name string, follow bool) (dirHandle, error) {
	path := filepath.Join(d.path, name)
	if follow { // a link may lead out of the directory
		r, err := os.OpenRoot(path)
		return dirHandle{r, path}, err
	}
	before, err := d.r.Lstat(name)
	switch {
	case err != nil:
		return dirHandle{}, err
	case before.Mode()&fs.ModeSymlink != 0:
		return dirHandle{}, errLink
	case !before.IsDir():
		return dirHandle{}, errors.New("not a directory")
	}
	r, err := d.r.OpenRoot(name)
	if err != nil {
		return dirHandle{}, err
	}
	if after, err := r.Stat("."); err != nil || !os.SameFile(before, after) {
		r.Close()
		return dirHandle{}, errLink
	}
	return dirHandle{r, path}, nil
}

func (d dirHandle) openFile(_ *nameBuf, name string, follow bool) (fileHandle, error) {
	if follow {
		f, err := os.Open(filepath.Join(d.path, name))
		return fileHandle{f: f}, err
	}
	before, err := d.r.Lstat(name)
	switch {
	case err != nil:
		return fileHandle{}, err
	case before.Mode()&fs.ModeSymlink != 0:
		return fileHandle{}, errLink
	}
	f, err := d.r.Open(name)
	if err != nil {
		return fileHandle{}, err
	}
	if after, err := f.Stat(); err != nil || !os.SameFile(before, after) {
		f.Close()
		return fileHandle{}, errLink
	}
	return fileHandle{f: f}, nil
}

// readLink gives what the link called name leads to.
func (d dirHandle) readLink(_ *nameBuf, name string) (string, error) { return d.r.Readlink(name) }

// localFS and atEnd belong to what is only known of Linux.
func (d dirHandle) localFS() bool       { return false }
func (f fileHandle) atEnd(_ int64) bool { return f.local }

func (d dirHandle) close() {
	if d.r != nil {
		d.r.Close()
	}
}
func (f fileHandle) close() { _ = f.f.Close() }

func (f fileHandle) read(p []byte) (int, error) {
	n, err := f.f.Read(p)
	if err == io.EOF {
		err = nil
	}
	return n, err
}

func (f fileHandle) stat() (fileStat, error) {
	st, err := f.f.Stat()
	if err != nil {
		return fileStat{}, err
	}
	return newFileStat(st), nil
}

func (d dirHandle) stat() (fileStat, error) { return d.statName(nil, ".", true) }

func (d dirHandle) statName(_ *nameBuf, name string, follow bool) (fileStat, error) {
	path := filepath.Join(d.path, name)
	var st fs.FileInfo
	var err error
	if follow {
		st, err = os.Stat(path)
	} else {
		st, err = d.r.Lstat(name)
	}
	if err != nil {
		return fileStat{}, err
	}
	s := newFileStat(st)
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		s.name = resolved
	}
	return s, nil
}

func newFileStat(st fs.FileInfo) fileStat {
	return fileStat{kind: kindOf(st.Mode()), mode: st.Mode(), size: st.Size(), modified: st.ModTime(), changed: st.ModTime().UnixNano()}
}

func newInfoStat(st fs.FileInfo) fileStat { return newFileStat(st) }

func kindOf(m fs.FileMode) entryKind {
	switch {
	case m.IsRegular():
		return kindFile
	case m.IsDir():
		return kindDir
	case m&fs.ModeSymlink != 0:
		return kindLink
	}
	return kindOther
}

// list appends the entries of the directory to l.
func (d dirHandle) list(l *listing) error {
	f, err := d.r.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	for {
		entries, err := f.ReadDir(1024)
		for _, e := range entries {
			l.add([]byte(e.Name()), kindOf(e.Type()))
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
