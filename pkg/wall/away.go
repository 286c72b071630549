package wall

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// An Away is a directory of the root that has another name than when the command began.
type Away struct{ Was, Is string }

// away lists the directories with which something closed has lost the name that it is closed for, as the workflows of
// .github have: a mount holds it, but not what lies above. Where it is closed by the new name too, the
// directory may go there. Where another directory has taken the place of one, it is what was closed in it.
func (w *Wall) away() (list []Away) {
	if !w.o.Mounts {
		return nil // there all that is closed is put back by itself
	}
	for _, path := range w.Fixed {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) || safefile.BelowGit(path) || !safefile.Below(w.o.Root, path) {
			continue
		}
		other := "" // the outermost directory that is not the one that was there
		for dir := filepath.Dir(path); dir != w.o.Root && safefile.Below(w.o.Root, dir); dir = filepath.Dir(dir) {
			if w.above[dir] != w.idOfDir(dir) {
				other = dir
			}
		}
		if other == "" || w.Grants(path) || w.Grants(other) || slices.ContainsFunc(list, func(a Away) bool { return a.Was == other }) {
			continue
		}
		is := w.find(w.above[other])
		if is == "" || !w.o.Policy.MayWrite(is+path[len(other):], policy.Missing) {
			continue
		}
		if _, err := os.Lstat(other); err == nil {
			list = append(list, Away{path, is + path[len(other):]})
		} else {
			list = append(list, Away{other, is})
		}
	}
	return list
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
