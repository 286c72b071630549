package wall

import (
	"io/fs"
	"path/filepath"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// An Away is a directory of the root that has another name than when the command began.
type Away struct{ Was, Is string }

// movedDirs looks for directories that were moved.
type movedDirs struct {
	w   *Wall
	now map[string]fileID // by their paths
	at  map[fileID]string // where those are that were looked for; "" for nowhere
}

// away is the directory with which something closed has gone to where it is open, as into node_modules; none where it is
// closed there, too: it may go there. Where another directory has taken the place of that one, it is what was closed in it.
func (m *movedDirs) away(path string) (a Away) {
	w := m.w
	if safefile.BelowGit(path) || !safefile.Below(w.o.Root, path) {
		return a
	}
	other := "" // the outermost directory that is not the one that was there
	for dir := filepath.Dir(path); dir != w.o.Root && safefile.Below(w.o.Root, dir); dir = filepath.Dir(dir) {
		now, known := m.now[dir]
		if !known {
			now = w.idOfDir(dir)
			m.now[dir] = now
		}
		if w.above[dir] != now {
			other = dir
		}
	}
	if other == "" || w.Grants(path) || w.Grants(other) || below(path, w.Goes) {
		return a
	}
	is, known := m.at[w.above[other]]
	if !known {
		is = w.find(w.above[other])
		m.at[w.above[other]] = is
	}
	if is == "" || !w.o.Policy.MayWrite(is+path[len(other):], policy.Missing) || !safefile.Exists(is+path[len(other):]) {
		return a
	}
	if safefile.Exists(other) {
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
