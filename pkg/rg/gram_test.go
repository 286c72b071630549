package rg

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// TestGramsStandInEveryMatch: whatever the reference engine finds, the grams of
// the pattern find too, with and without a kernel, at or before the same match.
func TestGramsStandInEveryMatch(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	patterns := []string{
		`\d+\.\d+`, `[A-Z]{3}-\d`, `\d{2}:\d{2}(:\d{2})?`, `(a\d|b\d)x\d`, `\d@\w?\d`, `[^a-z ]{2}#\d*Z`, `é\d[αβ]`,
		`(?:\d-)+Z`, `\bQ\d\b`, `^\d#`, `[0-9]#(x|y)*[0-9]Z`, `(?:Q\d){2,3}`, `Z[^a]Q`,
	}
	finders := 0
	for _, pattern := range patterns {
		tree, err := parsePattern(pattern, false, false, false, false, false, false)
		if err != nil {
			t.Fatal(err)
		}
		f := newGramFinder(tree)
		if f == nil {
			continue
		}
		finders++
		re := regexp.MustCompile("(?m)" + pattern)
		for range 400 {
			text := gramText(r)
			line := []byte(text)
			where := re.FindIndex(line)
			got := f.index(line, 0)
			if plain := f.indexPortable(line, 0); got != plain {
				t.Fatalf("%s in %q: the kernel finds %d, the portable search %d", pattern, text, got, plain)
			}
			if where != nil && (got < 0 || got >= where[1]) {
				t.Fatalf("%s matches %q at %v, its gram is found at %d", pattern, text, where, got)
			}
			if got >= 0 && !f.at(line, got) {
				t.Fatalf("%s: no gram stands at %d of %q", pattern, got, text)
			}
		}
	}
	if finders < len(patterns)-2 {
		t.Errorf("only %d of %d patterns have grams", finders, len(patterns))
	}
}

func gramText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(200) {
		b.WriteString([]string{"1", "2", ".", "-", "#", "A", "Z", "Q", "x", "é", "α", "@", ":", " ", "a", "1.2", "Q1", "9#"}[r.IntN(18)])
	}
	return b.String()
}

// TestCommonGramsAreNotLookedFor: the automaton is as fast by itself.
func TestCommonGramsAreNotLookedFor(t *testing.T) {
	for _, pattern := range []string{`\w\w`, `[a-z]+\s+[a-z]+`, `.*`, `\w*x?`, `(a|b)*`, `^$`} {
		tree, err := parsePattern(pattern, false, false, false, false, false, false)
		if err != nil {
			t.Fatal(err)
		}
		if f := newGramFinder(tree); f != nil {
			t.Errorf("%s: grams of share %.0f", pattern, f.share())
		}
	}
}

// TestNestedRepeatsStaySmall: taking a pattern apart does not take more than
// its size.
func TestNestedRepeatsStaySmall(t *testing.T) {
	pattern := `\d#`
	for range 60 {
		pattern = "(?:" + pattern + ")+"
	}
	pattern += strings.Repeat(`\w\d`, 2000)
	tree, err := parsePattern(pattern, false, false, false, false, false, false)
	if err != nil {
		t.Fatal(err)
	}
	z := &atomizer{seen: map[string]atom{}}
	if n := len(z.atoms(tree)); n > maxAtoms {
		t.Errorf("%d atoms", n)
	}
	if f := newGramFinder(tree); f == nil || f.index([]byte("x 7# y"), 0) != 2 {
		t.Errorf("the gram at the front is lost: %+v", f)
	}
}
