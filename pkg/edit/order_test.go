package edit

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// Equal lines are told apart by the block that a hunk names and by the order of
// the hunks, and by nothing else.
func TestPatchOrder(t *testing.T) {
	const file = "start\nsame\none\nsame\ntwo\nsame\nthree\nsame\n"
	hunk := func(old, new string) string {
		return "@@\n-" + strings.ReplaceAll(old, "\n", "\n-") + "\n+" + new + "\n"
	}
	for _, c := range []struct{ name, hunks, want string }{
		{"behind the hunk before", hunk("one", "1") + hunk("same", "new"), "start\nsame\n1\nnew\ntwo\nsame\nthree\nsame\n"},
		{"behind the hunk before, twice", hunk("one", "1") + hunk("same", "new") + hunk("same", "newer"), "start\nsame\n1\nnew\ntwo\nnewer\nthree\nsame\n"},
		{"and before the next", hunk("start", "0") + hunk("same", "new") + hunk("two", "2"), "0\nnew\none\nsame\n2\nsame\nthree\nsame\n"},
		{"nothing before", hunk("same", "new") + hunk("one", "1"), ""},
		{"alone", hunk("same", "new"), ""},
		{"not in order, before", hunk("two", "2") + hunk("one", "1") + hunk("same", "new"), ""},
		{"not in order, behind", hunk("two", "2") + hunk("same", "new") + hunk("one", "1"), ""},
		{"none behind", hunk("three\nsame", "3") + hunk("same", "new"), ""},
	} {
		got, err := applyPatch("*** Begin Patch\n*** Update File: f\n"+c.hunks+"*** End Patch", memory{"f": file}.read)
		switch {
		case c.want == "" && code(err) != Ambiguous:
			t.Errorf("%s: %v, want ambiguous", c.name, err)
		case c.want != "" && (err != nil || string(got.Files[0].After) != c.want):
			t.Errorf("%s: %v %+v, want %q", c.name, err, got, c.want)
		}
	}
	const blocks = "def a():\n    if x:\n        go()\n    else:\n        go()\n\ndef b():\n    if y:\n        go()\n\nif z:\n        go()\n"
	for _, c := range []struct {
		anchor string
		want   int // which of the places, from 1; 0 is none
	}{
		{"def a():", 0},
		{"else:", 2},
		{"if x:", 0}, // with its else
		{"def b():", 3},
		{"if y:", 3},
		{"if z:", 4},
		{"def nowhere():", 0},
	} {
		got, err := applyPatch("*** Begin Patch\n*** Update File: f\n@@ "+c.anchor+"\n-        go()\n+        NEW\n*** End Patch", memory{"f": blocks}.read)
		parts := strings.SplitAfter(blocks, "go()")
		if c.want > 0 {
			parts[c.want-1] = strings.TrimSuffix(parts[c.want-1], "go()") + "NEW"
		}
		if c.want == 0 && code(err) != Ambiguous {
			t.Errorf("%s: %v, want ambiguous", c.anchor, err)
		} else if c.want > 0 && (err != nil || string(got.Files[0].After) != strings.Join(parts, "")) {
			t.Errorf("%s: %v %+v, want place %d", c.anchor, err, got, c.want)
		}
	}
}

// A function that a hunk names decides among equal lines only when one of them
// is in it.
func TestMadeAnchors(t *testing.T) {
	files := sources(t)
	r := rand.New(rand.NewPCG(17, 3))
	made, right, refused := 0, 0, 0
	for range 20_000 {
		lines := strings.Split(files[r.IntN(len(files))], "\n")
		k := r.IntN(len(lines))
		from, to := function(lines, k)
		if from < 0 || len(strings.TrimSpace(lines[k])) < 5 || strings.Count(strings.Join(lines, "\n"), lines[from]) != 1 {
			continue
		}
		all, inside := 0, 0
		for i, l := range lines {
			if l == lines[k] {
				all++
				if i >= from && i < to {
					inside++
				}
			}
		}
		if all < 2 {
			continue
		}
		made++
		now := lead(lines[k]) + fmt.Sprintf("changed(%d)", made)
		c, err := applyPatch("*** Begin Patch\n*** Update File: f\n@@ "+lines[from]+"\n-"+lines[k]+"\n+"+now+"\n*** End Patch", memory{"f": strings.Join(lines, "\n")}.read)
		switch {
		case inside == 1 && err == nil && string(c.Files[0].After) == with(lines, k, k+1, now):
			right++
		case inside > 1 && code(err) == Ambiguous:
			refused++
		case err == nil:
			t.Errorf("@@ %s: %q, which is there %d times, was changed:\n%s", lines[from], lines[k], inside, Diff("f", "f", c.Files[0].Before, c.Files[0].After, 3))
		}
		if made == 400 {
			break
		}
	}
	t.Logf("%d made: %d applied, %d refused", made, right, refused)
	if made < 400 || right < 50 || refused < 50 || 100*(right+refused) < 95*made {
		t.Errorf("%d made: %d applied, %d refused rightly", made, right, refused)
	}
}

// function is the Go function around line k: its first line, and the one
// behind its last; -1 where there is none.
func function(lines []string, k int) (from, to int) {
	for from = k; from >= 0 && !strings.HasPrefix(lines[from], "func "); from-- {
		if lines[from] == "}" {
			return -1, -1
		}
	}
	to = k
	for to < len(lines) && lines[to] != "}" {
		to++
	}
	if from == k || from < 0 || !strings.HasSuffix(lines[from], "{") {
		return -1, -1
	}
	return from, to
}
