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
const cacheFormat = "agentkit wall 1"

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
	head, rest, _ := bytes.Cut(data, []byte{'\n'})
	if string(head) != cacheFormat+" "+hash {
		return nil
	}
	t := &tree{dirs: make(map[string]*dir, bytes.Count(rest, []byte{'\n'}))}
	for line := range strings.SplitSeq(string(rest), "\n") {
		parts := strings.Split(line, "\x00")
		if len(parts) < 5 {
			continue
		}
		stamp, err1 := strconv.ParseInt(parts[1], 36, 64)
		ino, err2 := strconv.ParseUint(parts[2], 36, 64)
		subs, err3 := strconv.Atoi(parts[3])
		names := parts[4 : len(parts)-1]
		within := subs&1 != 0
		if subs /= 2; err1 != nil || err2 != nil || err3 != nil || subs < 0 || subs > len(names) || stamp == 0 {
			return nil
		}
		t.dirs[parts[0]] = &dir{stamp: stamp, ino: ino, subs: names[:subs], hits: names[subs:], within: within}
	}
	return t
}

// remember keeps a tree. Names that hold line ends are found again.
func (t *tree) remember(file, hash string) error {
	var b bytes.Buffer
	b.WriteString(cacheFormat + " " + hash + "\n")
	for path, d := range t.dirs {
		names := slices.Concat(d.subs, d.hits)
		if d.stamp == 0 || strings.Contains(path+strings.Join(names, ""), "\n") {
			continue
		}
		b.WriteString(path)
		for _, field := range []string{strconv.FormatInt(d.stamp, 36), strconv.FormatUint(d.ino, 36), strconv.Itoa(2*len(d.subs) + flag(d.within))} {
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
