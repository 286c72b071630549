package wall

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestCame: what is protected has come where the walk has not seen it, or it was changed since; all else may stay.
func TestCame(t *testing.T) {
	s := newSite(t, "old/.envrc", "old/.npmrc", "old/f", "old/.github/workflows/x.yml", "old/.vscode/tasks.json", "prep/f",
		"n/.git/HEAD", "n/.git/objects/x", "n/.git/refs/x", "n/.git/config", "n/.git/index", "n/.git/hooks/pre-commit", "n/.git/logs/HEAD",
		"bare/HEAD", "bare/objects/x", "bare/refs/x", "bare/config")
	if err := os.Symlink("x", filepath.Join(s.root, "n/.git/logs/kept")); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * young)
	came := Compile(s.o).Came()
	want := func(is bool, paths ...string) {
		t.Helper()
		for _, path := range paths {
			path = filepath.Join(s.root, path)
			i, err := os.Lstat(path)
			if err != nil {
				t.Fatal(err)
			}
			if came(path, i) != is {
				t.Errorf("%s: %v, not %v", path, !is, is)
			}
		}
	}
	old := []string{
		"old", "old/.envrc", "old/.npmrc", "old/.github", "old/.github/workflows", "old/.github/workflows/x.yml", "old/.vscode", "old/.vscode/tasks.json", "old/f",
		"n/.git", "n/.git/config", "n/.git/index", "n/.git/hooks", "n/.git/hooks/pre-commit", "n/.git/logs", "n/.git/logs/kept", "n/.git/HEAD",
		"bare/HEAD", "bare/config",
	}
	want(false, old...)
	time.Sleep(2 * young)
	s.make("old/new", "old/.env", "n/.git/refs/y", "n/.git/COMMIT_EDITMSG", "n/.git/objects/y")
	want(false, append(old, "old/new", "old/.env", "n/.git/refs", "n/.git/refs/y", "n/.git/COMMIT_EDITMSG")...)

	s.make("old/.envrc", "old/sub/.envrc", "old/.github/workflows/y.yml", "old/.husky/h", "old/r/.git/HEAD", "old/r/.git/config", "old/b/HEAD",
		"n/.git/config", "n/.git/index", "n/.git/hooks/pre-push", "n/.git/info/attributes")
	want(true, "old/.envrc", "old/sub/.envrc", "old/.github/workflows/y.yml", "old/.husky", "old/r/.git", "old/b/HEAD",
		"n/.git/config", "n/.git/index", "n/.git/hooks/pre-push", "n/.git/info/attributes")
	for link, to := range map[string]string{"old/sub/.github": "../prep", "n/.git/ORIG_HEAD": "/x"} {
		if err := os.Symlink(to, filepath.Join(s.root, link)); err != nil {
			t.Fatal(err)
		}
		want(true, link)
	}
	// With a directory that is moved comes what lies in it, whatever its time.
	s.move("old/.npmrc", "prep/x")
	s.move("n/.git/logs", "n/.git/rr-cache")
	s.move("bare", "old/bare")
	s.make("old/.npmrc")
	want(true, "n/.git/rr-cache/kept", "old/.npmrc")
	s.move("old/.vscode", "prep/.vscode")
	want(true, "prep/.vscode")
	// So it does with a directory that takes the place of another, or of a repository's, and what becomes a repository.
	s.make("in/sub/.vscode/tasks.json", "in/sub/f", "foo/sub/.vscode/tasks.json", "foo/sub/f", "m/.git/HEAD", "m/.git/objects/x", "m/.git/refs/x", "m/.git/config", "foo/git/HEAD", "foo/git/objects/x", "foo/git/config", "late/HEAD", "late/objects/x", "late/config")
	time.Sleep(2 * young)
	came = Compile(s.o).Came()
	want(false, "in/sub/.vscode", "in/sub/.vscode/tasks.json", "in/sub/f", "m/.git", "m/.git/config", "m/.git/HEAD", "late/HEAD")
	time.Sleep(2 * young)
	s.move("in/sub", "in/own")
	s.move("foo/sub", "in/sub")
	s.move("m/.git", "m/own")
	s.move("foo/git", "m/.git")
	s.make("m/.git/refs/x", "late/refs/x")
	want(true, "in/sub/.vscode", "in/sub/.vscode/tasks.json", "m/.git", "m/.git/config", "m/.git/HEAD", "m/.git/refs", "late/HEAD")
	want(false, "in/sub", "in/sub/f", "late", "late/config", "late/refs")
	s.move("old", "moved")
	want(true, "moved/.github/workflows/x.yml")
	want(false, "moved/f", "moved/bare/objects")
}
