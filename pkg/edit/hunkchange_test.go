package edit

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// TestVerbatimHunks: a hunk whose old lines are in the file as they are is put in
// without a merge, and changes what the merge would.
func TestVerbatimHunks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	words := []string{"", "\t", "  ", "a", "a ", "\tb", "    b", "c(d)", "\t\tc (d)", "// rest", "}", "é \u2013 x"}
	some := func(n int) []string {
		out := make([]string, n)
		for i := range out {
			out[i] = words[rng.IntN(len(words))]
		}
		return out
	}
	plain := 0
	for range 20_000 {
		var file strings.Builder
		lines := some(4 + rng.IntN(12))
		crlf := rng.IntN(3) // none, all, some
		for _, l := range lines {
			file.WriteString(l)
			if crlf == 1 || crlf == 2 && rng.IntN(2) == 0 {
				file.WriteByte('\r')
			}
			file.WriteByte('\n')
		}
		h := &Hunk{}
		at := rng.IntN(len(lines) - 2)
		for i := at; i < min(at+1+rng.IntN(6), len(lines)); {
			switch rng.IntN(4) {
			case 0:
				h.Lines = append(h.Lines, HunkLine{'+', some(1)[0] + strings.Repeat("\r", rng.IntN(2))})
			case 1:
				h.Lines = append(h.Lines, HunkLine{'-', lines[i]})
				i++
			default:
				h.Lines = append(h.Lines, HunkLine{' ', lines[i]})
				i++
			}
		}
		pl := newPlacer([]byte(file.String()), 1)
		pl.told = rng.IntN(4) == 0
		old, added, ops, eols := h.side('+'), h.side('-'), h.ops(), pl.endings(h)
		if len(old) == 0 || !pl.verbatim(at, old, added) {
			continue
		}
		plain++
		want, how, conflict := pl.merged(at, old, added, ops, eols)
		have := pl.text.spliced(at, added, ops, eols)
		if conflict != nil || how != Exact || !reflect.DeepEqual(have, want) {
			t.Fatalf("file %q at %d, hunk %q:\n merged %+v (%s, %v)\nspliced %+v", file.String(), at+1, h.Lines, want, how, conflict, have)
		}
	}
	if plain < 10_000 {
		t.Fatalf("only %d hunks were as the file is", plain)
	}
}
