package committed

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// repo is a repository whose HEAD holds .npmrc, sub/.env and a link.
func repo(t *testing.T, format string) string {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	git(t, top, "init", "-q", "--object-format="+format)
	write(t, top, ".npmrc", "registry=x\n")
	write(t, top, "sub/.env", "A=1\n")
	write(t, top, "secret", "S")
	if err := os.Symlink("secret", filepath.Join(top, "id_rsa")); err != nil {
		t.Skip(err)
	}
	git(t, top, "add", ".npmrc", "sub", "id_rsa")
	git(t, top, "commit", "-qm", "first")
	return top
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.Command("git", args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func check(t *testing.T, f *Files, top, name string, want bool) {
	t.Helper()
	path := filepath.Join(top, name)
	if got := f.Among([]string{path})[path]; got != want {
		t.Errorf("%s is committed: %v", name, got)
	}
}

// TestSample shows that a copy of what the history has as a sample is no secret, as long as it is one.
func TestSample(t *testing.T) {
	top := repo(t, "sha1")
	write(t, top, ".env.example", "TOKEN=\n")
	write(t, top, "sub/keys.sample", "k\n")
	git(t, top, "add", ".env.example", "sub/keys.sample")
	git(t, top, "commit", "-qm", "samples")
	write(t, top, ".env.dist", "D=\n") // not in the history
	state := t.TempDir()
	for _, c := range []struct {
		name, text string
		want       bool
	}{
		{".env", "TOKEN=\n", true},
		{".env", "TOKEN=secret\n", false},
		{".env", "TOKEN=\n", true},
		{".env", "D=\n", false},
		{".env.local", "TOKEN=\n", true},
		{".envrc", "TOKEN=\n", false},
		{"sub/.env", "TOKEN=\n", false},
		{"sub/keys", "k\n", true},
		{"sub/other", "k\n", false},
	} {
		write(t, top, c.name, c.text)
		check(t, files(t, state), top, c.name, c.want)
	}
	git(t, top, "rm", "-q", "--cached", ".env.example")
	git(t, top, "commit", "-qm", "without")
	write(t, top, ".env", "TOKEN=\n")
	check(t, files(t, state), top, ".env", false)
}

func files(t *testing.T, state string) *Files {
	path, err := exec.LookPath("git")
	if err != nil {
		t.Skip(err)
	}
	return &Files{Git: func() string { return path }, State: state}
}

func TestHolds(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		top := repo(t, format)
		f := files(t, t.TempDir())
		for name, want := range map[string]bool{".npmrc": true, "sub/.env": true, "id_rsa": false, "secret": false, "sub/.env.local": false, "sub": false, "none": false} {
			check(t, f, top, name, want)
		}
		write(t, top, "crlf", "a\r\nb\r\n")
		git(t, top, "-c", "core.autocrlf=input", "add", "crlf")
		git(t, top, "commit", "-qm", "second")
		check(t, files(t, ""), top, "crlf", true)
		git(t, top, "add", "secret")
		git(t, top, "commit", "-qm", "what the link leads to")
		check(t, f, top, "id_rsa", true)
	}
}

// What HEAD holds by name only is not in the history.
func TestNameAlone(t *testing.T) {
	top, state := repo(t, "sha1"), t.TempDir()
	write(t, top, ".env", "REAL=secret\n")
	hash := git(t, top, "hash-object", "-w", ".npmrc")
	git(t, top, "update-index", "--add", "--cacheinfo", "100644,"+hash+",.env")
	check(t, files(t, state), top, ".env", false)
	git(t, top, "commit", "-qm", "forged")
	check(t, files(t, state), top, ".env", false)
	git(t, top, "add", "-f", ".env") // in the index is not in the history
	check(t, files(t, state), top, ".env", false)
	git(t, top, "commit", "-qm", "real")
	check(t, files(t, state), top, ".env", true)
	write(t, top, ".env", "REAL=changed\n")
	check(t, files(t, state), top, ".env", true)
	check(t, files(t, t.TempDir()), top, ".env", false)
	git(t, top, "rm", "-q", "--cached", ".env")
	git(t, top, "commit", "-qm", "gone")
	check(t, files(t, state), top, ".env", false)
}

// The repository that holds the file counts, and what packed-refs, worktrees and
// detached heads say.
func TestShapes(t *testing.T) {
	top, state := repo(t, "sha1"), t.TempDir()
	git(t, top, "pack-refs", "--all")
	git(t, top, "gc", "-q")
	check(t, files(t, state), top, ".npmrc", true)
	check(t, files(t, state), top, "sub/.env", true)
	tree := filepath.Join(filepath.Dir(top), filepath.Base(top)+"-tree")
	git(t, top, "worktree", "add", "-q", tree)
	check(t, files(t, state), tree, ".npmrc", true)
	git(t, top, "checkout", "-q", "--detach")
	check(t, files(t, state), top, ".npmrc", true)
	inner := filepath.Join(top, "sub")
	git(t, inner, "init", "-q")
	check(t, files(t, state), top, "sub/.env", false)
	if err := os.RemoveAll(filepath.Join(inner, ".git")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(inner, ".git"), []byte("gitdir: /dev/zero"), 0o644); err != nil {
		t.Fatal(err)
	}
	check(t, files(t, state), top, "sub/.env", false)
}

// TestNoHead: git is not asked about a directory that it takes for no repository, and is where
// HEAD cannot be read, or is a link, as old versions of git made it.
func TestNoHead(t *testing.T) {
	top := repo(t, "sha1")
	head := filepath.Join(top, ".git", "HEAD")
	branch := strings.TrimPrefix(git(t, top, "symbolic-ref", "HEAD"), "refs/heads/")
	asked := func(want, held bool) {
		t.Helper()
		f := files(t, "")
		git, ran := f.Git, false
		f.Git = func() string { ran = true; return git() }
		check(t, f, top, ".npmrc", held)
		if ran != want {
			t.Errorf("git is asked: %v, want %v", ran, want)
		}
	}
	asked(true, true)
	if err := os.Remove(head); err != nil {
		t.Fatal(err)
	}
	asked(false, false)
	if err := os.Symlink("refs/heads/"+branch, head); err != nil {
		t.Fatal(err)
	}
	asked(true, true)
}

func TestMany(t *testing.T) {
	top := repo(t, "sha1")
	var paths []string
	for i := range 1000 {
		name := fmt.Sprintf("d/%d.key", i)
		write(t, top, name, name)
		paths = append(paths, filepath.Join(top, name))
	}
	git(t, top, "add", "d")
	git(t, top, "commit", "-qm", "many")
	if held := files(t, t.TempDir()).Among(append(paths, filepath.Join(top, "secret"))); len(held) != 1000 {
		t.Errorf("%d are held", len(held))
	}
	none := &Files{Git: func() string { return "" }}
	check(t, none, top, ".npmrc", false)
}

// A file that was refused is not accepted in the place of a committed one.
func TestMoved(t *testing.T) {
	top, state := repo(t, "sha1"), t.TempDir()
	write(t, top, "app/.env", "REAL=secret\n")
	check(t, files(t, state), top, "app/.env", false)
	check(t, files(t, state), top, "sub/.env", true)
	for _, move := range [][2]string{{"sub", "gone"}, {"app", "sub"}} {
		if err := os.Rename(filepath.Join(top, move[0]), filepath.Join(top, move[1])); err != nil {
			t.Fatal(err)
		}
	}
	check(t, files(t, state), top, "sub/.env", false)
	// Once its content is in the history it is no secret.
	git(t, top, "add", "-f", "sub/.env")
	git(t, top, "commit", "-qm", "real")
	check(t, files(t, state), top, "sub/.env", true)
}

// commitDummy commits late.key, which holds nothing secret, and tells what HEAD was before.
func commitDummy(t *testing.T, top string) (before string) {
	t.Helper()
	before = git(t, top, "rev-parse", "HEAD")
	write(t, top, "late.key", "dummy\n")
	git(t, top, "add", "-f", "late.key")
	git(t, top, "commit", "-qm", "dummy")
	return before
}

// TestReplaced: a name counts only where the history as git shows it has it, too: what stands in
// the place of a commit hides from people what that has.
func TestReplaced(t *testing.T) {
	top, state := repo(t, "sha1"), t.TempDir()
	before := commitDummy(t, top)
	check(t, files(t, state), top, "late.key", true)
	git(t, top, "replace", "HEAD", before)
	write(t, top, "late.key", "REAL=secret\n")
	check(t, files(t, state), top, "late.key", false)
	check(t, files(t, state), top, ".npmrc", true)
	git(t, top, "pack-refs", "--all")
	check(t, files(t, state), top, "late.key", false)
	write(t, top, "late.key", "dummy\n")
	check(t, files(t, state), top, "late.key", false)
	git(t, top, "replace", "-d", git(t, top, "rev-parse", "HEAD"))
	check(t, files(t, state), top, "late.key", true)
}

// TestSeenEnds: what was seen to be committed is no longer that once HEAD had no such name.
func TestSeenEnds(t *testing.T) {
	top, state := repo(t, "sha1"), t.TempDir()
	before := commitDummy(t, top)
	after := git(t, top, "rev-parse", "HEAD")
	check(t, files(t, state), top, "late.key", true)
	git(t, top, "reset", "-q", before)
	if err := os.Remove(filepath.Join(top, "late.key")); err != nil {
		t.Fatal(err)
	}
	check(t, files(t, state), top, "late.key", false)
	git(t, top, "reset", "-q", "--soft", after)
	write(t, top, "late.key", "REAL=secret\n")
	check(t, files(t, state), top, "late.key", false)
}

// TestReachableButFor: a commit that only branches hold which go, too, is lost.
func TestReachableButFor(t *testing.T) {
	top := repo(t, "sha1")
	git(t, top, "checkout", "-q", "-b", "a")
	git(t, top, "commit", "-q", "--allow-empty", "-m", "more")
	git(t, top, "branch", "b")
	git(t, top, "checkout", "-q", "-")
	f := files(t, t.TempDir())
	if !f.Reachable(top, "a") {
		t.Error("b holds what a does")
	}
	if f.Reachable(top, "a", "b") {
		t.Error("without b nothing holds what a does")
	}
	git(t, top, "tag", "b", "a")
	if !f.Reachable(top, "a", "b") {
		t.Error("the tag b holds what a does")
	}
}
