package change

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestKeptApart takes a repository away, and has somebody write to its settings who still has
// the file open, or knows another name of it: before and after the command, and after it was
// undone and done again.
func TestKeptApart(t *testing.T) {
	settings := func(path string) bool { return strings.HasSuffix(path, "/config") }
	shelved := func(s *site, meanwhile func()) error {
		o := ShelveOptions{Names: []Doomed{{Path: s.abs("repo")}}, First: []string{s.abs("repo")}, MinAside: 1, Apart: settings}
		shelf, err := s.Shelve(context.Background(), o)
		if err != nil {
			return err
		}
		defer shelf.Close()
		meanwhile()
		if err := os.RemoveAll(s.abs("repo")); err != nil {
			return err
		}
		_, err = shelf.Finish(context.Background())
		return err
	}
	exchanged := func(s *site, _ func()) error {
		targets := []Target{{Path: s.abs("repo"), Was: Dir}}
		for _, name := range []string{"HEAD", "config"} {
			targets = append(targets, Target{Path: s.abs("repo/" + name), Was: Regular, Apart: settings("/" + name)})
		}
		_, err := s.Exchange(context.Background(), Record{Command: true}, targets, func() error { return nil })
		return err
	}
	for name, take := range map[string]func(*site, func()) error{"shelf": shelved, "exchange": exchanged} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.put("repo/HEAD", "ref: refs/heads/main")
			s.put("repo/config", "[core]")
			if err := os.Link(s.abs("repo/config"), s.abs("other")); err != nil {
				t.Fatal(err)
			}
			before, err := os.Stat(s.abs("repo"))
			if err != nil {
				t.Fatal(err)
			}
			f, err := os.OpenFile(s.abs("repo/config"), os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			write := func() {
				if _, err := f.WriteString("evil"); err != nil {
					t.Fatal(err)
				}
			}
			if err := take(s, write); err != nil {
				t.Fatal(err)
			}
			write()
			back, err := s.Undo(context.Background(), s.newest(), UndoOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if got := s.get("repo/config"); got != "[core]" {
				t.Errorf("the settings are %q", got)
			}
			after, err := os.Stat(s.abs("repo"))
			if err != nil || !after.ModTime().Equal(before.ModTime()) {
				t.Error("the directory has another time", err)
			}
			// Done again, the file is kept of which somebody has got hold by then.
			again, err := os.OpenFile(s.abs("repo/config"), os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer again.Close()
			redone, err := s.Undo(context.Background(), back.ID, UndoOptions{})
			if err != nil {
				t.Fatal(err)
			}
			_, err = again.WriteString("evil")
			if _, bad := s.Undo(context.Background(), redone.ID, UndoOptions{}); errors.Join(err, bad) != nil {
				t.Fatal(err, bad)
			}
			if got := s.get("repo/config"); got != "[core]" {
				t.Errorf("the settings are %q", got)
			}
			if got := s.get("repo/HEAD"); got != "ref: refs/heads/main" {
				t.Errorf("HEAD is %q", got)
			}
			if left, _ := filepath.Glob(s.abs("repo/.agentkit*")); len(left) > 0 {
				t.Error("left:", left)
			}
		})
	}
}

func (s *site) newest() string {
	s.t.Helper()
	all, err := s.List(context.Background(), 1)
	if err != nil || len(all) == 0 {
		s.t.Fatal("no change was recorded", err)
	}
	return all[0].ID
}
