package rg

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
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
	{`package \w+`, "-x"},
	{`\t*\}?`, "-x"},
	{`return|\s+return (nil|err)`, "-x"},
	{`struct \{\n\s+\w+`, "-U"},
	{`\}\n\nfunc`, "-U"},
	{`(?s)/\*.*?\*/`, "-U"},
	{`^$\n^$`, "-U"},
	{`\w+\s*\n\s*\w+`, "-U"},
	{`import \(\n\t"os"`, "-U"},
}

func applyArgs(q *Query, args string) {
	for a := range strings.FieldsSeq(args) {
		switch a {
		case "-i":
			q.IgnoreCase = true
		case "-x":
			q.Line = true
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

// A diffPattern is a pattern with ripgrep's flags.
type diffPattern struct{ pattern, args string }

// diffPatterns gives n patterns: the fixed ones, then words in the shapes in
// which people and models search for them.
func diffPatterns(n int) []diffPattern {
	var all []diffPattern
	for _, p := range fixedPatterns {
		all = append(all, diffPattern{p.pattern, p.args})
	}
	words := []string{"mutex", "lock", "err", "return", "struct", "read", "name", "static", "size", "open", "Test", "init", "x", "0x", "ctx", "int", "de", "node"}
	shapes := []diffPattern{
		{"%s", ""},
		{"%s", "-i"},
		{"%s", "-w"},
		{`\b%s_\w+`, ""},
		{`^\s*%s\b`, ""},
		{`%s\(`, "-i"},
		{`\w+\.%s`, ""},
		{`%s.*\d+`, ""},
		{`[A-Z]+_?%s`, "-i"},
		{`(%s|foo)[^a-z]`, ""},
		{`%s\w{2,4}\s`, ""},
		{`%s\W+%s`, "-i"},
		{`[a-z]\d%s|\d{3}-\d`, ""},
		{`"[^"]*%s[^"]*"`, ""},
		{`%s;\n\s*\w+`, "-U"},
		{`%s$`, ""},
	}
	for i := 0; len(all) < n; i++ {
		word, shape := words[i%len(words)], shapes[i/len(words)%len(shapes)]
		all = append(all, diffPattern{strings.ReplaceAll(shape.pattern, "%s", word), shape.args})
	}
	step := max(1, len(all)/n)
	var out []diffPattern
	for i := 0; i < len(all) && len(out) < n; i += step {
		out = append(out, all[i])
	}
	return out
}

// soak says whether the comparisons run at full length.
func soak() bool { return os.Getenv("AGENTKIT_SOAK") == "1" }

// TestSameLinesAsRipgrep compares which lines match, file by file, in real
// trees: this repository, Go's source, and with AGENTKIT_SOAK=1 the kernel's,
// as Debian's linux-source packages unpack it below /usr/src or as
// LINUX_SOURCE names it. TestTorture… do the same in a tree made for it.
func TestSameLinesAsRipgrep(t *testing.T) {
	rg := findTestRipgreps(t)[0]
	repository, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	trees := []struct {
		name, root string
		patterns   int
	}{
		{"repository", repository, 24},
		{"go", filepath.Join(goSource(t), "encoding"), 24},
		{"linux", linuxSource(), 0},
	}
	if soak() {
		trees[1].root = goSource(t)
	}
	for _, tree := range trees {
		t.Run(tree.name, func(t *testing.T) {
			n := tree.patterns
			switch {
			case soak():
				n = 300
			case testing.Short():
				n /= 4
			}
			if tree.root == "" {
				t.Skip("no unpacked Linux source in /usr/src/linux-source-* or LINUX_SOURCE: the largest comparison did not run")
			}
			if n == 0 {
				t.Skip("the largest comparison runs only with AGENTKIT_SOAK=1")
			}
			for _, p := range diffPatterns(n) {
				compareFiles(t, rg, tree.root, p)
			}
		})
	}
}

func linuxSource() string {
	roots, _ := filepath.Glob("/usr/src/linux-source-*")
	if named := os.Getenv("LINUX_SOURCE"); named != "" {
		roots = []string{named}
	}
	for _, root := range roots {
		if st, err := os.Stat(filepath.Join(root, "kernel")); err == nil && st.IsDir() {
			return root
		}
	}
	return ""
}

// A lineSet is which lines of a file match, told by a sum.
type lineSet struct {
	n   int
	sum uint64
}

func (s lineSet) with(line int) lineSet {
	return lineSet{s.n + 1, s.sum + hashEntry("", uint64(line))}
}

func compareFiles(t *testing.T, rg, root string, p diffPattern) {
	t.Helper()
	args := append(strings.Fields(p.args), "-e", p.pattern, "--", "./")
	want, ok := ripgrepSets(t, rg, root, args)
	if !ok {
		t.Logf("%s refuses %q", rg, args)
		return
	}
	q := Query{Root: root, Pattern: p.pattern, MaxLineShown: 1, Timeout: -1, Engine: Native}
	applyArgs(&q, p.args)
	got := map[string]lineSet{}
	if _, err := Stream(t.Context(), q, func(f FileResult) error {
		for _, l := range f.Lines {
			if l.Match {
				got[f.Path] = got[f.Path].with(l.Number)
			}
		}
		return nil
	}); err != nil {
		t.Errorf("%q: %v", p.pattern, err)
		return
	}
	var different []string
	for path := range want {
		if want[path] != got[path] {
			different = append(different, path)
		}
	}
	for path := range got {
		if _, ok := want[path]; !ok {
			different = append(different, path)
		}
	}
	if len(different) > 0 {
		slices.Sort(different)
		path := different[0]
		t.Errorf("%q differs in %d files of %d: %s has %d lines, native %d", args, len(different), len(want), path, want[path].n, got[path].n)
	}
}

// ripgrepSets reads what ripgrep prints: path, zero byte, number, text. It
// leaves out files that ripgrep says are binary.
func ripgrepSets(t *testing.T, rg, root string, args []string) (map[string]lineSet, bool) {
	t.Helper()
	cmd := exec.Command(rg, append([]string{"--no-config", "--no-messages", "--no-heading", "--line-number", "--with-filename", "--null", "--max-columns=1"}, args...)...)
	cmd.Dir, cmd.Env = root, []string{"HOME=" + t.TempDir()}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	sets := map[string]lineSet{}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		path, rest, ok := strings.Cut(strings.TrimPrefix(lines.Text(), "./"), "\x00")
		if !ok {
			path, _, _ = strings.Cut(path, ": ")
			delete(sets, path)
			continue
		}
		number, _, _ := strings.Cut(rest, ":")
		n, err := strconv.Atoi(number)
		if err != nil {
			t.Fatalf("%q of %s is no line of ripgrep", lines.Text(), rg)
		}
		sets[path] = sets[path].with(n)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	err = cmd.Wait()
	exit, _ := errors.AsType[*exec.ExitError](err)
	return sets, err == nil || exit != nil && exit.ExitCode() == 1
}

func compareOne(t *testing.T, rg, root string, args []string, q Query) {
	t.Helper()
	want, ok := ripgrepLines(t, rg, root, args...)
	if !ok {
		t.Logf("%s refuses %q", rg, args)
		return
	}
	got := nativeLines(t, q)
	if !slices.Equal(want, got) {
		t.Errorf("%s %q: %d, native %d\n%s", rg, args, len(want), len(got), diffLines(want, got))
	}
}
