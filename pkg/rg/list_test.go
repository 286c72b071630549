package rg

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// walkedByLevel lists a tree with the standard library, breadth first.
func walkedByLevel(t *testing.T, root string, depth int) []string {
	t.Helper()
	var out []string
	level := []string{""}
	for ; depth > 0; depth-- {
		var next []string
		for _, dir := range level {
			entries, err := os.ReadDir(filepath.Join(root, dir)) // sorted by name
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				path := dir + e.Name()
				out = append(out, path)
				if e.IsDir() {
					next = append(next, path+"/")
				}
			}
		}
		level = next
	}
	return out
}

func list(t *testing.T, root string, o ListOptions) *ListResults {
	t.Helper()
	r, err := List(t.Context(), root, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestListLikeReadDir(t *testing.T) {
	root := tortureTree(t)
	for depth := 1; depth <= 4; depth++ {
		want := walkedByLevel(t, root, depth)
		r := list(t, root, ListOptions{Depth: depth, Limit: -1, Hidden: true})
		var got []string
		for _, e := range r.Entries {
			got = append(got, e.Path)
			info, err := os.Lstat(filepath.Join(root, e.Path))
			if err != nil {
				t.Fatal(err)
			}
			if e.Mode != info.Mode() || e.Size != info.Size() || !e.Modified.Equal(info.ModTime()) || e.Depth != 1+strings.Count(e.Path, "/") {
				t.Errorf("%s: %v %d %v at %d, want %v %d %v", e.Path, e.Mode, e.Size, e.Modified, e.Depth, info.Mode(), info.Size(), info.ModTime())
			}
			if target, _ := os.Readlink(filepath.Join(root, e.Path)); e.Target != target {
				t.Errorf("%s leads to %q, want %q", e.Path, e.Target, target)
			}
			inside := -1
			if info.IsDir() && e.Depth < depth {
				entries, _ := os.ReadDir(filepath.Join(root, e.Path))
				inside = len(entries)
			}
			if e.Entries != inside {
				t.Errorf("%s holds %d, want %d", e.Path, e.Entries, inside)
			}
		}
		if !slices.Equal(got, want) || r.Total != len(want) || r.Files+r.Dirs+r.Links+r.Others != r.Total {
			t.Errorf("depth %d: %+v\n%s", depth, r, diffLines(want, got))
		}
		for offset := range len(want) {
			page := list(t, root, ListOptions{Depth: depth, Offset: offset, Limit: 3, Hidden: true})
			if page.Total != len(want) || fmt.Sprint(page.Entries) != fmt.Sprint(r.Entries[offset:min(offset+3, len(want))]) {
				t.Fatalf("depth %d, offset %d: %v", depth, offset, page.Entries)
			}
		}
	}
}

func TestListLeavesOut(t *testing.T) {
	root := t.TempDir()
	put(t, root, ".git/HEAD", "", ".gitignore", "*.o\nbuild/\n/sub/top\n", "a.o", "", "a.c", "", "build/x", "", "sub/top", "", "sub/.hid", "", "sub/no/x", "")
	for _, c := range []struct {
		opt  ListOptions
		want string
	}{
		{ListOptions{}, "a.c a.o build sub build/x sub/no sub/top"},
		{ListOptions{Hidden: true, Ignore: true}, ".gitignore a.c sub sub/.hid sub/no"},
		{ListOptions{Ignore: true}, "a.c sub sub/no"},
		{ListOptions{Ignore: true, Allow: func(dir string) bool { return filepath.Base(dir) != "sub" }}, "a.c sub"},
	} {
		c.opt.Depth, c.opt.Limit = 2, -1
		r := list(t, root, c.opt)
		var got []string
		for _, e := range r.Entries {
			got = append(got, e.Path)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%+v: %v, want %v", c.opt, got, c.want)
		}
		if refused := c.opt.Allow != nil; refused != (r.SkipCount == 1) || refused && r.Skipped[0] != (Skipped{"sub", ReasonPolicy}) {
			t.Errorf("%+v: skipped %v", c.opt, r.Skipped)
		}
	}
	if r := list(t, root, ListOptions{Depth: 3, Limit: -1, MaxEntries: 5}); r.Partial != PartialEntries {
		t.Errorf("a budget of five entries: %+v", r)
	}
}

func TestListingSort(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	for range 300 {
		var l listing
		var want []string
		prefix := strings.Repeat("common", r.IntN(4))
		for i := range r.IntN(60) {
			name := prefix + []string{"", "a", "ab", "file0000", "file00000001", "\xff", "é"}[r.IntN(7)] + strings.Repeat("x", r.IntN(10)) + fmt.Sprint(i)
			want = append(want, name)
			l.add([]byte(name), kindFile)
		}
		slices.Sort(want)
		l.sort()
		for i, e := range l.entries {
			if string(l.name(e)) != want[i] {
				t.Fatalf("place %d holds %q, want %q", i, l.name(e), want[i])
			}
		}
	}
}

// TestSwappedPath: a directory that becomes a link after its path was resolved
// leads nowhere, whoever asks.
func TestSwappedPath(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("making links needs a privilege here")
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	put(t, top, "root/in/a.txt", "needle\n", "out/a.txt", "needle secret\n")
	rg, err := exec.LookPath("rg")
	if err != nil {
		t.Log("ripgrep is not installed: its part of the test is left out")
	}
	root := filepath.Join(top, "root")
	ask := func(dir, file string) (errs []error) {
		_, err := Search(t.Context(), Query{Root: root, Pattern: "needle", Paths: []string{dir}, Resolved: true})
		errs = append(errs, err)
		_, err = Search(t.Context(), Query{Root: root, Pattern: "needle", Paths: []string{file}, Resolved: true})
		errs = append(errs, err)
		if rg != "" {
			_, err = Search(t.Context(), Query{Root: root, Pattern: "needle", Paths: []string{dir}, Resolved: true, Engine: Ripgrep, Ripgrep: &RipgrepProgram{Path: rg}})
			errs = append(errs, err)
		}
		_, err = Glob(t.Context(), dir, []string{"*"}, GlobOptions{Resolved: true})
		errs = append(errs, err)
		_, err = List(t.Context(), dir, ListOptions{Resolved: true, Limit: -1})
		return append(errs, err)
	}
	dir := filepath.Join(root, "in")
	for i, err := range ask(dir, filepath.Join(dir, "a.txt")) {
		if err != nil {
			t.Errorf("call %d, before: %v", i, err)
		}
	}
	for _, swap := range []string{filepath.Join(top, "out"), "../out"} {
		if err := errors.Join(os.RemoveAll(dir), os.Symlink(swap, dir)); err != nil {
			t.Fatal(err)
		}
		for i, err := range ask(dir, filepath.Join(dir, "a.txt")) {
			if !errors.Is(err, workspace.ErrMoved) {
				t.Errorf("call %d, with a link in place: %v", i, err)
			}
		}
	}
	if err := errors.Join(os.Remove(dir), os.Mkdir(dir, 0o755), os.Symlink("../../out/a.txt", filepath.Join(dir, "a.txt"))); err != nil {
		t.Fatal(err)
	}
	if _, err := Search(t.Context(), Query{Root: root, Pattern: "needle", Paths: []string{"in/a.txt"}, Resolved: true}); !errors.Is(err, workspace.ErrMoved) {
		t.Errorf("a file that became a link: %v", err)
	}
}

// TestGlobLinks: a link that a pattern spells out is followed below the root
// only.
func TestGlobLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("making links needs a privilege here")
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	put(t, top, "root/sub/a.txt", "", "out/b.txt", "")
	root := filepath.Join(top, "root")
	if err := errors.Join(os.Symlink("sub", filepath.Join(root, "in")), os.Symlink("../out", filepath.Join(root, "up"))); err != nil {
		t.Fatal(err)
	}
	for pattern, want := range map[string]string{
		"in/*": "in/a.txt", "in/a.txt": "in/a.txt", "up/*": "", "up/**": "", "up/b.txt": "", "*/*": "sub/a.txt", "*": "in up", "up": "",
	} {
		r, err := Glob(t.Context(), root, []string{pattern}, GlobOptions{Resolved: true, Sort: ByPath})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range r.Entries {
			got = append(got, e.Path)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %q", pattern, got, want)
		}
		if leaves := strings.HasPrefix(pattern, "up/"); leaves != (r.SkipCount == 1) || leaves && r.Skipped[0].Reason != ReasonLeavesRoot {
			t.Errorf("%s: skipped %v", pattern, r.Skipped)
		}
	}
}

// TestEndsOfFiles: whatever the size of a file and of the reads, its last line
// is searched.
func TestEndsOfFiles(t *testing.T) {
	root := t.TempDir()
	sizes := []int{7, 4095, 4096, 4097, 8192, 64<<10 - 1, 64 << 10, 64<<10 + 1, 128 << 10, 256<<10 - 1, 256 << 10, 256<<10 + 1, 256<<10 + 4096, 513 << 10, 1 << 20}
	for _, n := range sizes {
		put(t, root, fmt.Sprintf("f%d.txt", n), strings.Repeat("0123456789abcde\n", n/16+1)[:n-6]+"needle")
		put(t, root, fmt.Sprintf("long%d.txt", n), strings.Repeat("x", n-6)+"needle")
		put(t, root, fmt.Sprintf("bom%d.txt", n), "\xef\xbb\xbf"+strings.Repeat("y", n-6)+"needle")
	}
	for _, sort := range []Order{ByPath, ByModified} {
		if r := find(t, Query{Root: root, Pattern: "needle$", Sort: sort, Limit: -1}); r.FileCount != 3*len(sizes) || r.Searched != 3*len(sizes) {
			t.Errorf("%d files of %d, searched %d", r.FileCount, 3*len(sizes), r.Searched)
		}
	}
}

// TestLegacyEncodings: lines that are not UTF-8 are shown as what they seem to
// be, with the matches in their places; damage stays visible.
func TestLegacyEncodings(t *testing.T) {
	root := t.TempDir()
	latin := strings.Repeat("\xe9t\xe9 et d\xe9j\xe0 vu\n", 4) + "caf\xe9 needle na\xefve needle\n"
	put(t, root, "latin.txt", latin, "utf8.txt", strings.Repeat("été et déjà vu\n", 9)+"caf\xff needle\n",
		"win.txt", strings.Repeat("l\x92\xe9t\xe9 \x93ici\x94\n", 4)+"\x93needle\x94\n")
	r := find(t, Query{Root: root, Pattern: "needle", Before: 1})
	for i, want := range []struct{ path, encoding, line, before string }{
		{"latin.txt", "iso-8859-1", "café needle naïve needle", "été et déjà vu"},
		{"utf8.txt", "", "caf\uFFFD needle", "été et déjà vu"},
		{"win.txt", "windows-1252", "“needle”", "l’été “ici”"},
	} {
		f := r.Files[i]
		l := f.Lines[1]
		if f.Path != want.path || f.Encoding != want.encoding || l.Text != want.line || f.Lines[0].Text != want.before || l.Lossy != (want.encoding == "") {
			t.Errorf("%s in %q: %q after %q, lossy %v", f.Path, f.Encoding, l.Text, f.Lines[0].Text, l.Lossy)
		}
		for _, s := range l.Spans {
			if l.Text[s.Start:s.End] != "needle" {
				t.Errorf("%s: span %v is %q", f.Path, s, l.Text[s.Start:s.End])
			}
		}
	}
	if n := len(r.Files[0].Lines[1].Spans); n != 2 {
		t.Errorf("%d matches in the line, want 2", n)
	}
}
