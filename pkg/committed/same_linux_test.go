package committed

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestSame: which files hold what HEAD does is kept for the next time, and a file that was
// changed in any way is read again: one with the size and time that it had, one that another
// took the place of, and one of which HEAD holds something else by now.
func TestSame(t *testing.T) {
	top, state := repo(t, "sha1"), t.TempDir()
	for n := range minSame {
		write(t, top, fmt.Sprintf("many/%d", n), fmt.Sprintf("file %d\n", n))
	}
	git(t, top, "add", "many")
	git(t, top, "commit", "-qm", "many")
	lost := func() string {
		list, ok := files(t, state).Lost(Changed, top)
		return fmt.Sprint(list, ok)
	}
	time.Sleep(2 * unsure)
	if have := lost(); have != "[] true" {
		t.Fatal(have)
	}
	kept, _ := filepath.Glob(filepath.Join(state, "*.same"))
	if len(kept) != 1 {
		t.Fatal(kept)
	}
	before, _ := os.ReadFile(kept[0])
	if have := lost(); have != "[] true" {
		t.Error(have)
	}
	if after, _ := os.ReadFile(kept[0]); len(before) < minSame || string(after) != string(before) {
		t.Errorf("kept again: %d bytes, %d", len(before), len(after))
	}
	path, other := filepath.Join(top, "many/7"), filepath.Join(top, "many/8")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, top, "many/7", "FILE 7\n")
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if have, want := lost(), fmt.Sprint([]string{path}, true); have != want {
		t.Errorf("changed: %s, want %s", have, want)
	}
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	if have, want := lost(), fmt.Sprint([]string{path}, true); have != want {
		t.Errorf("replaced: %s, want %s", have, want)
	}
	git(t, top, "add", "many")
	git(t, top, "commit", "-qm", "other")
	time.Sleep(2 * unsure) // what was found is kept then
	if have := lost(); have != "[] true" {
		t.Error(have)
	}
	git(t, top, "reset", "-q", "--soft", "HEAD~1")
	if have, want := lost(), fmt.Sprint([]string{path}, true); have != want {
		t.Errorf("of another commit: %s, want %s", have, want)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	list, gone, ok := files(t, state).LostAndGone(Changed, top)
	if have, want := fmt.Sprint(list, gone, ok), fmt.Sprint([]string{}, []string{path}, true); have != want {
		t.Errorf("gone: %s, want %s", have, want)
	}
}

// TestAlone: repositories in the work tree are left out where git itself leaves them.
func TestAlone(t *testing.T) {
	top, state := repo(t, "sha1"), t.TempDir()
	git(t, top, "worktree", "add", "-q", "linked")
	git(t, top, "init", "-q", "d/own")
	write(t, top, "d/left", "x")
	write(t, top, "broken/.git", "gitdir: /not/there\n")
	write(t, top, "broken/x", "x")
	f := files(t, state)
	if list, ok := f.Lost(Untracked, top); ok {
		t.Errorf("what is lost of a repository is not known: %v", list)
	}
	list, ok := f.Lost(Untracked|Alone, top)
	for _, rel := range []string{"d/left", "broken/x"} {
		if !ok || !slices.Contains(list, filepath.Join(top, rel)) {
			t.Errorf("%s is not in %v, %v", rel, list, ok)
		}
	}
	if slices.ContainsFunc(list, func(path string) bool { return strings.Contains(path, "linked") || strings.Contains(path, "own") }) {
		t.Errorf("repositories are in %v", list)
	}
	if err := os.Remove(filepath.Join(top, ".git/worktrees/linked/HEAD")); err != nil {
		t.Fatal(err)
	}
	if list, ok := f.Lost(Untracked|Alone, top); ok && !slices.Contains(list, filepath.Join(top, "linked/id_rsa")) {
		t.Errorf("what is no repository any more is not in %v", list)
	}
}
