package edit

import (
	"os"
	"testing"
)

// TestSmallDiffs makes each of all small texts of another by their diff, with less context
// than the texts have lines, and with none. A sample of them; DIFFS=all takes all.
func TestSmallDiffs(t *testing.T) {
	texts := []string{""}
	for from, length := 0, 1; length <= 5; length++ {
		to := len(texts)
		for _, s := range texts[from:to] {
			for _, c := range []string{"a", "b", "\n"} {
				texts = append(texts, s+c)
			}
		}
		from = to
	}
	step := 41
	if os.Getenv("DIFFS") == "all" {
		step = 1
	}
	texts = texts[1:]
	wrong := 0
	for n := 0; n < len(texts)*len(texts)*3; n += step {
		before, after, context := texts[n/3%len(texts)], texts[n/3/len(texts)], n%3
		if before == after {
			continue
		}
		diff := Diff("a/a", "b/a", []byte(before), []byte(after), context)
		c, err := applyPatch(diff, memory{"a": before}.read)
		if err != nil {
			t.Errorf("%q to %q: %v\n%s", before, after, err, diff)
		} else if got := string(c.Files[0].After); got != after {
			t.Errorf("%q to %q: %q\n%s", before, after, got, diff)
		} else {
			continue
		}
		if wrong++; wrong == 10 {
			t.FailNow()
		}
	}
}
