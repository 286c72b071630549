package wall

import (
	"io/fs"
	"path/filepath"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// Came returns what reports whether something protected has come to a path since the walk, or was changed there:
// what undo must not bring back with what a command takes away. Other commands may run beside. Whatever they
// made before the walk has to be put away in between, see [Since].
func (w *Wall) Came() func(path string, i fs.FileInfo) bool {
	guarded, known := w.Guards(), map[string]bool{}
	for _, path := range w.tree.hits() {
		known[path] = true
	}
	return func(path string, i fs.FileInfo) bool {
		// The time of the last change is one that no program can set back.
		young, link := !changedOf(i).Before(w.begun), i.Mode()&fs.ModeSymlink != 0
		if safefile.BelowGit(path) {
			return w.cameToGit(path, i, young)
		}
		base, there := filepath.Base(path), guarded != nil && guarded(path)
		switch {
		case base == "HEAD": // of a bare repository, or like that of one
			return young && !known[path]
		case base == ".git" && i.IsDir():
			return !known[path] && (young || !w.tree.cut)
		case !there && known[path] && !link: // one that may be changed
			return false
		}
		protected := !w.o.Policy.MayWrite(path, policy.Missing) && (!i.IsDir() || !w.o.Policy.Mixed(path, policy.Write)) || link && w.o.Policy.Begins(path)
		return protected && (young || !there && !known[path] && !w.tree.cut)
	}
}

// cameToGit is Came for what lies in a repository's directory, where git changes most, but makes no links. With a
// directory that was moved there all that is in it has come.
func (w *Wall) cameToGit(path string, i fs.FileInfo, young bool) bool {
	switch base := filepath.Base(path); {
	case i.IsDir() && w.o.Policy.MayWrite(path, policy.Dir):
		return false
	case i.Mode()&fs.ModeSymlink == 0 && base != "index" && base != "MERGE_RR" && w.o.Policy.MayWrite(path, fileType(i)):
		return false
	}
	for dir := filepath.Dir(path); !young && filepath.Base(dir) != ".git"; dir = filepath.Dir(dir) {
		young = !changedAt(dir).Before(w.begun)
	}
	return young
}
