package committed

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/agentkit-go/agentkit/pkg/gitindex"
	"github.com/agentkit-go/agentkit/pkg/safefile"
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

// An Index is how git's index has a file.
type Index uint8

// The ways.
const (
	Outside   Index = iota // it lies in no repository's work tree
	Unindexed              // it is not there
	Otherwise              // it was of another time or size when git looked at it
	Indexed                // it is as git last found it
)

// Indexed returns what tells how the index of the innermost repository that holds a file, by its absolute path, has
// it. It goes by the indexes as they are when it first comes to them; what is in a large one, or in one that only git
// can read, counts as Indexed. It is for one goroutine at a time.
func (f *Files) Indexed() func(path string, i fs.FileInfo) Index {
	indexes, dirs := map[*repository]*indexed{}, map[string]*indexed{}
	return func(path string, i fs.FileInfo) Index {
		dir := filepath.Dir(path)
		x, known := dirs[dir]
		if !known && !safefile.InGit(path) {
			f.mu.Lock()
			r := f.repository(dir)
			f.mu.Unlock()
			if r != nil && indexes[r] == nil {
				indexes[r] = r.indexed()
			}
			x = indexes[r]
		}
		dirs[dir] = x
		if x == nil {
			return Outside
		}
		return x.of(path, i)
	}
}

// indexed is an index by its names.
type indexed struct {
	r     *repository
	files map[string][2]uint32 // when a file was changed, in seconds, and its bytes
	all   bool
}

func (r *repository) indexed() *indexed {
	x := &indexed{r: r, files: map[string][2]uint32{}}
	at := filepath.Join(r.git, "index")
	if _, err := os.Lstat(at); err != nil {
		return x
	}
	x.all = true
	size := len(r.commit()) / 2
	if size == 0 || !r.light() {
		return x
	}
	if data, err := readFile(at); err == nil {
		x.all = !gitindex.Read(data, size, func(e gitindex.Entry) bool {
			x.files[string(e.Name)] = [2]uint32{e.Time, e.Size}
			return true
		})
	}
	return x
}

func (x *indexed) of(path string, i fs.FileInfo) Index {
	was, is := x.files[x.r.rel(path)]
	switch {
	case x.all || is && was == [2]uint32{uint32(i.ModTime().Unix()), uint32(i.Size())}:
		return Indexed
	case is:
		return Otherwise
	}
	return Unindexed
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
