package sandbox

import (
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

func belowAny(path string, dirs []string) bool {
	for _, d := range dirs {
		if safefile.Below(d, path) {
			return true
		}
	}
	return false
}

func parent(p string) string { return path.Dir(p) }

// An entry is a path and what is known of its type.
type entry struct {
	path string
	mode fs.FileMode // type bits as fs.DirEntry.Type has them
}

// aroundIn appends to list what is in dir, without what is hidden: a directory
// that holds something hidden is replaced by its entries.
func aroundIn(dir string, hidden []string, list []entry) []entry {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return list
	}
	for _, e := range entries {
		path := strings.TrimSuffix(dir, "/") + "/" + e.Name()
		covered, inside := false, false
		for _, h := range hidden {
			covered = covered || safefile.Below(h, path)
			inside = inside || safefile.Below(path, h)
		}
		switch {
		case covered:
		case inside && e.IsDir():
			list = aroundIn(path, hidden, list)
		default:
			list = append(list, entry{path, e.Type()})
		}
	}
	return list
}
