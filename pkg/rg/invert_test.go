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

// TestWholeLines compares whole lines, the first few matches of a file and the files
// without one to what a regular expression says of each line.
func TestWholeLines(t *testing.T) {
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(3, 4))
	for round := range 60 {
		var lines []string
		for range r.IntN(120) * (1 + r.IntN(100)) {
			lines = append(lines, strings.Repeat([]string{"ab", "abc", "b", "é"}[r.IntN(4)], r.IntN(4)))
		}
		ending := []string{"\n", "\r\n"}[round%2]
		text := strings.Join(lines, ending) + ending
		if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		pattern := []string{"ab", "ab|abc", "", "b+|(abc)*", "é.*", "a", "nowhere"}[round%7]
		if pattern == "" {
			pattern = "(?:)"
		}
		q := Query{Root: dir, Paths: []string{"a.txt"}, Pattern: pattern, Line: true, CRLF: true, Limit: -1, MaxCount: r.IntN(6), Invert: round%5 == 0, Multiline: round%5 > 0 && round%3 == 0}
		re, want := regexp.MustCompile("^(?:"+pattern+")$"), []string{}
		for i, line := range lines {
			if re.MatchString(line) != q.Invert && (q.MaxCount == 0 || len(want) < q.MaxCount) {
				want = append(want, fmt.Sprintf("%d:%s", i+1, line))
			}
		}
		if len(lines) == 0 && re.MatchString("") != q.Invert { // the text is one empty line
			want = append(want, "1:")
		}
		res, err := Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		got := []string{}
		for _, f := range res.Files {
			for _, l := range f.Lines {
				got = append(got, fmt.Sprintf("%d:%s", l.Number, l.Text))
			}
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Fatalf("%+v in %d lines: %d found, want %d: %.200q and %.200q", q, len(lines), len(got), len(want), got, want)
		}
		q.Mode, q.Without, q.MaxCount = Files, true, 0
		if res, err = Search(t.Context(), q); err != nil || (res.FileCount == 0) != (len(want) > 0) {
			t.Fatalf("%+v: %d files without a match where %d lines match, %v", q, res.FileCount, len(want), err)
		}
	}
}

// TestMaxCount: behind the last match that is wanted stand its lines of context, up to
// the next match, as grep has it.
func TestMaxCount(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("1\nx2\n3\nx4\n5\n6\nx7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		most, after int
		multi       bool
		want        string
	}{{1, 0, false, "2"}, {1, 1, false, "23"}, {1, 5, false, "23"}, {2, 2, false, "23456"}, {2, 9, false, "23456"}, {3, 9, false, "234567"}, {9, 0, false, "247"}, {1, 0, true, "2"}, {2, 0, true, "24"}} {
		res, err := Search(t.Context(), Query{Root: dir, Pattern: "x", MaxCount: tt.most, After: tt.after, Multiline: tt.multi})
		if err != nil || len(res.Files) != 1 {
			t.Fatal(res, err)
		}
		got := ""
		for _, l := range res.Files[0].Lines {
			got += fmt.Sprint(l.Number)
		}
		if got != tt.want {
			t.Errorf("%+v: lines %s", tt, got)
		}
	}
}
