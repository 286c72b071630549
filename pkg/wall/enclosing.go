package wall

import (
	"os"
	"path/filepath"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// enclosing finds the directory outside the root where git keeps what is done in
// the root: that of the repository around it, of the one whose worktree it is, or
// its own below .git/modules of the repository around it; "" for none. That a
// .git file names a directory does not do, for whoever made the root wrote it.
func enclosing(root string) string {
	for dir := root; ; dir = filepath.Dir(dir) {
		at := filepath.Join(dir, ".git")
		i, err := os.Lstat(at)
		switch {
		case err != nil:
		case i.IsDir():
			if _, err := os.Stat(filepath.Join(at, "HEAD")); err != nil || dir == root {
				return ""
			}
			return at
		case i.Mode().IsRegular():
			return named(root, dir, at)
		default:
			return ""
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// named is the directory that the file at, .git of dir, names.
func named(root, dir, at string) string {
	to, ok := gitDir(at)
	if !ok {
		return ""
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(dir, to)
	}
	to, err := filepath.EvalSymlinks(to)
	if err != nil || safefile.Below(root, to) {
		return ""
	}
	if text(to+"/gitdir") == at && text(to+"/commondir") == "../.." {
		return filepath.Dir(filepath.Dir(to))
	}
	for up := filepath.Dir(dir); up != filepath.Dir(up); up = filepath.Dir(up) {
		if safefile.Below(filepath.Join(up, ".git/modules"), to) {
			return to
		}
	}
	return ""
}

// unchanged is what git heeds in a repository's directory and does not change, whether it is there or not.
var unchanged = [...]string{"hooks", "config", "config.worktree", "commondir", "info/attributes", "info/grafts", "objects/info/alternates"}

// open opens the repository that encloses the root, but for what git does not change.
func (w *Wall) open() {
	dir := enclosing(w.o.Root)
	if dir == "" {
		return
	}
	w.Enclosing = dir
	w.repository(dir)
	for _, name := range unchanged {
		if path := filepath.Join(dir, name); !below(path, w.Fixed) {
			w.Fixed = append(w.Fixed, path) // also where it is not there yet
		}
	}
	w.stays(dir)
}
