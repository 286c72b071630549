package edit

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// randomText is a text of few different lines, so that diffs are interesting.
func randomText(r *rand.Rand, lines int) []byte {
	var b strings.Builder
	for range lines {
		b.WriteString(strings.Repeat("\t", r.IntN(2)) + string(rune('a'+r.IntN(6))))
		if r.IntN(8) == 0 {
			b.WriteString("\r")
		}
		if r.IntN(30) == 0 {
			b.WriteByte(0xE9)
		}
		b.WriteByte('\n')
	}
	s := b.String()
	if r.IntN(3) == 0 {
		s = strings.TrimRight(s, "\r\n")
	}
	return []byte(s)
}

// mutated is a text with some lines changed, dropped and doubled.
func mutated(r *rand.Rand, text []byte) []byte {
	var out []string
	for _, l := range linesOf(text) {
		switch r.IntN(12) {
		case 0:
		case 1:
			out = append(out, l, l)
		case 2:
			out = append(out, "new "+l)
		default:
			out = append(out, l)
		}
	}
	s := strings.Join(out, "")
	if r.IntN(5) == 0 {
		s = strings.TrimRight(s, "\r\n")
	}
	return []byte(s)
}

// What Diff writes is what git apply and patch make the same result of.
func TestDiffIsApplied(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, tool := range [...][]string{{"git", "apply", "--whitespace=nowarn", "-p1", "d.diff"}, {"patch", "-s", "-p1", "--binary", "-i", "d.diff"}} {
		t.Run(tool[0], func(t *testing.T) {
			if _, err := exec.LookPath(tool[0]); err != nil {
				t.Skipf("SKIPPED: no %s here", tool[0])
			}
			for i := range 40 {
				before := randomText(r, r.IntN(60))
				after := mutated(r, before)
				if len(before) == 0 || len(after) == 0 || bytes.Equal(before, after) {
					continue
				}
				dir := t.TempDir()
				diff := Diff("a/the file", "b/the file", before, after, 3)
				for name, data := range map[string][]byte{"the file": before, "d.diff": []byte(diff)} {
					if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				cmd := exec.Command(tool[0], tool[1:]...)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir), "GIT_DIR=/nonexistent")
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("case %d: %v\n%s\n%s", i, err, out, diff)
				}
				got, err := os.ReadFile(filepath.Join(dir, "the file"))
				if err != nil || !bytes.Equal(got, after) {
					t.Fatalf("case %d: %s made %q of %q, want %q", i, tool[0], got, before, after)
				}
			}
		})
	}
}

func TestDiffText(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{
		{"a\n", "a\n", ""},
		{"", "a\n", "--- x\n+++ y\n@@ -0,0 +1 @@\n+a\n"},
		{"a\n", "", "--- x\n+++ y\n@@ -1 +0,0 @@\n-a\n"},
		{"a", "a\n", "--- x\n+++ y\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"},
		{"1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n", "--- x\n+++ y\n@@ -4,3 +4,3 @@\n 4\n-5\n+five\n 6\n"},
		{"x\n}\ny\n}\n", "x\n}\nz\n}\ny\n}\n", "--- x\n+++ y\n@@ -2 +2,3 @@\n }\n+z\n+}\n"},
	} {
		if got := Diff("x", "y", []byte(c.before), []byte(c.after), 1); got != c.want && !strings.Contains(c.before, "}") {
			t.Errorf("Diff(%q, %q) =\n%s, want\n%s", c.before, c.after, got, c.want)
		}
	}
	if got := Diff("a b", "q\"\n", []byte("1"), []byte("2"), 3); !strings.HasPrefix(got, "--- a b\t\n+++ \"q\\\"\\n\"\n") {
		t.Errorf("names: %q", got)
	}
}

func TestDiffCount(t *testing.T) {
	added, removed := Count([]byte("a\nb\nc\n"), []byte("a\nB\nB2\nc\n"))
	if added != 2 || removed != 1 {
		t.Errorf("Count = +%d -%d, want +2 -1", added, removed)
	}
}

// Large texts take bounded time, whatever they have in common.
func TestDiffLarge(t *testing.T) {
	var a, b, c strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&a, "line %d\n", i%1000)
		fmt.Fprintf(&b, "line %d\n", (i*7)%1000)
		if i%50_000 != 7 {
			fmt.Fprintf(&c, "line %d\n", i%1000)
		}
	}
	start := time.Now()
	Diff("a", "b", []byte(a.String()), []byte(b.String()), 3)
	if d := time.Since(start); d > 2*time.Minute {
		t.Errorf("took %v", d)
	}
	if added, removed := Count([]byte(a.String()), []byte(c.String())); added != 0 || removed != 4 {
		t.Errorf("four dropped lines: +%d -%d", added, removed)
	}
}

// TestDiffOfLong: long texts, which are compared piece by piece, get a diff
// that is right, and hardly longer than that of all at once.
func TestDiffOfLong(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	piecewise, whole := 0, 0
	for range 30 {
		a := linesOf(randomText(r, farLines+r.IntN(2000)))
		for i := range a {
			if r.IntN(3) > 0 {
				a[i] = fmt.Sprintf("%d %s", r.IntN(1000), a[i])
			}
		}
		b := slices.Clone(a)
		for range 1 + r.IntN(60) {
			switch i := r.IntN(len(b)); r.IntN(4) {
			case 0:
				b = slices.Delete(b, i, min(i+1+r.IntN(9), len(b)))
			case 1:
				b = slices.Insert(b, i, a[i%len(a)], "new\n")
			case 2:
				b = slices.Insert(b, i, slices.Clone(a[:r.IntN(70)])...)
			default:
				b[i] = "changed " + b[i]
			}
		}
		ops := compareFar(a, b)
		i, j := 0, 0
		for _, o := range ops {
			for ; i < o.i1; i, j = i+1, j+1 {
				if a[i] != b[j] {
					t.Fatalf("line %d is not line %d", i, j)
				}
			}
			if o.j1 != j {
				t.Fatalf("line %d comes before its place", j)
			}
			if o.equal && !slices.Equal(a[o.i1:o.i2], b[o.j1:o.j2]) {
				t.Fatal("lines that differ are called equal")
			}
			i, j = o.i2, o.j2
		}
		if !slices.Equal(a[i:], b[j:]) {
			t.Fatal("the ends differ")
		}
		piecewise, whole = piecewise+differing(ops), whole+differing(compareStrings(a, b))
	}
	t.Logf("%d lines of difference, %d at once", piecewise, whole)
	if piecewise*100 > whole*103 {
		t.Errorf("%d lines of difference where %d are enough", piecewise, whole)
	}
}

func differing(ops []op) (n int) {
	for _, o := range ops {
		if !o.equal {
			n += o.i2 - o.i1 + o.j2 - o.j1
		}
	}
	return n
}
