package sandbox

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestTooMuchToKeep: of what is too large to be kept, a change is found, whatever the
// command says of the time, and taken away; all else comes back, and what nobody
// changed stays where it is.
func TestTooMuchToKeep(t *testing.T) {
	old := time.Now().Add(-time.Hour)
	for _, test := range []struct {
		name      string
		change    func(dir string) error
		restored  bool
		lost, big bool // whether it is said that something is lost; whether the large file is as it was
	}{
		{"nothing", func(string) error { return nil }, false, false, true},
		{"a file beside", func(d string) error { return os.WriteFile(d+"/hook", []byte("evil"), 0o755) }, true, false, true},
		{"a directory beside", func(d string) error {
			return errorsJoin(os.MkdirAll(d+"/a/b", 0o755), os.WriteFile(d+"/a/b/hook", []byte("evil"), 0o755), os.Chmod(d+"/a", 0))
		}, true, false, true},
		{"a small one", func(d string) error { return os.WriteFile(d+"/sub/small", []byte("evil"), 0o644) }, true, false, true},
		{"in a closed directory", func(d string) error {
			return errorsJoin(os.WriteFile(d+"/sub/hook", []byte("evil"), 0o755), os.Chmod(d+"/sub", 0))
		}, true, false, true},
		{"the large one, its time set back", func(d string) error {
			f, err := os.OpenFile(d+"/sub/large", os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteString("evil")
				err = errorsJoin(err, f.Close(), os.Chtimes(d+"/sub/large", old, old))
			}
			return err
		}, true, true, false},
		{"the large one, replaced", func(d string) error {
			return errorsJoin(os.Rename(d+"/sub/large", d+"/../large"), os.WriteFile(d+"/sub/large", []byte("evil"), 0o644))
		}, true, true, false},
		{"all deleted", os.RemoveAll, true, true, false},
		{"all replaced", func(d string) error {
			return errorsJoin(os.RemoveAll(d), os.WriteFile(d, []byte("evil"), 0o755))
		}, true, true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, dir := guardedConfig(t)
			d := filepath.Join(c.Root, ".git", "hooks")
			small, large := filepath.Join(d, "sub", "small"), filepath.Join(d, "sub", "large")
			err := errorsJoin(os.MkdirAll(filepath.Dir(small), 0o755), os.WriteFile(small, []byte("small"), 0o644), os.WriteFile(large, nil, 0o644), os.Truncate(large, maxGuardedFile+1), os.Chtimes(large, old, old))
			before, err2 := os.Stat(large)
			s, err3 := c.Snapshot(L2)
			raw, err4 := json.Marshal(s)
			if err := errorsJoin(err, err2, err3, err4); err != nil {
				t.Fatal(err)
			}
			if len(raw) > 1<<20 {
				t.Errorf("%d bytes are kept", len(raw))
			}
			s = &Snapshot{}
			if err := errorsJoin(json.Unmarshal(raw, s), test.change(d)); err != nil {
				t.Fatal(err)
			}
			list, err := s.Restore(filepath.Join(dir, "state", "quarantine"), Found{})
			if lost := err != nil && strings.Contains(err.Error(), "too much to be kept"); lost != test.lost || err != nil && !lost {
				t.Errorf("Restore: %v", err)
			}
			if (len(list) > 0) != (test.restored && !test.lost) { // else it would be said to be as it was
				t.Errorf("restored: %+v", list)
			}
			if got, err := os.ReadFile(small); err != nil || string(got) != "small" {
				t.Errorf("small: %q, %v", got, err)
			}
			if now, err := os.Stat(large); test.big != (err == nil && os.SameFile(now, before)) {
				t.Errorf("large: %v", err)
			}
			_ = filepath.WalkDir(c.Root, func(path string, _ os.DirEntry, err error) error {
				if text, _ := os.ReadFile(path); err == nil && strings.HasPrefix(string(text), "evil") {
					t.Errorf("%s is still there", path)
				}
				return nil
			})
		})
	}
}

// TestPutAwayLarge: what is large, but for its holes, is put away unread, with what it holds and without
// the holes; so is what was small.
func TestPutAwayLarge(t *testing.T) {
	c, dir := guardedConfig(t)
	s, err := c.Snapshot(L2)
	const size = 256 << 20
	added, was := c.Root+"/.git/hooks/large", c.Root+"/.git/hooks/sample"
	for _, path := range []string{added, was} {
		f, bad := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
		if err = errorsJoin(err, bad); err != nil {
			t.Fatal(err)
		}
		_, bad = f.WriteAt([]byte("middle"), size/2)
		if err = errorsJoin(err, bad, f.Truncate(size), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	for i := range s.paths {
		g := &s.paths[i]
		now, err := g.now(s.held[g.dir])
		if err != nil {
			t.Fatal(err)
		}
		for path, e := range now {
			if len(e.data) > 1<<20 {
				t.Errorf("%d bytes of %s are read", len(e.data), path)
			}
		}
	}
	list, err := s.Restore(filepath.Join(dir, "state", "quarantine"), Found{})
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	if i, err := os.Stat(was); err != nil || i.Size() > 100 {
		t.Errorf("what was there: %v, %v", i, err)
	}
	f, err := os.Open(filepath.Join(list[0].Quarantine, "hooks", "large"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	i, err := f.Stat()
	held := make([]byte, 6)
	_, bad := f.ReadAt(held, size/2)
	if err = errorsJoin(err, bad); err != nil || i.Size() != size || string(held) != "middle" {
		t.Errorf("%d bytes, %q, %v", i.Size(), held, err)
	}
	if n := i.Sys().(*syscall.Stat_t).Blocks; n*512 > size/4 {
		t.Errorf("it takes %d bytes of the disk", n*512)
	}
}
