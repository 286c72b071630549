package safefile

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"unicode"
)

// Links resolves many paths of one moment as [filepath.EvalSymlinks] does, but asks
// the file system about each directory above them once. The zero value is ready.
// It is not safe for use by several goroutines, and to be dropped soon: what
// changes in the directories is not seen.
type Links struct{ dirs map[string]*linksDir }

// A linksDir is what is known of a directory.
type linksDir struct {
	real  string
	err   error           // why it cannot be resolved; nil where it can
	names map[string]bool // all that it holds, folded; nil where they were not read
}

// List reads the names in a directory, so that no file system is asked about what is missing
// there: of many programs' files in a home most are. A directory that cannot be read changes nothing.
func (l *Links) List(dir string) {
	d := l.dir(dir)
	if d.err != nil || d.names != nil {
		return
	}
	f, err := os.Open(dir)
	if err != nil {
		return
	}
	defer f.Close() //nolint:errcheck // it is only read
	list, err := f.Readdirnames(-1)
	if err != nil {
		return
	}
	d.names = make(map[string]bool, len(list))
	for _, name := range list {
		d.names[foldName(name)] = true
	}
}

// foldName is the same for names that a file system may take for one, of which one is plain ASCII: what
// else stands in the other may be nothing to it.
func foldName(name string) string {
	return strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII {
			return -1
		}
		return r
	}, strings.ToLower(strings.ToUpper(name)))
}

func ascii(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII })
}

// dir is what is known of a directory.
func (l *Links) dir(path string) *linksDir {
	d := l.dirs[path]
	if d == nil {
		d = &linksDir{}
		d.real, _, d.err = l.Resolve(path)
		if l.dirs == nil {
			l.dirs = map[string]*linksDir{}
		}
		l.dirs[path] = d
	}
	return d
}

// Resolve returns the path without symbolic links, and what is there.
func (l *Links) Resolve(path string) (real string, info fs.FileInfo, err error) {
	if runtime.GOOS == "windows" || !filepath.IsAbs(path) || filepath.Clean(path) != path {
		return resolve(path)
	}
	above, info, err := l.lstat(path)
	switch {
	case err != nil:
		return "", nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		return resolve(path)
	}
	return filepath.Join(above, filepath.Base(path)), info, nil
}

// There reports whether there is something at a path, be it a link that leads nowhere.
func (l *Links) There(path string) bool {
	_, _, err := l.lstat(filepath.Clean(path))
	return err == nil
}

// lstat is [os.Lstat], and the directory that holds a path, resolved.
func (l *Links) lstat(path string) (above string, info fs.FileInfo, err error) {
	dir, name := filepath.Dir(path), filepath.Base(path)
	if dir != path {
		d := l.dir(dir)
		if d.err != nil {
			return "", nil, d.err
		}
		if d.names != nil && ascii(name) && !d.names[foldName(name)] {
			return "", nil, &fs.PathError{Op: "lstat", Path: path, Err: syscall.ENOENT}
		}
		above = d.real
	}
	info, err = os.Lstat(path)
	return above, info, err
}

// resolve is [Links.Resolve] for one path.
func resolve(path string) (real string, info fs.FileInfo, err error) {
	if real, err = filepath.EvalSymlinks(path); err != nil {
		return "", nil, err
	}
	info, err = os.Lstat(real)
	return real, info, err
}
