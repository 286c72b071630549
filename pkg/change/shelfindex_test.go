package change

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// gitIndex is an index of version 2 whose files changed at a time.
func gitIndex(files int, changed uint32) []byte {
	b := binary.BigEndian.AppendUint32([]byte("DIRC\x00\x00\x00\x02"), uint32(files))
	for i := range files {
		name := fmt.Sprintf("file%05d", i)
		b = binary.BigEndian.AppendUint32(b, changed)
		b = append(b, make([]byte, 20)...)
		b = binary.BigEndian.AppendUint32(b, 0o100644)
		b = append(b, make([]byte, 32)...)
		b = binary.BigEndian.AppendUint16(b, uint16(len(name)))
		b = append(b, name...)
		b = append(b, make([]byte, 8-len(b[12:])%8)...)
	}
	return append(b, make([]byte, 20)...)
}

// TestIndexSum: git's index is what it says, however large; times that git has looked at anew are
// no part of that. Other large files are known by their inode and time.
func TestIndexSum(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	sum := func(data []byte) string {
		t.Helper()
		path := filepath.Join(dir, "7")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := sumOf(place{root, "7"}, printOf(info))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, files := range []int{1, 100, maxSummed / 50} {
		a, b, other := sum(gitIndex(files, 1)), sum(gitIndex(files, 2)), sum(gitIndex(files+1, 1))
		if a == "" || a != b || a == other {
			t.Errorf("%d files: %q, with other times %q, with another file %q", files, a, b, other)
		}
	}
	large := gitIndex(maxSummed/50, 1)
	large[12+61]++ // the length of a name
	if s := sum(large); s != "" {
		t.Errorf("a large file that begins as an index does: %q", s)
	}
	if s := sum(make([]byte, maxSummed+1)); s != "" {
		t.Errorf("a large file: %q", s)
	}
	if s := sum(make([]byte, maxSummed)); s == "" {
		t.Error("a small file has no sum")
	}
}
