package wall

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// Came returns what reports whether something protected has come to a path since the walk, or was changed there:
// what undo must not bring back with what a command takes away. Other commands may run beside. Whatever they
// made before the walk has to be put away in between, see [Since]. Where a path leads to something else than
// what is asked about, it has come.
func (w *Wall) Came() func(path string, i fs.FileInfo) bool {
	guarded, known := w.guards(), map[string]bool{}
	for _, path := range w.tree.hits() {
		known[path] = true
	}
	return func(path string, i fs.FileInfo) bool {
		// The time of the last change is one that no program can set back.
		young, link := !changedOf(i).Before(w.begun), i.Mode()&fs.ModeSymlink != 0
		if safefile.BelowGit(path) {
			return w.cameToGit(path, i, young)
		}
		guard := guarded(path)
		moved := guard != "" && !w.inPlace(guard) // with a directory above it
		base, there, known := filepath.Base(path), guard != "" && !moved, known[path] && !moved
		switch {
		case base == "HEAD": // of a bare repository, or like that of one
			return !known && (young || w.becameRepository(filepath.Dir(path)))
		case base == ".git" && i.IsDir():
			return !w.knows(w.idOfThis(path, i)) && (young || !w.tree.cut)
		case !there && known && !link: // one that may be changed
			return false
		}
		protected := !w.o.Policy.MayWrite(path, policy.Missing) && (!i.IsDir() || !w.o.Policy.Mixed(path, policy.Write)) || link && w.o.Policy.Begins(path)
		return protected && (young || !there && !known && !w.tree.cut)
	}
}

// idOfThis is idOfDir of a directory that is to be the one at a path; of none where another one is there by now.
func (w *Wall) idOfThis(path string, i fs.FileInfo) fileID {
	id, this := w.idOfDir(path), idOfInfo(i)
	if id.Device != this.Device || id.Inode != this.Inode {
		return fileID{}
	}
	return id
}

// knows reports whether it is a repository's that was there.
func (w *Wall) knows(id fileID) bool { return w.repositories[id] && (!identified || id != fileID{}) }

// becameRepository reports whether a directory is a bare repository that was none, as far as that can be told.
func (w *Wall) becameRepository(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return true
	}
	return isRepository(entries) && (!w.tree.cut || slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !changedAt(filepath.Join(dir, e.Name())).Before(w.begun) }))
}

// cameToGit is Came for what lies in a repository's directory, where git changes most, but makes no links. With a
// directory that was moved there all that is in it has come, also with that of the repository.
func (w *Wall) cameToGit(path string, i fs.FileInfo, young bool) bool {
	git := filepath.Dir(path)
	for filepath.Base(git) != ".git" {
		git = filepath.Dir(git)
	}
	if !w.knows(w.idOfDir(git)) && (!w.tree.cut || !changedAt(git).Before(w.begun)) {
		return true
	}
	switch base := filepath.Base(path); {
	case i.IsDir() && w.o.Policy.MayWrite(path, policy.Dir):
		return false
	case i.Mode()&fs.ModeSymlink == 0 && base != "index" && base != "MERGE_RR" && w.o.Policy.MayWrite(path, fileType(i.Mode())):
		return false
	}
	for dir := filepath.Dir(path); !young && dir != git; dir = filepath.Dir(dir) {
		young = !changedAt(dir).Before(w.begun)
	}
	return young
}
