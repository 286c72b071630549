package edit

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// repetitive makes texts in which hardly a line stands only once, as generated code and
// data have them, and what they become when some of their lines change.
func repetitive(r *rand.Rand, lines int) (name string, a, b []string) {
	kinds := []struct {
		name string
		line func(i int) string
	}{
		{"few", func(int) string { return fmt.Sprint(r.IntN(4)) }},
		{"table", func(i int) string {
			return []string{"  {", `    "kind": "x",`, fmt.Sprintf(`    "value": %d`, r.IntN(9)), "  },"}[i%4]
		}},
		{"period", func(i int) string { return fmt.Sprint("line ", i%17) }},
		{"code", func(int) string {
			return []string{"", "}", "\t}", "\tif err != nil {", "\t\treturn err", "\tbreak", "\tcase ", "\tx++"}[r.IntN(8)]
		}},
		{"log", func(i int) string { return fmt.Sprintf("%02d:%02d ok", i/60%24, i%60) }},
	}
	kind := kinds[r.IntN(len(kinds))]
	for i := range lines {
		a = append(a, kind.line(i)+"\n")
	}
	b = slices.Clone(a)
	changes := 1 + r.IntN(max(1, lines/(1+r.IntN(30))))
	for range changes {
		if len(b) == 0 {
			break
		}
		switch at := r.IntN(len(b)); r.IntN(4) {
		case 0:
			b = slices.Delete(b, at, min(len(b), at+1+r.IntN(3)))
		case 1:
			b = slices.Insert(b, at, kind.line(r.IntN(lines))+"\n")
		case 2:
			b[at] = kind.line(r.IntN(lines)) + "\n"
		default:
			b[at] = "changed\n"
		}
	}
	return fmt.Sprintf("%s, %d lines, %d changes", kind.name, lines, changes), a, b
}

// TestDiffOfRepetitive: the diff of texts whose lines repeat makes the new text of the
// old one, and is hardly longer than what git's own histogram finds.
func TestDiffOfRepetitive(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	rounds, ours, theirs, worst := 120, 0, 0, 0.0
	if os.Getenv("AGENTKIT_SOAK") != "" {
		rounds = 1000
	}
	_, err := exec.LookPath("git")
	for range rounds {
		name, a, b := repetitive(r, 1+r.IntN(1+r.IntN(12_000)))
		before, after := strings.Join(a, ""), strings.Join(b, "")
		n := transforms(t, name, a, b, compareLines([]byte(before), []byte(after)))
		if err != nil {
			continue
		}
		git := histogram(t, before, after)
		ours, theirs = ours+n, theirs+git
		if git > 0 && float64(n)/float64(git) > worst {
			worst = float64(n) / float64(git)
			t.Logf("%s: %d lines of difference, git has %d", name, n, git)
		}
		if n > git+git/2+10 {
			t.Errorf("%s: %d lines of difference, git has %d", name, n, git)
		}
	}
	t.Logf("%d lines of difference, git has %d", ours, theirs)
	if ours > theirs {
		t.Errorf("%d lines of difference in all, git has %d", ours, theirs)
	}
}

// transforms checks that d turns a into b, and counts the lines that differ.
func transforms(t *testing.T, name string, a, b []string, d lineDiff) (n int) {
	t.Helper()
	var got []string
	at := 0
	for _, o := range d.ops {
		got = append(got, a[at:o.i1]...)
		if len(got) != o.j1 {
			t.Fatalf("%s: a change at line %d of the new text comes at %d", name, o.j1, len(got))
		}
		got = append(got, b[o.j1:o.j2]...)
		n += o.i2 - o.i1 + o.j2 - o.j1
		at = o.i2
	}
	if got = append(got, a[at:]...); !slices.Equal(got, b) {
		t.Fatalf("%s: the diff makes another text", name)
	}
	return n
}

// histogram counts the lines in which git diff --histogram sees a difference.
func histogram(t *testing.T, before, after string) int {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"a": before, "b": after} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("git", "diff", "--no-index", "--histogram", "--numstat", "a", "b")
	cmd.Dir = dir
	out, _ := cmd.Output() // 1 where they differ
	var added, removed int
	if _, err := fmt.Sscan(string(out), &added, &removed); err != nil && before != after {
		t.Fatalf("git diff: %q, %v", out, err)
	}
	return added + removed
}
