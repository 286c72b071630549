//go:build unix

package rg

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestWalkRandomTrees compares walks with rg --files in trees made at random:
// rules of all kinds in all directories, repositories in repositories, names
// of odd bytes, links of every sort. Rules that git and ripgrep read
// differently are left out; TestIgnoreLikeGit has those.
func TestWalkRandomTrees(t *testing.T) {
	n := uint64(20)
	switch {
	case os.Getenv("CASES") == "all":
		n = 60
	case soak():
		n = 3000
	case testing.Short():
		n = 8
	}
	for _, rg := range findTestRipgreps(t) {
		old := isOld(t, rg)
		for seed := range n {
			compareWalk(t, rg, old, seed)
		}
	}
}

func FuzzWalkLikeRipgrep(f *testing.F) {
	rg := findTestRipgreps(f)[0]
	old := isOld(f, rg)
	f.Add(uint64(100_000))
	f.Fuzz(func(t *testing.T, seed uint64) { compareWalk(t, rg, old, seed) })
}

// isOld says whether it is version 13, which forgets rules of the directories
// above a path, and whose wildcards match no line breaks.
func isOld(t testing.TB, rg string) bool {
	t.Helper()
	return strings.HasPrefix(runRipgrep(t, rg, "/", "--version"), "ripgrep 13.")
}

// walkNames has none that ends in a dot: ripgrep takes those for hidden no more.
var walkNames = []string{
	"a", "b", "ab", "a.o", "b.o", "c.txt", "main.go", "x.py", "build", "Makefile", "foo.c", "x y", "#a", "!b", "-n", `q\r`,
	"a.tar.gz", "é", "日本", ".dot", ".x", ".a.o", "new\nline", "bad\xff", "z ", "B", "~", "*", "tab\t", "a]", "$x", "'", `"`,
}

// randomWalkRule has no set with ! or ^, for ripgrep lets those match a slash.
func randomWalkRule(r *rand.Rand) string {
	pick := func(s ...string) string { return s[r.IntN(len(s))] }
	part := func() string {
		if r.IntN(2) == 0 {
			return pick("a", "b", "ab", "a.o", "c.txt", "build", "foo.c", "x y", `\#a`, "#a", "-n", "a.tar.gz", "é", "日本", ".dot", ".x", "B")
		}
		return pick("*", "*.o", "?", "??", "a*", "*a", "**", "[ab]", "[a-c].*", "*.*", "f?o*", ".*", "*.go", "*.tar.*", "[ab]*", `\*`)
	}
	s := part()
	for range max(0, r.IntN(5)-2) {
		s += "/" + part()
	}
	switch r.IntN(8) {
	case 0, 1:
		s = "/" + s
	case 2:
		s = "**/" + s
	}
	switch r.IntN(8) {
	case 0, 1:
		s += "/"
	case 2:
		s += "/**"
	}
	if r.IntN(3) == 0 {
		s = "!" + s
	}
	return s + pick("", "", "", "", " ")
}

func randomRules(r *rand.Rand) string {
	var rules []string
	for range 1 + r.IntN(4) {
		rules = append(rules, randomWalkRule(r))
	}
	return strings.Join(rules, "\n") + []string{"", "\n"}[r.IntN(2)]
}

// walkTree makes a tree, and gives its directories with a final slash.
func walkTree(t testing.TB, r *rand.Rand) (root string, dirs []string) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dirs = []string{""}
	for range 9 {
		d := dirs[r.IntN(len(dirs))] + walkNames[r.IntN(len(walkNames))] + "/"
		if !slices.Contains(dirs, d) && os.MkdirAll(filepath.Join(root, d), 0o755) == nil {
			dirs = append(dirs, d)
		}
	}
	for i, d := range dirs {
		for range 5 {
			path := filepath.Join(root, d, walkNames[r.IntN(len(walkNames))])
			if _, err := os.Lstat(path); err == nil {
				continue
			}
			if r.IntN(6) == 0 {
				up := strings.Repeat("../", strings.Count(d, "/")) // the root
				to := []string{"a", ".", "nowhere", "b.o", up + ".", up + "a", root, up + dirs[r.IntN(len(dirs))], filepath.Join(root, dirs[r.IntN(len(dirs))])}[r.IntN(9)]
				_ = os.Symlink(to, path)
				continue
			}
			_ = os.WriteFile(path, []byte("x\n"), 0o644)
		}
		for _, name := range []string{".gitignore", ".gitignore", ".ignore", ".rgignore"} {
			if r.IntN(3) == 0 {
				put(t, root, d+name, randomRules(r))
			}
		}
		if i == 0 && r.IntN(4) > 0 || r.IntN(10) == 0 {
			put(t, root, d+".git/HEAD", "ref: refs/heads/main\n")
			if r.IntN(2) == 0 {
				put(t, root, d+".git/info/exclude", randomRules(r))
			}
		}
	}
	return root, dirs
}

func compareWalk(t *testing.T, rg string, old bool, seed uint64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 5))
	root, dirs := walkTree(t, r)
	home := t.TempDir()
	var o WalkOptions
	args := []string{"--files", "-0", "--no-messages"}
	if r.IntN(2) == 0 {
		// Without slashes, for ripgrep takes them from the directory it runs in
		// and git from the top of the repository.
		put(t, home, ".gitconfig", "[core]\n\texcludesFile = "+filepath.Join(home, "global")+"\n", "global", strings.ReplaceAll(randomRules(r), "/", ""))
		o.GlobalIgnore = filepath.Join(home, "global")
	}
	if r.IntN(6) == 0 {
		args = append(args, "--no-ignore")
		o.NoIgnore = true
	}
	if r.IntN(2) == 0 {
		args = append(args, "--hidden")
		o.Hidden = true
	}
	if !o.Hidden || !o.NoIgnore {
		args = append(args, "--glob=!.git") // a rule such as !.* would make ripgrep list it
	}
	if r.IntN(4) == 0 {
		args = append(args, "--follow")
		o.Follow = true
	}
	switch r.IntN(6) { // not both: to ripgrep a glob that matches makes up for the type
	case 0, 1:
		for range 1 + r.IntN(2) {
			glob := strings.TrimRight(randomWalkRule(r), " ")
			args = append(args, "--glob="+quoteHash(glob))
			o.Globs = append(o.Globs, glob)
		}
	case 2:
		args = append(args, "-tgo", "-tpy")
		o.Types = []string{"go", "py"}
	}
	o.Root = root
	var paths []string
	if !o.Follow && !old { // a link may lead above
		switch d := dirs[r.IntN(len(dirs))]; r.IntN(3) {
		case 0:
			o.Root = filepath.Join(root, d)
		case 1:
			if d != "" {
				paths = []string{strings.TrimSuffix(d, "/")}
			}
		}
	}
	named := "./"
	if paths != nil {
		named += paths[0]
	}
	out := runRipgrepAt(t, rg, o.Root, home, append(args, "--", named)...)
	var want []string
	for path := range strings.SplitSeq(out, "\x00") {
		if path != "" && !(o.Follow && runsInCircles(root, strings.TrimPrefix(path, "./"))) {
			want = append(want, strings.TrimPrefix(path, "./"))
		}
	}
	slices.Sort(want)
	got := walked(t, paths, o)
	if o.Hidden && !o.NoIgnore && !o.Follow && o.Globs == nil && o.Types == nil && paths == nil {
		compareList(t, seed, o, got)
	}
	if old {
		want, got = slices.DeleteFunc(want, hasLineBreak), slices.DeleteFunc(got, hasLineBreak)
	}
	if !slices.Equal(want, got) {
		t.Errorf("seed %d: in %q of %q, %q: %q, %s\n%s", seed, paths, o.Root, args, rg, diffLines(want, got), rulesBelow(root, o.GlobalIgnore))
	}
}

// compareList checks that a listing that leaves out what ignore rules exclude
// has the files of the same walk.
func compareList(t *testing.T, seed uint64, o WalkOptions, want []string) {
	t.Helper()
	var got []string
	for _, e := range list(t, o.Root, ListOptions{Depth: 100, Limit: -1, Hidden: true, Ignore: true, GlobalIgnore: o.GlobalIgnore}).Entries {
		if e.Mode.IsRegular() {
			got = append(got, e.Path)
		}
	}
	slices.Sort(got)
	if !slices.Equal(want, got) {
		t.Errorf("seed %d: the listing of %q is not the walk: %s", seed, o.Root, diffLines(want, got))
	}
}

func hasLineBreak(path string) bool { return strings.Contains(path, "\n") }

// runsInCircles says whether a path enters a directory again that it came
// through. To ripgrep that is a loop only where it is a link that leads there.
func runsInCircles(root, path string) bool {
	seen := map[string]bool{root: true}
	for i, c := range path {
		if c != '/' {
			continue
		}
		real, err := filepath.EvalSymlinks(filepath.Join(root, path[:i]))
		if err != nil || seen[real] {
			return true
		}
		seen[real] = true
	}
	return false
}
