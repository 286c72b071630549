package change

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
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
			t.Cleanup(s.open) // to be removed
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

// TestTakenAwayMeanwhile: a directory that goes, or gives way to something else, while a
// change is made or taken back, leads it nowhere else, loses nothing that the change was to
// keep, and holds up nothing that comes after it.
func TestTakenAwayMeanwhile(t *testing.T) {
	for name, change := range map[string]func(*site) error{"writes": (*site).writes, "renames": (*site).renames} {
		for _, instead := range []string{"nothing", "a link", "a file"} {
			for stop := range 9 {
				t.Run(fmt.Sprint(name, ", ", instead, " ", stop), func(t *testing.T) {
					t.Parallel()
					s := newSite(t)
					for _, file := range []string{"c", "d/a", "d/b", "d/sub/c", ".git/hooks/a"} {
						s.put(file, "old")
					}
					if err := os.Symlink("x", s.abs("d/l")); err != nil {
						t.Fatal(err)
					}
					git := imageOf(t, s.abs(".git"))
					s.takeAway(stop, instead)
					if err := change(s); err != nil && instead == "nothing" {
						s.at = nil
						if aside, _ := os.ReadFile(filepath.Join(s.top, "aside", "b")); string(aside) != "old" && s.get("d/b") != "old" {
							_, bad := s.Undo(t.Context(), "", UndoOptions{Path: s.abs("d/b")})
							if s.get("d/b") != "old" {
								t.Errorf("d/b is lost: %v, %v", err, bad)
							}
						}
					} else if err == nil {
						s.takeAway(stop, instead)
						_, _ = s.Undo(t.Context(), "", UndoOptions{}) // whether it could be done
					}
					s.at = nil
					if _, err := s.Recover(t.Context()); err != nil {
						t.Error(err)
					}
					s.clean()
					same(t, ".git", imageOf(t, s.abs(".git")), git)
				})
			}
		}
	}
}

// takeAway has the directory d be moved away when a change comes to its point of that number.
func (s *site) takeAway(stop int, instead string) {
	s.at = func(string) {
		if stop--; stop != -1 {
			return
		}
		_ = os.RemoveAll(filepath.Join(s.top, "aside"))
		_ = os.Rename(s.abs("d"), filepath.Join(s.top, "aside")) // what is there already
		switch instead {
		case "a link":
			_ = os.Symlink(".git/hooks", s.abs("d"))
		case "a file":
			_ = os.WriteFile(s.abs("d"), nil, 0o600)
		}
	}
}

// writes changes what TestTakenAwayMeanwhile has made, file by file.
func (s *site) writes() error {
	write := func(name string) Change { return Change{Op: Write, Path: s.p(name), Data: []byte("new")} }
	_, err := s.Commit(context.Background(), Set{Tool: "t", Changes: []Change{
		write("c"), write("d/a"), write("d/n"), write("d/new/n"),
		{Op: Delete, Path: s.p("d/b")},
		{Op: Delete, Path: s.p("d/sub/c")},
		{Op: Delete, Path: s.entry("d/l")},
		{Op: Symlink, Path: s.entry("d/nl"), Data: []byte("x")},
	}})
	return err
}

// renames is writes, as a command in a view of the workspace does it.
func (s *site) renames() error {
	file := func(name string, was Kind) Target {
		return Target{Path: s.abs(name), Was: was, State: State{Kind: Regular, Mode: 0o644}, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("new")), nil }}
	}
	_, err := s.Become(context.Background(), Record{Tool: "t"}, []Target{
		file("c", Regular), file("d/a", Regular), file("d/n", Missing),
		{Path: s.abs("d/new"), State: State{Kind: Dir, Mode: 0o755}},
		file("d/new/n", Missing),
		{Path: s.abs("d/b"), Was: Regular},
		{Path: s.abs("d/sub"), Was: Dir},
		{Path: s.abs("d/sub/c"), Was: Regular},
		{Path: s.abs("d/l"), Was: Link},
	}, func() error { return nil })
	return err
}
