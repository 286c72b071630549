package wall

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// An Away is a directory of the root that has another name than when the command began.
type Away struct{ Was, Is string }

// away is the directory with which something closed that is gone has lost the name that it is closed for, as the workflows of
// .github have; none where it is closed by the new name, too: it may go there. Where another directory has
// taken the place of that one, it is what was closed in it. Found has the directories that were looked for before.
func (w *Wall) away(path string, found map[string]string) (a Away) {
	if safefile.BelowGit(path) || !safefile.Below(w.o.Root, path) {
		return a
	}
	other := "" // the outermost directory that is not the one that was there
	for dir := filepath.Dir(path); dir != w.o.Root && safefile.Below(w.o.Root, dir); dir = filepath.Dir(dir) {
		if w.above[dir] != w.idOfDir(dir) {
			other = dir
		}
	}
	if other == "" || w.Grants(path) || w.Grants(other) {
		return a
	}
	is, known := found[other]
	if !known {
		is = w.find(w.above[other])
		found[other] = is
	}
	if is == "" || !w.o.Policy.MayWrite(is+path[len(other):], policy.Missing) {
		return a
	}
	if _, err := os.Lstat(other); err == nil {
		return Away{path, is + path[len(other):]}
	}
	return Away{other, is}
}

// find is where in the root a directory is; "" for nowhere, or where that cannot be told.
func (w *Wall) find(id fileID) (at string) {
	if id == (fileID{}) {
		return ""
	}
	names := 0
	_ = filepath.WalkDir(w.o.Root, func(path string, d fs.DirEntry, err error) error {
		switch names++; {
		case names > maxEntries:
			return fs.SkipAll
		case err == nil && d.IsDir() && w.idOfDir(path) == id:
			at = path
			return fs.SkipAll
		}
		return nil
	})
	return at
}
