package change

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

func (s *site) undoPath(name string) Record {
	s.t.Helper()
	r, err := s.Undo(context.Background(), "", UndoOptions{Path: s.abs(name)})
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// last is the change to undo next.
func (s *site) last() (Record, error) {
	list, _, err := s.Newest(context.Background(), 1)
	if err == nil && len(list) == 0 {
		return Record{}, ErrNoRecord
	}
	return append(list, Record{})[0], err
}

func (s *site) undos() []Record {
	s.t.Helper()
	list, err := s.Undos(context.Background(), 0)
	if err != nil {
		s.t.Fatal(err)
	}
	return list
}

// TestUndoPath takes back what was done to one file, change by change, and leaves the
// others of these changes alone; the rest of a change can be taken back after it.
func TestUndoPath(t *testing.T) {
	s := newSite(t)
	s.put("a", "a1")
	s.put("b", "b1")
	start := s.image()
	write := func(names ...string) Record {
		var all []Change
		for _, name := range names {
			name, text, _ := strings.Cut(name, "=")
			all = append(all, Change{Op: Write, Path: s.p(name), Data: []byte(text)})
		}
		return s.commit(all...)
	}
	two := write("a=a2", "b=b2")
	write("b=b3")
	last := write("a=a3", "c/d=new")
	now := func(want string) {
		t.Helper()
		if have := s.get("a") + " " + s.get("b"); have != want {
			t.Fatalf("%s, not %s", have, want)
		}
	}
	one := s.undoPath("a")
	now("a2 b3")
	if s.get("c/d") != "new" || one.Part != s.abs("a") || one.Undoes != last.ID {
		t.Errorf("%q %+v", s.get("c/d"), one)
	}
	s.undoPath("a")
	now("a1 b3")
	if _, err := s.Undo(t.Context(), "", UndoOptions{Path: s.abs("a")}); !errors.Is(err, ErrNoRecord) {
		t.Errorf("a third time: %v", err)
	}
	s.undo(s.undos()[0].ID)
	now("a2 b3")
	s.undoPath("c")
	if _, err := os.Lstat(s.abs("c/d")); err == nil {
		t.Error("c/d is there")
	}
	s.undoPath("a")
	s.undo(last.ID) // nothing is left of it: that is no error
	s.undoPath("b")
	s.undo(two.ID)
	same(t, "all undone", s.image(), start)
	if r, err := s.last(); !errors.Is(err, ErrNoRecord) && r.of(s.abs("b")) != nil {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestUndoPathOfMove: both names of a file that was moved belong to its last change.
func TestUndoPathOfMove(t *testing.T) {
	for _, name := range []string{"from", "to"} {
		s := newSite(t)
		s.put("from", "text")
		s.put("other", "1")
		s.commit(Change{Op: Move, Path: s.entry("from"), To: s.entry("to")}, Change{Op: Write, Path: s.p("other"), Data: []byte("2")})
		s.undoPath(name)
		if s.get("from") != "text" || s.get("other") != "2" {
			t.Errorf("by %s:\n%s", name, s.image())
		}
	}
}

// TestSince: the changes after one, undos of older ones too, are what leads back to it.
func TestSince(t *testing.T) {
	s := newSite(t)
	var ids []string
	write := func(text string) {
		ids = append(ids, s.commit(Change{Op: Write, Path: s.p(text[:1]), Data: []byte(text)}).ID)
	}
	write("a1")
	write("b1")
	want := s.image()
	write("a2")
	write("c1")
	back, err := s.Undo(t.Context(), ids[3], UndoOptions{}) // made and undone since
	if err != nil {
		t.Fatal(err)
	}
	s.undo(ids[1]) // what was there at that time
	write("d1")
	list, err := s.Since(t.Context(), ids[1])
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		if r.ID == back.ID || r.ID == ids[3] {
			t.Errorf("%s is among them", r.ID)
		}
		s.undo(r.ID)
	}
	same(t, "then", s.image(), want)
	if _, err := s.Since(t.Context(), "none"); !errors.Is(err, ErrNoRecord) {
		t.Error(err)
	}
}

// TestRedo: as many undos can be done again as there were, the newest first, and what
// was done again can be undone again.
func TestRedo(t *testing.T) {
	s := newSite(t)
	for i := range 3 {
		s.commit(Change{Op: Write, Path: s.p("a"), Data: fmt.Append(nil, i)})
	}
	redo := func() { s.undo(s.undos()[0].ID) }
	step := func(what func(), want string) {
		t.Helper()
		if what(); s.get("a") != want {
			t.Fatalf("%q, not %q", s.get("a"), want)
		}
	}
	undo := func() { s.undo("") }
	step(undo, "1")
	step(undo, "0")
	step(redo, "1")
	step(undo, "0")
	step(redo, "1")
	step(redo, "2")
	if left := s.undos(); len(left) > 0 {
		t.Errorf("%d are left to redo", len(left))
	}
	step(undo, "1")
}

// TestUndoPathThenAll: after one file of a directory was taken back by itself, the rest of the
// directory can be taken back, and that be done again; not where that file has changed since.
func TestUndoPathThenAll(t *testing.T) {
	for name, remove := range map[string]func(s *site) error{
		"kept": func(s *site) error {
			_, err := shelve(s.History, []Doomed{{Path: "d"}}, func(string) error { return os.RemoveAll(s.abs("d")) })
			return err
		},
		"exchanged": func(s *site) error {
			r, err := s.Become(t.Context(), Record{}, []Target{
				{Path: s.abs("d"), Was: Dir},
				{Path: s.abs("d/a"), Was: Regular, Bytes: 1},
				{Path: s.abs("d/b"), Was: Regular, Bytes: 1},
				{Path: s.abs("d/e"), Was: Dir},
				{Path: s.abs("d/e/c"), Was: Regular, Bytes: 1},
			}, func() error { return nil })
			if err == nil && r.Stash == "" {
				t.Skip("nothing can be exchanged here")
			}
			return err
		},
	} {
		s := newSite(t)
		for _, file := range []string{"d/a", "d/b", "d/e/c", "other"} {
			s.put(file, file[:1])
		}
		before := s.image()
		if err := remove(s); err != nil {
			t.Fatal(name, err)
		}
		last, err := s.last()
		if err != nil {
			t.Fatal(name, err)
		}
		s.undoPath("d/e/c")
		part := s.image()
		u := s.undo(last.ID)
		same(t, name+": undone", s.image(), before)
		again := s.undo(u.ID)
		same(t, name+": done again", s.image(), part)
		s.undo(again.ID)
		same(t, name+": undone again", s.image(), before)
		if err := remove(s); err != nil {
			t.Fatal(name, err)
		}
		if last, err = s.last(); err != nil {
			t.Fatal(name, err)
		}
		s.undoPath("d/a")
		s.put("d/a", "x")
		if _, err := s.Undo(t.Context(), last.ID, UndoOptions{}); !errors.As(err, new(*ChangedError)) {
			t.Errorf("%s: a file has changed since: %v", name, err)
		}
	}
}
