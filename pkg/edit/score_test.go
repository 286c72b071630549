package edit

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"
	"unicode"
)

var dump = flag.String("dump", "", "write one JSON line per scored case to this `file`")

// shared is a directory of labelled cases beside the module, if there is one.
func shared(t testing.TB, dir string) string {
	t.Helper()
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for d := wd; ; d = filepath.Dir(d) {
		if _, err := os.Stat(filepath.Join(d, "go.mod")); err == nil {
			path := filepath.Join(filepath.Dir(d), "shared", "cases", dir)
			if _, err := os.Stat(path); err != nil {
				t.Skipf("SKIPPED: the labelled cases are not here: %v", err)
			}
			return path
		}
		if d == filepath.Dir(d) {
			t.Fatal("no go.mod above " + wd)
		}
	}
}

// scoreCase is a labelled edit. Spans count characters, not bytes.
type scoreCase struct {
	ID         string     `json:"id"`
	File       string     `json:"file"`
	Class      string     `json:"cls"`
	Group      string     `json:"group"`
	Path       string     `json:"path"`
	Old        string     `json:"old"`
	New        string     `json:"new"`
	ReplaceAll bool       `json:"replace_all"`
	Expect     string     `json:"expect"`
	After      [][3]any   `json:"after"`
	Alts       [][][3]any `json:"alts"`
	Soft       bool       `json:"soft"`
}

func readJSONLines[T any](t testing.TB, path string) []T {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var out []T
	d := json.NewDecoder(bufio.NewReaderSize(z, 1<<20))
	for d.More() {
		var v T
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

func loadScore(t testing.TB, split string) ([]scoreCase, map[string]string) {
	dir := shared(t, "edit")
	files := make(map[string]string)
	for _, f := range readJSONLines[struct{ ID, Content string }](t, filepath.Join(dir, "files-"+split+".jsonl.gz")) {
		files[f.ID] = f.Content
	}
	return readJSONLines[scoreCase](t, filepath.Join(dir, "cases-"+split+".jsonl.gz")), files
}

// spliced applies spans of characters to a text.
func spliced(text string, spans [][3]any) string {
	r := []rune(text)
	spans = slices.Clone(spans)
	sort.SliceStable(spans, func(i, j int) bool { return spans[i][0].(float64) > spans[j][0].(float64) })
	for _, s := range spans {
		r = slices.Concat(r[:int(s[0].(float64))], []rune(s[2].(string)), r[int(s[1].(float64)):])
	}
	return string(r)
}

func squashed(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

// light is a text without blank lines and trailing blanks.
func light(s string) []string {
	var out []string
	for l := range strings.SplitSeq(strings.ReplaceAll(s, "\r\n", "\n"), "\n") {
		if l = strings.TrimRightFunc(l, unicode.IsSpace); l != "" {
			out = append(out, l)
		}
	}
	return out
}

// judge says how good an answer is; see the labels in the case set.
func judge(c scoreCase, text string, out *Outcome) string {
	if c.Expect != "apply" {
		if out == nil || string(out.After) == text {
			return "refused"
		}
		return "w_forced"
	}
	missed := "missed"
	if c.Soft {
		missed = "soft"
	}
	if out == nil {
		return missed
	}
	got, want := string(out.After), spliced(text, c.After)
	switch {
	case got == want:
		return "exact"
	case slices.ContainsFunc(c.Alts, func(a [][3]any) bool { return got == spliced(text, a) }):
		return "ok"
	case got == text:
		return missed
	case slices.Equal(light(got), light(want)):
		n, m := strings.Count(got, "\r\n"), strings.Count(want, "\r\n")
		if strings.Contains(got, "\r") == strings.Contains(want, "\r") && n >= m-40 && n <= m+40 {
			return "minor"
		}
		return "w_indent"
	case squashed(got) == squashed(want):
		return "w_indent"
	case squashed(c.New) != "" && strings.Contains(squashed(got), squashed(c.New)) && !strings.Contains(squashed(want), squashed(c.New)):
		return "w_literal"
	}
	return "w_other"
}

type tally map[string]int

func (y tally) right() int { return y["exact"] + y["ok"] + y["refused"] }
func (y tally) wrong() int { return y["w_indent"] + y["w_literal"] + y["w_other"] + y["w_forced"] }
func (y tally) n() (n int) {
	for _, v := range y {
		n += v
	}
	return n
}

// score runs all cases of a split and prints a table by class.
func score(t *testing.T, split string) (all tally, classes map[string]tally) {
	cases, files := loadScore(t, split)
	all, classes = make(tally), make(map[string]tally)
	var sink *os.File
	if *dump != "" {
		var err error
		if sink, err = os.OpenFile(*dump, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
			t.Fatal(err)
		}
		defer sink.Close()
	}
	var took []time.Duration
	for _, c := range cases {
		text := files[c.File]
		start := time.Now()
		out, err := Plan([]byte(text), []Edit{{Old: c.Old, New: c.New, All: c.ReplaceAll}}, Options{})
		took = append(took, time.Since(start))
		var r *Refusal
		if err != nil && !errors.As(err, &r) {
			t.Fatalf("%s: error is not a Refusal: %v", c.ID, err)
		}
		verdict := judge(c, text, out)
		if sink != nil {
			row := map[string]any{"id": c.ID, "cls": c.Class, "outcome": verdict}
			if out != nil {
				row["strategy"], row["sim"], row["cleaned"] = out.Hits[0].Strategy, out.Hits[0].Similarity, out.Hits[0].Cleaned
				row["after"] = string(out.After)
			} else {
				row["reason"], row["code"] = r.Message, r.Code
			}
			b, _ := json.Marshal(row)
			fmt.Fprintf(sink, "%s\n", b)
		}
		if classes[c.Class] == nil {
			classes[c.Class] = make(tally)
		}
		classes[c.Class][verdict]++
		if c.Group != "advisory" {
			all[verdict]++
		}
		if strings.HasPrefix(verdict, "w_") {
			t.Logf("wrong: %s %s", c.ID, verdict)
		}
	}
	slices.Sort(took)
	for _, k := range slices.Sorted(maps.Keys(classes)) {
		y := classes[k]
		t.Logf("%-24s n=%-4d right=%-4d wrong=%-2d minor=%-2d missed=%-2d soft=%d", k, y.n(), y.right(), y.wrong(), y["minor"], y["missed"], y["soft"])
	}
	t.Logf("%-24s n=%-4d right=%-4d wrong=%-2d minor=%-2d missed=%-2d soft=%d  p50=%v p99=%v max=%v", split, all.n(), all.right(), all.wrong(),
		all["minor"], all["missed"], all["soft"], took[len(took)/2], took[len(took)*99/100], took[len(took)-1])
	return all, classes
}

func TestScoreSynthetic(t *testing.T) {
	all, classes := score(t, "dev")
	counted := all.n() - all["soft"]
	if right := float64(all.right()) / float64(counted); right < 0.993 {
		t.Errorf("%.2f %% right, want 99.3 %%", 100*right)
	}
	if wrong := float64(all.wrong()) / float64(all.n()); wrong > 0 {
		t.Errorf("%.2f %% wrong, want none", 100*wrong)
	}
	if n := all["w_forced"] + all["w_other"] + all["w_literal"]; n > 0 {
		t.Errorf("%d forced, misplaced or literal, want none", n)
	}
	for _, c := range [...]string{"exact", "exact_delete", "exact_dollar", "exact_substring", "replace_all_ident"} {
		if y := classes[c]; y.right() != y.n() {
			t.Errorf("control class %s: %d of %d right", c, y.right(), y.n())
		}
	}
}

func TestScoreReal(t *testing.T) {
	_, classes := score(t, "real")
	exact := classes["real_exact"]
	// One call means to remove lines that end in a line feed, but its new text
	// is the end of a conflict marker: the line feed stays.
	if exact.right()+exact["minor"] != exact.n() || exact["minor"] > 1 {
		t.Errorf("exact calls: %d of %d right", exact.right(), exact.n())
	}
	delete(classes, "real_exact")
	applied, wrong := 0, 0
	for _, y := range classes {
		applied += y["exact"] + y["ok"]
		wrong += y.wrong()
	}
	if wrong > 0 {
		t.Errorf("%d imperfect calls wrong, want none", wrong)
	}
	if applied < 51 {
		t.Errorf("%d imperfect calls applied, want 51", applied)
	}
}
