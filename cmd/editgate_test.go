package cmd

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/syntax"
)

// call runs one command line in this process and returns its result.
func call(t testing.TB, dir string, args ...string) (status int, r map[string]any) {
	t.Helper()
	var out, errs bytes.Buffer
	args = append([]string{"--root", dir, "--state", filepath.Join(dir, ".state"), "-o", "json"}, args...)
	status = Main(t.Context(), func() {}, args, strings.NewReader(""), &out, &errs)
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("%q: %v: %s%s", args, err, out.Bytes(), errs.Bytes())
	}
	return status, r
}

// TestGateLanguages: in every language that this build checks, the gate lets a
// good change pass and stops a bad one.
func TestGateLanguages(t *testing.T) {
	samples := map[string][2]string{ // a good file, and a part of it that is missed
		"Go":               {"package p\n\nfunc f() { g(1) }\n", ")"},
		"JSON":             {"{\"f\": [1, 2]}\n", "]"},
		"Jupyter notebook": {`{"cells": [{"cell_type": "code", "source": ["x = f(1)"], "metadata": {}, "outputs": []}], "metadata": {}}`, "]"},

		"YAML":       {"a: 5\nf: [1, 2]\n", "]"},
		"TOML":       {"a = 5\nf = [1, 2]\n", "]"},
		"Python":     {"def f():\n    return g(1)\n", ")"},
		"JavaScript": {"function f() { return g(1); }\n", ")"},
		"TypeScript": {"function f(a: number): number { return g(1); }\n", ")"},
		"TSX":        {"const f = () => <b>{g(1)}</b>;\n", "}"},
		"Rust":       {"fn f() -> i32 { g(1) }\n", "}"},
		"Java":       {"class F { int f() { return g(1); } }\n", ")"},
		"Ruby":       {"def f\n  g(1)\nend\n", "end"},
		"PHP":        {"<?php\nfunction f() { return g(1); }\n", ")"},
	}
	dir := t.TempDir()
	tried := 0
	for _, l := range syntax.Languages() {
		if !l.Check {
			continue
		}
		c, ok := samples[l.Name]
		if !ok {
			t.Errorf("%s is checked, but no sample of it is here", l.Name)
			continue
		}
		name := "sample" + l.Endings[0]
		if status, r := call(t, dir, "write", name, c[0], "--gate"); status != 0 {
			t.Errorf("%s: writing a good file: %v", l.Name, r["error"])
		}
		if status, r := call(t, dir, "edit", name, "1", "23", "--gate"); status != 0 {
			t.Errorf("%s: a good change: %v", l.Name, r["error"])
		}
		before, _ := os.ReadFile(filepath.Join(dir, name))
		at := strings.LastIndex(string(before), c[1])
		broken := string(before[:at]) + string(before[at+len(c[1]):])
		if status, r := call(t, dir, "write", name, broken, "--gate"); status != 2 {
			t.Errorf("%s: %q passes: %v", l.Name, broken, r)
		}
		if after, _ := os.ReadFile(filepath.Join(dir, name)); !bytes.Equal(after, before) {
			t.Errorf("%s: refused, and yet it was written", l.Name)
		}
		tried++
	}
	t.Logf("%d languages", tried)
	if tried < 4 {
		t.Errorf("only %d languages", tried)
	}
}

// TestGateAlarms changes correct files so that they stay correct, by renaming
// one word, and so that they do not, by dropping a bracket: the gate is to pass
// the first and stop the second. Trees that are not there are said to be missed.
func TestGateAlarms(t *testing.T) {
	limit := 40
	if os.Getenv("AGENTKIT_SOAK") != "" {
		limit = 3000
	}
	for _, c := range []struct{ ending, root string }{
		{".go", filepath.Join(output("go", "env", "GOROOT"), "src")},
		{".py", output("python3", "-c", "import os; print(os.path.dirname(os.__file__))")},
		{".js", "/usr/lib/node_modules"},
		{".js", "/usr/share/nodejs"},
		{".rb", "/usr/lib/ruby"},
		{".json", "/usr/lib/node_modules"},
	} {
		if !slices.ContainsFunc(syntax.Languages(), func(l syntax.Language) bool { return l.Check && slices.Contains(l.Endings, c.ending) }) {
			t.Logf("%s: this build does not check it: NOT measured", c.ending)
			continue
		}
		files, alarms, broken, caught := gateRates(t, c.ending, c.root, limit)
		if files == 0 {
			t.Logf("%s: no files in %q: NOT measured", c.ending, c.root)
			continue
		}
		t.Logf("%-5s %4d files of %s: %d false alarms (%.2f %%), %d of %d broken ones stopped", c.ending, files, c.root, alarms, 100*float64(alarms)/float64(files), caught, broken)
		if alarms*100 > files+100 {
			t.Errorf("%s: %d false alarms in %d files", c.ending, alarms, files)
		}
		if caught*10 < broken*8 {
			t.Errorf("%s: only %d of %d broken files are stopped", c.ending, caught, broken)
		}
	}
}

func output(name string, args ...string) string {
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// gateRates counts alarms over a sample of the files of a tree.
func gateRates(t *testing.T, ending, root string, limit int) (files, alarms, broken, caught int) {
	var names []string
	if root == "" {
		return 0, 0, 0, 0
	}
	_ = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil
		case d.IsDir() && slices.Contains([]string{"testdata", "test", "tests", "lib2to3", "bad"}, d.Name()):
			return fs.SkipDir // they hold broken files on purpose
		case d.Type().IsRegular() && strings.HasSuffix(name, ending):
			names = append(names, name)
		}
		return nil
	})
	r := rand.New(rand.NewPCG(1, 1))
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	word := regexp.MustCompile(`\b[a-z]+[A-Z][a-zA-Z]+\b|\b[a-z]+_[a-z_]+[a-z]\b`)
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil || len(data) > 256<<10 || files >= limit {
			continue
		}
		if syntax.Check(name, data) != nil || ending == ".json" && bytes.Contains(data, []byte("//")) {
			continue // not correct, or with what looks like comments: then JSON is not checked
		}
		places := word.FindAllIndex(data, -1)
		if len(places) == 0 {
			continue
		}
		files++
		at := places[r.IntN(len(places))]
		good := slices.Concat(data[:at[1]], []byte("Renamed"), data[at[1]:])
		if found := syntax.NewContext(t.Context(), name, data, good); len(found) > 0 {
			alarms++
			t.Logf("%s: renaming %s: %+v", name, data[at[0]:at[1]], found[0])
		}
		if bad := unbalanced(data, ending); bad != nil {
			broken++
			if len(syntax.NewContext(t.Context(), name, data, bad)) > 0 {
				caught++
			}
		}
	}
	return files, alarms, broken, caught
}

// unbalanced drops the bracket that ends the last line that ends with one; nil
// when there is none.
func unbalanced(data []byte, ending string) []byte {
	comment := map[string]string{".py": "#", ".rb": "#", ".yml": "#"}[ending]
	if comment == "" {
		comment = "//"
	}
	end := len(data)
	for end > 0 {
		from := bytes.LastIndexByte(data[:end], '\n') + 1
		line := strings.TrimRight(string(data[from:end]), " \t\r,;")
		if n := len(line); n > 0 && strings.IndexByte(")]}", line[n-1]) >= 0 && !strings.Contains(line, comment) && !strings.ContainsAny(line, "*\"'`/") {
			return slices.Concat(data[:from+n-1], data[from+n:])
		}
		end = max(from-1, 0)
	}
	return nil
}
