package change

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestProtectedCame takes a directory away into which another command puts what is protected: while
// it is looked at, when it has just been set aside, and while a file of it is copied.
func TestProtectedCame(t *testing.T) {
	for name, test := range map[string]struct {
		first   bool   // the directory is set aside
		point   string // at which it comes; "" for before all
		others  bool   // another command is known of
		planted bool   // it comes back
	}{
		"linked":                             {},
		"set aside":                          {first: true, others: true},
		"set aside already":                  {first: true, others: true, point: "set aside"},
		"nobody else, and so not looked for": {first: true, point: "set aside", planted: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.put("d/sub/f", "f")
			plant := func(dir string) {
				if err := os.WriteFile(filepath.Join(dir, "sub", ".envrc"), []byte("evil"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if test.point == "" {
				plant(s.abs("d"))
			}
			s.at = func(point string) {
				if point == test.point {
					s.at = nil
					aside, err := filepath.Glob(s.session.Path(journalDir, shelfDir, "*", "0"))
					if err != nil || len(aside) != 1 {
						t.Fatal(aside, err)
					}
					plant(aside[0])
				}
			}
			o := ShelveOptions{
				Names: []Doomed{{Path: s.abs("d")}}, MinAside: 1, Others: func() bool { return test.others },
				Came: func(path string, _ fs.FileInfo) bool { return filepath.Base(path) == ".envrc" },
			}
			if test.first {
				o.First = []string{s.abs("d")}
			}
			shelf, err := s.Shelve(context.Background(), o)
			if err != nil {
				t.Fatal(err)
			}
			defer shelf.Close()
			if got := shelf.Left(); !test.planted && !slices.Equal(got, []string{s.abs("d/sub/.envrc")}) {
				t.Errorf("left out: %q", got)
			}
			err = os.RemoveAll(s.abs("d"))
			if _, bad := shelf.Finish(context.Background()); errors.Join(err, bad) != nil {
				t.Fatal(err, bad)
			}
			if _, err := s.Undo(context.Background(), s.newest(), UndoOptions{}); err != nil {
				t.Fatal(err)
			}
			if s.get("d/sub/f") != "f" {
				t.Error("what was there has not come back")
			}
			if _, err := os.Lstat(s.abs("d/sub/.envrc")); (err == nil) != test.planted {
				t.Error("what came: ", err)
			}
		})
	}
}

// TestChangedWhileCopied: a protected file that is written to while it is copied is not kept.
func TestChangedWhileCopied(t *testing.T) {
	s := newSite(t)
	s.put("d/.envrc", "mine")
	s.put("d/f", "f")
	own := func(path string) bool { return filepath.Base(path) == ".envrc" }
	o := ShelveOptions{Names: []Doomed{{Path: s.abs("d")}}, Came: func(path string, _ fs.FileInfo) bool {
		if own(path) {
			s.put("d/.envrc", "evil") // it has been looked at by then
		}
		return false
	}, Apart: own}
	shelf, err := s.Shelve(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer shelf.Close()
	if got := shelf.Left(); !slices.Equal(got, []string{s.abs("d/.envrc")}) {
		t.Errorf("left out: %q", got)
	}
	err = os.RemoveAll(s.abs("d"))
	if _, bad := shelf.Finish(context.Background()); errors.Join(err, bad) != nil {
		t.Fatal(err, bad)
	}
	if _, err := s.Undo(context.Background(), s.newest(), UndoOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(s.abs("d/.envrc")); err == nil || s.get("d/f") != "f" {
		t.Error("not what was there: ", err)
	}
}

// TestSwappedWhileKept: a directory that takes the place of one which has been looked at is not kept in its stead.
func TestSwappedWhileKept(t *testing.T) {
	for _, name := range []string{"d", "d/sub"} {
		s := newSite(t)
		s.put("d/sub/f", "mine")
		s.put("d/g", "g")
		s.put("evil/f", "evil")
		swapped := false
		o := ShelveOptions{Names: []Doomed{{Path: s.abs("d")}}, Came: func(path string, _ fs.FileInfo) bool {
			if path == s.abs(name) && !swapped {
				swapped = true
				if err := errors.Join(os.Rename(path, s.abs("own")), os.Rename(s.abs("evil"), path)); err != nil {
					t.Error(err)
				}
			}
			return false
		}}
		shelf, err := s.Shelve(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		if got := shelf.Left(); !slices.Equal(got, []string{s.abs(name)}) {
			t.Errorf("%s: left out: %q", name, got)
		}
		err = os.RemoveAll(s.abs("d"))
		if _, bad := shelf.Finish(context.Background()); errors.Join(err, bad) != nil {
			t.Fatal(err, bad)
		}
		if name == "d" { // nothing was kept
			continue
		}
		if _, err := s.Undo(context.Background(), s.newest(), UndoOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(s.abs("d/sub/f")); err == nil || s.get("d/g") != "g" {
			t.Error("not what was there: ", err)
		}
	}
}
