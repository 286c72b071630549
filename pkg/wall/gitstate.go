package wall

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// astray reports whether a file in a repository's directory has git write or read where it
// never would by itself: git looks at the names in a tree, and believes those in its own index and in MERGE_RR.
func (w *Wall) astray(dir, name string) bool {
	path := filepath.Join(dir, name)
	switch {
	case name == "index" || strings.HasPrefix(name, "sharedindex."):
		return !changedAt(path).Before(w.begun) && strayIndex(path, hashSize(dir))
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

// strayConflicts reports whether one of the conflicts that git means to learn from, copying the
// file when that is solved, is in another file than git finds one in. Records are "hash TAB name NUL".
func (w *Wall) strayConflicts(dir string) bool {
	data, err := small(filepath.Join(dir, "MERGE_RR"))
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	tree, err := filepath.EvalSymlinks(treeOf(dir))
	known := err == nil && filepath.IsAbs(tree)
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); !known && err != nil {
		return false // a branch of that name
	}
	for record := range strings.SplitSeq(string(data), "\x00") {
		_, name, ok := strings.Cut(record, "\t")
		if !ok {
			continue
		}
		if !known || stray(name) {
			return true
		}
		path := filepath.Join(tree, name)
		real, err := filepath.EvalSymlinks(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil || real != path || !w.o.Policy.MayRead(path, policy.Regular) {
			return true
		}
	}
	return false
}

// treeOf is the work tree of a repository's directory; "" where that is not known.
func treeOf(dir string) string {
	if filepath.Base(dir) == ".git" {
		return filepath.Dir(dir)
	}
	if file := text(filepath.Join(dir, "gitdir")); file != "" {
		return filepath.Dir(file)
	}
	return worktreeOf(dir)
}

// hashSize is the size in bytes of a hash in a repository.
func hashSize(dir string) int {
	if above := filepath.Dir(dir); filepath.Base(above) == "worktrees" {
		dir = filepath.Dir(above)
	}
	for line := range strings.Lines(text(filepath.Join(dir, "config"))) {
		name, value, _ := strings.Cut(line, "=")
		if strings.EqualFold(strings.TrimSpace(name), "objectformat") && strings.EqualFold(strings.TrimSpace(value), "sha256") {
			return 32
		}
	}
	return 20
}

// maxIndex bounds in bytes the index that is looked at: some millions of files.
const maxIndex = 1 << 30

// strayIndex reports whether an index (gitformat-index(5), versions 2 to 4) has a name that is
// stray, or is not what git writes, so that git may find other names in it than are found here.
func strayIndex(path string, size int) bool {
	f, err := safefile.OpenRegular(path)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	i, err := f.Stat()
	if err != nil || i.Size() > maxIndex {
		return true
	}
	head := make([]byte, 12)
	if n, err := f.ReadAt(head, 0); err != nil || string(head[:4]) != "DIRC" {
		return n == len(head) && string(head[:4]) == "DIRC" // or git reads nothing of it
	}
	x := indexReader{r: bufio.NewReaderSize(io.NewSectionReader(f, 12, i.Size()-12), 64<<10), size: size, version: binary.BigEndian.Uint32(head[4:]), at: 12}
	blocks, end := blocksOf(f, i.Size(), size)
	count, next := binary.BigEndian.Uint32(head[8:]), uint32(0)
	for n := range count {
		start, before := x.at, len(x.name)
		if err := x.entry(); err != nil || stray(string(x.name)) {
			return true
		}
		if len(blocks) > 0 && n == next { // where git goes on with another thread, a name begins anew
			if blocks[0].at != start || x.version == 4 && x.dropped != before {
				return true
			}
			next += blocks[0].entries
			blocks = blocks[1:]
		}
	}
	return len(blocks) > 0 || next > count || end != 0 && end != x.at
}

// An indexReader reads the names in an index one by one.
type indexReader struct {
	r       *bufio.Reader
	size    int // of a hash
	version uint32
	at      int64 // of what comes next

	name    []byte
	dropped int // bytes of the name before that this one does not begin with
}

var errIndex = errors.New("git would not write it so")

func (x *indexReader) entry() error {
	fixed := make([]byte, 40+x.size+2)
	if _, err := io.ReadFull(x.r, fixed); err != nil {
		return err
	}
	read := len(fixed)
	flags := binary.BigEndian.Uint16(fixed[len(fixed)-2:])
	if flags&0x4000 != 0 { // extended
		if _, err := x.r.Discard(2); err != nil {
			return err
		}
		read += 2
	}
	x.dropped = len(x.name)
	if x.version == 4 {
		n, err := x.prefix()
		if err != nil {
			return err
		}
		read += n
	}
	if x.dropped > len(x.name) {
		return errIndex
	}
	rest, err := x.r.ReadSlice(0) // no name is longer than the buffer
	if err != nil {
		return err
	}
	read += len(rest)
	x.name = append(x.name[:len(x.name)-x.dropped], rest[:len(rest)-1]...)
	if int(flags&0xfff) != min(len(x.name), 0xfff) { // git may go by either
		return errIndex
	}
	if x.version < 4 {
		end := (read - 1 + 8) &^ 7
		if _, err := x.r.Discard(end - read); err != nil {
			return err
		}
		read = end
	}
	x.at += int64(read)
	return nil
}

// prefix reads how much of the name before is left out.
func (x *indexReader) prefix() (n int, err error) {
	x.dropped = 0
	for n < 4 {
		c, err := x.r.ReadByte()
		if err != nil {
			return n, err
		}
		if n++; n > 1 {
			x.dropped++
		}
		if x.dropped = x.dropped<<7 | int(c&0x7f); c&0x80 == 0 {
			return n, nil
		}
	}
	return n, errIndex
}

// An indexBlock is what one thread of git's reads of an index.
type indexBlock struct {
	at      int64
	entries uint32
}

// blocksOf are the blocks that the extensions of an index name, and where these begin; 0 where
// git has to go through the entries to find out.
func blocksOf(f *os.File, length int64, size int) (blocks []indexBlock, begin int64) {
	last := length - int64(size)
	tail := make([]byte, 12+size)
	if _, err := f.ReadAt(tail, last-int64(len(tail))); err != nil || string(tail[:4]) != "EOIE" {
		return nil, 0
	}
	begin = int64(binary.BigEndian.Uint32(tail[8:]))
	head := make([]byte, 8)
	for at := begin; at+8 <= last; {
		if _, err := f.ReadAt(head, at); err != nil {
			break
		}
		n := int64(binary.BigEndian.Uint32(head[4:]))
		if string(head[:4]) == "IEOT" && n >= 4 && at+8+n <= last {
			data := make([]byte, n)
			if _, err := f.ReadAt(data, at+8); err != nil {
				break
			}
			for data = data[4:]; len(data) >= 8; data = data[8:] {
				blocks = append(blocks, indexBlock{int64(binary.BigEndian.Uint32(data)), binary.BigEndian.Uint32(data[4:])})
			}
			break
		}
		at += 8 + n
	}
	return blocks, begin
}
