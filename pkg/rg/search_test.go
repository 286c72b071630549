package rg

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func find(t testing.TB, q Query) *Results {
	t.Helper()
	r, err := Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "hit %d\n", i)
		if i%3 == 0 {
			b.WriteString("other\n")
		}
	}
	return b.String()
}

func TestLineFields(t *testing.T) {
	root := t.TempDir()
	put(t, root, "a.txt", "first\nαβ needle needle\r\n", "b.txt", "x\nab\xff needle\n")
	r := find(t, Query{Root: root, Pattern: "needle"})
	want := Line{
		Number: 2, Match: true, Offset: 6, Length: 18, Column: 6, Char: 4,
		Text: "αβ needle needle", Spans: []Span{{5, 11}, {12, 18}},
	}
	got := r.Files[0].Lines[0]
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	legacy := r.Files[1].Lines[0] // not UTF-8, and read as Latin-1
	if legacy.Lossy || legacy.Text != "abÿ needle" || legacy.Column != 5 || legacy.Text[legacy.Spans[0].Start:legacy.Spans[0].End] != "needle" {
		t.Errorf("legacy line: %+v", legacy)
	}
	if r.Matches != 2 || r.FileCount != 2 || r.Truncated || r.Engine != Native || r.Searched != 2 {
		t.Errorf("totals: %+v", r)
	}
}

func TestLongLineShowsAWindow(t *testing.T) {
	root := t.TempDir()
	put(t, root, "a.txt", strings.Repeat("é", 50_000)+"needle"+strings.Repeat("y", 90_000)+"\nneedle\n")
	r := find(t, Query{Root: root, Pattern: "needle"})
	l := r.Files[0].Lines[0]
	if len(l.Text) > DefaultMaxLineShown || !l.Partial || l.Length != 190_006 || l.Cut+l.Spans[0].Start != 100_000 ||
		l.Text[l.Spans[0].Start:l.Spans[0].End] != "needle" || l.Lossy {
		t.Errorf("window: cut %d, length %d, spans %v, lossy %v", l.Cut, l.Length, l.Spans, l.Lossy)
	}
	if r.Matches != 2 || r.Files[0].Lines[1].Text != "needle" {
		t.Errorf("the next line: %+v", r.Files[0].Lines[1])
	}
}

func TestLineLongerThanTheBuffer(t *testing.T) {
	root := t.TempDir()
	put(t, root, "a.txt", strings.Repeat("x", 33<<20)+"y\nx\n", "b.txt", strings.Repeat("y", 3*largeBuffer)+"x")
	for pattern, want := range map[string]int64{"x$": 2, "^x": 2, "xy": 1} { // none at the border of a buffer
		if r := find(t, Query{Root: root, Pattern: pattern}); r.Matches != want || r.SkipCount != 0 {
			t.Errorf("%s: %d matches, want %d; skipped %v", pattern, r.Matches, want, r.Skipped)
		}
	}
}

// TestLineTooLong stops at a line that cannot be held: what stands before is
// found, and the rest is said not to have been searched.
func TestLineTooLong(t *testing.T) {
	root := t.TempDir()
	put(t, root, "a.txt", "needle\n"+strings.Repeat("x", 2*largeBuffer)+"needle\nneedle\n")
	q, err := Query{Root: root, Pattern: "needle$"}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	p, err := newPlan(&q)
	if err != nil {
		t.Fatal(err)
	}
	s := newFileSearch(p, &q, new(atomic.Bool))
	s.most = largeBuffer + 5000
	f, err := openRootFile(filepath.Join(root, "a.txt"), false)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	got := s.search(&f, func() request { return request{lines: 100} })
	if got.matches != 1 || len(got.lines) != 1 || got.reason != ReasonLongLine {
		t.Errorf("%d matches, lines %v, reason %q", got.matches, got.lines, got.reason)
	}
}

func TestContext(t *testing.T) {
	root := t.TempDir()
	put(t, root, "a.txt", "1\n2\n3 hit\n4\n5\n6\n7 hit\n8 hit\n9\n10\n11\n12\n13\n14 hit")
	r := find(t, Query{Root: root, Pattern: "hit", Before: 1, After: 2})
	var got []string
	for _, l := range r.Files[0].Lines {
		got = append(got, fmt.Sprintf("%d:%v:%s", l.Number, l.Match, l.Text))
	}
	want := "2:false:2 3:true:3 hit 4:false:4 5:false:5 6:false:6 7:true:7 hit 8:true:8 hit 9:false:9 10:false:10 13:false:13 14:true:14 hit"
	if strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " "), want)
	}
}

func TestLimitAndCursor(t *testing.T) {
	root := t.TempDir()
	now := time.Now()
	for i, name := range []string{"a/1.txt", "a.txt", "b/c/2.txt", "z.txt"} {
		put(t, root, name, numbered(25))
		when := now.Add(time.Duration(-i) * time.Hour)
		if err := os.Chtimes(filepath.Join(root, name), when, when); err != nil {
			t.Fatal(err)
		}
	}
	for _, sort := range []Order{ByPath, ByModified} {
		for _, mode := range []Mode{Content, Files, Count} {
			for _, multi := range []bool{false, true} {
				q := Query{Root: root, Pattern: "hit", Sort: sort, Mode: mode, Multiline: multi}
				q.Limit = 100
				all := find(t, q)
				if all.Truncated || all.Cursor != "" {
					t.Fatalf("%s %s: exactly as many as the limit is not truncated", sort, mode)
				}
				for _, limit := range []int{1, 7, 25, 26, 99} {
					q.Limit, q.Cursor = limit, ""
					pages := pagesOf(t, q)
					if !slices.Equal(pages, listing1(all)) {
						t.Errorf("%s %s by %d:\ngot  %v\nwant %v", sort, mode, limit, pages, listing1(all))
					}
				}
			}
		}
	}
}

func listing1(r *Results) []string {
	var out []string
	for _, f := range r.Files {
		for _, l := range f.Lines {
			out = append(out, fmt.Sprintf("%s:%d", f.Path, l.Number))
		}
		if len(f.Lines) == 0 {
			out = append(out, fmt.Sprintf("%s %d", f.Path, f.Matches))
		}
	}
	return out
}

func pagesOf(t *testing.T, q Query) []string {
	t.Helper()
	var out []string
	for range 1000 {
		r := find(t, q)
		if r.Changed {
			t.Error("an unchanged tree is said to have changed")
		}
		out = append(out, listing1(r)...)
		if r.Truncated != (r.Cursor != "") {
			t.Fatal("truncated without a cursor, or the other way round")
		}
		if !r.Truncated {
			return out
		}
		q.Cursor = r.Cursor
	}
	t.Fatal("the pages do not end")
	return nil
}

func TestCursorIsBoundToQueryAndTree(t *testing.T) {
	root := t.TempDir()
	put(t, root, "a.txt", numbered(20), "b.txt", numbered(20))
	q := Query{Root: root, Pattern: "hit", Limit: 5}
	q.Cursor = find(t, q).Cursor
	other := q
	other.Pattern = "other"
	if _, err := Search(t.Context(), other); !errors.Is(err, ErrCursor) {
		t.Errorf("a cursor of another query: %v", err)
	}
	other.Cursor = "nonsense"
	if _, err := Search(t.Context(), other); !errors.Is(err, ErrCursor) {
		t.Errorf("a broken cursor: %v", err)
	}
	put(t, root, "b.txt", "new\n"+numbered(20))
	if r := find(t, q); !r.Changed || len(r.Files) == 0 || r.Files[0].Lines[0].Number != 8 {
		t.Errorf("after a change: changed %v, files %v", r.Changed, r.Files)
	}
}

// TestEditBetweenPages: a file that is edited between two pages goes to the
// front, so that neither page shows it: it is named.
func TestEditBetweenPages(t *testing.T) {
	root := t.TempDir()
	long := time.Now().Add(-time.Hour)
	for i := range 9 {
		name := fmt.Sprintf("f%d.txt", i)
		put(t, root, name, "hit\nhit\n")
		if err := os.Chtimes(filepath.Join(root, name), long, long.Add(-time.Duration(i)*time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	for _, mode := range []Mode{Content, Files, Count} {
		q := Query{Root: root, Pattern: "hit", Sort: ByModified, Mode: mode, Limit: 3}
		first := find(t, q)
		q.Cursor = first.Cursor
		if r := find(t, q); r.Changed || r.MovedCount != 0 {
			t.Errorf("%s: before the edit: changed %v, moved %v", mode, r.Changed, r.Moved)
		}
		time.Sleep(20 * time.Millisecond) // the clock of the file system is coarse
		put(t, root, "f8.txt", "hat\nhit\nhit\n")
		seen := listing1(first)
		r := find(t, q)
		if !r.Changed || r.MovedCount != 1 || !slices.Equal(r.Moved, []string{"f8.txt"}) {
			t.Errorf("%s: after the edit: changed %v, moved %v", mode, r.Changed, r.Moved)
		}
		seen = append(seen, listing1(r)...)
		for r.Truncated {
			q.Cursor = r.Cursor
			if r = find(t, q); r.Changed || r.MovedCount != 0 {
				t.Errorf("%s: a page later: changed %v, moved %v", mode, r.Changed, r.Moved)
			}
			seen = append(seen, listing1(r)...)
		}
		for i := range 8 {
			if !slices.ContainsFunc(seen, func(s string) bool { return strings.HasPrefix(s, fmt.Sprintf("f%d.txt", i)) }) {
				t.Errorf("%s: f%d.txt is in no page: %v", mode, i, seen)
			}
		}
		old := long.Add(-8 * time.Minute)
		if err := os.Chtimes(filepath.Join(root, "f8.txt"), old, old); err != nil {
			t.Fatal(err)
		}
	}
	g := GlobOptions{Limit: 3}
	res, err := Glob(t.Context(), root, []string{"*"}, g)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(20 * time.Millisecond)
	put(t, root, "f7.txt", "new\n")
	g.Cursor = res.Cursor
	if res, err = Glob(t.Context(), root, []string{"*"}, g); err != nil || !res.Changed || !slices.Equal(res.Moved, []string{"f7.txt"}) {
		t.Errorf("glob: changed %v, moved %v, error %v", res.Changed, res.Moved, err)
	}
}

func TestMemoryOfManyHitsIsBounded(t *testing.T) {
	root := t.TempDir()
	for i := range 300 {
		put(t, root, fmt.Sprintf("d%d/f%03d.txt", i%7, i), numbered(60))
	}
	q := Query{Root: root, Pattern: "hit", Limit: 10}
	r := find(t, q)
	if r.Matches != 300*60 || r.FileCount != 300 || !r.Truncated || len(r.Files) != 1 || len(r.Files[0].Lines) != 10 {
		t.Errorf("matches %d, files %d, shown %d", r.Matches, r.FileCount, len(r.Files))
	}
	if want := "d0/f000.txt"; r.Files[0].Path != want {
		t.Errorf("first file %s, want %s", r.Files[0].Path, want)
	}
}

// TestLateZeroByte: a file with a zero byte is binary wherever the matches and the byte stand in it, and
// however it is searched.
func TestLateZeroByte(t *testing.T) {
	root := t.TempDir()
	put(t, root, "late.log", strings.Repeat("foo needle\n", 30_000)+"\x00\nfoo\n")
	for _, q := range []Query{
		{Pattern: "foo"}, {Pattern: "foo$"}, {Pattern: "foo", Mode: Count}, {Pattern: "foo", Multiline: true}, {Pattern: "needle"}, {Pattern: "[a-z]+ needle"},
	} {
		q.Root = root
		if r := find(t, q); r.Matches != 0 || !slices.Equal(r.Skipped, []Skipped{{"late.log", ReasonBinary}}) {
			t.Errorf("%+v: %d matches, skipped %v", q, r.Matches, r.Skipped)
		}
	}
}

func TestSkippedAreNamed(t *testing.T) {
	root := t.TempDir()
	put(t, root, "ok.txt", "needle\n", "bin.dat", "needle\x00\n", "late.dat", strings.Repeat("needle\n", 9000)+"\x00",
		"secret.env", "nothing here\n", "key.env", "needle\n", "large.txt", strings.Repeat("needle\n", 20_000), "locked/x.txt", "needle\n", "unreadable.txt", "needle\n")
	q := Query{Root: root, Pattern: "needle", MaxFileSize: 100_000, Allow: func(path string) bool { return filepath.Ext(path) != ".env" }}
	want := []Skipped{{"bin.dat", ReasonBinary}, {"key.env", ReasonPolicy}, {"large.txt", ReasonTooLarge}, {"late.dat", ReasonBinary}, {"secret.env", ReasonPolicy}}
	if runtime.GOOS != "windows" && os.Getuid() != 0 {
		for _, p := range []string{"locked", "unreadable.txt"} {
			if err := os.Chmod(filepath.Join(root, p), 0); err != nil {
				t.Fatal(err)
			}
		}
		t.Cleanup(func() { _ = os.Chmod(filepath.Join(root, "locked"), 0o755) })
		want = append(want, Skipped{"locked", "permission denied"}, Skipped{"unreadable.txt", "permission denied"})
	} else {
		t.Log("permissions do not bind this user: unreadable files are not tested")
		_ = os.RemoveAll(filepath.Join(root, "locked"))
		_ = os.Remove(filepath.Join(root, "unreadable.txt"))
	}
	slices.SortFunc(want, func(a, b Skipped) int { return comparePaths(a.Path, b.Path) })
	r := find(t, q)
	if !slices.Equal(r.Skipped, want) || r.SkipCount != len(want) {
		t.Errorf("skipped\n%v\nwant\n%v", r.Skipped, want)
	}
	if r.Matches != 1 || r.Files[0].Path != "ok.txt" {
		t.Errorf("found %v", r.Files)
	}
}

func TestPathsOfAQuery(t *testing.T) {
	root := t.TempDir()
	outside := t.TempDir()
	put(t, root, "a/x.txt", "needle\n", "a/y.txt", "needle\n", "b.txt", "needle\n")
	put(t, outside, "o.txt", "needle\n")
	r := find(t, Query{Root: root, Pattern: "needle", Paths: []string{"a/x.txt"}})
	if got := listing1(r); !slices.Equal(got, []string{"a/x.txt:1"}) {
		t.Errorf("a file means that file: %v", got)
	}
	r = find(t, Query{Root: root, Pattern: "needle", Paths: []string{"a", ".", "a/x.txt", outside}})
	want := []string{filepath.ToSlash(outside) + "/o.txt:1", "a/x.txt:1", "a/y.txt:1", "b.txt:1"}
	if got := listing1(r); !slices.Equal(got, want) || r.Matches != 4 {
		t.Errorf("overlapping paths: %v", got)
	}
	if _, err := Search(t.Context(), Query{Root: root, Pattern: "x", Paths: []string{"nope"}}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing path: %v", err)
	}
	if _, err := Search(t.Context(), Query{Root: "rel", Pattern: "x"}); err == nil {
		t.Error("a relative root is accepted")
	}
}

func TestIncludeNarrows(t *testing.T) {
	root := t.TempDir()
	put(t, root, ".git/HEAD", "", ".gitignore", "ign/\n", "ign/a.ts", "needle\n", ".hid.ts", "needle\n",
		"src/a.ts", "needle\n", "src/b.tsx", "needle\n", "src/c.go", "needle\n", "vendor/d.ts", "needle\n", "#e#", "needle\n")
	for _, c := range []struct {
		include, exclude []string
		want             string
	}{
		{[]string{"*.{ts,tsx}"}, nil, "src/a.ts:1 src/b.tsx:1 vendor/d.ts:1"},
		{[]string{"*.ts"}, []string{"vendor"}, "src/a.ts:1"},
		{[]string{"src/*.ts", "*.go"}, nil, "src/a.ts:1 src/c.go:1"},
		{nil, []string{"*.ts*", "#*#"}, "src/c.go:1"},
		{[]string{"#e#"}, nil, "#e#:1"},
		{[]string{"**/b.*"}, nil, "src/b.tsx:1"},
	} {
		r := find(t, Query{Root: root, Pattern: "needle", Include: c.include, Exclude: c.exclude})
		if got := strings.Join(listing1(r), " "); got != c.want {
			t.Errorf("include %v, exclude %v: %s, want %s", c.include, c.exclude, got, c.want)
		}
	}
	for _, bad := range []string{"[a", "{a,b", "", `a\`} {
		if _, err := Search(t.Context(), Query{Root: root, Pattern: "x", Include: []string{bad}}); !errors.Is(err, ErrGlob) {
			t.Errorf("include %q: %v", bad, err)
		}
	}
	if _, err := Search(t.Context(), Query{Root: root, Pattern: "x", Types: []string{"nosuch"}}); !errors.Is(err, ErrUnknownType) {
		t.Errorf("unknown type: %v", err)
	}
}

func TestPatternErrors(t *testing.T) {
	root := t.TempDir()
	for _, p := range []string{`(?=x)y`, `(?<!a)b`, `(a)\1`, `(?>a)`, `a\Kb`, `(?P=n)`} {
		if _, err := Search(t.Context(), Query{Root: root, Pattern: p}); !errors.Is(err, ErrNeedsPCRE) || !errors.Is(err, ErrPattern) {
			t.Errorf("%q: %v", p, err)
		}
	}
	for _, p := range []string{"(a", "a)", "[a", `a\`, "*a", "a{3,1}", `\p{Nope}`, `\y`, "a\nb", `a\nb`, "\xff", "(?z)a", `[b-a]`} {
		if _, err := Search(t.Context(), Query{Root: root, Pattern: p}); !errors.Is(err, ErrPattern) {
			t.Errorf("%q: %v", p, err)
		}
	}
	if _, err := Search(t.Context(), Query{Root: root}); !errors.Is(err, ErrEmptyPattern) {
		t.Errorf("no pattern: %v", err)
	}
	for _, p := range []string{"-x", "--", "interface{}", "a{", "x{,2}", "a++", "[]a]", "(?<n>a)"} {
		if _, err := Search(t.Context(), Query{Root: root, Pattern: p}); err != nil {
			t.Errorf("%q: %v", p, err)
		}
	}
}

func TestTimeLimitGivesPartialResults(t *testing.T) {
	root := t.TempDir()
	for i := range 50 {
		put(t, root, fmt.Sprintf("f%02d.txt", i), "needle\n")
	}
	ctx, cancel := context.WithCancel(t.Context())
	var seen atomic.Int32
	r, err := Search(ctx, Query{Root: root, Pattern: "needle", Allow: func(string) bool {
		if seen.Add(1) == 20 {
			cancel()
		}
		return true
	}})
	if err != nil || r.Partial != PartialCanceled {
		t.Errorf("partial %q, error %v", r.Partial, err)
	}
	if r := find(t, Query{Root: root, Pattern: "needle", MaxEntries: 10}); r.Partial != PartialEntries {
		t.Errorf("a spent budget: %+v", r)
	}
	// A pattern with very many states on text that visits them all stays bounded.
	put(t, root, "hard.txt", strings.Repeat("ab", 2_000_000))
	began := time.Now()
	r = find(t, Query{Root: root, Pattern: "(a|b)*a[ab]{25}c", Timeout: 500 * time.Millisecond})
	if took := time.Since(began); took > 2*time.Minute {
		t.Errorf("a time limit of 500 ms took %v", took)
	}
	if r.Partial == "" && r.Matches != 0 {
		t.Errorf("%+v", r)
	}
}

func TestNotRegularFiles(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("devices are looked for on Linux only")
	}
	if _, err := Search(t.Context(), Query{Root: "/dev", Pattern: "x", Paths: []string{"zero"}}); err == nil {
		t.Error("a device is searched")
	}
}

func TestUTF16(t *testing.T) {
	root := t.TempDir()
	put(t, root, "le.txt", encode16("eins\r\nneedle 𝒳 é\r\n", false), "be.txt", encode16(strings.Repeat("filler 𝒳\n", 50_000)+"needle", true))
	r := find(t, Query{Root: root, Pattern: "needle"})
	if len(r.Files) != 2 || r.Files[0].Encoding != "utf-16be" || r.Files[0].Lines[0].Number != 50_001 ||
		r.Files[1].Encoding != "utf-16le" || r.Files[1].Lines[0].Text != "needle 𝒳 é" || r.Files[1].Lines[0].Number != 2 {
		t.Errorf("%+v", r.Files)
	}
}

func TestStream(t *testing.T) {
	root := tortureTree(t)
	var got []string
	r, err := Stream(t.Context(), Query{Root: root, Pattern: "needle"}, func(f FileResult) error {
		got = append(got, resultLines(&Results{Files: []FileResult{f}})...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	want := find(t, Query{Root: root, Pattern: "needle", Limit: -1})
	if !slices.Equal(got, resultLines(want)) || r.Matches != want.Matches {
		t.Errorf("stream: %s", diffLines(resultLines(want), got))
	}
	stop := errors.New("enough")
	if _, err := Stream(t.Context(), Query{Root: root, Pattern: "needle"}, func(FileResult) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("the visitor's error: %v", err)
	}
}

// TestEnginesAgree compares whole results, as both engines give them.
func TestEnginesAgree(t *testing.T) {
	root := tortureTree(t)
	rg := usableRipgrep(t)
	for _, q := range []Query{
		{Pattern: "needle"},
		{Pattern: "needle", Before: 1, After: 2, Limit: 7},
		{Pattern: "foo", IgnoreCase: true, Mode: Count},
		{Pattern: "foo", Mode: Files, Limit: 3},
		{Pattern: "needle", Sort: ByModified, Limit: 5},
		{Pattern: "needle", Include: []string{"*.txt"}, Exclude: []string{"sub"}},
		{Pattern: "needle", Hidden: true, Types: []string{"py"}},
		{Pattern: `\{\n\s+\w+`, Multiline: true},
		{Pattern: "m", Limit: 4},
		{Pattern: "needle", Paths: []string{"big.txt"}, Before: 3, After: 4, Limit: -1},
		{Pattern: "needle", Paths: []string{"big.txt"}, Before: 100, After: 20, Limit: 30},
		{Pattern: "z{40}foo", Paths: []string{"big.txt"}, Before: 300, Limit: -1},
		{Pattern: "needle", Include: []string{".hid/**", "sub/**/.*", "a.txt"}},
		{Pattern: "needle", Paths: []string{"sub", "a.txt"}},
		{Pattern: "needle", Binary: true, NoIgnore: true, Limit: 1000},
		{Pattern: "needle", Allow: func(p string) bool { return filepath.Base(p) != "nonl.txt" }},
		{Pattern: "needle", AllowDir: func(p string) bool { return filepath.Base(p) != "deep" && filepath.Base(p) != "x" }},
		{Pattern: "needle", Paths: []string{"sub/deep/open", "x"}, AllowDir: func(p string) bool { return filepath.Base(p) != "build" }},
	} {
		q.Root, q.Ripgrep = root, rg
		q.Engine = Native
		native := find(t, q)
		q.Engine = Ripgrep
		theirs := find(t, q)
		for _, r := range []*Results{native, theirs} {
			for i := range r.Files {
				r.Files[i].Encoding = "" // ripgrep does not tell
				for k := range r.Files[i].Lines {
					l := &r.Files[i].Lines[k]
					switch r.Files[i].Path {
					case "bom8.txt":
						l.Offset = 0 // ripgrep does not count the mark
					case "latin1.txt", "badutf8.txt":
						l.Text, l.Spans, l.Lossy = "", nil, false // ripgrep gives the bytes, which are decoded only here
					}
				}
			}
		}
		a, b := fmt.Sprintf("%+v", native.Files), fmt.Sprintf("%+v", theirs.Files)
		if a != b || native.Matches != theirs.Matches || native.FileCount != theirs.FileCount || native.Truncated != theirs.Truncated {
			t.Errorf("%+v\nnative  %d %d %.1500s\nripgrep %d %d %.1500s", q.Pattern, native.Matches, native.FileCount, a, theirs.Matches, theirs.FileCount, b)
		}
	}
	q := Query{Root: root, Ripgrep: rg, Pattern: `needle(?= one)`}
	engine, err := Choose(q)
	if !rg.PCRE2 {
		t.Skip("this ripgrep has no PCRE2: look-around is not tested")
	}
	if err != nil || engine != Ripgrep {
		t.Fatalf("look-ahead goes to %q: %v", engine, err)
	}
	if got := listing1(find(t, q)); !slices.Equal(got, []string{"a.txt:2"}) {
		t.Errorf("look-ahead finds %v", got)
	}
	q.Pattern, q.Engine = "(", Ripgrep
	if _, err := Search(t.Context(), q); !errors.Is(err, ErrPattern) {
		t.Errorf("ripgrep's own error: %v", err)
	}
}

// usableRipgrep gives a ripgrep that the engine would use.
func usableRipgrep(t *testing.T) *RipgrepProgram {
	t.Helper()
	for _, path := range findTestRipgreps(t) {
		if rg, err := findNamed(t, path); err == nil {
			return rg
		}
	}
	t.Skipf("no ripgrep of version %d or later on PATH or in RG_TEST: the engines are not compared", oldestRipgrep)
	return nil
}

func findNamed(t *testing.T, path string) (*RipgrepProgram, error) {
	return FindRipgrep(t.Context(), func(key string) string {
		if key == "AGENTKIT_RG" {
			return path
		}
		return ""
	}, func(string) bool { return true })
}

// TestOldRipgrep: a ripgrep before version 14 is passed over.
func TestOldRipgrep(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the programs of this test are shell scripts")
	}
	dir := t.TempDir()
	for version, want := range map[string]bool{"13.0.0": false, "14.0.0": true, "15.1.0 (rev 1)": true, "9": false, "x": false} {
		path := filepath.Join(dir, "rg-"+version)
		if err := os.WriteFile(path, []byte("#!/bin/sh\necho 'ripgrep "+version+"'\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		rg, err := findNamed(t, path)
		if (err == nil) != want || err == nil && rg.Path != path {
			t.Errorf("version %s: %+v, %v", version, rg, err)
		}
	}
}

// TestCRLF: with CRLF, $ stands before the line's \r\n, and what is shown and
// counted is the same as in a file with plain line ends.
func TestCRLF(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"unix.txt": "a needle\nneedle b\nneedle", "dos.txt": "a needle\r\nneedle b\r\nneedle"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	search := func(pattern string, crlf bool) map[string]string {
		res, err := Search(t.Context(), Query{Root: dir, Pattern: pattern, CRLF: crlf})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, f := range res.Files {
			for _, l := range f.Lines {
				got[f.Path] += strconv.Itoa(l.Number) + " "
				for _, s := range l.Spans {
					if s.End > len(l.Text) || strings.Contains(l.Text, "\r") {
						t.Errorf("%s: span %v in %q", pattern, s, l.Text)
					}
				}
			}
		}
		return got
	}
	for pattern, want := range map[string]string{`needle$`: "1 3 ", `^needle$`: "3 ", `e$|b$`: "1 2 3 ", `needle\b$`: "1 3 ", `^a.*$`: "1 "} {
		if got := search(pattern, true); got["unix.txt"] != want || got["dos.txt"] != want {
			t.Errorf("%s: %v, want %q in both", pattern, got, want)
		}
	}
	if got := search(`needle$`, false); got["dos.txt"] != "3 " {
		t.Errorf("without CRLF: %v", got)
	}
}
