package edit

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestWithin(t *testing.T) {
	const two = "func a() {\n\tdoIt(1)\n}\n\nfunc b() {\n\tdoIt(1)\n}\n"
	const class = "class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 2\n"
	for _, c := range []struct {
		name, file     string
		lines          [2]int
		old, new, want string // want is a refusal's code where it is one word
	}{
		{"the second of two", two, [2]int{5, 7}, "doIt(1)", "doIt(2)", "func a() {\n\tdoIt(1)\n}\n\nfunc b() {\n\tdoIt(2)\n}\n"},
		{"the first of two", two, [2]int{1, 3}, "doIt(1)", "doIt(2)", "func a() {\n\tdoIt(2)\n}\n\nfunc b() {\n\tdoIt(1)\n}\n"},
		{"it stands elsewhere", two, [2]int{1, 3}, "func b() {", "func c() {", NoMatch},
		{"it reaches beyond", two, [2]int{1, 3}, "}\n\nfunc b() {", "}\nfunc b() {", NoMatch},
		{"misquoted", two, [2]int{5, 7}, "func b() {\n    doIt( 1 )\n}", "func b() {\n    doIt( 1 )\n    more()\n}", "func a() {\n\tdoIt(1)\n}\n\nfunc b() {\n\tdoIt(1)\n\tmore()\n}\n"},
		{"a line goes", two, [2]int{5, 7}, "\tdoIt(1)\n", "", "func a() {\n\tdoIt(1)\n}\n\nfunc b() {\n}\n"},
		{"the last line goes", two, [2]int{5, 6}, "\tdoIt(1)", "", "func a() {\n\tdoIt(1)\n}\n\nfunc b() {\n}\n"},
		{"already there", two, [2]int{5, 7}, "func b() {\n\tdoIt(2)\n}", "func b() {\n\tdoIt(1)\n}", AlreadyApplied},
		{"all lines", two, [2]int{5, 7}, "", "func b() {}\n", "func a() {\n\tdoIt(1)\n}\n\nfunc b() {}\n"},
		{"all lines, as they are", two, [2]int{5, 7}, "", "func b() {\n\tdoIt(1)\n}", AlreadyApplied},
		{"no lines left", two, [2]int{1, 4}, "", "", "func b() {\n\tdoIt(1)\n}\n"},
		{"CRLF", strings.ReplaceAll(two, "\n", "\r\n"), [2]int{5, 7}, "", "func b() {\n\tx()\n\ty()\n}", "func a() {\r\n\tdoIt(1)\r\n}\r\n\r\nfunc b() {\r\n\tx()\r\n\ty()\r\n}\r\n"},
		{"no final newline", "a\nb", [2]int{2, 2}, "", "c\n", "a\nc"},
		{"a byte order mark", "\ufeffa\nb\n", [2]int{1, 1}, "", "c", "\ufeffc\nb\n"},
		{"a byte order mark outside", "\ufeffa\nb\na\n", [2]int{3, 3}, "a", "c", "\ufeffa\nb\nc\n"},
		{"beyond the end", "a\nb\n", [2]int{2, 9}, "", "c", BadInput},
		{"indentation is given", class, [2]int{5, 6}, "", "def g(self):\n    return 3", strings.Replace(class, "return 2", "return 3", 1)},
		{"the first line's is lost", class, [2]int{5, 6}, "", "def g(self):\n        return 3", strings.Replace(class, "return 2", "return 3", 1)},
		{"it has its own", class, [2]int{5, 6}, "", "    def g(self):\n        return 3", strings.Replace(class, "return 2", "return 3", 1)},
		{"blank lines get none", class, [2]int{5, 6}, "", "def g(self):\n    x = 3\n\n    return x", strings.Replace(class, "        return 2", "        x = 3\n\n        return x", 1)},
	} {
		out, err := Plan([]byte(c.file), []Edit{{Old: c.old, New: c.new, Within: c.lines}}, Options{})
		r, refused := errors.AsType[*Refusal](err)
		switch {
		case refused && r.Code != c.want:
			t.Errorf("%s: refused: %s: %s", c.name, r.Code, r.Message)
		case !refused && string(out.After) != c.want:
			t.Errorf("%s: %q, want %q", c.name, out.After, c.want)
		case !refused && (out.Hits[0].Lines[0] < c.lines[0] || out.Hits[0].Lines[1] > c.lines[1]):
			t.Errorf("%s: lines %v", c.name, out.Hits[0].Lines)
		}
	}
}

// TestWithinStays: whatever an edit that is limited to lines does, it does to
// these lines.
func TestWithinStays(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	words := []string{"alpha", "beta", "\tgamma(1)", "  delta", "}", "", "beta\r"}
	made := 0
	for range 3000 {
		var lines []string
		for range 1 + r.IntN(12) {
			lines = append(lines, words[r.IntN(len(words))])
		}
		file := []byte(strings.Join(lines, "\n"))
		first := 1 + r.IntN(len(lines))
		last := first + r.IntN(len(lines)-first+1)
		from := r.IntN(len(lines))
		old := strings.Join(lines[from:from+r.IntN(min(3, len(lines)-from)+1)], "\n")
		e := Edit{Old: old, New: words[r.IntN(len(words))] + "x", Within: [2]int{first, last}, All: r.IntN(4) == 0}
		out, err := Plan(file, []Edit{e}, Options{})
		if err != nil {
			continue
		}
		made++
		text := newText(file)
		head, tail := file[:text.starts[first-1]], file[text.starts[last]:]
		if !bytes.HasPrefix(out.After, head) || !bytes.HasSuffix(out.After, tail) {
			t.Fatalf("%q within %v of %q became %q", e.Old, e.Within, file, out.After)
		}
	}
	if made < 500 {
		t.Errorf("only %d of 3000 were made", made)
	}
}
