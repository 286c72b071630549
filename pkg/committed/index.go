package committed

import (
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/agentkit-go/agentkit/pkg/gitindex"
)

// tracked lists the names in git's index, as ls-files does, without a process of git's. It is
// false where the index has not all of them, or more than maxLost; git itself knows. A hash has
// size bytes.
func (r *repository) tracked(size int) (rels []string, ok bool) {
	data, err := readFile(filepath.Join(r.git, "index"))
	if err != nil {
		return nil, false
	}
	ok = gitindex.Read(data, size, func(e gitindex.Entry) bool {
		rels = append(rels, string(e.Name))
		return len(rels) <= maxLost
	})
	return rels, ok
}

// maxLight bounds the index of a repository that is read as a whole where only some names are
// asked about: to start git takes as long as to read so much.
const maxLight = 1 << 20

// light reports whether a repository is small.
func (r *repository) light() bool {
	info, err := os.Lstat(filepath.Join(r.git, "index"))
	return err == nil && info.Size() <= maxLight
}

// below are the files at or below some names; all where there are none.
func below(rels, names []string) []string {
	if len(names) == 0 {
		return rels
	}
	named := map[string]bool{}
	for _, name := range names {
		named[name] = true
	}
	return slices.DeleteFunc(rels, func(rel string) bool {
		for !named[rel] {
			if rel == "." {
				return true
			}
			rel = path.Dir(rel)
		}
		return false
	})
}
