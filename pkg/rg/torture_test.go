package rg

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// put writes files given as path, content, path, content and so on.
func put(t testing.TB, root string, files ...string) {
	t.Helper()
	for i := 0; i+1 < len(files); i += 2 {
		path := filepath.Join(root, filepath.FromSlash(files[i]))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(files[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func encode16(s string, big bool) string {
	var b []byte
	for _, u := range utf16.Encode([]rune("\ufeff" + s)) {
		if big {
			b = append(b, byte(u>>8), byte(u))
		} else {
			b = append(b, byte(u), byte(u>>8))
		}
	}
	return string(b)
}

// tortureTree holds one of everything that goes wrong.
func tortureTree(t testing.TB) string {
	root := t.TempDir()
	put(t, root,
		".git/HEAD", "ref: refs/heads/main\n",
		".git/info/exclude", "excluded.txt\n",
		".gitignore", "*.log\n!keep.log\n/anchored\nbuild/\nsub/*.tmp\n**/deep/secret\nblank\\ \ntrail   \n\\#hash\n[ab]cls\n*.o\n",
		"a.txt", "foo bar\nneedle one\nFOO\n\nlast foo",
		"empty.txt", "",
		"nl.txt", "\n", "nlnl.txt", "\n\n\n",
		"crlf.txt", "needle\r\nfoo\r\n\r\nend\r\n",
		"cr.txt", "one\rtwo\rneedle\rfoo",
		"nonl.txt", "needle without end",
		"long.txt", strings.Repeat("x", 9_000)+"needle"+strings.Repeat("y", 20_000)+"\nfoo\n",
		"manyhits.txt", strings.Repeat("m", 5000)+"\n",
		"big.txt", bigText(),
		"latin1.txt", "caf\xe9 needle\nna\xefve foo\n",
		"badutf8.txt", "ab\xff\xfeneedle\xc3\nfoo\x80bar\n\xed\xa0\x80 needle\n",
		"utf8.txt", "naïve needle café\nΑΒΓ αβγ\nſtraße STRASSE K kelvin\nÉcole école\nنص نيدل\n日本語 needle\n",
		"bom8.txt", "\xef\xbb\xbfneedle bom\nfoo\n",
		"le.txt", encode16("needle wide\r\nfoo é 𝒳\n", false),
		"be.txt", encode16("first\nneedle wide foo", true),
		"bin.dat", "needle\x00binary\nfoo\n",
		"bin-late.dat", strings.Repeat("needle text\n", 20)+"\x00\n",
		"sub/x.tmp", "needle\n", "sub/deep/secret", "needle\n", "sub/deep/open", "needle\n",
		"sub/.gitignore", "*.md\n!README.md\n", "sub/note.md", "needle\n", "sub/README.md", "needle foo\n",
		"build/out.txt", "needle\n", "x/build/out.txt", "needle\n", "x/anchored", "needle\n", "anchored", "needle\n",
		"keep.log", "needle\n", "drop.log", "needle\n", "excluded.txt", "needle\n",
		".hidden.txt", "needle\n", ".hid/h.txt", "needle\n", ".github/workflows/ci.yml", "on: needle\n",
		".ignore", "ign2/\n", "ign2/i.txt", "needle\n", ".rgignore", "rgign.txt\n!excluded.txt\n", "rgign.txt", "needle\n",
		"blank ", "needle\n", "trail", "needle\n", "#hash", "needle\n", "acls", "needle\n", "ccls", "needle\n",
		"-dash.txt", "needle -dash\n--foo\n", "sp ace/q'uo\"te.txt", "needle\n", "uni-é-日本.txt", "needle\n",
		"code.go", "package main\n\nimport (\n\t\"os\"\n)\n\nfunc main() {\n\tif err := f(); err != nil {\n\t\treturn\n\t}\n}\n\ntype T struct {\n\tneedle int\n}\n",
		"code.py", "def needle(x):\n    return x  # TODO foo\n", "Makefile", "all:\n\tneedle\n", "mod.rs", "fn needle() {}\n",
		"version.txt", "v1.2.3\n10.20\n1.2.3.4 foo_bar fooBar foo-bar\n",
		"inner/.git/HEAD", "ref: x\n", "inner/.gitignore", "*.txt\n", "inner/t.txt", "needle\n", "inner/keep.log", "needle\n", "inner/z.log", "needle\n",
		"words.txt", "foo foobar barfoo -foo- (foo) foo_ _foo föö foo\u0301\nthe end.\n",
	)
	if runtime.GOOS != "windows" {
		put(t, root, "new\nline.txt", "needle\n", "bad\xff.txt", "needle\n", `back\slash.txt`, "needle\n")
		for _, l := range [][2]string{{"a.txt", "link.txt"}, {"sub", "linkdir"}, {"nowhere", "dangling"}, {"..", "sub/up"}} {
			if err := os.Symlink(l[0], filepath.Join(root, l[1])); err != nil {
				t.Fatal(err)
			}
		}
	}
	return root
}

// bigText is larger than the buffer, with matches on the borders of it.
func bigText() string {
	var b strings.Builder
	filler := strings.Repeat("filler text, ", 30)
	for i := 0; b.Len() < 3*largeBuffer; i++ {
		switch {
		case i%97 == 0:
			fmt.Fprintf(&b, "needle %d\n", i)
		case i%719 == 3:
			b.WriteString(strings.Repeat("z", 5000) + "foo\n")
		default:
			fmt.Fprintf(&b, "line %d of %s\n", i, filler[:i%len(filler)])
		}
	}
	return b.String()
}

// randomPattern builds a pattern of ripgrep's grammar.
func randomPattern(r *rand.Rand, depth int) string {
	pick := func(s ...string) string { return s[r.IntN(len(s))] }
	if depth == 0 || r.IntN(3) == 0 {
		return pick("foo", "needle", "n", "e+", ".", `\w`, `\d`, `\s`, "[a-f]", "[^a-m]", `\b`, `\B`, "^", "$", "é", "[α-ω]",
			`\W`, "bar", "x", " ", `\.`, "[[:upper:]]", `\p{L}`, "ee", "o", "K", "ß", `\S`, "[e-o&&[^i]]", `\pN`, "(?i:FOO)", "-")
	}
	sub := func() string { return randomPattern(r, depth-1) }
	switch r.IntN(9) {
	case 0, 1, 2, 3:
		return sub() + sub()
	case 4:
		return "(" + sub() + "|" + sub() + ")"
	case 5:
		return "(?:" + sub() + ")" + pick("*", "+", "?", "{2}", "{1,3}", "*?", "+?", "??", "{0,2}?")
	case 6:
		return sub() + "|" + sub()
	case 7:
		return "(?:" + sub() + ")" + sub()
	}
	return sub() + pick("", ".*", `\s*`, `\w+`) + sub()
}

var tortureFlags = []string{"", "-i", "-w", "-S", "--hidden", "--no-ignore", "-L", "-a", "-U", "-i -w", "--hidden --no-ignore"}

func TestTortureRandomPatterns(t *testing.T) {
	root := tortureTree(t)
	if err := os.Remove(filepath.Join(root, "big.txt")); err != nil { // thousands of lines for each pattern
		t.Fatal(err)
	}
	rgs := findTestRipgreps(t)
	n := 60
	switch {
	case soak():
		n = 600
	case testing.Short():
		n = 20
	}
	r := rand.New(rand.NewPCG(7, 11))
	for i := range n {
		compareTorture(t, rgs[0], root, randomPattern(r, 3), tortureFlags[i%len(tortureFlags)])
	}
}

func TestTortureFixedPatterns(t *testing.T) {
	root := tortureTree(t)
	rgs := findTestRipgreps(t)
	n := 24
	if soak() {
		n = 300
	} else { // the largest file takes as long as all the others, and the time is ripgrep's
		rgs = rgs[:1]
	}
	for _, rg := range rgs {
		for _, p := range diffPatterns(n) {
			compareTorture(t, rg, root, p.pattern, p.args)
		}
		for _, flags := range tortureFlags {
			compareTorture(t, rg, root, "needle", flags)
		}
	}
}

func compareTorture(t *testing.T, rg, root, pattern, flags string) {
	t.Helper()
	args := append(strings.Fields(flags), "-e", pattern)
	if strings.Contains(flags, "--hidden") && !strings.Contains(flags, "--no-ignore") {
		args = append(args, "--glob=!.git")
	}
	q := Query{Root: root, Pattern: pattern}
	applyArgs(&q, flags)
	if q.Word || strings.Contains(pattern, "half") { // what is no UTF-8 is a letter or not, see isLegacyLetter
		for _, glob := range []string{"!badutf8.txt", "!latin1.txt"} {
			args, q.Globs = append(args, "--glob="+glob), append(q.Globs, glob)
		}
	}
	compareOne(t, rg, root, append(args, "--", "./"), q)
}

func TestTortureGlobsAndTypes(t *testing.T) {
	root := tortureTree(t)
	for _, rg := range findTestRipgreps(t) {
		for _, args := range [][]string{
			{"-g", "*.txt"},
			{"-g", "*.{txt,go}"},
			{"-g", "!*.txt"},
			{"-g", "sub/**"},
			{"-g", "/a.txt"},
			{"-g", "!sub"},
			{"-g", "*.log", "-g", "!keep.log"},
			{"-g", "**/deep/*"},
			{"-g", "[a-c]*"},
			{"-t", "go"},
			{"-t", "py", "-t", "rust"},
			{"-T", "txt"},
			{"-t", "make"},
		} {
			q := Query{Root: root, Pattern: "needle"}
			for i := 0; i < len(args); i += 2 {
				switch args[i] {
				case "-g":
					q.Globs = append(q.Globs, args[i+1])
				case "-t":
					q.Types = append(q.Types, args[i+1])
				case "-T":
					q.TypesNot = append(q.TypesNot, args[i+1])
				}
			}
			compareOne(t, rg, root, append(slices.Clone(args), "-e", "needle", "--", "./"), q)
		}
	}
}

// TestNamedPaths compares searches of paths below the root, ignored ones too.
func TestNamedPaths(t *testing.T) {
	root := tortureTree(t)
	for _, rg := range findTestRipgreps(t) {
		if v := runRipgrep(t, rg, root, "--version"); strings.HasPrefix(v, "ripgrep 13.") {
			t.Logf("%s is left out: version 13 forgets rules of the directories above a path", rg)
			continue
		}
		for _, path := range []string{"build", "sub", "ign2", ".hid", "inner", "sub/deep", "drop.log", "a.txt", "link.txt", "linkdir", "excluded.txt"} {
			want, ok := ripgrepLines(t, rg, root, "-e", "needle", "--", "./"+path)
			if !ok {
				want = nil
			}
			got := nativeLines(t, Query{Root: root, Pattern: "needle", Paths: []string{path}})
			if !slices.Equal(want, got) {
				t.Errorf("%s in %s:\n%s", rg, path, diffLines(want, got))
			}
		}
	}
}

func TestWalkLikeRipgrep(t *testing.T) {
	root := tortureTree(t)
	for _, rg := range findTestRipgreps(t) {
		for _, c := range []struct {
			args string
			opt  WalkOptions
		}{
			{"", WalkOptions{}},
			{"--hidden --glob=!.git", WalkOptions{Hidden: true}},
			{"--no-ignore", WalkOptions{NoIgnore: true}},
			{"--hidden --no-ignore", WalkOptions{Hidden: true, NoIgnore: true}},
			{"-L", WalkOptions{Follow: true}},
			{"-tgo", WalkOptions{Types: []string{"go"}}},
		} {
			out := runRipgrep(t, rg, root, append(strings.Fields(c.args), "--files", "-0", "./")...)
			want := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
			for i := range want {
				want[i] = strings.TrimPrefix(want[i], "./")
			}
			c.opt.Root = root
			slices.Sort(want)
			if got := walked(t, nil, c.opt); !slices.Equal(want, got) {
				t.Errorf("%s %s:\n%s", rg, c.args, diffLines(want, got))
			}
		}
	}
}

func runRipgrep(t testing.TB, rg, dir string, args ...string) string {
	t.Helper()
	return runRipgrepAt(t, rg, dir, t.TempDir(), args...)
}

func runRipgrepAt(t testing.TB, rg, dir, home string, args ...string) string {
	t.Helper()
	cmd := exec.Command(rg, append([]string{"--no-config"}, args...)...)
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + home}
	out, _ := cmd.Output()
	return string(out)
}

func walked(t testing.TB, paths []string, o WalkOptions) []string {
	t.Helper()
	var got []string
	if _, err := Walk(t.Context(), paths, o, func(e Entry) error {
		got = append(got, e.Path)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	return got
}
