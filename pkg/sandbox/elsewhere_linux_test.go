package sandbox

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestRestoreElsewhere: a root that is moved while a command runs, and whose path leads to
// another directory by then, gets back there what is protected, and the other directory is
// left alone; so it is where another process puts it back, which finds the root in its
// place only later.
func TestRestoreElsewhere(t *testing.T) {
	for _, way := range []string{"same process", "another process"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			c, dir := guardedConfig(t)
			before := listing(t, c.Root)
			s, err := c.Snapshot(L2)
			if err != nil {
				t.Fatal(err)
			}
			s.stays = nil // which L2 puts back itself, where it can; at L3 there is none
			if way == "another process" {
				raw, err := json.Marshal(s)
				again := &Snapshot{}
				if err := errors.Join(err, json.Unmarshal(raw, again)); err != nil {
					t.Fatal(err)
				}
				s = again
			}
			victim, moved, quarantine := filepath.Join(dir, "victim"), c.Root+"-moved", filepath.Join(dir, "state", "quarantine")
			for _, err := range []error{
				os.MkdirAll(filepath.Join(victim, ".git/hooks"), 0o755),
				os.WriteFile(filepath.Join(victim, ".git/config"), []byte("theirs"), 0o644),
				os.WriteFile(filepath.Join(victim, ".envrc"), []byte("theirs"), 0o644),
				os.WriteFile(filepath.Join(c.Root, ".git/config"), []byte("evil"), 0o644),
				os.Rename(c.Root, moved),
				os.Symlink(victim, c.Root),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
			theirs := listing(t, victim)
			_, err = s.Restore(quarantine, Found{Appeared: []string{filepath.Join(c.Root, ".envrc")}})
			if now := listing(t, victim); now != theirs {
				t.Errorf("it was\n%s\nand is\n%s", theirs, now)
			}
			if want := way == "another process"; errors.Is(err, errElsewhere) != want || err != nil && !want {
				t.Errorf("it says %v", err)
			}
			if err := errors.Join(os.Remove(c.Root), os.Rename(moved, c.Root)); err != nil {
				t.Fatal(err)
			}
			if way == "another process" {
				if _, err := s.Restore(quarantine, Found{}); err != nil {
					t.Error(err)
				}
			}
			if now := listing(t, c.Root); now != before {
				t.Errorf("it was\n%s\nand is\n%s", before, now)
			}
		})
	}
}

// TestSnapshotElsewhere: where the root's path leads through a link, that was put there
// after the call was decided, and what it leads to is not remembered for the root.
func TestSnapshotElsewhere(t *testing.T) {
	t.Parallel()
	c, dir := guardedConfig(t)
	if err := errors.Join(os.Rename(c.Root, filepath.Join(dir, "moved")), os.Symlink("moved", c.Root)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Snapshot(L2); !errors.Is(err, errElsewhere) {
		t.Errorf("it says %v", err)
	}
}

// TestReadSeen: what takes the place of a protected file while it is remembered or put away
// is not taken for it: neither a link to what is hidden nor a pipe, which is not waited for.
func TestReadSeen(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	at := func(name string) string { return filepath.Join(dir, name) }
	for what, replace := range map[string]func() error{
		"a link": func() error { return os.Symlink(".env", at("hook")) },
		"a pipe": func() error { return unix.Mkfifo(at("hook"), 0o600) },
	} {
		err := errors.Join(os.WriteFile(at(".env"), []byte("secret"), 0o600), os.WriteFile(at("hook"), nil, 0o600))
		was, bad := root.Lstat("hook")
		if err := errors.Join(err, bad, os.Rename(at("hook"), at("kept")), replace()); err != nil {
			t.Fatal(err)
		}
		if data, err := readSeen(root, "hook", was); err == nil {
			t.Errorf("%s: it is remembered as %q", what, data)
		}
		if err := copyOut(root, "hook", was, at("copy")); err == nil {
			t.Errorf("%s: it is copied", what)
		}
		if err := errors.Join(os.Remove(at("hook")), os.Remove(at("kept"))); err != nil {
			t.Fatal(err)
		}
	}
}
