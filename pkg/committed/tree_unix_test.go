//go:build unix

package committed

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// many is a repository whose HEAD holds so many files, the last ones in directories.
func many(t *testing.T, format string) string {
	top := repo(t, format)
	for n := range minSame {
		write(t, top, fmt.Sprintf("many/%d/%d", n%7, n), fmt.Sprintf("file %d\n", n))
	}
	git(t, top, "add", "many")
	git(t, top, "commit", "-qm", "many")
	return top
}

// TestTreeKept: what a commit holds is asked of git once, whether its name stands in a file of
// its own, in the packed references or in HEAD itself, and with another HEAD again.
func TestTreeKept(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		top := many(t, format)
		f := files(t, t.TempDir())
		r := f.repository(top)
		held := func() map[string]string {
			t.Helper()
			held, err := f.heldBelow(r, f.Git(), nil)
			if err != nil {
				t.Fatal(err)
			}
			return held
		}
		first := held()
		if len(first) < minSame || first["many/3/3"] != git(t, top, "rev-parse", "HEAD:many/3/3") {
			t.Errorf("%s: %v", format, first)
		}
		for _, how := range [][]string{{"status"}, {"pack-refs", "--all"}, {"checkout", "-q", "--detach"}} {
			git(t, top, how...)
			known := f.knownTree(r, r.commit())
			if fmt.Sprint(known) != fmt.Sprint(first) {
				t.Errorf("%s, %s: %d of %d names are kept", format, how, len(known), len(first))
			}
		}
		write(t, top, "many/new", "new")
		git(t, top, "add", "many")
		git(t, top, "commit", "-qm", "new")
		if f.knownTree(r, r.commit()) != nil || held()["many/new"] == "" {
			t.Error("what another commit holds is taken for what HEAD does")
		}
		git(t, top, "reset", "-q", "--hard", "HEAD~1")
		if held()["many/new"] != "" {
			t.Error("what another commit holds is taken for what HEAD does")
		}
	}
}

// TestTreeForged: what git reads in objects that somebody has put something else into is not
// kept.
func TestTreeForged(t *testing.T) {
	for _, what := range []string{"HEAD", "HEAD^{tree}", "HEAD:many", "HEAD:many/3"} {
		top := many(t, "sha1")
		write(t, top, "many/3/3", "my work")
		git(t, top, "add", "many")
		git(t, top, "commit", "-qm", "forged")
		forged := object(top, git(t, top, "rev-parse", what))
		git(t, top, "reset", "-q", "--soft", "HEAD~1")
		real := object(top, git(t, top, "rev-parse", what))
		had, err := os.ReadFile(real)
		if err != nil {
			t.Fatal(err)
		}
		if err := errorsOf(os.Remove(real), os.Link(forged, real)); err != nil {
			t.Fatal(err)
		}
		f := files(t, t.TempDir())
		f.Lost(Changed, top)
		if r := f.repository(top); f.knownTree(r, r.commit()) != nil {
			t.Errorf("%s: what is forged is kept", what)
		}
		if err := errorsOf(os.Remove(real), os.WriteFile(real, had, 0o444)); err != nil {
			t.Fatal(err)
		}
		if list, ok := f.Lost(Changed, top); !ok || !slices.Contains(list, filepath.Join(top, "many/3/3")) {
			t.Errorf("%s: %v", what, list)
		}
	}
}

func object(top, sum string) string { return filepath.Join(top, ".git/objects", sum[:2], sum[2:]) }

func errorsOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestTracked: the index is read as git reads it, and left to git where it is of another form.
func TestTracked(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		size := 20
		if format == "sha256" {
			size = 32
		}
		top := many(t, format)
		r := files(t, "").repository(top)
		same := func(what string, want bool) {
			t.Helper()
			rels, ok := r.tracked(size)
			if listed := strings.Split(strings.TrimSuffix(git(t, top, "ls-files", "-z"), "\x00"), "\x00"); ok != want || ok && !slices.Equal(rels, listed) {
				t.Errorf("%s, %s: %v %d names, git has %d", format, what, ok, len(rels), len(listed))
			}
		}
		same("plain", true)
		git(t, top, "update-index", "--split-index")
		same("a part of it in another file", false)
		git(t, top, "update-index", "--no-split-index")
		git(t, top, "rm", "-q", "--cached", "many/1/1")
		write(t, top, "two words\tand a tab", "new")
		write(t, top, strings.Repeat("long/", 40)+"name", "new")
		git(t, top, "add", "two words\tand a tab", "long")
		same("other names", true)
		write(t, top, "intended", "new")
		git(t, top, "add", "-N", "intended")
		git(t, top, "update-index", "--skip-worktree", "sub/.env")
		same("version 3", true)
		git(t, top, "update-index", "--index-version", "4")
		same("version 4", true)
		git(t, top, "update-index", "--index-version", "2")
		git(t, top, "update-index", "--no-skip-worktree", "sub/.env")
		git(t, top, "rm", "-q", "--cached", "intended")
		git(t, top, "commit", "-qm", "all")
		git(t, top, "sparse-checkout", "set", "--cone", "--sparse-index", "sub")
		same("directories in it", false)
		git(t, top, "sparse-checkout", "disable")
		same("again", true)
		data, err := os.ReadFile(filepath.Join(top, ".git/index"))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"TREE", "link", "sdir"} {
			more := slices.Concat(data[:len(data)-size], []byte(part+"\x00\x00\x00\x00"), data[len(data)-size:])
			if err := os.WriteFile(filepath.Join(top, ".git/index"), more, 0o644); err != nil {
				t.Fatal(err)
			}
			if _, ok := r.tracked(size); ok != (part == "TREE") {
				t.Errorf("%s, a part %s: %v", format, part, ok)
			}
		}
		for n := range len(data) { // nothing that is cut off leads out of it
			short := slices.Clone(data[:n])
			if n >= 12 {
				binary.BigEndian.PutUint32(short[8:], 1<<15)
			}
			if n%97 == 0 {
				if err := os.WriteFile(filepath.Join(top, ".git/index"), short, 0o644); err != nil {
					t.Fatal(err)
				}
				if rels, ok := r.tracked(size); ok {
					t.Errorf("%d bytes: %d names", n, len(rels))
				}
			}
		}
	}
}

// TestBelow: files at some names, and below them, are those that git lists, whether the index
// is read or git is asked.
func TestBelow(t *testing.T) {
	top := many(t, "sha1")
	for _, name := range []string{"many/1/1", "many/10", "sub/.env", "m*", "[a]"} {
		write(t, top, name, "changed")
	}
	git(t, top, "add", "-A")
	f := files(t, t.TempDir())
	r := f.repository(top)
	for _, names := range [][]string{{"."}, {"many"}, {"many/1"}, {"many/10"}, {"many/1", "sub/.env", "none"}, {"m*"}, {"[a]", "id_rsa"}, {"man"}} {
		read, err := r.known(f.Git(), Changed, names, true)
		asked, err2 := r.known(f.Git(), Changed, names, false)
		if err != nil || err2 != nil || !slices.Equal(read, asked) {
			t.Errorf("%s: %v %v, git lists %d, not %d", names, err, err2, len(asked), len(read))
		}
		paths := make([]string, len(names))
		for i, name := range names {
			paths[i] = filepath.Join(top, name)
		}
		lost, ok := f.Lost(Changed, top, paths...)
		all, ok2 := f.Lost(Changed, top)
		if !ok || !ok2 || len(lost) > len(all) || slices.ContainsFunc(lost, func(path string) bool { return !slices.Contains(all, path) }) || names[0] == "." && len(lost) != len(all) {
			t.Errorf("%s: %v %v of %v", names, ok, lost, all)
		}
	}
}
