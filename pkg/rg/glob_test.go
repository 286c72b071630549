package rg

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func globTree(t testing.TB) string {
	root := t.TempDir()
	put(t, root, ".git/HEAD", "", ".gitignore", "node_modules/\ndist/*\n*.log\n", "a.go", "", "b.txt", "", "src/a.go", "", "src/b.ts", "", "src/x/c.go", "",
		".github/workflows/ci.yml", "", ".github/.hid", "", ".env", "", "src/.env", "", "node_modules/x/package.json", "", "node_modules/x/i.js", "",
		"dist/o.js", "", "app.log", "", "src/.cache/k.go", "", "sp ace/[x].txt", "")
	return root
}

func globbed(t testing.TB, root string, o GlobOptions, patterns ...string) string {
	t.Helper()
	o.Sort = ByPath
	r, err := Glob(t.Context(), root, patterns, o)
	if err != nil {
		t.Fatalf("%q: %v", patterns, err)
	}
	var out []string
	for _, e := range r.Entries {
		out = append(out, e.Path)
	}
	if r.Total != len(out) {
		t.Errorf("%q: total %d of %d", patterns, r.Total, len(out))
	}
	return strings.Join(out, " ")
}

func TestGlob(t *testing.T) {
	root := globTree(t)
	for _, c := range []struct {
		patterns, want string
		opt            GlobOptions
	}{
		{patterns: "*", want: "a.go b.txt"},
		{patterns: "**", want: "a.go b.txt sp ace/[x].txt src/a.go src/b.ts src/x/c.go"},
		{patterns: "*.go", want: "a.go"},
		{patterns: "**/*.go", want: "a.go src/a.go src/x/c.go"},
		{patterns: "src/*", want: "src/a.go src/b.ts"},
		{patterns: "./src/*.{go,ts}", want: "src/a.go src/b.ts"},
		{patterns: "{src,nope}/a.go", want: "src/a.go"},
		{patterns: ".github/**", want: ".github/workflows/ci.yml"},
		{patterns: ".github/**/*.yml", want: ".github/workflows/ci.yml"},
		{patterns: ".*", want: ".env .gitignore"},
		{patterns: "**/.env", want: ".env src/.env"},
		{patterns: "**/.env*", want: ".env src/.env"},
		{patterns: "node_modules/x/package.json", want: "node_modules/x/package.json"},
		{patterns: "node_modules/**", want: "node_modules/x/i.js node_modules/x/package.json"},
		{patterns: "dist/*.js", want: "dist/o.js"},
		{patterns: "*.log", want: ""},
		{patterns: "app.log", want: "app.log"},
		{patterns: "*.log", want: "app.log", opt: GlobOptions{NoIgnore: true}},
		{patterns: "src/**", want: "src/.cache/k.go src/.env src/a.go src/b.ts src/x/c.go", opt: GlobOptions{Hidden: true}},
		{patterns: "src/**", want: "src/a.go src/b.ts src/x src/x/c.go", opt: GlobOptions{Dirs: true}},
		{patterns: "*/", want: "dist sp ace src", opt: GlobOptions{Dirs: true}},
		{patterns: "src/", want: "src/a.go src/b.ts src/x/c.go"},
		{patterns: `sp ace/\[x\].txt`, want: "sp ace/[x].txt"},
		{patterns: "nope/*", want: ""},
		{patterns: "src/x/c.go", want: "src/x/c.go"},
	} {
		if got := globbed(t, root, c.opt, c.patterns); got != c.want {
			t.Errorf("%s %+v: %q, want %q", c.patterns, c.opt, got, c.want)
		}
	}
	if got := globbed(t, root, GlobOptions{}, "*.go", "a.*", "src/**/*.ts", filepath.Join(root, "b.*")); got != "a.go b.txt src/b.ts" {
		t.Errorf("several patterns: %q", got)
	}
}

func TestGlobErrors(t *testing.T) {
	root := globTree(t)
	for _, bad := range []string{"[a", "{a,b", "", "!x", "../*", "/etc/*", `a\`} {
		if _, err := Glob(t.Context(), root, []string{bad}, GlobOptions{}); !errors.Is(err, ErrGlob) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if _, err := Glob(t.Context(), filepath.Join(root, "nope"), []string{"*"}, GlobOptions{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing root: %v", err)
	}
	if _, err := Glob(t.Context(), filepath.Join(root, "a.go"), []string{"*"}, GlobOptions{}); !errors.Is(err, ErrNotDirectory) {
		t.Errorf("a file as root: %v", err)
	}
	if _, err := Glob(t.Context(), root, nil, GlobOptions{}); !errors.Is(err, ErrGlob) {
		t.Errorf("no pattern: %v", err)
	}
}

func TestGlobPages(t *testing.T) {
	root := t.TempDir()
	for i := range 50 {
		name := fmt.Sprintf("f%02d.txt", i)
		put(t, root, name, "")
		when := time.Unix(1_700_000_000+int64(i/2), 0)
		if err := os.Chtimes(filepath.Join(root, name), when, when); err != nil {
			t.Fatal(err)
		}
	}
	var all []string
	o := GlobOptions{Limit: 7}
	for range 20 {
		r, err := Glob(t.Context(), root, []string{"*.txt"}, o)
		if err != nil || r.Total != 50 || r.Changed {
			t.Fatalf("total %d, changed %v, error %v", r.Total, r.Changed, err)
		}
		for _, e := range r.Entries {
			all = append(all, e.Path)
		}
		if o.Cursor = r.Cursor; !r.Truncated {
			break
		}
	}
	if len(all) != 50 || all[0] != "f48.txt" || all[1] != "f49.txt" || all[49] != "f01.txt" {
		t.Errorf("%d entries, newest first: %v", len(all), all)
	}
	o.Limit, o.Cursor = 50, ""
	if r, _ := Glob(t.Context(), root, []string{"*.txt"}, o); r.Truncated {
		t.Error("exactly as many as the limit is not truncated")
	}
	o.Limit = 7
	r, _ := Glob(t.Context(), root, []string{"*.txt"}, o)
	o.Cursor = r.Cursor
	put(t, root, "new.txt", "")
	if r, _ = Glob(t.Context(), root, []string{"*.txt"}, o); !r.Changed {
		t.Error("a new file is not noticed")
	}
	if _, err := Glob(t.Context(), root, []string{"*.go"}, o); !errors.Is(err, ErrCursor) {
		t.Errorf("a cursor of other patterns: %v", err)
	}
}

func TestGlobBudgets(t *testing.T) {
	root := globTree(t)
	r, err := Glob(t.Context(), root, []string{"**"}, GlobOptions{MaxEntries: 5})
	if err != nil || r.Partial != PartialEntries {
		t.Errorf("%+v %v", r, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	<-ctx.Done()
	if r, err = Glob(ctx, root, []string{"**"}, GlobOptions{}); err != nil || r.Partial != PartialTimeout {
		t.Errorf("%+v %v", r, err)
	}
	r, err = Glob(t.Context(), root, []string{"**/*.go", ".env"}, GlobOptions{Allow: func(p string, _ bool) bool {
		return filepath.Base(p) != ".env" && filepath.Base(p) != "x"
	}})
	if err != nil || !slices.Equal(r.Skipped, []Skipped{{".env", ReasonPolicy}, {"src/x", ReasonPolicy}}) || r.Total != 2 {
		t.Errorf("%+v %v", r, err)
	}
}

func TestGlobRangesAndTrailingStars(t *testing.T) {
	root := t.TempDir()
	put(t, root, "file1.txt", "", "file2.txt", "", "file12.txt", "", "a/x.txt", "", "a/b/y.txt", "", "top", "", "file{01..2}", "")
	for pattern, want := range map[string][]string{
		"file{1..2}.txt":   {"file1.txt", "file2.txt"},
		"file{2..12}.txt":  {"file12.txt", "file2.txt"},
		"file\\{01..2\\}":  {"file{01..2}"},
		"*/**":             {"a/b/y.txt", "a/x.txt"},
		"*/":               {"a/b/y.txt", "a/x.txt"},
		"**/*/**":          {"a/b/y.txt", "a/x.txt"},
		"a/**":             {"a/b/y.txt", "a/x.txt"},
		"{a,top}/**":       {"a/b/y.txt", "a/x.txt"},
		"file{2..1}.txt":   nil,
		"file{1..9999}.go": nil,
	} {
		r, err := Glob(t.Context(), root, []string{pattern}, GlobOptions{Sort: ByPath})
		if err != nil {
			t.Errorf("%s: %v", pattern, err)
			continue
		}
		var got []string
		for _, e := range r.Entries {
			got = append(got, e.Path)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", pattern, got, want)
		}
	}
}

// TestIncludeFindsHidden: a glob that spells out the dot of a name finds it, as
// Glob does.
func TestIncludeFindsHidden(t *testing.T) {
	root := t.TempDir()
	put(t, root, ".env", "hit", ".env.local", "hit", "a.txt", "hit", ".github/workflows/ci.yml", "hit", ".github/.x/c.yml", "hit",
		"sub/.env", "hit", ".venv/.env", "hit", ".git/config", "hit", ".ignore", "sub/\n")
	for include, want := range map[string]string{
		".env":           ".env",
		".env*":          ".env .env.local",
		"**/.env*":       ".env .env.local",
		".github/**":     ".github/workflows/ci.yml",
		"**/*.yml":       "",
		".*/**":          ".github/.x/c.yml .github/workflows/ci.yml .venv/.env",
		"{.env,a}*":      ".env .env.local a.txt",
		".git/config":    "",
		".github/*/*ml":  ".github/workflows/ci.yml",
		"/.venv/.env":    ".venv/.env",
		"*.{txt,.local}": "a.txt",
	} {
		var got []string
		for _, f := range find(t, Query{Root: root, Pattern: "hit", Include: []string{include}}).Files {
			got = append(got, f.Path)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", include, got, want)
		}
	}
}

func TestListClosed(t *testing.T) {
	root := t.TempDir()
	put(t, root, "a/x", "", "node_modules/p/q", "", "z/node_modules/r", "", "z/y/w", "")
	r, err := List(t.Context(), root, ListOptions{Depth: 3, Limit: -1, Hidden: true, Closed: func(name string) bool { return name == "node_modules" }})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range r.Entries {
		got = append(got, fmt.Sprintf("%s %d %v", e.Path, e.Entries, e.Closed))
	}
	want := []string{"a 1 false", "node_modules -1 true", "z 2 false", "a/x -1 false", "z/node_modules -1 true", "z/y 1 false", "z/y/w -1 false"}
	if !slices.Equal(got, want) || r.Total != len(want) {
		t.Errorf("got %q of %d\nwant %q", got, r.Total, want)
	}
}

func TestFromBasic(t *testing.T) {
	for in, want := range map[string]string{
		`alpha\|beta`:       `alpha|beta`,
		`\(a\|b\)c+`:        `(a|b)c\+`,
		`f(\|g()`:           `f\(|g\(\)`,
		`a\{2\}\|b{`:        `a{2}|b\{`,
		`err\(\|warn`:       `err\(|warn`, // no pattern as grep reads it
		`[|(]\|x\.y\|[^]+]`: `[|(]|x\.y|[^]+]`,
		`\<a\>\|b`:          `\<a\>|b`,
		`a|b`:               "", `a\.b`: "", `\\|a`: "",
	} {
		got, ok := FromBasic(in)
		if got != want || ok != (want != "") {
			t.Errorf("%s: %q %v, want %q", in, got, ok, want)
		}
	}
}

func TestMayBeBasic(t *testing.T) {
	for in, want := range map[string]string{
		`al\(pha\)`: `al(pha)`, `a\{2\}`: `a{2}`, `a\+b`: `a+b`, `colou\?r(`: `colou?r\(`, `\(a\)\{2,\}`: `(a){2,}`,
		`a\|b\(c\)`: "", `f\(\)`: "", `f\(`: "", `a\{b`: "", `\\(a`: "", `[\(a\)]`: "", `a\.b`: "", `a(b)+`: "",
	} {
		got, ok := MayBeBasic(in)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%s: %q %v, want %q", in, got, ok, want)
		}
	}
}
