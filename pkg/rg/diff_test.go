package rg

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fixedPatterns are those that people and models search for.
var fixedPatterns = []struct {
	pattern string
	args    string // ripgrep's flags, read by applyArgs
}{
	{"mutex", ""},
	{"func", ""},
	{"TODO", "-i"},
	{"todo|fixme|xxx", "-i"},
	{"spin_lock_irqsave", "-i"},
	{"return", "-w"},
	{"-foo", "-w"},
	{"err", "-w"},
	{"foo", "-w"},
	{"fo", "-w"},
	{"f..", "-w"},
	{"αβ", "-w"},
	{`\<foo`, ""},
	{`foo\>`, ""},
	{`\b{start}foo\b{end}`, ""},
	{`\b{start-half}foo`, ""},
	{`o\b{end-half}`, ""},
	{"[A-Z]+_SUSPEND", ""},
	{`^func \w+\(`, ""},
	{`\bfoo\b`, ""},
	{`\w{5}\s+\w{5}\s+\w{5}$`, ""},
	{`[0-9]+\.[0-9]+\.[0-9]+`, ""},
	{`\d+\.\d+`, ""},
	{"^$", ""},
	{`^\s*$`, ""},
	{`\r$`, ""},
	{"é", ""},
	{"É", "-i"},
	{"[α-ω]+", ""},
	{`\p{Greek}`, ""},
	{`\pL{30}`, ""},
	{`[^\x00-\x7f]`, ""},
	{"(?i)straße", ""},
	{"kelvin", "-i"},
	{"Sync", "-S"},
	{"sync", "-S"},
	{"a.b", "-F"},
	{"(", "-F"},
	{`\(\)$`, ""},
	{"x*", ""},
	{"foo|bar|baz|qux", ""},
	{"if err != nil \\{", ""},
	{`"[^"]*"`, ""},
	{`(?s)a.b`, ""},
	{`[a-z&&[^aeiou]]{8}`, ""},
	{`[[:upper:]]{6,}`, ""},
	{`\bint(8|16|32|64)\b`, ""},
	{`\B_\B`, ""},
	{`(a|b)*c(d|e){2,3}f`, ""},
	{`^\t+//`, ""},
	{`https?://[^\s)]+`, ""},
	{`[\w.+-]+@[\w-]+\.[\w.-]+`, ""},
	{"\\{$", ""},
	{`^package main$`, ""},
	{`struct \{\n\s+\w+`, "-U"},
	{`\}\n\nfunc`, "-U"},
	{`(?s)/\*.*?\*/`, "-U"},
	{`^$\n^$`, "-U"},
	{`\w+\s*\n\s*\w+`, "-U"},
	{`import \(\n\t"os"`, "-U"},
}

func applyArgs(q *Query, args string) {
	for _, a := range strings.Fields(args) {
		switch a {
		case "-i":
			q.IgnoreCase = true
		case "-w":
			q.Word = true
		case "-S":
			q.SmartCase = true
		case "-F":
			q.Literal = true
		case "-U":
			q.Multiline = true
		case "--hidden":
			q.Hidden = true
		case "--no-ignore":
			q.NoIgnore = true
		case "-L":
			q.Follow = true
		case "-a":
			q.Binary = true
		default:
			panic(a)
		}
	}
}

func goSource(t testing.TB) string {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("go is not on PATH, so its source tree is not known")
	}
	return filepath.Join(strings.TrimSpace(string(out)), "src")
}

// compareFixed compares line for line, or file by file where there are many.
func compareFixed(t *testing.T, rg, root string, lines bool) {
	for _, p := range fixedPatterns {
		if !lines && strings.Contains(p.args, "-U") {
			continue // ripgrep counts matches then, not lines
		}
		args := append(strings.Fields(p.args), "-e", p.pattern, "--", "./")
		q := Query{Root: root, Pattern: p.pattern}
		applyArgs(&q, p.args)
		compareOne(t, rg, root, lines, args, q)
	}
}

func compareOne(t *testing.T, rg, root string, lines bool, args []string, q Query) {
	t.Helper()
	theirs, ours := ripgrepCounts, nativeCounts
	if lines {
		theirs, ours = ripgrepLines, nativeLines
	}
	want, ok := theirs(t, rg, root, args...)
	if !ok {
		t.Logf("%s refuses %q", rg, args)
		return
	}
	got := ours(t, q)
	if !slices.Equal(want, got) {
		t.Errorf("%s %q: %d, native %d\n%s", rg, args, len(want), len(got), diffLines(want, got))
	}
}

func TestFixedPatternsByLine(t *testing.T) {
	for _, rg := range findTestRipgreps(t)[:1] {
		for _, dir := range []string{"encoding", "unicode", "net/http"} {
			compareFixed(t, rg, filepath.Join(goSource(t), dir), true)
		}
	}
}

func TestFixedPatternsByFile(t *testing.T) {
	if testing.Short() {
		t.Skip("short: the whole of Go's source is compared in the full run only")
	}
	for _, rg := range findTestRipgreps(t)[:1] {
		compareFixed(t, rg, goSource(t), false)
	}
}

// TestLinuxSource needs the kernel's source, as Debian's linux-source packages
// unpack it below /usr/src or as LINUX_SOURCE names it.
func TestLinuxSource(t *testing.T) {
	roots, _ := filepath.Glob("/usr/src/linux-source-*")
	if named := os.Getenv("LINUX_SOURCE"); named != "" {
		roots = []string{named}
	}
	for _, root := range roots {
		if st, err := os.Stat(filepath.Join(root, "kernel")); err == nil && st.IsDir() {
			compareFixed(t, findTestRipgreps(t)[0], root, false)
			return
		}
	}
	t.Skip("no unpacked Linux source in /usr/src/linux-source-* or LINUX_SOURCE: the largest comparison did not run")
}
