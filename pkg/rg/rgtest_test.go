package rg

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
)

// findTestRipgreps gives the ripgreps to compare with: RG_TEST lists paths,
// else the one on PATH.
func findTestRipgreps(t testing.TB) []string {
	t.Helper()
	out := filepath.SplitList(os.Getenv("RG_TEST"))
	if path, err := exec.LookPath("rg"); err == nil {
		out = append(out, path)
	}
	if len(out) == 0 {
		t.Skip("ripgrep is not installed, so there is nothing to compare with: put rg on PATH or name it in RG_TEST")
	}
	return out
}

// ripgrepLines runs ripgrep and gives "path:line" of every matching line, but
// for binary files. It is false when ripgrep refused the pattern.
func ripgrepLines(t testing.TB, rg, dir string, args ...string) ([]string, bool) {
	t.Helper()
	cmd := exec.Command(rg, append([]string{"--no-config", "--json", "--no-messages"}, args...)...)
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + t.TempDir()}
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	err := cmd.Run()
	if out.Len() == 0 && err != nil {
		return nil, false
	}
	var lines, file []string
	dec := json.NewDecoder(&out)
	for dec.More() {
		var m message
		if err := dec.Decode(&m); err != nil {
			t.Fatal(err)
		}
		switch m.Type {
		case "begin":
			file = file[:0]
		case "match":
			path := strings.TrimPrefix(string(m.Data.Path.bytes()), "./")
			text := m.Data.Lines.bytes()
			n := max(1, bytes.Count(text, lineBreak[:]))
			if k := len(text); k > 0 && text[k-1] != '\n' {
				n = 1 + bytes.Count(text, lineBreak[:])
			}
			for i := range n {
				file = append(file, fmt.Sprintf("%s:%d", path, m.Data.LineNumber+i))
			}
		case "end":
			if m.Data.Binary == nil {
				lines = append(lines, file...)
			}
		}
	}
	sort.Strings(lines)
	return slices.Compact(lines), true
}

// nativeLines gives the same of this package's engine.
func nativeLines(t testing.TB, q Query) []string {
	t.Helper()
	q.Engine, q.Limit, q.Timeout = Native, -1, -1
	r, err := Search(t.Context(), q)
	if err != nil {
		t.Fatalf("%q: %v", q.Pattern, err)
	}
	return resultLines(r)
}

func resultLines(r *Results) []string {
	var lines []string
	for _, f := range r.Files {
		for _, l := range f.Lines {
			if l.Match {
				lines = append(lines, fmt.Sprintf("%s:%d", f.Path, l.Number))
			}
		}
	}
	sort.Strings(lines)
	return slices.Compact(lines)
}

func diffLines(want, got []string) string {
	var out []string
	in := map[string]int{}
	for _, s := range want {
		in[s] |= 1
	}
	for _, s := range got {
		in[s] |= 2
	}
	for s, v := range in {
		if v == 1 {
			out = append(out, "missing "+s)
		}
		if v == 2 {
			out = append(out, "extra "+s)
		}
	}
	sort.Strings(out)
	return strings.Join(out[:min(len(out), 12)], "\n") + fmt.Sprintf("\n(%d differences)", len(out))
}
