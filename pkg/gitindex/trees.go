package gitindex

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxTrees bounds in bytes what is read of an index's trees: those of some million directories.
const maxTrees = 64 << 20

// Flags of an entry that is not in a tree, see [Entry].
const (
	conflict = 0x3000 << 16
	toBeMade = 0x2000
)

// TreesHold reports whether the trees that an index remembers, in its extensions TREE, are what its
// entries say; all of them have been read, and r is that of NewReader. git never compares them: a commit takes what is remembered of
// a directory in which nothing has changed, whatever that holds. Of an index that has entries in another file
// (git's split index) it cannot be told; then it is split that is returned, unless no tree is remembered.
func (x *Reader) TreesHold(r io.ReaderAt, split bool) bool {
	known, linked, fine := map[string]tree{}, false, true // the trees that are valid, by their paths with a slash at the end
	ok := x.extensions(r, func(name string, at, n int64) {
		switch {
		case name == "link":
			linked = true
		case name != "TREE":
		case n > maxTrees:
			fine = false
		default:
			data := make([]byte, n)
			_, err := r.ReadAt(data, at)
			rest, ok := remember(known, data, "", x.size, 0)
			fine = fine && err == nil && ok && len(rest) == 0
		}
	})
	switch {
	case !ok || !fine:
		return false
	case len(known) == 0:
		return true
	case linked:
		return split
	}
	return x.compare(r, known)
}

// A tree is what an index remembers of one.
type tree struct {
	entries int // of the index, in it and below
	hash    string
}

// maxDepth bounds how deeply trees are nested: git's paths are no longer than 4096 bytes.
const maxDepth = 2048

// remember reads a tree and those in it, and returns what follows them. Each is its name, a zero byte, the
// number of its entries or -1 where it is not valid, a blank, the number of trees in it, a line end, and
// its hash where it is valid.
func remember(known map[string]tree, data []byte, above string, size, depth int) (rest []byte, ok bool) {
	name, data, ok := bytes.Cut(data, []byte{0})
	if !ok || depth > maxDepth || (len(name) == 0) != (depth == 0) || bytes.IndexByte(name, '/') >= 0 {
		return nil, false
	}
	line, data, ok := bytes.Cut(data, []byte{'\n'})
	if !ok {
		return nil, false
	}
	count, below, ok := strings.Cut(string(line), " ")
	entries, err1 := strconv.Atoi(count)
	trees, err2 := strconv.Atoi(below)
	if !ok || err1 != nil || err2 != nil || entries < -1 || trees < 0 {
		return nil, false
	}
	path := above
	if depth > 0 {
		path += string(name) + "/"
	}
	if entries >= 0 {
		if _, twice := known[path]; twice || len(data) < size {
			return nil, false
		}
		known[path] = tree{entries, string(data[:size])}
		data = data[size:]
	}
	for range trees {
		if data, ok = remember(known, data, path, size, depth+1); !ok {
			return nil, false
		}
	}
	return data, true
}

// A level is a directory whose entries are being read.
type level struct {
	path    string // with a slash at its end; "" for the top
	content []byte // of the tree
	entries int
	bad     bool // some of them are in no tree
}

// compare makes the trees of the entries, and compares those that are remembered.
func (x *Reader) compare(r io.ReaderAt, known map[string]tree) bool {
	x, err := NewReader(r, x.end+int64(x.size), x.size)
	if err != nil {
		return false
	}
	seen, stack := 0, []level{{}}
	same := func(l *level, hash string) bool {
		want, ok := known[l.path]
		if ok {
			seen++
		}
		return !ok || !l.bad && want == tree{l.entries, hash}
	}
	up := func() bool { // ends a directory
		l := &stack[len(stack)-1]
		hash := string(Hash("tree", l.content, x.size))
		if !same(l, hash) {
			return false
		}
		above := &stack[len(stack)-2]
		name := l.path[len(above.path) : len(l.path)-1]
		above.add(0o40000, name, hash)
		above.entries, above.bad = above.entries+l.entries, above.bad || l.bad
		stack = stack[:len(stack)-1]
		return true
	}
	for {
		e, err := x.Next()
		if err == io.EOF { //nolint:errorlint // Next wraps nothing
			break
		} else if err != nil {
			return false
		}
		name := string(e.Name)
		for !strings.HasPrefix(name, stack[len(stack)-1].path) {
			if !up() {
				return false
			}
		}
		whole := strings.TrimSuffix(name, "/") // of a directory of which only some files are checked out, the tree
		for {
			l := stack[len(stack)-1].path
			dir, _, ok := strings.Cut(whole[len(l):], "/")
			if !ok {
				break
			}
			stack = append(stack, level{path: l + dir + "/"})
		}
		l := &stack[len(stack)-1]
		l.entries++
		if e.Flags&(conflict|toBeMade) != 0 {
			l.bad = true
			continue
		}
		l.add(e.Mode, whole[len(l.path):], string(e.Hash))
		if whole != name {
			if want, ok := known[name]; ok {
				seen++
				if (want != tree{1, string(e.Hash)}) {
					return false
				}
			}
		}
	}
	for len(stack) > 1 {
		if !up() {
			return false
		}
	}
	return same(&stack[0], string(Hash("tree", stack[0].content, x.size))) && seen == len(known)
}

func (l *level) add(mode uint32, name, hash string) {
	l.content = strconv.AppendUint(l.content, uint64(mode), 8)
	l.content = append(append(append(append(l.content, ' '), name...), 0), hash...)
}

// Hash is git's hash of an object of a kind such as "tree", of size bytes: SHA1 or SHA256.
func Hash(kind string, data []byte, size int) []byte {
	h := sha1.New()
	if size == SHA256 {
		h = sha256.New()
	}
	_, _ = fmt.Fprintf(h, "%s %d\x00", kind, len(data))
	_, _ = h.Write(data)
	return h.Sum(nil)
}
