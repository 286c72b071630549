package safefile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestBelow(t *testing.T) {
	for _, c := range []struct {
		dir, path string
		want      bool
		rel       string
	}{
		{"/a", "/a", true, "."},
		{"/a", "/a/b", true, "b"},
		{"/a", "/a/b/c", true, "b/c"},
		{"/a", "/ab", false, ""},
		{"/a/b", "/a", false, ""},
		{"/", "/", true, "."},
		{"/", "/a/b", true, "a/b"},
		{"/", "a", false, ""},
		{"", "/a", false, ""},
		{"", "", false, ""},
		{"/a", "", false, ""},
		{"a", "a/b", true, "b"},
	} {
		rel, ok := Rel(c.dir, c.path)
		if ok != c.want || rel != c.rel || Below(c.dir, c.path) != c.want {
			t.Errorf("%q below %q: %q, %v", c.path, c.dir, rel, ok)
		}
	}
}

// TestClaim locks a file that its last holder removed in between: it is not
// the lock any more.
func TestClaim(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.lock")
	claimLate := func() error {
		late, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(name); err != nil {
			_ = late.Close()
			t.Skip("an open file cannot be removed here, and nobody does: ", err)
		}
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err = claim(late, true, func() (os.FileInfo, error) { return os.Lstat(name) })
		return err
	}
	if err := claimLate(); !errors.Is(err, ErrLocked) {
		t.Errorf("another file under the name: %v", err)
	}
	f, err := Lock(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
}

// TestLockContext waits for a lock that nobody gives back, until the context
// ends, and says why it ended.
func TestLockContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d", "lock")
	f, err := Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(20*time.Millisecond, func() { cancel(why) })
	if _, err := Lock(ctx, path); !errors.Is(err, why) {
		t.Errorf("the second one: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if f, err = Lock(t.Context(), path); err != nil {
		t.Fatal("after it was given back: ", err)
	}
	_ = f.Close()
}

// TestLockExcludes counts with a lock file that every holder removes.
func TestLockExcludes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	var all sync.WaitGroup
	var count, inside atomic.Int64 // the race detector does not see a lock of files
	for range 8 {
		all.Go(func() {
			for range 200 {
				f, err := Lock(t.Context(), path)
				if err != nil {
					t.Error(err)
					return
				}
				if inside.Add(1) != 1 {
					t.Error("two hold the lock")
				}
				count.Add(1)
				inside.Add(-1)
				if runtime.GOOS != "windows" {
					_ = os.Remove(path)
				}
				_ = f.Close()
			}
		})
	}
	all.Wait()
	if n := count.Load(); n != 1600 {
		t.Errorf("%d times", n)
	}
}

// TestWriteFile replaces files by path: whole, private, through a link.
func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "new", "file")
	for i := range 3 {
		want := "content " + strconv.Itoa(i)
		if err := WriteFile(path, []byte(want), true); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); string(got) != want || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Skip("no links here: ", err)
	}
	if err := WriteFile(link, []byte("through"), false); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info.Mode(), err)
	}
	got, err := os.ReadFile(path)
	entries, err2 := os.ReadDir(filepath.Dir(path))
	if string(got) != "through" || errors.Join(err, err2) != nil || len(entries) != 1 {
		t.Errorf("%q, %v, %v, %v", got, entries, err, err2)
	}
	if info, err := os.Stat(path); runtime.GOOS != "windows" && (err != nil || info.Mode().Perm() != 0o600) {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// TestRemoveAll: what is closed to its owner is removed, too.
func TestRemoveAll(t *testing.T) {
	d, err := OpenOwned(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	dir := filepath.Join(d.Path(), "a")
	err = errors.Join(os.MkdirAll(filepath.Join(dir, "b", "c"), 0o755), os.WriteFile(filepath.Join(dir, "b", "f"), nil, 0o400),
		os.Chmod(filepath.Join(dir, "b", "c"), 0), os.Chmod(filepath.Join(dir, "b"), 0o500), os.Chmod(dir, 0o300))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.RemoveAll("a"); err != nil {
		t.Error(err)
	}
	if _, err := d.Lstat("a"); err == nil {
		t.Error("it is there")
	}
	if err := d.RemoveAll("a"); err != nil {
		t.Error("a missing one: ", err)
	}
}

func TestUp(t *testing.T) {
	for _, c := range []struct{ dir, path, want string }{
		{"/", "/a/b", "/a/b /a /"},
		{"/", "/", "/"},
		{"/w", "/w/a/b", "/w/a/b /w/a /w"},
		{"/w", "/w", "/w"},
		{"/w", "/wx/a", ""},
		{"", "/a", ""},
	} {
		want := strings.Fields(c.want)
		var got []string
		for dir := range Up(filepath.FromSlash(c.dir), filepath.FromSlash(c.path)) {
			if got = append(got, filepath.ToSlash(dir)); len(got) > len(want) {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("from %s up to %s: %q", c.path, c.dir, got)
		}
	}
}
