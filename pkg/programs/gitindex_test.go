package programs

import (
	"strings"
	"testing"
)

// FuzzReadIndex: no file makes reading an index fail badly.
func FuzzReadIndex(f *testing.F) {
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x01" + strings.Repeat("\x00", 60) + "\x00\x05a.pem\x00\x00\x00\x00" + strings.Repeat("\x00", 20)))
	f.Add([]byte("DIRC\x00\x00\x00\x04\x00\x00\x00\x02" + strings.Repeat("\x00", 60) + "\x00\x05\x00a.pem\x00" + strings.Repeat("\x00", 60) + "\x00\x05\x03key\x00" + strings.Repeat("\x00", 20)))
	f.Fuzz(func(t *testing.T, b []byte) {
		n := 0
		readIndex(b, func(e indexEntry) bool {
			if n++; len(e.hash) != 20 {
				t.Errorf("a hash of %d bytes", len(e.hash))
			}
			return true
		})
		if n > len(b)/62 {
			t.Errorf("%d entries in %d bytes", n, len(b))
		}
	})
}
