//go:build linux && (amd64 || arm64)

package sandbox

import (
	"crypto/sha256"
	"io"
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// copies knows some programs by their content.
type copies struct {
	once  sync.Once
	paths []string
	mu    sync.Mutex
	list  []original
	sums  map[file][sha256.Size]byte
}

type original struct {
	path     string
	dev, ino uint64
	size     int64
	sum      [sha256.Size]byte
	summed   bool
}

// A file is one content of one file.
type file struct {
	dev, ino    uint64
	size        int64
	mtime, ctim int64
}

func newCopies(paths []string) *copies {
	return &copies{paths: paths, sums: map[file][sha256.Size]byte{}}
}

// original returns the path of the program that f is the same as; "" when it
// is that program itself, or none of them.
func (c *copies) original(f *executable) string {
	if len(c.paths) == 0 || f.st.Mode&unix.S_IFMT != unix.S_IFREG || slices.Contains(c.paths, f.path) {
		return ""
	}
	c.once.Do(c.load)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.list) > 0 && int(f.st.Uid) == os.Getuid() && f.st.Mode&unix.S_ISUID == 0 && unix.Access(self(f.fd), unix.R_OK) != nil {
		return c.list[0].path // nobody can tell what it is, so it is one of them
	}
	for i := range c.list {
		o := &c.list[i]
		switch {
		case o.path == f.path:
			return ""
		case o.dev == f.st.Dev && o.ino == f.st.Ino:
			return o.path
		case o.size == f.st.Size && c.equal(o, f):
			return o.path
		}
	}
	return ""
}

func (c *copies) load() {
	for _, p := range c.paths {
		var st unix.Stat_t
		if unix.Stat(p, &st) == nil {
			c.list = append(c.list, original{path: p, dev: st.Dev, ino: st.Ino, size: st.Size})
		}
	}
}

func (c *copies) equal(o *original, f *executable) bool {
	if !o.summed {
		sum, err := sumOf(o.path)
		if err != nil {
			return false
		}
		o.sum, o.summed = sum, true
	}
	id := file{f.st.Dev, f.st.Ino, f.st.Size, f.st.Mtim.Nano(), f.st.Ctim.Nano()}
	sum, ok := c.sums[id]
	if !ok {
		var err error
		if sum, err = sumOf(self(f.fd)); err != nil {
			return false
		}
		if len(c.sums) > 1024 {
			clear(c.sums)
		}
		c.sums[id] = sum
	}
	return sum == o.sum
}

func sumOf(path string) (sum [sha256.Size]byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return sum, err
	}
	h.Sum(sum[:0])
	return sum, nil
}
