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

// A drift is a file, a patch of an older version of it, and what comes out
// when the two changes are merged.
type drift struct {
	base, target, patch, want string
}

// drifts makes changes of real files on two sides. It keeps those where git
// refuses the patch of the one side on the other but merges the two.
func drifts(t *testing.T, n int) []drift {
	t.Helper()
	for _, tool := range [...]string{"git", "patch"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("SKIPPED: no " + tool + " here")
		}
	}
	dir := t.TempDir()
	put := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	files := sources(t)
	r := rand.New(rand.NewPCG(18, 18))
	var out []drift
	for tries := 0; len(out) < n && tries < 40*n; tries++ {
		lines := strings.Split(strings.TrimSuffix(files[r.IntN(len(files))], "\n"), "\n")
		ours, theirs := sides(r, lines)
		text := func(s []string) string { return strings.Join(s, "\n") + "\n" }
		d := drift{base: text(lines), target: text(theirs), patch: Diff("f", "f", []byte(text(lines)), []byte(text(ours)), 3)}
		if d.patch == "" || d.target == d.base {
			continue
		}
		put("f", d.target)
		apply := exec.Command("git", "apply", "-p0", "--check", put("f.diff", d.patch))
		apply.Dir = dir
		if apply.Run() == nil {
			continue
		}
		merged, err := exec.Command("git", "merge-file", "-p", "--diff3", filepath.Join(dir, "f"), put("base", d.base), put("ours", text(ours))).Output()
		if d.want = string(merged); err != nil || d.want == d.target {
			continue
		}
		out = append(out, d)
	}
	if len(out) < n {
		t.Fatalf("only %d of %d drifts were made", len(out), n)
	}
	return out
}

// sides changes lines at a place or two, and lines near them on the other side.
func sides(r *rand.Rand, lines []string) (ours, theirs []string) {
	type at struct {
		k    int
		ours bool
	}
	var all []at
	for range 1 + r.IntN(2) {
		k := 8 + r.IntN(len(lines)-16)
		all = append(all, at{k, true})
		for range 1 + r.IntN(2) {
			far := 2 + r.IntN(3)
			if r.IntN(2) == 0 {
				far = -far
			}
			all = append(all, at{k + far, false})
		}
		for range r.IntN(4) { // far from it, so that the line numbers move
			all = append(all, at{r.IntN(len(lines)), false})
		}
	}
	slices.SortFunc(all, func(a, b at) int { return b.k - a.k })
	ours, theirs = slices.Clone(lines), slices.Clone(lines)
	last := len(lines)
	for _, a := range all {
		if a.k >= last-1 || a.k < 1 {
			continue
		}
		last = a.k
		if a.ours {
			ours = drifted(r, ours, a.k)
		} else {
			theirs = drifted(r, theirs, a.k)
		}
	}
	return ours, theirs
}

// drifted changes one line as people do: another word, a line more, a line
// less, a comment.
func drifted(r *rand.Rand, lines []string, k int) []string {
	out := slices.Clone(lines)
	line := out[k]
	switch r.IntN(5) {
	case 0:
		if s, ok := reworded(r, line, "New"); ok {
			out[k] = s
			return out
		}
		fallthrough
	case 1:
		return slices.Insert(out, k, lead(line)+fmt.Sprintf("inserted(%d)", r.IntN(1000)))
	case 2:
		return slices.Insert(out, k, lead(line)+"if ready {", lead(line)+fmt.Sprintf("\tinserted(%d)", r.IntN(1000)), lead(line)+"}")
	case 3:
		if !blank(line) {
			return slices.Delete(out, k, k+1)
		}
		fallthrough
	default:
		out[k] = lead(line) + fmt.Sprintf("rewritten(%d, %q)", r.IntN(1000), strings.TrimSpace(line))
	}
	return out
}

// The same changes as edits, whose old text is the hunk as it was.
func TestDriftEdits(t *testing.T) {
	right, wrong, n := 0, 0, 0
	missed := map[string]int{}
	for _, d := range drifts(t, 250) {
		p, err := ParsePatch(d.patch)
		if err != nil || len(p.Files[0].Hunks) != 1 {
			continue
		}
		h := p.Files[0].Hunks[0]
		n++
		e := Edit{Old: strings.Join(h.side('+'), "\n"), New: strings.Join(h.side('-'), "\n")}
		out, err := Plan([]byte(d.target), []Edit{e}, Options{})
		switch {
		case err != nil:
			missed[code(err)]++
			t.Logf("missed: %v\n%s\n%s", err, d.patch, Diff("base", "target", []byte(d.base), []byte(d.target), 1))
		case string(out.After) == d.want:
			right++
		default:
			wrong++
			t.Errorf("wrong:\n%s\ndrift\n%s\nhave, want\n%s", d.patch, Diff("base", "target", []byte(d.base), []byte(d.target), 1), Diff("f", "f", out.After, []byte(d.want), 2))
		}
	}
	t.Logf("%d of %d right, %d wrong, missed %v", right, n, wrong, missed)
	if 100*right < 95*n || wrong > 0 {
		t.Errorf("%d of %d right, %d wrong", right, n, wrong)
	}
}

// A patch whose context has changed since is applied as a merge would.
func TestDrift(t *testing.T) {
	const n = 150
	dir := t.TempDir()
	theirs, right, wrong := 0, 0, 0
	missed := map[string]int{}
	for _, d := range drifts(t, n) {
		if err := os.WriteFile(filepath.Join(dir, "f"), []byte(d.target), 0o600); err != nil {
			t.Fatal(err)
		}
		run := exec.Command("patch", "-F3", "-s", "-f", "-o", "-", "-r", "-", "f")
		run.Dir, run.Stdin = dir, strings.NewReader(d.patch)
		if got, err := run.Output(); err == nil && string(got) == d.want {
			theirs++
		}
		c, err := applyPatch(d.patch, memory{"f": d.target}.read)
		switch {
		case err != nil:
			missed[code(err)]++
			t.Logf("missed: %v\n%s\n%s", err, d.patch, Diff("base", "target", []byte(d.base), []byte(d.target), 1))
		case string(c.Files[0].After) == d.want:
			right++
		default:
			wrong++
			t.Errorf("wrong:\n%s\ndrift\n%s\nhave, want\n%s", d.patch, Diff("base", "target", []byte(d.base), []byte(d.target), 1), Diff("f", "f", c.Files[0].After, []byte(d.want), 2))
		}
	}
	t.Logf("%d of %d right, %d wrong, missed %v; patch -F3 %d right", right, n, wrong, missed, theirs)
	if 100*right < 95*n || wrong > 0 {
		t.Errorf("%d of %d right, %d wrong", right, n, wrong)
	}
}
