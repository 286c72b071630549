package rg

import (
	"strings"
	"testing"
)

// TestClassSigns holds what stands in front of a class to mean itself, as in ripgrep's
// syntax: any number of -, or one ].
func TestClassSigns(t *testing.T) {
	for _, c := range []struct{ pattern, matches, others string }{
		{`[]]`, "]", "[-:"},
		{`[^]]`, "[-:", "]"},
		{`[]-:]`, "]-:", "[;^"}, // no range from ]
		{`[-]`, "-", "]"},
		{`[--a]`, "-a", ".0A"},
		{`[^-a]`, "b]", "-a"},
		{`^[-]]?$`, "-", "]"}, // a class of -, then ]
		{`[[:]x]`, ":x", "[]"},
		{`[^~~]`, "~a]", ""},
		{"[a\n]", "a", "bn"}, // not the end of an empty line either
		{"[a\n]?[\n]|b", "b", "an"},
		{`[a-z--c]`, "ab", "c-"},
	} {
		p, err := newPlan(&Query{Pattern: c.pattern})
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		m := newMatcher(p, nil)
		for _, char := range c.matches + c.others {
			line := []byte(string(char) + "\n")
			if _, _, got := m.nextLine(line, 0); got != strings.ContainsRune(c.matches, char) {
				t.Errorf("%s on %q: %v", c.pattern, char, got)
			}
		}
		if _, _, got := m.nextLine([]byte("\n\n"), 0); got {
			t.Errorf("%s on an empty line", c.pattern)
		}
	}
	p, err := newPlan(&Query{Pattern: "V[ng\n]"})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, got := newMatcher(p, nil).nextLine([]byte("aV\nb\n"), 0); got {
		t.Error("a class with a line break matches the end of a line")
	}
}
