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
