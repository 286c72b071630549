//go:build linux

package wall

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentkit-go/agentkit/pkg/committed"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// A site is a root with a policy.
type site struct {
	t    *testing.T
	root string
	o    Options
}

func newSite(t *testing.T, files ...string) *site {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	git := &committed.Files{Git: func() string { return "" }, State: t.TempDir()}
	p, err := policy.Load(&policy.Sources{Root: root, Home: "/home/me", Level: 3, Moved: git.Secret})
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t, root, Options{Policy: p, Root: root, Mounts: true, Cache: t.TempDir(), Moved: git}}
	s.make(files...)
	return s
}

func (s *site) make(files ...string) {
	s.t.Helper()
	for _, name := range files {
		at := filepath.Join(s.root, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			s.t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte("x"), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *site) move(from, to string) {
	s.t.Helper()
	to = filepath.Join(s.root, to)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(s.root, from), to); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) want(what string, got []string, want ...string) {
	s.t.Helper()
	var rel []string
	for _, path := range got {
		if name, ok := strings.CutPrefix(path, s.root+"/"); ok {
			rel = append(rel, name)
		}
	}
	if slices.Sort(rel); !slices.Equal(rel, want) {
		s.t.Errorf("%s: %q, not %q", what, rel, want)
	}
}

// TestMovedSecrets: a secret is one wherever a directory with it was moved to.
func TestMovedSecrets(t *testing.T) {
	s := newSite(t, "sub/.env", "a/.aws/credentials", "nested/.git/HEAD", "nested/.git/objects/x", "node_modules/p/.npmrc", "nested/.git/refs/x.key")
	s.want("hidden", Compile(s.o).Hidden, "a/.aws", "sub/.env")
	s.move("sub", "nested/.git/objects/sub")
	s.move("a", "node_modules/a")
	s.want("hidden when they were moved", Compile(s.o).Hidden, "nested/.git/objects/sub/.env", "node_modules/a/.aws")
}

// TestNamed: a directory keeps the name for which something in it is fixed, and not one that says nothing.
func TestNamed(t *testing.T) {
	s := newSite(t, ".github/workflows/a.yml", "b/.cargo/config.toml", "b/c/.cargo/config.toml", "d/.vscode/settings.json", "e/.github/x", "nested/.git/HEAD", "nested/.git/config", "nested/.git/objects/x")
	w := Compile(s.o)
	s.want("fixed", w.Fixed, ".github/workflows", "b/.cargo/config.toml", "b/c/.cargo/config.toml", "d/.vscode")
	s.want("named", w.Named, ".github", "b/.cargo", "b/c/.cargo")
}

// TestAliases: another name of a hidden or protected file is the file.
func TestAliases(t *testing.T) {
	s := newSite(t, "sub/.env", "b/.vscode/settings.json", "plain")
	for from, to := range map[string]string{"sub/.env": "notes.txt", "plain": "sub/plain"} {
		if err := os.Link(filepath.Join(s.root, from), filepath.Join(s.root, to)); err != nil {
			t.Fatal(err)
		}
	}
	w := Compile(s.o)
	s.want("hidden", w.Hidden, "notes.txt", "sub/.env")
	s.want("fixed", w.Fixed, "b/.vscode")
}

// TestManyAliases: so it is with the last of a directory's many files. Where these are too many it is said.
func TestManyAliases(t *testing.T) {
	s := newSite(t, ".aws/f", ".aws/z")
	link := func(from, to string) {
		if err := os.Link(filepath.Join(s.root, from), filepath.Join(s.root, to)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range maxEach - 3 { // the directory itself counts, too
		link(".aws/f", fmt.Sprintf(".aws/f%05d", i))
	}
	link(".aws/z", "other")
	w := Compile(s.o)
	s.want("hidden", w.Hidden, ".aws", "other")
	s.want("beyond", w.Beyond)
	s.make(".aws/zz")
	s.want("beyond", Compile(s.o).Beyond, ".aws"+tooMany)
}

// TestLedFromHidden: what a link in a hidden directory leads to is as secret as what lies there.
func TestLedFromHidden(t *testing.T) {
	s := newSite(t, "a/.aws/config", "conf/d", "conf/e", "more/x", "deep/.ssh/k")
	for link, to := range map[string]string{"a/.aws/credentials": "../../conf/d", "a/.aws/more": "../../more", "more/on": "../conf/e", "a/.aws/up": "..", "deep/.ssh/gone": "none"} {
		if err := os.Symlink(to, filepath.Join(s.root, link)); err != nil {
			t.Fatal(err)
		}
	}
	s.want("hidden", Compile(s.o).Hidden, "a/.aws", "conf/d", "conf/e", "deep/.ssh", "more")
	s.o.Committed = func([]string) map[string]bool {
		return map[string]bool{filepath.Join(s.root, "more/on"): true, filepath.Join(s.root, "conf/e"): true}
	}
	s.want("hidden where git has one", Compile(s.o).Hidden, "a/.aws", "conf/d", "deep/.ssh", "more/x")
	rules := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(rules, []byte("version: 1\ndeny: ['read(**/.aws/**)']\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := policy.Load(&policy.Sources{Root: s.root, Home: "/home/me", Level: 3, Files: []string{rules}})
	if err != nil {
		t.Fatal(err)
	}
	s.o.Policy = p
	s.want("hidden where a rule says so", Compile(s.o).Hidden, "a/.aws", "conf/d", "conf/e", "deep/.ssh", "more")
}

// TestNameTakenAway: what was hidden for another name of it stays so when that is gone, unless git has it by now.
func TestNameTakenAway(t *testing.T) {
	s := newSite(t, "conf/dev", "conf/hard", "conf/plain", "sub/x")
	in := func(name string) string { return filepath.Join(s.root, name) }
	if err := os.Symlink("conf/dev", in(".env")); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(in("conf/hard"), in("sub/.env")); err != nil {
		t.Fatal(err)
	}
	s.want("hidden", Compile(s.o).Hidden, ".env", "conf/dev", "conf/hard", "sub/.env")
	for _, name := range []string{".env", "sub/.env"} {
		if err := os.Remove(in(name)); err != nil {
			t.Fatal(err)
		}
	}
	s.want("hidden without the names", Compile(s.o).Hidden, "conf/dev", "conf/hard")
	s.o.Committed = func([]string) map[string]bool { return map[string]bool{in("conf/dev"): true} }
	s.want("hidden when git has one", Compile(s.o).Hidden, "conf/hard")
	s.o.Committed = nil
	s.move("conf/hard", "elsewhere")
	s.make("conf/hard/dir")
	s.want("hidden when one was moved by a person", Compile(s.o).Hidden, "conf/dev")
}

// TestWatches: what git does not change in the repositories in the root is watched, and its own
// is not, for that is fixed.
func TestWatches(t *testing.T) {
	s := newSite(t, ".git/HEAD", ".git/config", "bare/HEAD", "bare/config", "bare/hooks/update", "bare/objects/ab/x", "bare/refs/heads/main", "n/.git/HEAD", "n/.git/config", "f")
	watches := Compile(s.o).Watches()
	if watches == nil {
		t.Fatal("nothing is watched")
	}
	for name, want := range map[string]bool{
		"bare/config": true, "bare/hooks/update": true, "n/.git/config": true,
		"bare/objects/ab/x": false, "bare/HEAD": false, ".git/config": false, "f": false,
	} {
		if got := watches(filepath.Join(s.root, name)); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if Compile(newSite(t, "f").o).Watches() != nil {
		t.Error("something is watched where no repository is")
	}
}

// since is what has appeared for a process that has not compiled the wall.
func since(s *site, start Start) []string {
	return Since(s.o.Policy, start, nil).Appeared
}

// TestReplaced: what takes the place of a directory that was moved has appeared; what was
// moved with it has not.
func TestReplaced(t *testing.T) {
	s := newSite(t, "sub/.vscode/settings.json", "sub/.envrc")
	w := Compile(s.o)
	s.move("sub", "moved")
	s.want("appeared", w.Appeared())
	s.make("sub/.vscode/tasks.json", "sub/.envrc")
	s.want("appeared in its place", w.Appeared(), "sub/.envrc", "sub/.vscode")
	start := w.Start()
	s.want("the same for another process", since(s, start), "sub/.envrc", "sub/.vscode")
}

// TestNumberUsedAgain: what gets the inode number of a hidden file that the command has removed
// is not that file.
func TestNumberUsedAgain(t *testing.T) {
	s := newSite(t, "x/.env", "lib/f")
	secret := filepath.Join(s.root, "x/.env")
	was := idOf(secret)
	if was.Born == 0 {
		t.Skip("the file system keeps no time of birth")
	}
	w := Compile(s.o)
	time.Sleep(20 * time.Millisecond) // the clock of a file system may tick so slowly
	if err := os.Remove(secret); err != nil {
		t.Fatal(err)
	}
	for i := range 500 {
		name := fmt.Sprint("x/", i)
		s.make(name)
		if idOf(filepath.Join(s.root, name)).Inode != was.Inode {
			continue
		}
		s.move(name, "lib/.envrc")
		s.want("appeared", w.Appeared(), "lib/.envrc")
		s.want("the same for another process", since(s, w.Start()), "lib/.envrc")
		return
	}
	t.Skip("the file system has given the number to none of 500 files")
}

// TestOverlaid: the first change of a directory in an overlay of file systems, as in a container, makes
// none of it another repository, nor another directory above what is held.
func TestOverlaid(t *testing.T) {
	if os.Getenv("WALL_OVERLAID") == "" {
		run := exec.Command("unshare", "-Urm", os.Args[0], "-test.run=^TestOverlaid$", "-test.v")
		run.Env = append(os.Environ(), "WALL_OVERLAID="+t.TempDir())
		out, err := run.CombinedOutput()
		switch text := string(out); {
		case err != nil && (strings.Contains(text, "nothing is mounted") || !strings.Contains(text, "--- FAIL")):
			t.Skipf("an overlay cannot be mounted here: %v: %s", err, text)
		case err != nil || !strings.Contains(text, "--- PASS"):
			t.Fatalf("%v\n%s", err, text)
		}
		return
	}
	dir := os.Getenv("WALL_OVERLAID")
	for _, name := range []string{"lower/sub/.git/objects", "lower/sub/.git/refs", "upper", "work", "merged"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "lower/sub/.git/HEAD"), []byte("ref: refs/heads/x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	data := fmt.Sprintf("lowerdir=%[1]s/lower,upperdir=%[1]s/upper,workdir=%[1]s/work", dir)
	if out, err := exec.Command("mount", "-t", "overlay", "overlay", "-o", data, filepath.Join(dir, "merged")).CombinedOutput(); err != nil {
		t.Fatalf("nothing is mounted: %s", out)
	}
	s := newSite(t)
	s.root = filepath.Join(dir, "merged")
	s.o.Root = s.root
	w := Compile(s.o)
	at := filepath.Join(s.root, "sub/.git")
	before := idOf(at)
	s.make("sub/.git/objects/x")
	if now := idOf(at); now == before {
		t.Skip("nothing was copied to the upper layer")
	}
	if !w.repositories[w.idOfDir(at)] {
		t.Error("the repository is taken for another one")
	}
}

// TestForget: what is forgotten has appeared when it is there at the end, also where nothing else has
// changed in its directory.
func TestForget(t *testing.T) {
	s := newSite(t, "sub/.envrc", "sub/.npmrc", "n/.git/HEAD", "n/.git/objects/x", "n/.git/refs/x", "n/.git/config")
	s.o.Mounts = false
	for range 2 { // the second finds what the first remembers
		w := Compile(s.o)
		s.want("appeared", w.Appeared())
		w.Forget([]string{filepath.Join(s.root, "sub/.envrc"), filepath.Join(s.root, "n/.git/config")})
		s.want("appeared", w.Appeared(), "n/.git/config", "sub/.envrc")
		start := w.Start()
		s.want("the same for another process", since(s, start), "n/.git/config", "sub/.envrc")
		knew := Since(s.o.Policy, start, nil).Knew
		for name, want := range map[string]bool{"sub/.envrc": false, "sub/.npmrc": true, "n/.git/HEAD": true, "sub/.vscode": false} {
			if got := knew(filepath.Join(s.root, name)); got != want {
				t.Errorf("%s was there: %v", name, got)
			}
		}
		time.Sleep(2 * young)
	}
}

// TestLinkInPlace: a link with the name of a directory that holds what is protected
// brings all of that at once.
func TestLinkInPlace(t *testing.T) {
	s := newSite(t, "loot/workflows/x.yml", "sub/f", "old/f")
	for _, link := range []string{"old/.github", "old/plain"} {
		if err := os.Symlink("../loot", filepath.Join(s.root, link)); err != nil {
			t.Fatal(err)
		}
	}
	w := Compile(s.o)
	for _, link := range []string{"sub/.github", "sub/.cargo", "sub/.aws", "sub/plain"} {
		if err := os.Symlink("../loot", filepath.Join(s.root, link)); err != nil {
			t.Fatal(err)
		}
	}
	s.want("appeared", w.Appeared(), "sub/.cargo", "sub/.github")
}

// TestChangedElsewhere: a protected file that somebody else has replaced, by an editor
// or an approved call, has not appeared, and is one that a mount may hold no longer.
func TestChangedElsewhere(t *testing.T) {
	s := newSite(t, "sub/.envrc", ".envrc", "new1", "new2")
	w := Compile(s.o)
	s.move("new1", ".envrc")
	s.move("new2", "sub/.envrc")
	s.want("appeared", w.Appeared())
	s.want("replaced", w.Found().Replaced, ".envrc", "sub/.envrc")
	found := Since(s.o.Policy, w.Start(), nil)
	s.want("appeared for another process", found.Appeared)
	s.want("replaced for another process", found.Replaced, ".envrc", "sub/.envrc")
}

// TestCutShort: what was there is not taken for a command's, though the first look did not reach it.
func TestCutShort(t *testing.T) {
	s := newSite(t, "sub/.envrc", "sub/n/.git/HEAD", "sub/n/.git/config", "sub/n/.git/hooks/x", "top/f")
	time.Sleep(2 * young)
	w := Compile(s.o)
	short := &walker{notable: s.o.Policy.Notable, passed: s.o.Policy.Passed}
	short.entries.Store(maxEntries + 1)
	w.tree, w.last, w.Fixed, w.Watched, w.held = short.walk(s.root), nil, nil, nil, nil
	w.number(nil)
	s.make("top/.envrc", "new/.git/config")
	s.want("appeared", w.Appeared(), "new/.git/config", "top/.envrc")
	s.want("appeared for another process", Since(s.o.Policy, w.Start(), nil).Appeared, "new/.git/config", "top/.envrc")
}

// TestLongPaths: what lies below a path that is longer than the system takes, or has one itself, cannot be looked
// at, and that is said.
func TestLongPaths(t *testing.T) {
	s := newSite(t, "a")
	name := strings.Repeat("d", 200)
	dir, err := os.OpenRoot(s.root)
	if err != nil {
		t.Fatal(err)
	}
	down := func(name string) {
		if err := dir.Mkdir(name, 0o755); err != nil {
			t.Fatal(err)
		}
		next, err := dir.OpenRoot(name)
		if err != nil {
			t.Fatal(err)
		}
		_ = dir.Close()
		dir = next
	}
	path := s.root
	for ; len(path)+201 < 4000; path += "/" + name {
		down(name)
	}
	w := Compile(s.o)
	s.want("not too long", w.Beyond)
	down(strings.Repeat("e", 4090-len(path)-1)) // so that it is not too long, and what lies in it is
	if err := dir.WriteFile(".envrc", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	said := path[len(s.root)+1:200] + "...: the path is too long"
	w.Appeared()
	s.want("a file", w.Beyond, said)
	if err := dir.Remove(".envrc"); err != nil {
		t.Fatal(err)
	}
	w = Compile(s.o)
	s.want("not too long", w.Beyond)
	down(name)
	w.Appeared()
	s.want("a directory", w.Beyond, said)
	_ = dir.Close()
}

// TestTempInRoot: where the root is that of the file system, a directory for temporary files is looked at all the same.
func TestTempInRoot(t *testing.T) {
	s := newSite(t, "f")
	p, err := policy.Load(&policy.Sources{Root: "/", Home: "/home/me", Level: 3, Temp: []string{s.root}})
	if err != nil {
		t.Fatal(err)
	}
	w := &Wall{o: Options{Policy: p, Root: "/", Temp: []string{s.root}}}
	w.closeTemp()
	s.make(".envrc", "g")
	s.want("planted", w.plantedInTemp(), ".envrc")
}

// TestTempSettled: what had nothing that programs look up to is looked at again where it has changed since.
func TestTempSettled(t *testing.T) {
	s := newSite(t, "f/g")
	time.Sleep(2 * young)
	w := &Wall{o: Options{Policy: s.o.Policy, Root: filepath.Join(s.root, "f"), Temp: []string{s.root}}}
	w.closeTemp()
	if identified && len(w.empty) != 1 {
		t.Errorf("what is empty is not remembered: %v", w.empty)
	}
	s.want("planted", w.plantedInTemp())
	s.make(".envrc")
	s.want("planted", w.plantedInTemp(), ".envrc")
	for range 20 {
		changed := time.Now()
		if err := os.Remove(filepath.Join(s.root, ".envrc")); err != nil {
			t.Fatal(err)
		}
		w.closeTemp() // right after a change, which another one may follow without a sign
		late := time.Since(changed) >= young
		s.make(".envrc")
		s.want("planted", w.plantedInTemp(), ".envrc")
		if late { // this machine was busy with something else
			continue
		}
		if len(w.empty) != 0 {
			t.Errorf("what has just changed is remembered: %v", w.empty)
		}
		return
	}
	t.Skip("this machine takes too long for it, every time")
}

// TestManyObjects: a repository that nobody has packed has 256 directories of objects, all of which are looked at.
func TestManyObjects(t *testing.T) {
	files := []string{".git/HEAD", ".git/refs/heads/main", "f"}
	for n := range 256 {
		files = append(files, fmt.Sprintf(".git/objects/%02x/x", n))
	}
	s := newSite(t, files...)
	time.Sleep(2 * young)
	w := Compile(s.o)
	var want []string
	for _, n := range []int{0, 1, 63, 64, 127, 200, 254, 255} {
		at := fmt.Sprintf(".git/objects/%02x/y", n)
		if err := os.Symlink(filepath.Join(s.root, "f"), filepath.Join(s.root, at)); err != nil {
			t.Fatal(err)
		}
		want = append(want, at)
	}
	s.want("appeared", w.Appeared(), want...)
}

// TestLinksInRepositories: git makes no links in its directory, and what it writes goes to where
// one leads.
func TestLinksInRepositories(t *testing.T) {
	s := newSite(t, ".git/HEAD", ".git/refs/heads/main", ".git/logs/HEAD", ".git/logs/refs/heads/objects/a", ".git/objects/ab/x", "n/.git/HEAD", "n/.git/logs/HEAD", "f")
	link := func(from, to string) {
		t.Helper()
		if err := os.Symlink(filepath.Join(s.root, from), filepath.Join(s.root, to)); err != nil {
			t.Fatal(err)
		}
	}
	link("f", ".git/refs/heads/before")
	time.Sleep(2 * young)
	w := Compile(s.o)
	s.want("appeared", w.Appeared())
	link("f", ".git/COMMIT_EDITMSG")
	link("f", ".git/objects/ab/y")
	link("f", ".git/logs/refs/heads/objects/b")
	s.make(".git/objects/ab/z")
	if err := os.Link(filepath.Join(s.root, ".git/objects/ab/z"), filepath.Join(s.root, ".git/objects/ab/w")); err != nil { // as of a clone of a directory
		t.Fatal(err)
	}
	link("f", "n/.git/logs/x")
	s.make("n/.git/ORIG_HEAD")
	if err := os.Link(filepath.Join(s.root, "f"), filepath.Join(s.root, ".git/logs/main")); err != nil {
		t.Fatal(err)
	}
	s.want("appeared", w.Appeared(), ".git/COMMIT_EDITMSG", ".git/logs/main", ".git/logs/refs/heads/objects/b", ".git/objects/ab/y", "n/.git/logs/x")
	s.want("the same for another process", since(s, w.Start()), ".git/COMMIT_EDITMSG", ".git/logs/main", ".git/logs/refs/heads/objects/b", ".git/objects/ab/y", "n/.git/logs/x")
}

// TestShut: what a command has made in a directory that it has shut is found, and
// the directory stays shut; one that was shut before is hidden.
func TestShut(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("SKIPPED: needs a user that modes bind; see TestAsUser for root")
	}
	s := newSite(t, "src/f", "before/.env")
	shut := func(dir string, mode os.FileMode) {
		t.Cleanup(func() { _ = os.Chmod(filepath.Join(s.root, dir), 0o700) })
		if err := os.Chmod(filepath.Join(s.root, dir), mode); err != nil {
			t.Fatal(err)
		}
	}
	shut("before", 0)
	w := Compile(s.o)
	s.want("hidden", w.Hidden, "before")
	s.make("after/deep/.envrc", "after/x/f")
	shut("after/deep", 0)
	shut("after", 0o311)
	s.want("appeared", w.Appeared(), "after/deep/.envrc")
	if i, err := os.Stat(filepath.Join(s.root, "after")); err != nil || i.Mode().Perm() != 0o311 {
		t.Errorf("it is not shut any more: %v %v", i, err)
	}
}

// TestDirectoryByName: a rule that names a directory opens nothing that it holds, to
// programs either.
func TestDirectoryByName(t *testing.T) {
	s := newSite(t)
	out, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir, file, tree := filepath.Join(out, "dir"), filepath.Join(out, "file"), filepath.Join(out, "tree")
	for _, d := range []string{dir, tree} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var grants []string
	for _, kind := range []string{"read", "edit"} {
		grants = append(grants, kind+"("+dir+")", kind+"("+file+")", kind+"("+tree+"/**)")
	}
	if s.o.Policy, err = policy.Load(&policy.Sources{Root: s.root, Home: "/home/me", Level: 3, Allow: grants}); err != nil {
		t.Fatal(err)
	}
	w := Compile(s.o)
	for _, path := range []string{dir, file, tree} {
		if slices.Contains(w.Readable, path) != (path != dir) || slices.Contains(w.Writable, path) != (path != dir) {
			t.Errorf("%s: readable %q, writable %q", path, w.Readable, w.Writable)
		}
	}
}

// TestDotLinks: what a dot entry of the home leads to can be read where a person has put the links, and not
// where a command may have.
func TestDotLinks(t *testing.T) {
	s := newSite(t)
	var dirs [2]string
	for i := range dirs {
		real, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		dirs[i] = real
	}
	home, away := dirs[0], dirs[1]
	for _, dir := range []string{"own", "far", "other"} {
		if err := os.Mkdir(filepath.Join(away, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{home + "/.own": away + "/own", home + "/near": away + "/far", home + "/.near": "near", away + "/own/link": "../other", home + "/.link": away + "/own/link"} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	readable := func(root string) (list []string) {
		var err error
		if s.o.Policy, err = policy.Load(&policy.Sources{Root: root, Home: home, Level: 3}); err != nil {
			t.Fatal(err)
		}
		s.o.Root = root
		for _, path := range Compile(s.o).Readable {
			if rel, ok := strings.CutPrefix(path, away+"/"); ok {
				list = append(list, rel)
			}
		}
		return list
	}
	if got := readable(s.root); !slices.Equal(got, []string{"far", "own"}) {
		t.Errorf("a person's: %q", got)
	}
	if got := readable(home); got != nil {
		t.Errorf("in a root that is the home: %q", got)
	}
}

// TestMade: what a call of its own has made beside a command has not appeared, as long as
// it is what the call has written, where it was written.
func TestMade(t *testing.T) {
	for name, c := range map[string]struct {
		after func(s *site)
		want  []string
	}{
		"untouched":              {func(*site) {}, nil},
		"beside a command's own": {func(s *site) { s.make("sub/.circleci/other.yml") }, []string{"sub/.circleci/other.yml"}},
		"changed":                {func(s *site) { s.write("sub/.circleci/config.yml", "y") }, []string{"sub/.circleci"}},
		"replaced by its like": {func(s *site) {
			s.move("sub/.circleci/config.yml", "kept")
			s.make("sub/.circleci/config.yml")
		}, []string{"sub/.circleci"}},
		"linked": {func(s *site) {
			if err := os.Link(filepath.Join(s.root, "sub/.circleci/config.yml"), filepath.Join(s.root, "alias")); err != nil {
				s.t.Fatal(err)
			}
		}, []string{"sub/.circleci"}},
		"behind a link": {func(s *site) {
			s.move("sub/.circleci", "loot")
			if err := os.Symlink("../loot", filepath.Join(s.root, "sub/.circleci")); err != nil {
				s.t.Fatal(err)
			}
		}, []string{"sub/.circleci"}},
		"in a shut directory": {func(s *site) {
			s.make("sub/.circleci/other.yml")
			if err := os.Chmod(filepath.Join(s.root, "sub/.circleci"), 0o311); err != nil {
				s.t.Fatal(err)
			}
			s.t.Cleanup(func() { _ = os.Chmod(filepath.Join(s.root, "sub/.circleci"), 0o700) })
		}, []string{"sub/.circleci/other.yml"}},
		"elsewhere": {func(s *site) { s.move("sub/.circleci", "b/.circleci") }, []string{"b/.circleci"}},
		"changed by another call": {func(s *site) {
			s.write("sub/.circleci/config.yml", "xy")
			s.noteOver("sub/.circleci/config.yml", "x", "xy")
		}, nil},
		"changed by another call, on what a command had put there": {func(s *site) {
			s.write("sub/.circleci/config.yml", "zy")
			s.noteOver("sub/.circleci/config.yml", "z", "zy")
		}, []string{"sub/.circleci"}},
		"made anew": {func(s *site) {
			s.move("sub/.circleci/config.yml", "kept")
			s.write("sub/.circleci/config.yml", "zy")
			s.noteOver("sub/.circleci/config.yml", "", "zy")
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, "sub/f", "b/f")
			w := Compile(s.o)
			s.make("sub/.circleci/config.yml")
			s.note("sub/.circleci/config.yml", "x")
			start := w.Start()
			c.after(s)
			s.want("appeared", w.Appeared(), c.want...)
			s.want("the same for another process", since(s, start), c.want...)
			stands := slices.ContainsFunc(w.Found().Written(), func(x Written) bool { return x.Path == filepath.Join(s.root, "sub/.circleci/config.yml") })
			if changed := []string{"changed", "replaced by its like", "linked", "behind a link", "elsewhere"}; stands == slices.Contains(changed, name) {
				t.Errorf("it is as a call wrote it: %v", stands)
			}
		})
	}

	// A root may lie in another.
	outer := newSite(t, "sub/f")
	around := Compile(outer.o)
	inner := &site{t, filepath.Join(outer.root, "sub"), outer.o}
	inner.make(".circleci/config.yml")
	inner.note(".circleci/config.yml", "x")
	outer.want("appeared", around.Appeared())

	// A command may be quicker than the call that notes what it has written, and what may be
	// made by all is not noted at all.
	s := newSite(t, "sub/f")
	w := Compile(s.o)
	s.make("sub/.envrc", "sub/plain")
	s.note("sub/.envrc", "what the call has written")
	s.want("appeared", w.Appeared(), "sub/.envrc")
	before, _ := os.ReadFile(madeFile(s.o.Cache))
	s.note("sub/plain", "x")
	if after, _ := os.ReadFile(madeFile(s.o.Cache)); len(before) == 0 || len(after) != len(before) {
		t.Errorf("%d bytes of notes became %d", len(before), len(after))
	}
}

func (s *site) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.root, name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) note(name, text string) { s.noteOver(name, "", text) }

// noteOver notes that a call has written text where was stood; "" for nothing.
func (s *site) noteOver(name, was, text string) {
	s.t.Helper()
	w := Written{Path: filepath.Join(s.root, name), Sum: safefile.Sum([]byte(text)), Size: int64(len(text))}
	if was != "" {
		w.Was = safefile.Sum([]byte(was))
	}
	if err := Note(s.o.Policy, s.o.Cache, s.root, w); err != nil {
		s.t.Fatal(err)
	}
}
