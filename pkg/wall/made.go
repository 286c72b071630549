package wall

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// A made file is one that a call which may make it has made: not the command's that runs
// beside it, as long as nobody else has touched it.
type made struct {
	Path    string    `json:"path"`
	File    [2]uint64 `json:"file"` // tells it from others
	Changed time.Time `json:"changed"`
	Size    int64     `json:"size"`          // in bytes, of what the call has written
	Sum     string    `json:"sum"`           // of the same, which need not be what a command left there
	Was     string    `json:"was,omitempty"` // see Written
}

// A Written file is one that a call of its own has written: which, what was there before, and what
// it wrote.
type Written struct {
	Path string // without links
	Was  string // SHA-256 of what was there, in hexadecimal; "" where nothing was
	Sum  string // of what was written
	Size int64  // of the same, in bytes
}

// mostMade is the size in bytes from which on notes begin anew. What is forgotten is taken
// for a command's, and kept in quarantine. So is a file of more than mostNoted bytes.
const (
	mostMade  = 256 << 10
	mostNoted = 4 << 20
)

// Note notes that a call of its own has written a file of the root, where that is one that
// commands may not make or change, or may be one by what a link leads to. Links of the path and of the root are resolved. The notes are kept
// in cache, see [Options]. An error leaves nothing noted.
func Note(p *policy.Policy, cache, root string, w Written) error {
	if w.Size > mostNoted || !p.NotableIn(root, w.Path) && !atEnd(cache, root, w.Path) {
		return nil
	}
	n, id := links(w.Path)
	m := made{w.Path, id, changedAt(w.Path), w.Size, w.Sum, w.Was}
	if n != 1 || m.Changed.IsZero() {
		return nil
	}
	line, err := safefile.EncodeJSON(m)
	if err != nil {
		return err
	}
	name := madeFile(cache)
	if i, err := os.Stat(name); err == nil && i.Size() > mostMade {
		_ = os.Remove(name)
	}
	return appendTo(name, string(line)+"\n")
}

// Of a clone at most maxCloned files of less than maxClonedSize bytes are noted.
const (
	maxCloned     = 300
	maxClonedSize = 256 << 10
)

// noteCloned notes those files among what is new that git has cloned. They are read first: a
// command that began since cannot have written what was read.
func (w *Wall) noteCloned(news []string) {
	if w.Alone == nil || w.o.Cache == "" {
		return
	}
	held := map[string][]byte{}
	from := slices.DeleteFunc(slices.Clone(w.Cloned), func(dir string) bool { return !w.fromElsewhere(dir) })
	for _, at := range news {
		if !below(at, from) {
			continue
		}
		_ = filepath.WalkDir(at, func(path string, d fs.DirEntry, err error) error {
			switch {
			case len(held) == maxCloned:
				return fs.SkipAll
			case err != nil || !d.Type().IsRegular() || w.o.Policy.Placed(path):
				return nil //nolint:nilerr // it is not noted
			}
			if content, err := upTo(path, maxClonedSize); err == nil {
				held[path] = content
			}
			return nil
		})
	}
	if len(held) == 0 || !w.Alone() {
		return
	}
	for path, content := range held {
		_ = Note(w.o.Policy, w.o.Cache, w.o.Root, Written{Path: path, Sum: safefile.Sum(content), Size: int64(len(content))})
	}
}

// fromElsewhere reports whether a clone has the address of another host, for git takes every
// address for a path that is there. What is protected in it is so by the names in it, and not with that of a
// directory above, as in a clone named .github.
func (w *Wall) fromElsewhere(dir string) bool {
	for up := dir; up != w.o.Root && safefile.Below(w.o.Root, up); up = filepath.Dir(up) {
		if w.o.Policy.Begins(up) {
			return false
		}
	}
	found := false
	for line := range strings.Lines(text(filepath.Join(dir, ".git", "config"))) {
		if url, ok := strings.CutPrefix(strings.TrimSpace(line), "url = "); ok {
			if found = true; strings.HasPrefix(url, "/") {
				return false
			}
		}
	}
	return found
}

// madeFile has the notes of all roots: one may lie in another.
func madeFile(cache string) string { return filepath.Join(cache, "made") }

// written lists what was noted of the files of a root that are as they were written last, in the order
// in which it was.
func written(cache, root string) (list []Written) {
	if cache == "" {
		return nil
	}
	data, err := os.ReadFile(madeFile(cache))
	if err != nil {
		return nil
	}
	var notes []made
	last := map[string]int{} // the last note of each file
	for line := range strings.SplitSeq(string(data), "\n") {
		var m made
		if safefile.DecodeJSON([]byte(line), &m) == nil && safefile.Below(root, m.Path) {
			last[m.Path] = len(notes)
			notes = append(notes, m)
		}
	}
	stand := map[string]bool{}
	for path, n := range last {
		stand[path] = notes[n].stands()
	}
	for _, m := range notes {
		if stand[m.Path] {
			list = append(list, Written{Path: m.Path, Was: m.Was, Sum: m.Sum, Size: m.Size})
		}
	}
	return list
}

// standing are the files of a root that were made by calls of their own from nothing on, and are as they were
// written last. A call that changes a file is asked about the change: what a command had made of it before stays
// the command's.
func standing(cache, root string) (list []Grant) {
	sums := map[string]string{}
	begun := map[string]bool{}
	for _, w := range written(cache, root) {
		if begun[w.Path] = w.Was == "" || begun[w.Path] && w.Was == sums[w.Path]; begun[w.Path] {
			sums[w.Path] = w.Sum
		}
	}
	for path, whole := range begun {
		if whole {
			list = append(list, Grant{Path: path})
		}
	}
	return list
}

// stands reports whether a file is as it was made. One that was linked, or lies behind a
// link now, is not. A command that still runs may put something else in its place
// meanwhile, so that nothing is waited for and no more is read than was written.
func (m *made) stands() bool {
	if n, id := links(m.Path); n != 1 || id != m.File || !changedAt(m.Path).Equal(m.Changed) {
		return false
	}
	if real, err := filepath.EvalSymlinks(m.Path); err != nil || real != m.Path {
		return false
	}
	f, err := safefile.OpenRegular(m.Path)
	if err != nil {
		return false
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, m.Size+1))
	if err != nil || safefile.Sum(content) != m.Sum {
		return false
	}
	opened, err1 := f.Stat()
	now, err2 := os.Lstat(m.Path)
	return err1 == nil && err2 == nil && os.SameFile(opened, now)
}
