package gitindex

import (
	"bytes"
	"strings"
	"testing"
)

// FuzzRead: no file makes reading an index fail badly, and what is read does not depend on what
// git finds out again.
func FuzzRead(f *testing.F) {
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x01" + strings.Repeat("\x00", 60) + "\x00\x05a.pem\x00\x00\x00\x00" + strings.Repeat("\x00", 20)))
	f.Add([]byte("DIRC\x00\x00\x00\x04\x00\x00\x00\x02" + strings.Repeat("\x00", 60) + "\x00\x05\x00a.pem\x00" + strings.Repeat("\x00", 60) + "\x00\x03\x05key\x00" + strings.Repeat("\x00", 20)))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, size := range []int{SHA1, SHA256} {
			n := 0
			whole := Read(b, size, func(e Entry) bool {
				if n++; len(e.Hash) != size || bytes.IndexByte(e.Name, 0) >= 0 {
					t.Errorf("a hash of %d bytes, a name %q", len(e.Hash), e.Name)
				}
				return true
			})
			if n > len(b)/(hashAt+size+2) {
				t.Errorf("%d entries in %d bytes", n, len(b))
			}
			if whole {
				if _, ok := sumOf(b, size); !ok {
					t.Error("it was read, and cannot be summed up")
				}
			}
		}
		before, ok := Sum(b)
		if !ok || len(b) < headBytes+hashAt || b[11] == 0 {
			return
		}
		stat := bytes.Clone(b)
		stat[headBytes] ^= 1 // when the first file changed
		if after, ok := Sum(stat); !ok || after != before {
			t.Error("another time makes another sum")
		}
	})
}
