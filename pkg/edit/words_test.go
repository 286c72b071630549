package edit

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// marked shows the parts in brackets.
func marked(s string, parts [][2]int) string {
	var b strings.Builder
	at := 0
	for _, p := range parts {
		b.WriteString(s[at:p[0]] + "[" + s[p[0]:p[1]] + "]")
		at = p[1]
	}
	return b.String() + s[at:]
}

func TestWords(t *testing.T) {
	for _, c := range []struct{ before, after, gone, come string }{
		{"\treturn join(parts, \", \")", "\treturn join(pieces, \"; \")", "\treturn join([parts], \"[,] \")", "\treturn join([pieces], \"[;] \")"},
		{"a := f(x)\nb := g(x)\n", "a := f(x)\nc := h(x, y)\n", "a := f(x)\n[b] := [g](x)\n", "a := f(x)\n[c] := [h](x[, y])\n"},
		{"one two three", "one three", "one[ two] three", "one three"},
		{"naïve über", "naïve unter", "naïve [über]", "naïve [unter]"},
		{"caf\xe9 x = 1", "caf\xe8 x = 1", "caf[\xe9] x = 1", "caf[\xe8] x = 1"},
		{"old big word here = 1", "new tiny word here = 1", "[old big] word here = 1", "[new tiny] word here = 1"},
		{"nothing in common", "quite another line", "nothing in common", "quite another line"},
		{"same", "same", "same", "same"},
		{"", "new", "", "new"},
		{"one line becomes two", "one line\nbecomes two", "one line[ ]becomes two", "one line[\n]becomes two"},
	} {
		gone, come := Words(c.before, c.after)
		if g, n := marked(c.before, gone), marked(c.after, come); g != c.gone || n != c.come {
			t.Errorf("%q %q: %q %q", c.before, c.after, g, n)
		}
	}
}

// TestWordsAgree: what is left of both texts without the marked parts is the
// same, and no mark cuts a character.
func TestWordsAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	parts := []string{"alpha", "über", " ", "\t", "(", ")", "\n", "_x1", "漢字", "\xff", ", ", "alpha"}
	marks := 0
	for range 5000 {
		var a, b strings.Builder
		for range r.IntN(30) {
			w := parts[r.IntN(len(parts))]
			switch r.IntN(6) {
			case 0:
				a.WriteString(w)
			case 1:
				b.WriteString(w)
			default:
				a.WriteString(w)
				b.WriteString(w)
			}
		}
		gone, come := Words(a.String(), b.String())
		if gone == nil && come == nil {
			continue
		}
		marks++
		if x, y := without(a.String(), gone), without(b.String(), come); strings.Join(strings.Fields(x), "") != strings.Join(strings.Fields(y), "") {
			t.Fatalf("%q %q: %q %q", a.String(), b.String(), marked(a.String(), gone), marked(b.String(), come))
		}
		for _, p := range gone {
			if s := a.String(); p[1] < len(s) && utf8.ValidString(s) && !utf8.RuneStart(s[p[1]]) {
				t.Fatalf("%q is cut at %d", s, p[1])
			}
		}
	}
	if marks < 3000 {
		t.Errorf("only %d were compared", marks)
	}
}

func without(s string, parts [][2]int) string {
	var b strings.Builder
	at := 0
	for _, p := range parts {
		b.WriteString(s[at:p[0]])
		at = p[1]
	}
	return b.String() + s[at:]
}

func TestWordsOfLongLine(t *testing.T) {
	a := strings.Repeat("abc def ", 1500)
	b := strings.Repeat("abd dex ", 1500)
	if gone, come := Words(a, b); gone != nil || come != nil {
		t.Errorf("%d and %d parts of lines that share nothing but blanks", len(gone), len(come))
	}
	if gone, _ := Words(a+a, b+b+"x"); gone != nil {
		t.Error("a text longer than 32 KiB is compared")
	}
}
