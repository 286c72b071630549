package syntax

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the expected outlines")

// TestOutline compares the outlines of testdata, one file a language, with
// those beside them. Run it with -update to see a change as a diff.
func TestOutline(t *testing.T) {
	files, err := filepath.Glob("testdata/*.*")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, ".outline") {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(file, ".txt")
		symbols, err := Outline(name, data)
		if errors.Is(err, ErrNoGrammar) {
			t.Logf("%s: %v", file, err)
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
		seen[languageOf(name, data).name] = true
		if strings.HasSuffix(file, ".ipynb") && !languageNamed("Python").outlined() {
			continue // this build sees the cells, not what is in them
		}
		if got := render(symbols); *update {
			if err := os.WriteFile(file+".outline", []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if want, err := os.ReadFile(file + ".outline"); err != nil || got != string(want) {
			t.Errorf("%s: %v\n%s\nwant\n%s", file, err, got, want)
		}
		if again := render(symbols); len(symbols) > 0 {
			crlf, _ := Outline(name, []byte(strings.ReplaceAll(string(data), "\n", "\r\n")))
			if got := render(crlf); got != again {
				t.Errorf("%s with CRLF:\n%s\nwant\n%s", file, got, again)
			}
		}
	}
	for _, l := range Languages() {
		if l.Outline && l.Name != "JSON with comments" && !seen[l.Name] {
			t.Errorf("no file for %s", l.Name)
		}
	}
}

func render(symbols []Symbol) string {
	var b strings.Builder
	for _, s := range symbols {
		lines := fmt.Sprintf("%d-%d", s.Line, s.EndLine)
		if s.First != s.Line {
			lines = fmt.Sprintf("%d/%s", s.First, lines)
		}
		fmt.Fprintf(&b, "%s%s %s %s:%d", strings.Repeat("  ", s.Depth), s.Kind, s.Path(), lines, s.Column)
		fmt.Fprintf(&b, " | %s\n", s.Signature)
	}
	return b.String()
}

func TestFind(t *testing.T) {
	symbols := []Symbol{{Name: "Shape"}, {Name: "area", Parent: "Shape"}, {Name: "area", Parent: "Geo.Circle"}, {Name: "Area"}}
	for _, tt := range []struct {
		name  string
		found int
		near  []string
	}{
		{"Shape", 1, nil},
		{"area", 2, nil},
		{"Shape.area", 1, nil},
		{"Circle::area", 1, nil},
		{"Geo/Circle#area", 1, nil},
		{"Shape.arae", 0, []string{"Shape.area", "Area"}},
		{"Missing.area", 0, []string{"Shape.area", "Geo.Circle.area"}},
		{"Quux", 0, nil},
	} {
		found, near := Find(symbols, tt.name)
		if len(found) != tt.found {
			t.Errorf("%s: found %v", tt.name, found)
		}
		for _, n := range tt.near {
			if !slices.Contains(near, n) {
				t.Errorf("%s: near %q, want %q in it", tt.name, near, n)
			}
		}
		if tt.near == nil && len(near) > 0 {
			t.Errorf("%s: near %q", tt.name, near)
		}
	}
}

// TestBroken wants the symbols around a mistake, and the flag.
func TestBroken(t *testing.T) {
	for name, text := range map[string]string{
		"a.go":   "package a\nfunc one() {}\nfunc two( {\n}\nfunc three() {}\n",
		"a.json": "{\"one\": 1,\n\"three\": 3,\n\"two\" oops}\n",
		"a.yaml": "one: 1\ntwo: [\nthree:\n  four: 1\n",
		"a.toml": "one = 1\n[two\n[three]\n",
		"a.py":   "def one():\n    pass\n\nx = = 2\n\ndef three():\n    pass\n",
		"a.ts":   "function one() {}\nlet x = = 2;\nfunction three() {}\n",
		"a.rs":   "fn one() {}\nfn two() { let x = ; }\nfn three() {}\n",
	} {
		symbols, err := Outline(name, []byte(text))
		if errors.Is(err, ErrNoGrammar) {
			continue
		}
		partial, ok := errors.AsType[*PartialError](err)
		if !ok || partial.Line == 0 {
			t.Errorf("%s: %v", name, err)
		}
		for _, want := range []string{"one", "three"} {
			if found, _ := Find(symbols, want); len(found) != 1 {
				t.Errorf("%s: %s not found in %v", name, want, symbols)
			}
		}
	}
}

func TestOutlineRefuses(t *testing.T) {
	if _, err := Outline("a.txt", nil); !errors.Is(err, ErrNoGrammar) {
		t.Errorf("a.txt: %v", err)
	}
	if _, err := Outline("a.go", make([]byte, maxSize+1)); err == nil || errors.Is(err, ErrNoGrammar) {
		t.Errorf("too large: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := OutlineContext(ctx, "a.go", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := Outline("tool", []byte("#!/usr/bin/env -S python3.11 -u\nX = 1\n")); err != nil && !errors.Is(err, ErrNoGrammar) {
		t.Errorf("by its #! line: %v", err)
	}
}

// TestMinified wants of a symbol on a long line what stands at its own column.
func TestMinified(t *testing.T) {
	var text strings.Builder
	for i := range 40 {
		fmt.Fprintf(&text, "function f%d(a,b){return a+b};", i)
	}
	symbols, err := Outline("a.js", []byte(text.String()))
	if errors.Is(err, ErrNoGrammar) {
		t.Skip("this build has no grammar for it")
	}
	if len(symbols) != 40 || symbols[30].Signature != "function f30(a,b){return a+b}" {
		t.Errorf("%d symbols, %q", len(symbols), symbols[30].Signature)
	}
}
