package change

import (
	"os"
	"testing"
)

// TestSwappedMeanwhile: where a directory gives way to a link while files in it are changed
// or come back, nothing is made or changed where that leads.
func TestSwappedMeanwhile(t *testing.T) {
	undo := func(s *site) error { _, err := s.Undo(t.Context(), "", UndoOptions{}); return err }
	for name, act := range map[string]func(s *site) error{
		"a link is made": func(s *site) error {
			s.swapAt("recorded")
			_, err := s.Commit(t.Context(), Set{Tool: "t", Changes: []Change{{Op: Symlink, Path: s.entry("d/new"), Data: []byte("../evil")}}})
			return err
		},
		"a link is made again": func(s *site) error {
			s.commit(Change{Op: Delete, Path: s.entry("d/link")})
			s.swapAt("recorded")
			return undo(s)
		},
		"a link is made beside another change": func(s *site) error {
			s.swapAt(s.abs("a"))
			_, err := s.Commit(t.Context(), Set{Tool: "t", Changes: []Change{
				{Op: Write, Path: s.p("a"), Data: []byte("x")}, {Op: Symlink, Path: s.entry("d/new"), Data: []byte("../evil")},
			}})
			return err
		},
		"a directory is made again": func(s *site) error {
			s.commit(Change{Op: Delete, Path: s.p("d/shut")})
			s.swapAt("recorded")
			return undo(s)
		},
		"a directory is opened": func(s *site) error {
			s.commit(Change{Op: Write, Path: s.p("d/sub/f"), Data: []byte("x")})
			if err := os.Chmod(s.abs("d/sub"), 0o077); err != nil {
				return err
			}
			s.swapAt("recorded")
			return undo(s)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.put(".git/hooks/sub/f", "git's")
			s.put("d/sub/f", "ours")
			s.put("a", "a")
			s.put("evil", "#!/bin/sh")
			for _, err := range []error{
				os.Symlink("../evil", s.abs("d/link")), os.Mkdir(s.abs("d/shut"), 0o700), os.Chmod(s.abs("d/shut"), 0o077),
				os.Mkdir(s.abs(".git/hooks/shut"), 0o700),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
			before := imageOf(t, s.abs(".git"))
			if err := act(s); err == nil {
				t.Error("it was done")
			}
			same(t, ".git", imageOf(t, s.abs(".git")), before)
		})
	}
}

// swapAt has the directory d give way to a link to what git runs, at a point of a change.
func (s *site) swapAt(at string) {
	s.at = func(point string) {
		if point == at {
			s.at = nil
			if err := os.Rename(s.abs("d"), s.abs("aside")); err != nil {
				s.t.Error(err)
			}
			if err := os.Symlink(".git/hooks", s.abs("d")); err != nil {
				s.t.Error(err)
			}
		}
	}
}
