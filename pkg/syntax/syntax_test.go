package syntax

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestNew(t *testing.T) {
	for _, tt := range []struct {
		name, before, after string
		line                int // of the first new mistake; 0 for none
		text                string
	}{
		{"a.go", "package a\n", "package a\n\nfunc f() {\n", 3, "func f() {"},
		{"a.go", "package a\n", "package a\n\nfunc f() {}\n", 0, ""},
		{"a.go", "package a\nfunc {\n", "package a\n// x\nfunc {\n", 0, ""},
		{"a.json", "{}", "{\n  \"a\": 1,\n}\n", 3, "}"},
		{"a.json", "", "{\"a\":1}\n{\"a\":2}\n", 0, ""},
		{"tsconfig.json", "", "{\n // why\n}", 0, ""},
		{"a.yaml", "a: 1\n", "a: 1\n b: 2\n", 2, " b: 2"},
		{"a.yml", "", "a: {{ .Values.x }}\n", 0, ""},
		{"a.yml", "", "a: 1\n---\nb: 2\n", 0, ""},
		{"package.json", "{}", "{\"url\": \"https://example.com/*\",,\n}", 1, "{\"url\": \"https://example.com/*\",,"},
		{"tsconfig.json", "{}", "{ // why\n,}", 0, ""},
		{"a.toml", "a = 1\n", "a = 1\nb = \n", 2, "b = "},
		{"a.txt", "", "func {", 0, ""},
		{"a.py", "x = 1\n", "x = 1\ndef f(:\n    pass\n", 2, "def f(:"},
		{"a.py", "x = 1\n", "x = 1\nwith (open(a) as b, c):\n    match b:\n        case [1, *_]: pass\n", 0, ""},
		{"a.py", "def f(:\n", "# a\ndef f(:\n", 0, ""},
		{"a.ts", "", "let a: number = 1;\nfunction f( {\n", 2, "function f( {"},
		{"a.d.ts", "", "function f( {\n", 0, ""},
		{"a.rs", "", "fn f() {\n    let x = ;\n}\n", 2, "    let x = ;"},
		{"a.c", "", "int f( {\n", 0, ""}, // too many false alarms
	} {
		if lang := languageOf(tt.name, nil); tt.line > 0 && !lang.checked() {
			continue // without cgo
		}
		found := New(tt.name, []byte(tt.before), []byte(tt.after))
		switch {
		case tt.line == 0 && len(found) > 0:
			t.Errorf("%s %q: %v", tt.name, tt.after, found)
		case tt.line > 0 && (len(found) == 0 || found[0].Line != tt.line || found[0].Text != tt.text):
			t.Errorf("%s %q: %+v, want line %d %q", tt.name, tt.after, found, tt.line, tt.text)
		}
	}
}

// TestNoFalseAlarms parses Go's own sources: none of them is broken.
func TestNoFalseAlarms(t *testing.T) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skipf("no go command: %v", err)
	}
	root := filepath.Join(strings.TrimSpace(string(out)), "src")
	seen := 0
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && d.Name() == "testdata" {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || seen > 800 {
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		seen++
		if found := Check(name, data); len(found) > 0 {
			t.Errorf("%s: %v", name, found)
		}
		return nil
	})
	if err != nil || seen == 0 {
		t.Skipf("no Go sources at %s: %v", root, err)
	}
}
