//go:build unix

package change

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

// TestKeptAlone: what is kept of a file stays as it was when a command has only moved the
// file, and somebody writes to it under its new name.
func TestKeptAlone(t *testing.T) {
	s := newSite(t)
	s.put("a", "old")
	r, err := shelve(s.History, []Doomed{{Path: "a"}}, func(string) error { return os.Rename(s.abs("a"), s.abs("b")) })
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(s.abs("b"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.WriteString(f, " and new")
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	s.undo(r.ID)
	if a, b := s.get("a"), s.get("b"); a != "old" || b != "old and new" {
		t.Errorf("%q %q", a, b)
	}
}

// TestShelfOtherNames: a file of several names that a command writes to where it is gets its
// content back under all of them, and again the other one where that is undone.
func TestShelfOtherNames(t *testing.T) {
	s := newSite(t)
	s.put("a", "old, and longer")
	if err := errors.Join(os.Link(s.abs("a"), s.abs("b")), os.Chmod(s.abs("a"), 0o444)); err != nil {
		t.Fatal(err)
	}
	before := s.image()
	if _, err := shelve(s.History, []Doomed{{Path: "a", Written: true}}, func(string) error {
		return errors.Join(os.Chmod(s.abs("a"), 0o600), os.WriteFile(s.abs("a"), []byte("new"), 0))
	}); err != nil {
		t.Fatal(err)
	}
	after := s.image()
	for range 2 {
		u := s.undo("")
		same(t, "undone", s.image(), before)
		s.undo(u.ID)
		same(t, "redone", s.image(), after)
	}
	a, err := os.Stat(s.abs("a"))
	if b, bad := os.Stat(s.abs("b")); err != nil || bad != nil || !os.SameFile(a, b) {
		t.Error("they are two files now")
	}
}

// TestShelfBothNames: where a command writes to a file under two of its names, undo gives it
// back what it held before the first of these, and that is undone to what the last has left.
func TestShelfBothNames(t *testing.T) {
	s := newSite(t)
	s.put("a", "old")
	if err := os.Link(s.abs("a"), s.abs("b")); err != nil {
		t.Fatal(err)
	}
	before := s.image()
	if _, err := shelve(s.History, []Doomed{{Path: "a", Written: true}, {Path: "b", Written: true}}, func(string) error {
		return errors.Join(os.WriteFile(s.abs("a"), []byte("one"), 0), os.WriteFile(s.abs("b"), []byte("two"), 0))
	}); err != nil {
		t.Fatal(err)
	}
	after := s.image()
	u := s.undo("")
	for range 2 {
		same(t, "undone", s.image(), before)
		u = s.undo(u.ID)
		same(t, "redone", s.image(), after)
		u = s.undo(u.ID)
	}
}

// TestOtherNames: a new content reaches a file under all its names, also where there are
// targets for several of them.
func TestOtherNames(t *testing.T) {
	for _, names := range [][]string{{"a"}, {"b"}, {"a", "b"}} {
		s := newSite(t)
		s.put("a", "old")
		if err := os.Link(s.abs("a"), s.abs("b")); err != nil {
			t.Fatal(err)
		}
		open := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("new")), nil }
		var targets []Target
		for n, name := range names {
			targets = append(targets, Target{Path: s.abs(name), Was: Regular, State: State{Kind: Regular, Mode: 0o644}, Open: open, Bytes: 3, Shared: n > 0})
		}
		r, err := s.Become(t.Context(), Record{}, targets, func() error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		if a, b := s.get("a"), s.get("b"); a != "new" || b != "new" {
			t.Errorf("%q: %q %q", names, a, b)
		}
		s.undo(r.ID)
		if a, b := s.get("a"), s.get("b"); a != "old" || b != "old" {
			t.Errorf("%q, undone: %q %q", names, a, b)
		}
	}
}
