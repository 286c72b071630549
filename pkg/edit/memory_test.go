package edit

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// A diff of which only the beginning is wanted takes little more than the two texts,
// however many lines differ, and still counts them all.
func TestDiffMemory(t *testing.T) {
	var numbered bytes.Buffer
	for i := range 200_000 {
		fmt.Fprintf(&numbered, "%d%s\n", i, strings.Repeat(",a", 20))
	}
	for name, before := range map[string][]byte{
		"equal lines": bytes.Repeat([]byte(strings.Repeat("a,", 20)+"\n"), 200_000),
		"other lines": numbered.Bytes(),
		"one line":    bytes.Repeat([]byte("a,"), 4_000_000),
	} {
		after := bytes.ReplaceAll(before, []byte(","), []byte(";"))
		var was, is runtime.MemStats
		runtime.ReadMemStats(&was)
		d := DiffLimit("a", "b", before, after, 3, 32<<10)
		runtime.ReadMemStats(&is)
		if taken := float64(is.TotalAlloc-was.TotalAlloc) / float64(len(before)); taken > 3 {
			t.Errorf("%s: %.1f times the size of the file", name, taken)
		}
		n := countLines(before)
		if shown := strings.Count(d.Text, "\n"); d.Added != n || d.Removed != n || len(d.Text) > 32<<10 {
			t.Errorf("%s: %d lines in %d bytes, +%d -%d of %d", name, shown, len(d.Text), d.Added, d.Removed, n)
		}
	}
}

// What is cut is the diff as it would be, up to a line, and the number of the others.
func TestDiffLimit(t *testing.T) {
	before, after := []byte("a\nb\nc\nd\ne\n"), []byte("a\nB\nc\nd\ne")
	whole := Diff("x", "y", before, after, 1)
	for limit := range len(whole) + 1 {
		d := DiffLimit("x", "y", before, after, 1, limit)
		rest, ok := strings.CutPrefix(whole, d.Text)
		if !ok || len(d.Text) > limit || d.Omitted != strings.Count(rest, "\n") || d.Added != 2 || d.Removed != 2 {
			t.Errorf("limit %d: %+v", limit, d)
		}
		if next, _, _ := strings.Cut(rest, "\n"); rest != "" && len(d.Text)+len(next)+1 <= limit {
			t.Errorf("limit %d: the line %q would have fit", limit, next)
		}
	}
}
