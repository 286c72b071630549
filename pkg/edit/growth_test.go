package edit

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// What edits make of a file is bounded, however few bytes they have themselves.
func TestGrowth(t *testing.T) {
	times := func(n int, e Edit) []Edit { return slices.Repeat([]Edit{e}, n) }
	var large strings.Builder
	for i := range 9000 {
		fmt.Fprintf(&large, "line %d %s x\n", i, strings.Repeat("-", 8000))
	}
	deep := strings.Repeat(" ", 3<<20) + "old\n"
	for name, tt := range map[string]struct {
		file  string
		edits []Edit
		want  string
	}{
		"one after the other":  {"x y x\n", times(9, Edit{Old: "x", New: strings.Repeat("x", 100), All: true, InWords: true}), TooLarge},
		"within the bound":     {"x y x\n", times(3, Edit{Old: "x", New: strings.Repeat("x", 100), All: true, InWords: true}), ""},
		"many places":          {strings.Repeat("x\n", 3000), times(1, Edit{Old: "x", New: strings.Repeat("y", 50_000), All: true}), TooLarge},
		"some places":          {strings.Repeat("x\n", 1000), times(1, Edit{Old: "x", New: strings.Repeat("y\n", 50_000), All: true}), TooLarge},
		"one large text":       {"x\n", times(1, Edit{Old: "x", New: strings.Repeat("y", 70<<20)}), ""},
		"smaller":              {large.String(), times(1, Edit{Old: strings.Repeat("-", 8000), New: "-", All: true}), ""},
		"twice the size":       {strings.Repeat("x", 30<<20), times(1, Edit{Old: strings.Repeat("x", 1000), New: strings.Repeat("y", 2000), All: true, InWords: true}), ""},
		"by and by":            {strings.Repeat("x", 30<<20), times(2, Edit{Old: strings.Repeat("x", 1000), New: strings.Repeat("x", 2000), All: true, InWords: true}), TooLarge},
		"indented by too much": {deep, times(1, Edit{Old: "old", New: strings.Repeat("new\n", 1000) + "new"}), TooLarge},
		"indented once":        {deep, times(1, Edit{Old: "old", New: "new"}), ""},
		"a line beside":        {deep + strings.Repeat("\tfoo()\n", 3), times(1, Edit{Old: "\tfoo()\n\tfoo()\n\tfoo()", New: "\tbar()\n\tbaz()"}), ""},
		"lines by their place": {deep, times(1, Edit{New: strings.Repeat("new\n", 1000), Within: [2]int{1, 1}}), TooLarge},
	} {
		var was, is runtime.MemStats
		runtime.ReadMemStats(&was)
		_, err := Plan([]byte(tt.file), tt.edits, Options{})
		runtime.ReadMemStats(&is)
		got := ""
		if r, ok := errors.AsType[*Refusal](err); ok {
			got = r.Code
		}
		if got != tt.want {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
		if taken := is.TotalAlloc - was.TotalAlloc; tt.want != "" && taken > 100<<20 && name != "by and by" {
			t.Errorf("%s: %d MB were taken", name, taken>>20)
		}
	}
	if _, err := Plan([]byte("x\n"), times(1, Edit{Old: "x", New: "yy"}), Options{Grown: MostGrowth}); err != nil {
		t.Errorf("a single change after others: %v", err)
	}
	if _, err := Plan([]byte("x\nx\nx\nx\n"), times(1, Edit{Old: "x", New: "yyyy", All: true}), Options{Grown: MostGrowth}); err == nil {
		t.Error("what other files have grown by does not count")
	}
	s := NewScan([]Edit{{Old: " x\n", New: strings.Repeat("y", 50_000), All: true}}, Options{})
	_, _ = s.Write([]byte(large.String()))
	if _, err := s.Plan(strings.NewReader(large.String())); err == nil || !strings.Contains(err.Error(), "more than 64 MiB larger") {
		t.Errorf("a large file: %v", err)
	}
}

// A patch whose lines would take over an indentation that is none, or that copies a file
// many times, is refused.
func TestPatchGrowth(t *testing.T) {
	big := bytes.Repeat([]byte("a line\n"), 1<<20)
	read := func(name string) ([]byte, Meta, error) {
		switch name {
		case "deep":
			return []byte(strings.Repeat(" ", 3<<20) + "old\n"), Meta{}, nil
		case "big":
			return big, Meta{}, nil
		}
		return nil, Meta{}, fs.ErrNotExist
	}
	copies := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "diff --git a/big b/copy%d\nsimilarity index 100%%\ncopy from big\ncopy to copy%d\n", i, i)
		}
		return b.String()
	}
	for name, tt := range map[string]struct {
		patch string
		ok    bool
	}{
		"indentation": {"*** Begin Patch\n*** Update File: deep\n@@\n-old\n" + strings.Repeat("+new\n", 1000) + "*** End Patch\n", false},
		"copies":      {copies(12), false},
		"a few":       {copies(2), true},
	} {
		p, err := ParsePatch(tt.patch)
		if err != nil {
			t.Fatal(name, err)
		}
		_, err = p.Apply(read)
		r, _ := errors.AsType[*Refusal](err)
		if (err == nil) != tt.ok || !tt.ok && (r == nil || r.Code != TooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
