//go:build !linux

package rg

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// A dirHandle is a directory, here known by its path.
type dirHandle struct{ path string }

// A fileHandle is an open file.
type fileHandle struct{ f *os.File }

type nameBuf []byte

func openRootDir(path string) (dirHandle, error) {
	st, err := os.Stat(path)
	if err == nil && !st.IsDir() {
		err = &os.PathError{Op: "open", Path: path, Err: errors.New("not a directory")}
	}
	return dirHandle{path}, err
}

func openRootFile(path string) (fileHandle, error) {
	f, err := os.Open(path)
	return fileHandle{f}, err
}

func (d dirHandle) openDir(_ *nameBuf, name string, follow bool) (dirHandle, error) {
	path := filepath.Join(d.path, name)
	st, err := os.Lstat(path)
	if err == nil && follow {
		st, err = os.Stat(path)
	}
	if err == nil && !st.IsDir() {
		err = errors.New("not a directory")
	}
	return dirHandle{path}, err
}

func (d dirHandle) openFile(_ *nameBuf, name string, follow bool) (fileHandle, error) {
	path := filepath.Join(d.path, name)
	if st, err := os.Lstat(path); err == nil && !follow && st.Mode()&fs.ModeSymlink != 0 {
		return fileHandle{}, errors.New("a symbolic link")
	}
	f, err := os.Open(path)
	return fileHandle{f}, err
}

func (d dirHandle) close()  {}
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

func (d dirHandle) stat() (fileStat, error) { return d.statName(nil, "", true) }

func (d dirHandle) statName(_ *nameBuf, name string, follow bool) (fileStat, error) {
	path := filepath.Join(d.path, name)
	get := os.Lstat
	if follow {
		get = os.Stat
	}
	st, err := get(path)
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
	return fileStat{kind: kindOf(st.Mode()), size: st.Size(), modified: st.ModTime()}
}

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
	f, err := os.Open(d.path)
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
