package safefile

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Links resolves many paths of one moment as [filepath.EvalSymlinks] does, but asks
// the file system about each directory above them once. The zero value is ready.
// It is not safe for use by several goroutines, and to be dropped soon: what
// changes in the directories is not seen.
type Links struct{ dirs map[string]string }

// Resolve returns the path without symbolic links, and what is there.
func (l *Links) Resolve(path string) (real string, info fs.FileInfo, err error) {
	if info, err = os.Lstat(path); err != nil {
		return "", nil, err
	}
	dir, name := filepath.Dir(path), filepath.Base(path)
	if info.Mode()&fs.ModeSymlink != 0 || runtime.GOOS == "windows" || !filepath.IsAbs(path) || filepath.Clean(path) != path {
		if real, err = filepath.EvalSymlinks(path); err != nil {
			return "", nil, err
		}
		info, err = os.Lstat(real)
		return real, info, err
	}
	if dir == path {
		return path, info, nil
	}
	above, known := l.dirs[dir]
	if !known {
		if above, _, err = l.Resolve(dir); err != nil {
			return "", nil, err
		}
		if l.dirs == nil {
			l.dirs = map[string]string{}
		}
		l.dirs[dir] = above
	}
	return filepath.Join(above, name), info, nil
}
