package gitindex

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A work is a repository of git's.
type work struct {
	t   *testing.T
	top string
}

func newWork(t *testing.T, format string) work {
	t.Helper()
	w := work{t, t.TempDir()}
	w.git("", "init", "-q", "--object-format="+format)
	return w
}

func (w work) git(input string, args ...string) string {
	w.t.Helper()
	c := exec.Command("git", append([]string{"-C", w.top, "-c", "user.name=n", "-c", "user.email=n@example.com"}, args...)...)
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	c.Stdin = strings.NewReader(input)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		w.t.Fatalf("git %s: %v: %s", args, err, stderr.Bytes())
	}
	return string(out)
}

func (w work) index() []byte {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.top, ".git/index"))
	if err != nil {
		w.t.Fatal(err)
	}
	return data
}

func (w work) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.top, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

var sizes = map[string]int{"sha1": SHA1, "sha256": SHA256}

// TestRead: the entries are those that git itself lists, in each version and form.
func TestRead(t *testing.T) {
	t.Parallel()
	for format, size := range sizes {
		w := newWork(t, format)
		for i := range 40 {
			w.write(fmt.Sprintf("dir/%d/%s", i%7, strings.Repeat("n", i)+"x"), fmt.Sprint(i))
		}
		w.write("two words\tand a tab", "new")
		w.git("", "add", "-A")
		blob := strings.TrimSpace(w.git("1", "hash-object", "-w", "--stdin"))
		w.git(fmt.Sprintf("100644 %s 1\tconflict\n100755 %s 2\tconflict\n160000 %s 0\tsub\n120000 %s 0\tlink\n100644 %s 0\t%sname\n", blob, blob, blob, blob, blob, strings.Repeat("long/", 900)), "update-index", "--index-info")
		for i, how := range [][]string{
			{"--index-version", "2"},
			{"--index-version", "4"},
			{"--index-version", "3", "--skip-worktree", "dir/0/x"},
			{"--index-version", "4", "--assume-unchanged", "dir/1/nx"},
		} {
			threads := fmt.Sprint("index.threads=", 1+i/2*3) // four threads find blocks
			w.git("", append([]string{"-c", threads, "update-index", "--force-write-index"}, how...)...)
			var got strings.Builder
			whole := Read(w.index(), size, func(e Entry) bool {
				fmt.Fprintf(&got, "%06o %s %d\t%s\x00", e.Mode, hex.EncodeToString(e.Hash), e.Flags>>28&3, e.Name)
				if e.Gitlink() != (string(e.Name) == "sub") {
					t.Errorf("%s: a submodule: %v", e.Name, e.Gitlink())
				}
				return true
			})
			if want := w.git("", "ls-files", "--stage", "-z"); !whole || got.String() != want {
				t.Errorf("%s %s, %s: whole %v\n%q, git lists\n%q", format, how, threads, whole, got.String(), want)
			}
			n := 0
			if Read(w.index(), size, func(Entry) bool { n++; return n < 3 }) || n != 3 {
				t.Errorf("%d entries were read, it was to end at 3", n)
			}
		}
		w.git("", "rm", "-q", "--cached", "conflict")
		w.git("", "update-index", "--index-version", "2", "--no-skip-worktree", "dir/0/x")
		w.git("", "update-index", "--split-index")
		if Read(w.index(), size, func(Entry) bool { return true }) {
			t.Errorf("%s: a split index counts as whole", format)
		}
		w.git("", "update-index", "--no-split-index")
		w.git("", "commit", "-qm", "all")
		w.git("", "sparse-checkout", "set", "--cone", "--sparse-index", "dir/1")
		if Read(w.index(), size, func(Entry) bool { return true }) {
			t.Errorf("%s: directories stand for files, and it counts as whole", format)
		}
	}
}

// TestReadOther: what git would not write is no index.
func TestReadOther(t *testing.T) {
	t.Parallel()
	w := newWork(t, "sha1")
	for _, name := range []string{"a", "b/c", "b/d"} {
		w.write(name, name)
	}
	w.git("", "add", "-A")
	good := w.index()
	for name, change := range map[string]func([]byte) []byte{
		"another beginning":      func(b []byte) []byte { b[0]++; return b },
		"version 1":              func(b []byte) []byte { b[7] = 1; return b },
		"version 5":              func(b []byte) []byte { b[7] = 5; return b },
		"more entries":           func(b []byte) []byte { b[11] = 4; return b },
		"another length of name": func(b []byte) []byte { b[headBytes+hashAt+SHA1+1]++; return b },
		"cut off":                func(b []byte) []byte { return b[:len(b)/2] },
		"nothing":                func([]byte) []byte { return nil },
		"the other hash":         func(b []byte) []byte { return append(b, make([]byte, SHA256-SHA1)...) },
	} {
		data := change(slices.Clone(good))
		if Read(data, SHA1, func(Entry) bool { return true }) {
			t.Errorf("%s: it counts as whole", name)
		}
		if _, ok := Sum(data); ok {
			t.Errorf("%s: it is summed up", name)
		}
	}
	for part, want := range map[string]bool{"TREE": true, "ZZZZ": true, "link": false, "zzzz": false} {
		data := slices.Concat(good[:len(good)-SHA1], []byte(part+"\x00\x00\x00\x00"), good[len(good)-SHA1:])
		if whole := Read(data, SHA1, func(Entry) bool { return true }); whole != want {
			t.Errorf("a part %s: whole %v", part, whole)
		}
	}
	data := slices.Concat(good[:len(good)-SHA1], []byte("ZZZZ\x00\x00\x00\x09"), good[len(good)-SHA1:])
	if Read(data, SHA1, func(Entry) bool { return true }) {
		t.Error("a part is longer than the file, and it counts as whole")
	}
	x, err := NewReader(bytes.NewReader(good), int64(len(good)), SHA1)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := x.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := x.Next(); err != io.EOF { //nolint:errorlint // as a reader's
		t.Errorf("after the last: %v", err)
	}
}

// TestSum: what git only refreshes makes no other sum, and what it means does.
func TestSum(t *testing.T) {
	t.Parallel()
	for format, version := range map[string]string{"sha1": "2", "sha256": "4"} {
		w := newWork(t, format)
		for i := range 30 {
			w.write(fmt.Sprint("f", i), fmt.Sprint(i))
		}
		w.git("", "add", "-A")
		w.git("", "update-index", "--index-version", version)
		w.git("", "commit", "-qm", "all")
		sum := func() string {
			t.Helper()
			sum, ok := Sum(w.index())
			if !ok {
				t.Fatalf("%s, version %s: no sum", format, version)
			}
			return hex.EncodeToString(sum[:])
		}
		before, data := sum(), w.index()
		if err := os.Rename(filepath.Join(w.top, "f1"), filepath.Join(w.top, "x")); err != nil { // another time of change
			t.Fatal(err)
		}
		w.write("f1", "1")
		w.git("", "status")
		if bytes.Equal(w.index(), data) {
			t.Fatal("git refreshed nothing")
		}
		if sum() != before {
			t.Errorf("%s, version %s: a refreshed index has another sum", format, version)
		}
		for _, args := range [][]string{
			{"update-index", "--chmod=+x", "f2"},
			{"update-index", "--assume-unchanged", "f3"},
			{"update-index", "--skip-worktree", "f4"},
			{"rm", "-q", "--cached", "f5"},
			{"mv", "f6", "g6"},
			{"add", "-N", "x"},
			{"add", "x"},
		} {
			now := sum()
			w.git("", args...)
			if sum() == now {
				t.Errorf("%s, version %s: the same sum after git %s", format, version, args)
			}
		}
		before, data = sum(), w.index()
		w.git("", "write-tree") // which it remembers
		if bytes.Equal(w.index(), data) || sum() != before {
			t.Errorf("%s, version %s: a remembered tree has another sum", format, version)
		}
	}
}

// TestTreesHold: what git remembers of trees is what its entries say, in every form, and another tree in
// the place of one is seen.
func TestTreesHold(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	holds := func(data []byte, size int, split bool) bool {
		r := bytes.NewReader(data)
		x, err := NewReader(r, int64(len(data)), size)
		for err == nil {
			_, err = x.Next()
		}
		return err == io.EOF && x.TreesHold(r, split) //nolint:errorlint // Next wraps nothing
	}
	for format, size := range map[string]int{"sha1": SHA1, "sha256": SHA256} {
		for _, version := range []string{"2", "4"} {
			w := newWork(t, format)
			w.git("", "config", "index.version", version)
			for _, name := range []string{"a", "a-b/x", "a.b", "a0/y", "ab/c/d/e", "ab/c/f", "ab/c-d", "ab/é", "z/z/z/z/z"} {
				w.write(name, name)
			}
			if err := os.Symlink("a", filepath.Join(w.top, "ab/link")); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(filepath.Join(w.top, "a.b"), 0o755); err != nil {
				t.Fatal(err)
			}
			check := func(what string, want bool) {
				t.Helper()
				if got := holds(w.index(), size, false); got != want {
					t.Errorf("%s, version %s, %s: %t", format, version, what, got)
				}
			}
			w.git("", "add", ".")
			check("nothing remembered", true)
			w.git("", "commit", "-qm", "all")
			check("committed", true)
			length := map[int]int{SHA1: 40, SHA256: 64}[size]
			w.git("160000 "+strings.Repeat("1", length)+"\tab/sub\n", "update-index", "--index-info")
			w.git("", "write-tree")
			check("with a submodule", true)
			w.write("ab/c/new", "new")
			w.git("", "add", "-N", "ab/c/new")
			check("with one that is to be made", true)
			w.git("", "reset", "-q", "ab/c/new")
			w.git("", "write-tree")

			data := w.index()
			at := bytes.Index(data, []byte("TREE"))
			if at < 0 {
				t.Fatal("git remembers no trees")
			}
			end := at + 8 + int(data[at+6])<<8 + int(data[at+7])
			for i := at + 8; i < end; i++ { // whatever of it is another
				other := slices.Clone(data)
				other[i] ^= 1
				if holds(other, size, false) {
					t.Errorf("%s, version %s: byte %d of the trees is another, and they hold", format, version, i-at-8)
				}
			}
			w.git("", "sparse-checkout", "set", "--cone", "--sparse-index", "ab")
			check("with directories that are not checked out", true)
			w.git("", "sparse-checkout", "disable")
			w.git("", "update-index", "--split-index")
			w.git("", "write-tree")
			if data := w.index(); holds(data, size, false) || !holds(data, size, true) {
				t.Errorf("%s, version %s: of a split index it cannot be told", format, version)
			}
		}
	}
}
