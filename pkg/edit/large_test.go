package edit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// planLarge makes edits in a file as one that does not fit in memory, read in
// pieces of a size.
func planLarge(file []byte, edits []Edit, piece int) (*LargeOutcome, error) {
	s := NewScan(edits, Options{Exact: true})
	for rest := file; len(rest) > 0; {
		n := min(piece, len(rest))
		_, _ = s.Write(rest[:n])
		rest = rest[n:]
	}
	return s.Plan(bytes.NewReader(file))
}

// TestLarge: what is planned without the file in memory is what Plan makes of
// it, hits, lines, diff and all.
func TestLarge(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	same, refused := 0, 0
	for round := range 150 {
		eol := []string{"\n", "\r\n"}[r.IntN(2)]
		var b strings.Builder
		lines := 200 + r.IntN(60_000/(1+round%20))
		for i := range lines {
			fmt.Fprintf(&b, "line %d of %d%s", i, r.IntN(3), eol)
		}
		if r.IntN(3) == 0 {
			b.WriteString("no newline here")
		}
		file := []byte(b.String())
		var edits []Edit
		for range 1 + r.IntN(3) {
			n := r.IntN(lines)
			from := bytes.Index(file, fmt.Appendf(nil, "line %d of", n))
			to := min(from+r.IntN(60), len(file))
			old := strings.ReplaceAll(string(file[from:to]), "\r", "")
			edits = append(edits, Edit{Old: old, New: []string{"", "new", "x\ny\nz\n", old + "more"}[r.IntN(4)], All: r.IntN(10) == 0})
			if r.IntN(10) == 0 {
				edits[len(edits)-1] = Edit{Old: "of 1", New: "of one", All: true}
			}
		}
		want, wantErr := Plan(file, edits, Options{Exact: true})
		have, err := planLarge(file, edits, 1+r.IntN(100_000))
		if err != nil || wantErr != nil {
			a, b := new(Refusal), new(Refusal)
			if !errors.As(err, &a) || !errors.As(wantErr, &b) {
				if wantErr == nil && errors.As(err, &a) && (a.Code == Ambiguous || a.Other != nil) {
					continue // more places than it takes, or edits that build on each other
				}
				if err == nil && b.Code == AlreadyApplied {
					continue // what another edit's text shows is not seen from afar
				}
				t.Fatalf("%v, want %v, for %+v", err, wantErr, edits)
			}
			refused++
			continue
		}
		after, err := io.ReadAll(have.Reader(bytes.NewReader(file)))
		if err != nil || !bytes.Equal(after, want.After) {
			t.Fatalf("round %d: %+v gives another file, %v", round, edits, err)
		}
		if have.Size != int64(len(after)) || have.Lines != len(linesOf(after)) {
			t.Fatalf("size %d and lines %d of %d and %d", have.Size, have.Lines, len(after), len(linesOf(after)))
		}
		if a, b := have.Diff("a", "b", 3, math.MaxInt).Text, Diff("a", "b", file, after, 3); a != b && strings.Count(a, "\n") != strings.Count(b, "\n") {
			t.Fatalf("diff\n%.2000s\nwant\n%.2000s", a, b)
		}
		if a, b := sorted(have.Hits), sorted(want.Hits); !reflect.DeepEqual(a, b) {
			t.Fatalf("hits %+v, want %+v", a, b)
		}
		same++
	}
	t.Logf("%d alike, %d refused", same, refused)
	if same < 70 || refused < 3 {
		t.Errorf("only %d alike and %d refused", same, refused)
	}
}

func sorted(hits []Hit) []string {
	var all []string
	for _, h := range hits {
		all = append(all, fmt.Sprint(h.Lines, h.NewLines, h.Strategy))
	}
	slices.Sort(all)
	return all
}

func TestLargeRefuses(t *testing.T) {
	file := []byte(strings.Repeat("same\n", 1000) + "one\r\ntwo\r\n")
	for _, c := range []struct {
		edits []Edit
		code  string
		edit  int
	}{
		{[]Edit{{Old: "same", New: "x"}}, Ambiguous, 0},
		{[]Edit{{Old: "one", New: "1"}, {Old: "nowhere", New: "x"}}, NoMatch, 1},
		{[]Edit{{Old: "one", New: "1"}, {Old: "", New: "x"}}, BadInput, 1},
		{[]Edit{{Old: "one", New: "1"}, {Old: "one", New: "2"}}, Conflict, 1},
		{[]Edit{{Old: "one", New: "1", Within: [2]int{1, 2}}}, BadInput, 0},
		{[]Edit{{Old: "one", New: "one"}}, BadInput, 0},
	} {
		_, err := planLarge(file, c.edits, 77)
		if r, ok := errors.AsType[*Refusal](err); !ok || r.Code != c.code || r.Edit != c.edit {
			t.Errorf("%+v: %v", c.edits, err)
		}
	}
	if _, err := planLarge([]byte("one\x00"), []Edit{{Old: "one", New: "1"}}, 77); !errors.Is(err, ErrZero) {
		t.Error(err)
	}
	out, err := planLarge(file, []Edit{{Old: "same", New: "SAME", Line: 500}}, 77)
	if err != nil || out.Hits[0].Lines != [2]int{500, 500} {
		t.Errorf("%+v, %v", out, err)
	}
	if _, err := planLarge([]byte(strings.Repeat("x", 20_000)), []Edit{{Old: "x", New: "y", All: true}}, 77); err == nil {
		t.Error("more places than it takes are taken")
	}
}

// TestLargeLine changes a line that is too long to be shown.
func TestLargeLine(t *testing.T) {
	file := []byte("first\n" + strings.Repeat("word ", 100_000) + "needle " + strings.Repeat("word ", 100_000) + "\nlast")
	out, err := planLarge(file, []Edit{{Old: "needle", New: "pin"}, {Old: "last", New: "end"}}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	after, err := io.ReadAll(out.Reader(bytes.NewReader(file)))
	if want := strings.NewReplacer("needle", "pin", "last", "end").Replace(string(file)); err != nil || string(after) != want {
		t.Error("other bytes", err)
	}
	if diff := out.Diff("a", "b", 3, math.MaxInt).Text; len(diff) > 500<<10 || !strings.Contains(diff, "near line 2") {
		t.Errorf("%.300s", diff)
	}
}

// TestLargePatch: GNU patch reads the diff.
func TestLargePatch(t *testing.T) {
	patch, err := exec.LookPath("patch")
	if err != nil {
		t.Skip("no patch program: the diff is NOT tried")
	}
	var b strings.Builder
	for i := range 40_000 {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	file := []byte(b.String())
	out, err := planLarge(file, []Edit{{Old: "line 7\n", New: ""}, {Old: "line 20000", New: "x\ny"}, {Old: "line 39999\n", New: "end"}}, 4096)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "f"), file, 0o600), os.WriteFile(filepath.Join(dir, "p"), []byte(out.Diff("f", "f", 3, math.MaxInt).Text), 0o600)); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(patch, "-F0", "f", "p")
	c.Dir = dir
	if msg, err := c.CombinedOutput(); err != nil || strings.Contains(string(msg), "offset") {
		t.Fatalf("%v: %s", err, msg)
	}
	want, _ := io.ReadAll(out.Reader(bytes.NewReader(file)))
	if have, err := os.ReadFile(filepath.Join(dir, "f")); err != nil || !bytes.Equal(have, want) {
		t.Error("patch makes another file of it", err)
	}
}
