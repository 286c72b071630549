package gate

import (
	"strings"
	"testing"
)

// TestPatterns: a pattern in the call stands for the names that the shell makes of it, right
// in a temporary directory.
func TestPatterns(t *testing.T) {
	g := &gate{order: &Order{Temp: []string{"/tmp"}}}
	for _, c := range []struct {
		call, words string
		fits        bool
	}{
		{"-f /tmp/k*", "-f /tmp/k /tmp/k.pub", true},
		{"-f /tmp/k* /tmp/x", "-f /tmp/k1 /tmp/x", true},
		{"-f /tmp/k* /tmp/p?", "-f /tmp/k1 /tmp/p1 /tmp/p2", true},
		{"-f /tmp/tmp.XXXXXX", "-f /tmp/tmp.a1b2c3", true},
		{"-f /tmp/k*", "-rf /tmp/k1", false},
		{"-f /tmp/k*", "-f /tmp/k1 /tmp/other", false},
		{"-f /tmp/k*", "-f /tmp/k1/deep", false},
		{"-f /tmp/*", "-f /tmp/.hidden", false},
		{"-f /tmp/k*", "-f /tmp/k1 -r", false},
		{"-f /tmp/d/*", "-f /tmp/d/a", false},
		{"-f /home/u/*", "-f /home/u/a", false},
		{"-f /tmp/x", "-f /tmp/x /tmp/y", false},
		{"-f /tmp/x /tmp/y", "-f /tmp/x", false},
	} {
		if strings.Contains(c.call, "*") && g.fits(strings.Fields(c.call), strings.Fields(c.words), false) {
			t.Errorf("%s for %s, which is no pattern", c.call, c.words)
		}
		if got := g.fits(strings.Fields(c.call), strings.Fields(c.words), true); got != c.fits {
			t.Errorf("%s for %s: %v", c.call, c.words, got)
		}
	}
}
