package change

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestUndoWhereAFileStands: a directory with copies in it that has become a file comes back, and goes again,
// as sub/.git does where git moves the repository of a submodule into .git/modules.
func TestUndoWhereAFileStands(t *testing.T) {
	s := newSite(t)
	s.put("sub/.git/config", "[core]")
	s.put("sub/f", "f")
	before := s.image()
	shelf, err := s.Shelve(t.Context(), ShelveOptions{
		Names: []Doomed{{Path: s.abs("sub")}},
		Apart: func(path string) bool { return strings.HasSuffix(path, "/config") },
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.RemoveAll(s.abs("sub/.git")), os.WriteFile(s.abs("sub/.git"), []byte("gitdir: ../g"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := shelf.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	after := s.image()
	back := s.undo("")
	same(t, "taken back", s.image(), before)
	again := s.undo(back.ID)
	same(t, "done again", s.image(), after)
	s.undo(again.ID)
	same(t, "taken back once more", s.image(), before)
	s.clean()
}

// TestUndoOfAnotherTree kills an undo at every point, and makes the workspace anew before somebody goes on with it: nothing
// that is newer is removed or overwritten, other changes can be undone, and the interrupted one is named where it is in the way.
func TestUndoOfAnotherTree(t *testing.T) {
	for _, suffix := range []string{"", "newer"} {
		stuck := 0
		for at := 0; ; at++ {
			s := newSite(t)
			s.tens()
			if err := destroy(s.History); err != nil {
				t.Fatal(err)
			}
			if s.command("unshelve", strconv.Itoa(at)).Run() == nil {
				break
			}
			entries, err := os.ReadDir(s.abs(""))
			for _, e := range entries {
				err = errors.Join(err, os.RemoveAll(s.abs(e.Name())))
			}
			if err != nil {
				t.Fatal(err)
			}
			files := map[string]string{}
			for _, name := range []string{"f0", "f1", "f3", "f4", "f5", "f6", "f7", "hard", "sub/f2", "sub/more", "new", "link"} {
				files[name] = name + suffix
				s.put(name, files[name])
			}
			h := s.again(Options{NoSync: true})
			done, err := h.Recover(t.Context())
			if err != nil || len(done) != 1 {
				t.Fatalf("%d: %+v, %v", at, done, err)
			}
			for name, want := range files {
				if have := s.get(name); have != want {
					t.Errorf("%d: %s is %q", at, name, have)
				}
			}
			list, err := h.Stuck()
			if err != nil || len(list) != 0 != (done[0].Stuck != "") {
				t.Fatalf("%+v, %v", list, err)
			}
			if len(list) > 0 {
				stuck++
				if !strings.Contains(list[0].Why, errNewer.Error()) || len(list[0].Kept) != 2 || list[0].Told {
					t.Errorf("%+v", list)
				}
			}
			s.History = h
			r := s.commit(Change{Op: Write, Path: s.p("f0"), Data: []byte("edited")})
			s.undo(r.ID)
			s.clean()
		}
		if stuck == 0 {
			t.Error("nothing was in the way")
		}
	}
}

// TestInterruptedUndoStaysKept: what an undo needs that was killed is not dropped for what is kept later.
func TestInterruptedUndoStaysKept(t *testing.T) {
	before, _ := images(t, destroy)
	for at := range 6 {
		s := newSite(t)
		s.tens()
		if err := destroy(s.History); err != nil {
			t.Fatal(err)
		}
		if s.command("unshelve", strconv.Itoa(at)).Run() == nil {
			t.Fatal("it was not killed")
		}
		h := s.again(Options{NoSync: true})
		if err := os.WriteFile(s.abs("z"), []byte("z"), 0o600); err != nil {
			t.Fatal(err)
		}
		shelf, err := h.Shelve(t.Context(), ShelveOptions{Names: []Doomed{{Path: s.abs("z")}}, MaxBytes: 1 << 20, Age: 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(s.abs("z")); err != nil {
			t.Fatal(err)
		}
		if _, err := shelf.Finish(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := h.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
		same(t, "recovered", s.image(), before)
	}
}
