package wall

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// cacheFormat changes with the form of the file, and with what is notable.
const cacheFormat = "agentkit wall 7"

// Dir is where walls are remembered below a state directory: the Cache of [Options].
func Dir(state string) string { return filepath.Join(state, "walls") }

// cacheFile is where the walk of a root is remembered.
func cacheFile(dir, root string) string {
	sum := sha256.Sum256([]byte(root))
	return filepath.Join(dir, hex.EncodeToString(sum[:12]))
}

// remembered reads what the last walk found under the same policy; nil where
// there is none.
func remembered(file, hash string) *tree {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	head, rest, _ := strings.Cut(string(data), "\n")
	size, ok := strings.CutPrefix(head, cacheFormat+" "+hash+" ")
	if !ok {
		return nil
	}
	dirs := make([]dir, strings.Count(rest, "\n"))
	t := &tree{list: make([]*dir, len(dirs))}
	for i := range dirs {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		if !dirs[i].parse(line) {
			return nil
		}
		t.list[i] = &dirs[i]
	}
	t.whole = size == strconv.Itoa(len(dirs))
	return t
}

// parse reads a line of the file.
func (d *dir) parse(line string) bool {
	var fields [4]string
	for i := range fields {
		fields[i], line, _ = strings.Cut(line, "\x00")
	}
	var err1, err2, err3 error
	var subs int
	d.path = fields[0]
	d.stamp, err1 = strconv.ParseInt(fields[1], 36, 64)
	d.ino, err2 = strconv.ParseUint(fields[2], 36, 64)
	subs, err3 = strconv.Atoi(fields[3])
	if err1 != nil || err2 != nil || err3 != nil || subs < 0 || d.stamp == 0 {
		return false
	}
	d.within, d.closed = subs&1 != 0, subs&2 != 0
	subs /= 4
	var names []string
	if line = strings.TrimSuffix(line, "\x00"); line != "" {
		names = strings.Split(line, "\x00")
	}
	if subs > len(names) {
		return false
	}
	d.subs, d.hits = names[:subs], names[subs:]
	return true
}

// remember keeps a tree. Names that hold line ends are found again.
func (t *tree) remember(file, hash string) error {
	var b bytes.Buffer
	size := 0 // of a tree that is known as a whole
	if t.whole {
		size = len(t.list)
	}
	b.WriteString(cacheFormat + " " + hash + " " + strconv.Itoa(size) + "\n")
	for _, d := range t.list {
		names := slices.Concat(d.subs, d.hits)
		if d.stamp == 0 || strings.Contains(d.path+strings.Join(names, ""), "\n") {
			continue
		}
		b.WriteString(d.path)
		for _, field := range []string{strconv.FormatInt(d.stamp, 36), strconv.FormatUint(d.ino, 36), strconv.Itoa(4*len(d.subs) + 2*flag(d.closed) + flag(d.within))} {
			b.WriteString("\x00" + field)
		}
		for _, name := range names {
			b.WriteString("\x00" + name)
		}
		b.WriteString("\x00\n")
	}
	return safefile.WriteFile(file, b.Bytes(), false)
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}
