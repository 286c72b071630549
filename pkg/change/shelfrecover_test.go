package change

import (
	"errors"
	"os"
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
