package edit

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A gitHouse is a repository in a directory of its own.
type gitHouse struct {
	t   *testing.T
	dir string
}

func newGitHouse(t *testing.T) *gitHouse {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: no git here")
	}
	g := &gitHouse{t, t.TempDir()}
	g.run("init", "-q")
	return g
}

func (g *gitHouse) run(args ...string) string {
	g.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = g.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b.c", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b.c")
	out, err := cmd.Output()
	if err != nil {
		g.t.Fatalf("git %v: %v", args, err)
	}
	return string(out)
}

// put makes the files what m says.
func (g *gitHouse) put(m memory) {
	g.t.Helper()
	old, err := filepath.Glob(filepath.Join(g.dir, "[^.]*"))
	if err != nil {
		g.t.Fatal(err)
	}
	for _, name := range old {
		if err := os.RemoveAll(name); err != nil {
			g.t.Fatal(err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		full := filepath.Join(g.dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			g.t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(m[name]), 0o644); err != nil {
			g.t.Fatal(err)
		}
	}
}

func (g *gitHouse) commit(m memory, message string) {
	g.t.Helper()
	g.put(m)
	g.run("add", "-A")
	g.run("commit", "-qm", message)
}

// Mails of git format-patch are applied, one by one and many in a row.
func TestPatchMails(t *testing.T) {
	g := newGitHouse(t)
	files := sources(t)
	r := rand.New(rand.NewPCG(60, 43))
	state := memory{}
	for i := range 8 {
		state[fmt.Sprintf("dir%d/file %d.txt", i%3, i)] = files[r.IntN(len(files))]
	}
	g.commit(state, "first")
	states := []memory{maps.Clone(state)}
	for n := range 60 {
		names := slices.Sorted(maps.Keys(state))
		for range 1 + r.IntN(3) {
			name := names[r.IntN(len(names))]
			lines := strings.Split(state[name], "\n")
			switch r.IntN(8) {
			case 0:
				state[fmt.Sprintf("new%d", n)] = files[r.IntN(len(files))]
			case 1:
				if body, ok := state[name]; ok && len(state) > 4 {
					delete(state, name)
					state[fmt.Sprintf("moved%d", n)] = body
				}
			default:
				if state[name] != "" && len(lines) > 3 {
					state[name] = strings.Join(drifted(r, lines, r.IntN(len(lines)-1)), "\n")
				}
			}
		}
		if maps.Equal(state, states[len(states)-1]) {
			state["counter"] = fmt.Sprint(n, "\n")
		}
		g.commit(state, fmt.Sprintf("change %d\n\nBinary files are not what this is about.\nrename from here to there", n))
		states = append(states, maps.Clone(state))
	}
	count := len(states) - 1
	mail := func(from, to int) string {
		return g.run("format-patch", "--stdout", fmt.Sprintf("HEAD~%d..HEAD~%d", count-from, count-to))
	}
	for n := range count {
		got, err := applyPatch(mail(n, n+1), states[n].read)
		if err != nil {
			t.Errorf("mail %d: %v", n, err)
		} else if !maps.Equal(states[n].patched(got), states[n+1]) {
			t.Errorf("mail %d is applied wrongly", n)
		}
	}
	for n := 0; n+6 <= count; n += 6 {
		got, err := applyPatch(mail(n, n+6), states[n].read)
		if err != nil {
			t.Errorf("mails %d to %d: %v", n, n+6, err)
		} else if !maps.Equal(states[n].patched(got), states[n+6]) {
			t.Errorf("mails %d to %d are applied wrongly", n, n+6)
		}
	}
}

// Files that change places, and become directories.
func TestPatchSwaps(t *testing.T) {
	long := func(s string) string { return strings.Repeat(s+" is a line of it\n", 30) }
	for _, c := range []struct{ before, after memory }{
		{memory{"a": long("a"), "b": long("b")}, memory{"a": long("b"), "b": long("a")}},
		{memory{"a": long("a"), "b": long("b")}, memory{"a": long("b"), "b": long("a") + "more\n"}},
		{memory{"a": long("a"), "b": long("b"), "c": long("c")}, memory{"a": long("c"), "b": long("a"), "c": long("b")}},
		{memory{"a": long("a"), "b": long("b")}, memory{"b": long("a"), "c": long("b")}},
		{memory{"a": long("a")}, memory{"a/b": long("a")}},
		{memory{"a": long("a")}, memory{"a/b": long("x")}},
	} {
		g := newGitHouse(t)
		g.commit(c.before, "before")
		g.put(c.after)
		g.run("add", "-A")
		for _, args := range [][]string{{"diff", "--cached"}, {"diff", "--cached", "-B", "-M"}, {"diff", "--cached", "--no-renames"}, {"diff", "--cached", "-M", "-C", "-B", "-R"}} {
			before, after := c.before, c.after
			if slices.Contains(args, "-R") {
				before, after = after, before
			}
			if before["a/b"] != "" {
				continue // a directory that becomes a file is refused
			}
			diff := g.run(args...)
			got, err := applyPatch(diff, before.read)
			if err != nil {
				t.Errorf("%v of %v: %v\n%.400s", args, slices.Sorted(maps.Keys(c.after)), err, diff)
			} else if !maps.Equal(before.patched(got), after) {
				t.Errorf("%v of %v is applied wrongly\n%.400s", args, slices.Sorted(maps.Keys(c.after)), diff)
			}
		}
	}
}

// A link or a submodule is never written as a regular file.
func TestPatchSpecialFiles(t *testing.T) {
	const blob = "@@ -0,0 +1 @@\n+target\n\\ No newline at end of file\n"
	for name, patch := range map[string]string{
		"new link":      "diff --git a/l b/l\nnew file mode 120000\nindex 0000000..1de5659\n--- /dev/null\n+++ b/l\n" + blob,
		"new submodule": "diff --git a/m b/m\nnew file mode 160000\nindex 0000000..1de5659\n--- /dev/null\n+++ b/m\n@@ -0,0 +1 @@\n+Subproject commit 1de5659\n",
		"other target":  "diff --git a/f b/f\nindex 1de5659..2de5659 120000\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-one\n\\ No newline at end of file\n+two\n\\ No newline at end of file\n",
		"file to link":  "diff --git a/f b/f\nold mode 100644\nnew mode 120000\n",
		"no submodule":  "diff --git a/f b/f\ndeleted file mode 160000\nindex 1de5659..0000000\n--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n",
	} {
		got, err := applyPatch(patch, memory{"f": "one"}.read)
		if code(err) != BadInput || !strings.Contains(err.Error(), "symbolic link") && !strings.Contains(err.Error(), "submodule") {
			t.Errorf("%s: %v %+v", name, err, got)
		}
	}
	got, err := applyPatch("diff --git a/f b/f\ndeleted file mode 120000\nindex 1de5659..0000000\n--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n\\ No newline at end of file\n", memory{"f": "one"}.read)
	if err != nil || len(got.Files) != 1 || got.Files[0].Action != Delete {
		t.Errorf("a link that is deleted: %v %+v", err, got)
	}
}

// What diff -c says of two files makes the one of the other.
func TestPatchContextDiff(t *testing.T) {
	if _, err := exec.LookPath("diff"); err != nil {
		t.Skip("SKIPPED: no diff here")
	}
	dir := t.TempDir()
	files := sources(t)
	r := rand.New(rand.NewPCG(3, 3))
	for n := range 100 {
		lines := strings.Split(files[r.IntN(len(files))], "\n")
		after := lines
		for range 1 + r.IntN(5) {
			after = drifted(r, after, r.IntN(len(after)-1))
		}
		before := memory{"f": strings.Join(lines, "\n")}
		want := strings.Join(after, "\n")
		if n%10 == 0 {
			want = strings.TrimSuffix(want, "\n")
		}
		for name, text := range map[string]string{"f": before["f"], "g": want} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command("diff", []string{"-c", "-C1", "-C5"}[n%3], "--label", "f", "--label", "f", "f", "g")
		cmd.Dir = dir
		diff, _ := cmd.Output() // its status says that they differ
		got, err := applyPatch(string(diff), before.read)
		if err != nil || string(got.Files[0].After) != want {
			t.Fatalf("%v\n%s", err, diff)
		}
	}
	got, err := applyPatch("*** /dev/null\n--- b\n***************\n*** 0 ****\n--- 1,2 ----\n+ one\n+ two\n", memory{}.read)
	if err != nil || got.Files[0].Action != Add || string(got.Files[0].After) != "one\ntwo\n" {
		t.Errorf("a new file: %v %+v", err, got)
	}
}
