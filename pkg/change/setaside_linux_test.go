package change

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// aside keeps the directory d, which its command removes first of all.
func (s *site) aside(least int) *Shelf {
	s.t.Helper()
	o := ShelveOptions{Tool: "bash", Title: "rm", Names: []Doomed{{Path: s.abs("d"), Written: true}}, First: []string{s.abs("d")}, MinAside: least}
	shelf, err := s.Shelve(context.Background(), o)
	if err != nil {
		s.t.Fatal(err)
	}
	return shelf
}

// TestSetAside: a directory that was set aside is gone once the command has removed what
// stands for it, and else it is where it was, with what others have put there since.
func TestSetAside(t *testing.T) {
	for name, test := range map[string]struct {
		do   func(s *site) error
		want string // what stands in d, and in more than was there before; "" for as before
		gone bool
	}{
		"removed":     {func(s *site) error { return os.Remove(s.abs("d")) }, "", true},
		"not started": {func(*site) error { return nil }, "", false},
		"made anew": {func(s *site) error {
			return errors.Join(os.Remove(s.abs("d")), os.Mkdir(s.abs("d"), 0o755))
		}, "", true},
		"written to": {func(s *site) error {
			s.put("d/sub/f", "newer")
			s.put("d/sub/new/x", "n")
			s.put("d/two", "n")
			return nil
		}, "newer", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.put("d/sub/f", "f")
			s.put("d/one", "1")
			if err := errors.Join(os.Symlink("nowhere", s.abs("d/link")), os.Chmod(s.abs("d/sub"), 0o2710), os.Chtimes(s.abs("d"), time.Unix(1e9, 5), time.Unix(1e9, 5))); err != nil {
				t.Fatal(err)
			}
			before := s.image()
			was, _ := os.Lstat(s.abs("d"))
			shelf := s.aside(1)
			if left, err := os.ReadDir(s.abs("d")); err != nil || len(left) > 0 {
				t.Fatalf("%v, %v", left, err)
			}
			if err := test.do(s); err != nil {
				t.Fatal(err)
			}
			r, err := shelf.Finish(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if (r.ID != "") != test.gone {
				t.Fatalf("%+v", r)
			}
			if test.gone {
				if r.Shelf[0].Names != 5 {
					t.Errorf("%+v", r.Shelf)
				}
				s.undo(s.undo(s.undo("").ID).ID)
			}
			now, err := os.Lstat(s.abs("d"))
			if err != nil || !os.SameFile(was, now) {
				t.Errorf("another directory: %v", err)
			}
			if test.want != "" {
				if have := s.get("d/sub/f") + s.get("d/sub/new/x") + s.get("d/one") + s.get("d/two"); have != test.want+"n1n" {
					t.Error(have)
				}
				return
			}
			same(t, "afterwards", s.image(), before)
			if !now.ModTime().Equal(was.ModTime()) {
				t.Errorf("of another time: %v", now.ModTime())
			}
			if open, _ := filepath.Glob(filepath.Join(s.session.Path(journalDir, shelvingDir), "*")); len(open) > 0 {
				t.Errorf("left: %v", open)
			}
		})
	}
}

// TestSetAsideStays: what rm might not be able to remove, and what somebody uses, is kept
// where it is.
func TestSetAsideStays(t *testing.T) {
	attribute := func(name string) func(s *site) (func(), error) {
		return func(s *site) (func(), error) {
			if out, err := exec.Command("chattr", "+i", s.abs(name)).CombinedOutput(); err != nil {
				t.Logf("SKIPPED here: chattr: %s", out)
				return nil, nil
			}
			return func() { _ = exec.Command("chattr", "-i", s.abs(name)).Run() }, nil
		}
	}
	uses := func(dir, script string) func(s *site) (func(), error) {
		return func(s *site) (func(), error) {
			cmd := exec.Command("sh", "-c", script+"; echo ready; read end")
			cmd.Dir = s.abs(dir)
			in, err1 := cmd.StdinPipe()
			out, err2 := cmd.StdoutPipe()
			if err := errors.Join(err1, err2, cmd.Start()); err != nil {
				return nil, err
			}
			_, err := out.Read(make([]byte, 8))
			return func() { _, _ = in.Close(), cmd.Wait() }, err
		}
	}
	for name, test := range map[string]struct {
		least   int
		prepare func(s *site) (end func(), err error)
	}{
		"small":         {6, func(*site) (func(), error) { return func() {}, nil }},
		"closed":        {1, func(s *site) (func(), error) { return func() {}, os.Chmod(s.abs("d/sub"), 0o500) }},
		"closed itself": {1, func(s *site) (func(), error) { return func() {}, os.Chmod(s.abs("d"), 0o500) }},
		"no directory": {1, func(s *site) (func(), error) {
			return func() {}, errors.Join(os.Rename(s.abs("d"), s.abs("e")), os.Symlink("e", s.abs("d")))
		}},
		"immutable file":       {1, attribute("d/sub/f")},
		"immutable directory":  {1, attribute("d/sub")},
		"somebody works in it": {1, uses("d/sub", "true")},
		"somebody has it open": {1, uses(".", "exec 5<d/sub")},
		"somebody else's": {1, func(s *site) (func(), error) {
			if os.Geteuid() != 0 {
				t.Log("SKIPPED here: directories cannot be given away")
				return nil, nil
			}
			return func() {}, os.Chown(s.abs("d/sub"), 1, 1)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.put("d/sub/f", "f")
			s.put("d/one", "1")
			end, err := test.prepare(s)
			if err != nil {
				t.Fatal(err)
			}
			if end == nil {
				return
			}
			defer end()
			defer func() { _ = os.Chmod(s.abs("d"), 0o700); _ = os.Chmod(s.abs("d/sub"), 0o700) }()
			shelf := s.aside(test.least)
			defer shelf.Close()
			if slot := shelf.r.Shelf[0]; slot.Empty.Kind != Missing {
				t.Errorf("it was set aside: %+v", slot)
			}
		})
	}
}

// TestWatched: a directory that a process watches is one that it uses.
func TestWatched(t *testing.T) {
	dir := t.TempDir()
	at, err := os.Open(filepath.Dir(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer at.Close()
	s := &survey{}
	if !s.add(at, filepath.Base(dir)) {
		t.Skip("SKIPPED: nothing can be set aside here")
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if s.opened("/proc/self") {
		t.Error("nobody watches it yet")
	}
	if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_CREATE); err != nil {
		t.Fatal(err)
	}
	if !s.opened("/proc/self") {
		t.Error("it is watched: " + fmt.Sprint(s.dirs))
	}
}
