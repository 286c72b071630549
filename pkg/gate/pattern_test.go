package gate

import (
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// TestPatterns: a pattern in the call stands for the names that the shell makes of it, right
// in a temporary directory.
func TestPatterns(t *testing.T) {
	root := t.TempDir()
	w, err := workspace.Open(root, workspace.Options{LockDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	g := &gate{order: &Order{Temp: []string{"/tmp"}}, workspace: w}
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
		{"-f *.o", "-f a.o b.o", true},
		{"-f *.o build/*.map", "-f *.o build/x.map build/y.map", true},
		{"-rf dist *.egg-info", "-rf dist x.egg-info", true},
		{"-f *.o", "-f a.c", false},
		{"-f *.o", "-f", false},
		{"-f *.o", "-f build/a.o", false},
		{"-f ../*.o", "-f ../a.o", false},
		{"-f */*.o", "-f a/b.o", false},
		{"-f \x01", "-f", true},
		{"-f \x01 \x01 x", "-f a b c x", true},
		{"-f \x01 x", "-f a b c", false},
		{"-f \x01", "-r a", false},
		{"-f /tmp/x", "-f /tmp/x /tmp/y", false},
		{"-f /tmp/x /tmp/y", "-f /tmp/x", false},
	} {
		if strings.ContainsAny(c.call, "*\x01") && g.fits(strings.Fields(c.call), strings.Fields(c.words), false, root) {
			t.Errorf("%s for %s, which is no pattern", c.call, c.words)
		}
		if got := g.fits(strings.Fields(c.call), strings.Fields(c.words), true, root); got != c.fits {
			t.Errorf("%q for %s: %v", c.call, c.words, got)
		}
	}
	// The names are those of the directory in which the program is started.
	if g.fits([]string{"*.o"}, []string{"a.o"}, true, "/tmp") || !g.fits([]string{"\x01"}, []string{"a.o"}, true, "/tmp") {
		t.Error("a pattern in the root stands for names elsewhere, or words that somebody said yes to do not")
	}
	many := strings.Fields(strings.Repeat("\x01 a ", 200))
	if g.fits(many, strings.Fields(strings.Repeat("a ", 5000)+"b"), true, root) {
		t.Error("what does not fit, fits")
	}
}
