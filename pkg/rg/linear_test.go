package rg

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMatchesInLinearTime has texts on which finding one match after the other
// looks at all the rest each time: minutes where it is not linear.
func TestMatchesInLinearTime(t *testing.T) {
	const n = 1 << 20
	for name, c := range map[string]struct {
		pattern, text string
		matches       int64
	}{
		"one line":            {`a+b|a`, strings.Repeat("a", n), 1},
		"spans lines":         {`a+b|a|\n`, strings.Repeat(strings.Repeat("a", 63)+"\n", n/64), n / 64},
		"needs the whole":     {`(?s)a.*b|a`, strings.Repeat("a\n", n/2), n / 2},
		"words":               {`(?s)\bab\b.*\bend\b|\bab\b`, strings.Repeat("ab cd\n", n/6), n / 6},
		"a class of Unicode":  {`\w+\s*!|\w`, strings.Repeat("é", n/2) + "\n", 1},
		"no line break in it": {`a[^b]*b|a`, strings.Repeat("ac", n/2), 1},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			put(t, root, "f.txt", c.text)
			r := find(t, Query{Root: root, Pattern: c.pattern, Multiline: true, Timeout: 20 * time.Second})
			if r.Partial != "" || r.Matches != c.matches {
				t.Errorf("partial %q, %d matches, want %d", r.Partial, r.Matches, c.matches)
			}
			t.Log(r.Elapsed)
		})
	}
}

// TestWordBesideLegacyBytes: a byte that is not UTF-8 counts as what it is in
// windows-1252, so that a word beside a no-break space is found and the front
// of one with an accent is not.
func TestWordBesideLegacyBytes(t *testing.T) {
	root := t.TempDir()
	put(t, root, "f.txt", "caf\xe9\ncaf\xa0au\n\x93caf\x94\n\xe9caf\ncaf\x9c\ncaf\xff\ncaf\xc3\xa9\ncaf\xc2\xa0\n")
	for _, multi := range []bool{false, true} {
		var got []int
		for _, l := range find(t, Query{Root: root, Pattern: "caf", Word: true, Multiline: multi}).Files[0].Lines {
			got = append(got, l.Number)
		}
		if want := []int{2, 3, 8}; !slices.Equal(got, want) {
			t.Errorf("multiline %v: lines %v, want %v", multi, got, want)
		}
	}
}

// TestBytesWithoutUnicode: ripgrep takes these for bytes; what cannot be done is
// refused instead of finding something else.
func TestBytesWithoutUnicode(t *testing.T) {
	for _, pattern := range []string{`(?-u)\xe9`, `(?-u)[\xe0-\xff]`, `(?-u:a\x{ff})`} {
		if _, err := newPlan(&Query{Pattern: pattern}); !errors.Is(err, ErrPattern) || errors.Is(err, ErrNeedsPCRE) {
			t.Errorf("%s: %v", pattern, err)
		}
	}
	for _, pattern := range []string{`(?-u)\x41`, `(?-u)é`, `\xe9`, `(?-u)\x{20ac}`, `(?-u:a)\xe9`} {
		if _, err := newPlan(&Query{Pattern: pattern}); err != nil {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}

// TestErrorsAreBounded: what is wrong with a pattern is told without repeating
// all of it.
func TestErrorsAreBounded(t *testing.T) {
	long := strings.Repeat("é", 50_000)
	_, err := newPlan(&Query{Pattern: long + "(" + long})
	if err == nil || len(err.Error()) > 1500 || !strings.Contains(err.Error(), "é(é") {
		t.Errorf("%d bytes", len(err.Error()))
	}
	if _, err := globRules([]string{"a[" + long}); err == nil || len(err.Error()) > 1500 {
		t.Errorf("%d bytes", len(err.Error()))
	}
}
