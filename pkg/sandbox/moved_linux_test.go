package sandbox

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// TestMovedRepository: a repository that was moved takes its settings and hooks along, as they were, also to the
// place of another one, and nothing else makes what is new in a place stay.
func TestMovedRepository(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(root string) error
		a, b   string // what the settings there say
		c      string
	}{
		{"moved", func(r string) error { return os.Rename(r+"/a", r+"/c") }, "", "b", "a"},
		{"moved and changed", func(r string) error {
			return errorsJoin(os.Rename(r+"/a", r+"/c"), os.WriteFile(r+"/c/.git/config", []byte("evil"), 0o644))
		}, "", "b", "a"},
		{"exchanged", func(r string) error {
			return errorsJoin(os.Rename(r+"/a", r+"/t"), os.Rename(r+"/b", r+"/a"), os.Rename(r+"/t", r+"/b"))
		}, "b", "a", ""},
		{"exchanged and changed", func(r string) error {
			return errorsJoin(os.Rename(r+"/a", r+"/t"), os.Rename(r+"/b", r+"/a"), os.Rename(r+"/t", r+"/b"), os.WriteFile(r+"/b/.git/config", []byte("evil"), 0o644))
		}, "b", "a", ""},
		{"copied", func(r string) error {
			return errorsJoin(os.MkdirAll(r+"/c/.git", 0o755), os.WriteFile(r+"/c/.git/config", []byte("a"), 0o644))
		}, "a", "b", ""},
		{"its directory alone", func(r string) error {
			return errorsJoin(os.Mkdir(r+"/c", 0o755), os.Rename(r+"/a/.git", r+"/c/.git"))
		}, "", "b", ""},
	} {
		c, dir := guardedConfig(t)
		c.ReadOnly = nil
		var err error
		for _, name := range []string{"a", "b"} {
			config := filepath.Join(c.Root, name, ".git", "config")
			c.Watched = append(c.Watched, config)
			err = errorsJoin(err, os.MkdirAll(filepath.Dir(config), 0o755), os.WriteFile(config, []byte(name), 0o644))
		}
		if bornAt(c.Root) == "" {
			t.Skip("this file system does not tell when a file was made")
		}
		s, bad := c.Snapshot(L2)
		raw, bad2 := json.Marshal(s)
		if err = errorsJoin(err, bad, bad2, test.change(c.Root)); err != nil {
			t.Fatal(err)
		}
		other := &Snapshot{} // as for a job
		if err := json.Unmarshal(raw, other); err != nil {
			t.Fatal(err)
		}
		if _, err := other.Restore(filepath.Join(dir, "state", "quarantine"), Found{Appeared: []string{filepath.Join(c.Root, "c", ".git", "config")}}); err != nil {
			t.Error(err)
		}
		for name, want := range map[string]string{"a": test.a, "b": test.b, "c": test.c} {
			if now, _ := os.ReadFile(filepath.Join(c.Root, name, ".git", "config")); string(now) != want {
				t.Errorf("%s: %s has %q, want %q", test.name, name, now, want)
			}
		}
	}
}
