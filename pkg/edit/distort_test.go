package edit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// distortions misquote the two sides of an edit in one way each; false where
// there is nothing to misquote.
func distortions() map[string]func(lines []string, at int) ([]string, bool) {
	each := func(f func(string) string) func([]string, int) ([]string, bool) {
		return func(lines []string, _ int) ([]string, bool) {
			out, any := make([]string, len(lines)), false
			for i, l := range lines {
				out[i] = l
				if !blank(l) {
					out[i] = f(l)
				}
				any = any || out[i] != l
			}
			return out, any
		}
	}
	return map[string]func([]string, int) ([]string, bool){
		"deeper by a tab":  each(func(l string) string { return "\t" + l }),
		"deeper by blanks": each(func(l string) string { return "  " + l }),
		"tabs to blanks":   each(func(l string) string { return strings.ReplaceAll(lead(l), "\t", "    ") + l[len(lead(l)):] }),
		"HTML":             each(func(l string) string { return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(l) }),
		"JSON": func(lines []string, _ int) ([]string, bool) {
			b, err := json.Marshal(strings.Join(lines, "\n"))
			s := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(b[1 : len(b)-1]))
			return []string{s}, err == nil && s != strings.Join(lines, "\n")
		},
		"line numbers": func(lines []string, at int) ([]string, bool) {
			out := make([]string, len(lines))
			for i, l := range lines {
				out[i] = fmt.Sprintf("%6d\t%s", at+i+1, l)
			}
			return out, true
		},
	}
}

// changedLines cuts the lines around the difference of two texts out.
func changedLines(before, after string, context int) (old, new []string, at int) {
	a, b := strings.Split(before, "\n"), strings.Split(after, "\n")
	p, s := 0, 0
	for p < min(len(a), len(b)) && a[p] == b[p] {
		p++
	}
	for s < min(len(a), len(b))-p && a[len(a)-1-s] == b[len(b)-1-s] {
		s++
	}
	at = max(0, p-context)
	return a[at:min(len(a), len(a)-s+context)], b[at:min(len(b), len(b)-s+context)], at
}

// The edits of the labelled set, quoted with context and misquoted here in
// other ways than there, are made as they are meant.
func TestScoreDistorted(t *testing.T) {
	cases, files := loadScore(t, "dev")
	for name, distort := range distortions() {
		y := make(tally)
		for n, c := range cases {
			text := files[c.File]
			if c.Expect != "apply" || c.ReplaceAll || strings.Contains(text, "\r") || n%3 != 0 {
				continue
			}
			after := spliced(text, c.After)
			old, new, at := changedLines(text, after, 3)
			quoted := strings.Join(old, "\n")
			if len(old) > 60 || blank(old[0]) || blank(old[len(old)-1]) || strings.Count(text, quoted) != 1 || text == after {
				continue
			}
			o, ok := distort(slices.Clone(old), at)
			w, _ := distort(slices.Clone(new), at)
			call, want := strings.Join(o, "\n"), strings.Join(w, "\n")
			if !ok || call == want || strings.Contains(text, call) {
				continue
			}
			out, _ := Plan([]byte(text), []Edit{{Old: call, New: want}}, Options{})
			y[judge(scoreCase{Expect: "apply", New: want, After: [][3]any{{0.0, float64(len([]rune(text))), after}}}, text, out)]++
		}
		t.Logf("%-18s %v", name, y)
		if right := float64(y.right()+y["minor"]) / float64(y.n()); y.n() < 20 || right < 0.98 {
			t.Errorf("%s: %d of %d right", name, y.right(), y.n())
		}
		if wrong := float64(y.wrong()) / float64(y.n()); wrong > 0.005 {
			t.Errorf("%s: %d of %d wrong", name, y.wrong(), y.n())
		}
	}
}
