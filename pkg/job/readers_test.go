package job

import "testing"

// TestRemembered: a line that is not whole goes on with what is typed next.
func TestRemembered(t *testing.T) {
	for _, c := range [][3]string{
		{"", "rm", "rm"}, {"rm ", "x", "rm x"}, {"rm ", "x\n", "rm x\n"}, {"rm ", "\x03ls", "ls"}, {"rm ", "", "rm "},
	} {
		if got := string(remembered([]byte(c[0]), []byte(c[1]))); got != c[2] {
			t.Errorf("%q, then %q: %q, not %q", c[0], c[1], got, c[2])
		}
	}
	if n := len(remembered(make([]byte, mostTyped), []byte("more"))); n != mostTyped {
		t.Errorf("%d bytes are remembered", n)
	}
}
