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
)

func needGit(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed, so there is nothing to compare ignore rules with")
	}
}

func gitLists(t testing.TB, root, home string) []string {
	t.Helper()
	cmd := exec.Command("git", "-c", "core.quotePath=false", "ls-files", "-z", "--others", "--exclude-standard")
	cmd.Dir = root
	cmd.Env = []string{"HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "PATH=" + os.Getenv("PATH")}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git: %v\n%s", err, out)
	}
	var list []string
	for name := range strings.SplitSeq(string(out), "\x00") {
		if name != "" {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

func initRepo(t testing.TB, root string) {
	t.Helper()
	cmd := exec.Command("git", "init", "-q", root)
	cmd.Env = []string{"HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "PATH=" + os.Getenv("PATH")}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
}

var ignoreNames = []string{"a", "b", "ab", "a.o", "b.o", "c.txt", "foo", "foo.c", "x y", "z ", "#a", "!b", `q\r`, "[x]", "a.tar.gz", "é", ".dot", "{a,b}"}

// randomRule leaves out a** before a slash, which git before 2.41 reads as
// chance has it (it compares pointers into different strings).
func randomRule(r *rand.Rand) string {
	pick := func(s ...string) string { return s[r.IntN(len(s))] }
	part := func() string {
		if r.IntN(2) == 0 {
			return pick(ignoreNames...)
		}
		return pick("*", "*.o", "?", "a*", "*a", "**", "[ab]", "[!a]", "[a-c].*", `\#a`, `\!b`, "*.*", "f?o*", "[[:alpha:]]", "x\\ y", "***", "**b", "[]x]", "[a", `q\\r`, ".*", "z\\ ")
	}
	s := part()
	for range r.IntN(3) {
		s += "/" + part()
	}
	if r.IntN(4) == 0 {
		s = "/" + s
	}
	if r.IntN(4) == 0 {
		s += "/"
	}
	if r.IntN(5) == 0 {
		s = "!" + s
	}
	return s + pick("", "", "", " ", "  ", "\r")
}

// ignoreTree makes a tree with random rules from a seed.
func ignoreTree(t testing.TB, r *rand.Rand) string {
	root := t.TempDir()
	initRepo(t, root)
	dirs := []string{""}
	for range 6 {
		dirs = append(dirs, dirs[r.IntN(len(dirs))]+ignoreNames[r.IntN(len(ignoreNames))]+"/")
	}
	for _, d := range dirs {
		if os.MkdirAll(filepath.Join(root, d), 0o755) != nil {
			continue // a file has the name
		}
		for range 6 {
			path := filepath.Join(root, d, ignoreNames[r.IntN(len(ignoreNames))])
			if _, err := os.Lstat(path); err != nil {
				_ = os.WriteFile(path, []byte("x\n"), 0o644)
			}
		}
	}
	for i, d := range dirs {
		if i > 0 && r.IntN(2) == 0 {
			continue
		}
		var rules []string
		for range 1 + r.IntN(5) {
			rules = append(rules, randomRule(r))
		}
		_ = os.WriteFile(filepath.Join(root, d, ".gitignore"), []byte(strings.Join(rules, "\n")), 0o644)
	}
	_ = os.WriteFile(filepath.Join(root, ".git", "info", "exclude"), []byte(randomRule(r)+"\n"), 0o644)
	return root
}

func compareIgnore(t *testing.T, seed uint64) {
	t.Helper()
	root := ignoreTree(t, rand.New(rand.NewPCG(seed, 3)))
	want := gitLists(t, root, t.TempDir())
	got := walked(t, nil, WalkOptions{Root: root, Hidden: true})
	if !slices.Equal(want, got) {
		t.Errorf("seed %d: %s\n%s", seed, diffLines(want, got), rulesBelow(root, ""))
	}
}

// rulesBelow shows the ignore files of a tree, and one elsewhere.
func rulesBelow(root, also string) string {
	var rules strings.Builder
	show := func(path string) {
		text, _ := os.ReadFile(path)
		fmt.Fprintf(&rules, "%q:\n%q\n", strings.TrimPrefix(path, root), text)
	}
	_ = filepath.WalkDir(root, func(path string, d os.DirEntry, _ error) error {
		if ignoreKind([]byte(d.Name())) >= 0 || d.Name() == "exclude" || d.Name() == "HEAD" {
			show(path)
		}
		return nil
	})
	if also != "" {
		show(also)
	}
	return rules.String()
}

func TestIgnoreLikeGit(t *testing.T) {
	needGit(t)
	n := uint64(40)
	switch {
	case soak():
		n = 1000
	case testing.Short():
		n = 10
	}
	for seed := range n {
		compareIgnore(t, seed)
	}
}

func FuzzIgnoreLikeGit(f *testing.F) {
	needGit(f)
	f.Add(uint64(1000))
	f.Fuzz(func(t *testing.T, seed uint64) { compareIgnore(t, seed) })
}

func TestGlobalIgnore(t *testing.T) {
	needGit(t)
	home, root := t.TempDir(), t.TempDir()
	initRepo(t, root)
	put(t, root, "a.log", "", "b.txt", "", "sub/c.log", "", "sub/anch", "", "anch", "")
	lookup := func(key string) string {
		if key == "HOME" {
			return home
		}
		return ""
	}
	if got := GlobalIgnoreFile(lookup); got != "" {
		t.Errorf("without configuration: %q", got)
	}
	for _, setup := range [][]string{
		{".config/git/ignore", "*.log\n/anch\n"},
		{".gitconfig", "[user]\n\tname = x\n[core]\n\texcludesFile = ~/mine\n", "mine", "b.txt\nsub/\n"},
	} {
		put(t, home, setup...)
		want := gitLists(t, root, home)
		got := walked(t, nil, WalkOptions{Root: root, GlobalIgnore: GlobalIgnoreFile(lookup)})
		if !slices.Equal(want, got) {
			t.Errorf("%s: %s", setup[0], diffLines(want, got))
		}
	}
}

// TestUnlikeRipgrep holds where the package comment says that ripgrep differs.
func TestUnlikeRipgrep(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no name ends in a dot here")
	}
	root := t.TempDir()
	put(t, root, ".git/HEAD", "", ".gitignore", "{a,b}\n[!x][!x]z\n", "a", "", "{a,b}", "", "q/z", "", "xz", "", ".hidden.", "", "m.go", "", "m.py", "")
	for _, c := range []struct {
		o    WalkOptions
		want []string
	}{
		{WalkOptions{}, []string{"a", "m.go", "m.py", "q/z", "xz"}},
		{WalkOptions{Globs: []string{"m.*"}, Types: []string{"go"}}, []string{"m.go"}},
		{WalkOptions{Globs: []string{".*"}}, []string{".gitignore", ".hidden."}},
	} {
		c.o.Root = root
		if got := walked(t, nil, c.o); !slices.Equal(got, c.want) {
			t.Errorf("%q %q: %q, want %q", c.o.Globs, c.o.Types, got, c.want)
		}
	}
}

func TestWorktreeExclude(t *testing.T) {
	root := t.TempDir()
	put(t, root, "main/.git/worktrees/w/commondir", "../..\n", "main/.git/info/exclude", "*.x\n",
		"w/.git", "gitdir: ../main/.git/worktrees/w\n", "w/a.x", "", "w/b.y", "")
	if got := walked(t, nil, WalkOptions{Root: filepath.Join(root, "w")}); !slices.Equal(got, []string{"b.y"}) {
		t.Errorf("listed %v", got)
	}
}

func TestWildmatchIsLinear(t *testing.T) {
	if wildmatch(strings.Repeat("*a", 40)+"b", strings.Repeat("a", 20_000)) {
		t.Error("matched")
	}
	if wildmatch(strings.Repeat("**/a*a/", 30)+"b", strings.Repeat("aaaa/", 4000)) {
		t.Error("matched")
	}
}

func TestWalkOrderAndSkip(t *testing.T) {
	root := t.TempDir()
	put(t, root, "a/b", "", "a.txt", "", "a/c/d", "", "b", "", "z/x", "")
	var got []string
	o := WalkOptions{Root: root, Sort: ByPath, Dirs: true, Skip: func(p string, isDir bool) bool { return filepath.Base(p) == "z" && isDir }}
	r, err := Walk(t.Context(), nil, o, func(e Entry) error {
		got = append(got, e.Path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"a", "a/b", "a/c", "a/c/d", "a.txt", "b"}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
	if !slices.Equal(r.Skipped, []Skipped{{"z", ReasonPolicy}}) {
		t.Errorf("skipped %v", r.Skipped)
	}
}

func TestLoopIsSkipped(t *testing.T) {
	root := t.TempDir()
	put(t, root, "a/b/f", "")
	if err := os.Symlink("../..", filepath.Join(root, "a", "b", "up")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	r, err := Walk(t.Context(), nil, WalkOptions{Root: root, Follow: true}, func(Entry) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(r.Skipped, []Skipped{{"a/b/up", ReasonLoop}}) {
		t.Errorf("skipped %v", r.Skipped)
	}
}

// TestManyDirectories needs every worker and more directories than handles.
func TestManyDirectories(t *testing.T) {
	root := t.TempDir()
	want := 0
	for i := range 400 {
		for k := range 3 {
			put(t, root, filepath.Join("d"+strings.Repeat("x", i%5), string(rune('a'+i%26)), "e"+strings.Repeat("y", i/26), "f"+string(rune('0'+k))), "")
		}
	}
	_ = filepath.WalkDir(root, func(_ string, d os.DirEntry, _ error) error {
		if !d.IsDir() {
			want++
		}
		return nil
	})
	for range 20 {
		if got := walked(t, nil, WalkOptions{Root: root, Workers: 8}); len(got) != want || len(slices.Compact(got)) != want {
			t.Fatalf("%d files, want %d", len(got), want)
		}
	}
}
