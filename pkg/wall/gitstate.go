package wall

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/gitindex"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// astray reports whether a file in a repository's directory has git write or read where it
// never would by itself: git looks at the names in a tree, and believes those in its own index and in MERGE_RR.
// Moved is that of newIntoGit.
func (w *Wall) astray(dir, name string, moved bool) bool {
	path := filepath.Join(dir, name)
	switch {
	case name == "index" || strings.HasPrefix(name, "sharedindex."):
		return (moved || !changedAt(path).Before(w.begun)) && strayIndex(path, hashSize(dir), strings.Contains(strings.ToLower(settings(dir)), "splitindex"))
	case name == "MERGE_RR": // what a name leads to may be changed later than the file
		return w.strayConflicts(dir)
	}
	return false
}

// stray reports whether a name in git's index is one that git lets into none: in what git
// keeps, or out of the work tree.
func stray(name string) bool {
	name = strings.TrimSuffix(name, "/") // a directory of which only some files are checked out
	if name == "" {                      // the name is in another index, which this one goes on
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part == "." || part == ".." || strings.EqualFold(part, ".git") || strings.EqualFold(part, "git~1") {
			return true
		}
	}
	return false
}

// maxConflicts is how many conflicts of all repositories together are looked at: each name is followed.
const maxConflicts = 20_000

// strayConflicts reports whether one of the conflicts that git means to learn from, copying the
// file when that is solved, is in another file than git finds one in. Records are "hash TAB name NUL".
func (w *Wall) strayConflicts(dir string) bool {
	data, err := small(filepath.Join(dir, "MERGE_RR"))
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	tree, err := filepath.EvalSymlinks(WorkTree(dir))
	known := err == nil && filepath.IsAbs(tree)
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); !known && err != nil {
		return false // a branch of that name
	}
	for record := range strings.SplitSeq(string(data), "\x00") {
		_, name, ok := strings.Cut(record, "\t")
		if !ok {
			continue
		}
		if w.conflicts++; !known || stray(name) || w.conflicts > maxConflicts { // nobody has so many to solve
			return true
		}
		path := filepath.Join(tree, name)
		_, real, err := safefile.Follow(tree, name) // also what is not there yet
		if err != nil || real != path || !w.o.Policy.MayRead(path, policy.Regular) {
			return true
		}
	}
	return false
}

// WorkTree is the work tree of a repository's directory; "" where that is not known.
func WorkTree(dir string) string {
	if filepath.Base(dir) == ".git" {
		return filepath.Dir(dir)
	}
	if file := text(filepath.Join(dir, "gitdir")); file != "" {
		return filepath.Dir(file)
	}
	return worktreeOf(dir)
}

// settings are those of a repository, or of that which a worktree's part of one belongs to.
func settings(dir string) string {
	if above := filepath.Dir(dir); filepath.Base(above) == "worktrees" {
		dir = filepath.Dir(above)
	}
	return text(filepath.Join(dir, "config"))
}

// hashSize is the size in bytes of a hash in a repository; 0 where its settings say more than one,
// of which git heeds the last.
func hashSize(dir string) int {
	said := map[int]bool{}
	for line := range strings.Lines(settings(dir)) {
		name, value, _ := strings.Cut(line, "=")
		switch {
		case !strings.EqualFold(strings.TrimSpace(name), "objectformat"):
		case strings.EqualFold(strings.TrimSpace(value), "sha256"):
			said[gitindex.SHA256] = true
		default:
			said[gitindex.SHA1] = true
		}
	}
	switch {
	case len(said) > 1:
		return 0
	case said[gitindex.SHA256]:
		return gitindex.SHA256
	}
	return gitindex.SHA1
}

// maxIndex bounds in bytes the index that is looked at: some millions of files.
const maxIndex = 1 << 30

// strayIndex reports whether an index has a name that is stray, or is not what git writes, so
// that git may find other names in it than are found here; or remembers trees that are not those of its entries, which a commit
// would take. Split says that the repository is to have entries in another file, where that cannot be told.
func strayIndex(path string, size int, split bool) bool {
	f, err := safefile.OpenRegular(path)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	i, err := f.Stat()
	if err != nil || i.Size() > maxIndex || size == 0 {
		return true
	}
	x, err := gitindex.NewReader(f, i.Size(), size)
	if err != nil { // git reads nothing of it
		return false
	}
	for {
		e, err := x.Next()
		switch {
		case err == io.EOF: //nolint:errorlint // Next wraps nothing
			return !x.TreesHold(f, split)
		case err != nil || stray(string(e.Name)):
			return true
		}
	}
}
