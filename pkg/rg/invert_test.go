package rg

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestInvert compares the lines without a match to those that a regular expression
// leaves, in files of several buffers, and their numbers and context.
func TestInvert(t *testing.T) {
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 40 {
		var lines []string
		for range r.IntN(200) * r.IntN(100) {
			lines = append(lines, strings.Repeat([]string{"alpha", "beta", "", "x"}[r.IntN(4)], r.IntN(3)))
		}
		text := strings.Join(lines, "\n")
		if r.IntN(2) == 0 && text != "" {
			text += "\n"
		}
		lines = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if text == "" {
			lines = nil
		}
		if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		pattern := []string{"alpha", "^$", ".", "nowhere", "a$|x"}[round%5]
		re, want := regexp.MustCompile(pattern), []string{}
		for i, line := range lines {
			if !re.MatchString(line) {
				want = append(want, fmt.Sprintf("%d:%s", i+1, line))
			}
		}
		res, err := Search(context.Background(), Query{Root: dir, Paths: []string{"a.txt"}, Pattern: pattern, Invert: true, Limit: -1, After: round % 3})
		if err != nil {
			t.Fatal(err)
		}
		got := []string{}
		for _, f := range res.Files {
			for _, l := range f.Lines {
				if l.Text != lines[l.Number-1] {
					t.Fatalf("line %d is %q, want %q", l.Number, l.Text, lines[l.Number-1])
				}
				if l.Match {
					got = append(got, fmt.Sprintf("%d:%s", l.Number, l.Text))
				}
			}
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") || int(res.Matches) != len(want) {
			t.Fatalf("%s in %d lines: %d found, %d counted, want %d", pattern, len(lines), len(got), res.Matches, len(want))
		}
	}
}
