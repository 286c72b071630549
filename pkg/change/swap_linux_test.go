package change

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/session"
)

// exchangeTens changes the tree of tens and exotic in each way that a command's view can.
func exchangeTens(h *History) error {
	_, err := exchangeOf(h)
	return err
}

func exchangeOf(h *History) (Record, error) {
	up, err := os.MkdirTemp(filepath.Dir(h.session.StateDir()), "upper")
	if err != nil {
		return Record{}, err
	}
	n := 0
	from := func(text string) string {
		n++
		name := filepath.Join(up, fmt.Sprint(n))
		err = errors.Join(err, os.WriteFile(name, []byte(text), 0o644), os.Chtimes(name, time.Time{}, time.Unix(1e9, 5)))
		return name
	}
	text := func(s string) func() (io.ReadCloser, error) {
		return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(s)), nil }
	}
	name := func(rel string) string { return filepath.Join(h.w.Root(), rel) }
	regular := func(mode fs.FileMode) State { return State{Kind: Regular, Mode: mode} }
	targets := []Target{
		{Path: name("f0"), Was: Regular, State: State{Kind: Link, Target: "f1"}},
		{Path: name("f1"), Was: Regular, State: regular(0o640), From: from("new 1")},
		{Path: name("f3"), Was: Regular, State: State{Kind: Dir, Mode: 0o500}},
		{Path: name("f3/in"), State: regular(0o444), From: from("in")},
		{Path: name("f4"), Was: Regular},
		{Path: name("f5"), Was: Regular, State: regular(0o4711), Open: text("by copy")},
		{Path: name("hard2"), Was: Regular},
		{Path: name("link"), Was: Link, State: State{Kind: Dir, Mode: 0o700}},
		{Path: name("link/in"), State: State{Kind: Link, Target: "nowhere"}},
		{Path: name("made"), State: State{Kind: Dir, Mode: 0o555}},
		{Path: name("made/deep"), State: State{Kind: Dir, Mode: 0o755}},
		{Path: name("made/deep/f"), State: regular(0o600), From: from("deep")},
		{Path: name("shut"), Was: Dir, State: State{Kind: Dir, Mode: 0o500}},
		{Path: name("shut/a"), Was: Regular, State: regular(0o644), From: from("opened")},
		{Path: name("sub"), Was: Dir, State: State{Kind: Link, Target: "f5"}},
		{Path: name("sub/f2"), Was: Regular},
		{Path: name("tree"), Was: Dir},
		{Path: name("tree.d"), Was: Dir}, // its name comes before those in tree
		{Path: name("tree.d/x"), Was: Regular, Bytes: 1},
		{Path: name("tree/a"), Was: Regular, Bytes: 3},
		{Path: name("tree/empty"), Was: Dir},
		{Path: name("tree/hard"), Was: Regular},
		{Path: name("tree/link"), Was: Link},
		{Path: name("tree/pipe"), Was: other},
		{Path: name("tree/shut"), Was: Dir},
		{Path: name("tree/shut/b"), Was: Regular, Bytes: 4},
	}
	if err != nil {
		return Record{}, err
	}
	return h.Become(context.Background(), Record{Tool: "t"}, targets, func() error { return nil })
}

func undoLast(h *History) error {
	r, err := h.List(context.Background(), 1)
	if err == nil {
		_, err = h.Undo(context.Background(), r[0].ID, UndoOptions{})
	}
	return err
}

// exotic adds what a copy would not bring back.
func (s *site) exotic() {
	s.t.Helper()
	s.tens()
	s.put("shut/a", "shut")
	s.put("tree/a", "one")
	s.put("tree.d/x", "x")
	s.put("tree/shut/b", "four")
	s.put("tree/hard", "two names")
	err := errors.Join(
		os.Mkdir(s.abs("tree/empty"), 0o751), unix.Mkfifo(s.abs("tree/pipe"), 0o640), os.Symlink("../nowhere", s.abs("tree/link")),
		os.Link(s.abs("tree/hard"), s.abs("outside")), os.Chmod(s.abs("f4"), 0o2755),
		os.Chtimes(s.abs("tree/a"), time.Time{}, time.Unix(12345, 678)), os.Chtimes(s.abs("tree/empty"), time.Time{}, time.Unix(54321, 0)),
		os.Chmod(s.abs("tree/shut"), 0o500), os.Chmod(s.abs("shut"), 0o500), os.Chmod(s.abs("tree"), 0o550),
	)
	if attr := unix.Lsetxattr(s.abs("f4"), "user.kept", []byte("so"), 0); !errors.Is(attr, unix.ENOTSUP) {
		err = errors.Join(err, attr)
	}
	if os.Getuid() == 0 {
		err = errors.Join(err, os.Lchown(s.abs("tree/link"), 1234, 4321), os.Lchown(s.abs("tree/a"), 1234, 4321))
	}
	s.t.Cleanup(func() { s.open() })
	if err != nil {
		s.t.Fatal(err)
	}
}

// open makes everything removable.
func (s *site) open() {
	_ = filepath.WalkDir(s.top, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
}

// facts is the workspace with all that can be known of a file, but when its inode changed
// and, of a directory, what changes with the names in it.
func (s *site) facts() string {
	s.t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(filepath.Join(s.top, "W"), func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		st := info.Sys().(*syscall.Stat_t)
		attr := make([]byte, 100)
		n, _ := unix.Lgetxattr(path, "user.kept", attr)
		fmt.Fprintf(&b, "%s %v %d:%d %d %q", strings.TrimPrefix(path, s.top), info.Mode(), st.Uid, st.Gid, st.Ino, attr[:max(n, 0)])
		if !e.IsDir() {
			fmt.Fprintf(&b, " %d names, %v", st.Nlink, info.ModTime().UnixNano())
		}
		fmt.Fprintln(&b)
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return b.String() + s.image()
}

// exchanged makes the change, and checks that it was one by renames.
func (s *site) exchanged() Record {
	s.t.Helper()
	r, err := exchangeOf(s.History)
	if err != nil {
		s.t.Fatal(err)
	}
	if r.Stash == "" {
		s.t.Fatal("it was no exchange")
	}
	return r
}

// TestExchange: a change by renames, taken back, done again and taken back again, brings
// back the very files: owners, times, extended attributes, links, pipes, modes.
func TestExchange(t *testing.T) {
	s := newSite(t)
	s.exotic()
	before := s.facts()
	r := s.exchanged()
	after := s.facts()
	for _, gone := range []string{"W/tree", "W/tree.d", "W/f4 ", "W/hard2", "W/sub/"} {
		if strings.Contains(after, gone) {
			t.Errorf("%q is still there:\n%s", gone, after)
		}
	}
	if have := s.get("f5") + s.get("made/deep/f"); have != "by copydeep" {
		t.Error(have)
	}
	for range 3 {
		u := s.undo(r.ID)
		same(t, "undone", s.facts(), before)
		r = s.undo(u.ID)
		if have := withoutInodes(s.facts()); have != withoutInodes(after) {
			same(t, "done again", have, withoutInodes(after))
		}
	}
	if list, _ := s.List(t.Context(), 0); len(list) != 7 {
		t.Errorf("%d records", len(list))
	}
}

// withoutInodes leaves out the numbers of directories, which are made anew.
func withoutInodes(facts string) string {
	var b strings.Builder
	for line := range strings.Lines(facts) {
		if words := strings.SplitN(line, " ", 5); len(words) == 5 && strings.HasPrefix(words[1], "d") {
			words[3] = "N"
			line = strings.Join(words, " ")
		}
		b.WriteString(line)
	}
	return b.String()
}

// TestExchangeChangedSince: what has changed is named, in a directory that comes and goes
// as a whole too, and nothing is touched.
func TestExchangeChangedSince(t *testing.T) {
	for _, c := range []struct {
		name  string
		redo  bool
		spoil func(*site)
		want  string
	}{
		{"written", false, func(s *site) { s.put("f1", "mine") }, "/f1 ("},
		{"same size", false, func(s *site) { s.put("f1", "NEW 1") }, "/f1 ("},
		{"added to a new directory", false, func(s *site) {
			_ = os.Chmod(s.abs("f3"), 0o700)
			s.put("f3/new", "")
			_ = os.Chmod(s.abs("f3"), 0o500)
		}, "/f3/new was added"},
		{"mode", false, func(s *site) { _ = os.Chmod(s.abs("f1"), 0o600) }, "/f1 ("},
		{"in its place", false, func(s *site) { s.put("f4", "mine") }, "/f4 ("},
		{"a directory in its place", false, func(s *site) { s.put("tree/x", "mine") }, "/tree ("},
		{"removed", false, func(s *site) { _ = os.Remove(s.abs("f1")) }, "/f1 ("},
		{"written in the tree", true, func(s *site) {
			s.put("tree/a", "two")
		}, "/tree/a was changed"},
		{"added to the tree", true, func(s *site) {
			_ = os.Chmod(s.abs("tree/empty"), 0o755)
			s.put("tree/empty/new", "")
		}, "/tree/empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t)
			s.exotic()
			r := s.exchanged()
			if c.redo {
				r = s.undo(r.ID)
			}
			time.Sleep(11 * time.Millisecond) // more than a tick of a coarse clock
			c.spoil(s)
			have := s.facts()
			_, err := s.Undo(t.Context(), r.ID, UndoOptions{})
			if !errors.As(err, new(*ChangedError)) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, not %q", err, c.want)
			}
			same(t, "refused", s.facts(), have)
		})
	}
}

// TestExchangeUnderEdits: what was changed after it, and taken back by content, is no
// obstacle; what somebody else wrote in between is one.
func TestExchangeUnderEdits(t *testing.T) {
	for _, between := range []string{"", "other"} { // as long as what the change left
		s := newSite(t)
		s.exotic()
		before := s.image()
		r := s.exchanged()
		if between != "" {
			s.put("f1", between)
		}
		edit := s.commit(Change{Op: Write, Path: s.p("f1"), Data: []byte("edited")})
		s.undo(edit.ID)
		_, err := s.Undo(t.Context(), r.ID, UndoOptions{})
		if between == "" {
			if err != nil {
				t.Fatal(err)
			}
			same(t, "undone", s.image(), before)
			continue
		}
		if !errors.As(err, new(*ChangedError)) || s.get("f1") != between {
			t.Errorf("%v, f1 is %q", err, s.get("f1"))
		}
	}
}

// TestExchangePutBack: a file that somebody has put back by hand is no obstacle.
func TestExchangePutBack(t *testing.T) {
	s := newSite(t)
	s.exotic()
	before := s.image()
	old := s.get("f1")
	r := s.exchanged()
	_ = os.Remove(s.abs("f1"))
	s.put("f1", old)
	s.undo(r.ID)
	same(t, "undone", s.image(), before)
}

// TestExchangeKilled: a change by renames, or the way back, that is killed at a system call
// is old or new.
func TestExchangeKilled(t *testing.T) {
	images := func(t *testing.T) (before, after string) {
		s := newSite(t)
		s.exotic()
		before = s.image()
		s.exchanged()
		return before, s.image()
	}
	before, after := images(t)
	done := func(s *site) { s.exotic(); s.exchanged() }
	undone := func(s *site) { done(s); s.undo("") }
	t.Run("calls", func(t *testing.T) { sweepFrom(t, "exchange", 60, (*site).exotic, before, after) })
	t.Run("undo", func(t *testing.T) { sweepFrom(t, "exchange-undo", 40, done, before, after) })
	t.Run("redo", func(t *testing.T) { sweepFrom(t, "exchange-undo", 40, undone, before, after) })
	t.Run("recover", func(t *testing.T) {
		sweepFrom(t, "recover", 30, func(s *site) {
			s.exotic()
			if err := s.command("exchange", "9").Run(); err == nil {
				t.Fatal("it was not killed")
			}
		}, before, "never")
	})
}

// TestStashesAreBounded: what undo keeps by renames has a limit, the newest stays, the
// oldest goes first, and a stash that no change needs is removed, whatever its modes.
func TestStashesAreBounded(t *testing.T) {
	s := newSite(t)
	t.Cleanup(s.open)
	h := s.again(Options{Limits: Limits{Kept: 1000}})
	stashes := func() int {
		names, err := readNames(h.session.Path(journalDir, stashDir))
		if err != nil {
			t.Fatal(err)
		}
		return len(names)
	}
	remove := func(name string, size int) Record {
		s.put(name+"/in/big", strings.Repeat("x", size))
		if err := os.Chmod(s.abs(name+"/in"), 0o500); err != nil {
			t.Fatal(err)
		}
		r, err := h.Become(t.Context(), Record{Tool: "t"}, []Target{
			{Path: s.abs(name), Was: Dir}, {Path: s.abs(name + "/in"), Was: Dir}, {Path: s.abs(name + "/in/big"), Was: Regular, Bytes: int64(size)},
		}, func() error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	undo := func(id string) Record {
		r, err := h.Undo(t.Context(), id, UndoOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	one, two := remove("one", 400), remove("two", 400)
	if n := stashes(); n != 2 || len(one.Dropped)+len(two.Dropped) > 0 {
		t.Fatalf("%d stashes", n)
	}
	again := undo(undo(one.ID).ID)
	three := remove("three", 400)
	if slices.Sort(three.Dropped); fmt.Sprint(three.Dropped) != fmt.Sprint([]string{one.ID, again.Undoes, again.ID}) || stashes() != 2 {
		t.Errorf("dropped %q of %q, %d stashes", three.Dropped, []string{one.ID, again.Undoes, again.ID}, stashes())
	}
	four := remove("four", 5000)
	if stashes() != 1 || len(four.Dropped) != 2 {
		t.Errorf("dropped %q, %d stashes", four.Dropped, stashes())
	}
	if undo(four.ID); len(s.get("four/in/big")) != 5000 {
		t.Error("the newest was not kept")
	}
	if _, err := h.Get(t.Context(), two.ID); !errors.Is(err, ErrDropped) {
		t.Error(err)
	}
	if err := os.Mkdir(h.session.Path(journalDir, stashDir, "0killed.10"), 0o700); err != nil {
		t.Fatal(err)
	}
	h.o.Limits.Records = 4
	for i := range 3 {
		remove(fmt.Sprint("more", i), 1)
	}
	if _, err := os.Lstat(h.session.Path(journalDir, stashDir, "0killed.10")); err == nil {
		t.Error("what a killed process left is there")
	}
}

// TestApart: where the journal is on another file system, contents are kept and written.
func TestApart(t *testing.T) {
	var w, elsewhere unix.Stat_t
	s := newSite(t)
	top, err := os.MkdirTemp("/dev/shm", "agentkit-apart-") //nolint:usetesting // it has to be on another file system
	if err != nil || unix.Stat(s.top, &w) != nil || unix.Stat(top, &elsewhere) != nil || w.Dev == elsewhere.Dev {
		t.Skip("no second file system at /dev/shm: a journal apart is NOT tested: ", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(top) })
	s.put("d/a", "old")
	before := s.image()
	ses, err := session.Open(session.Options{State: filepath.Join(top, "S"), Root: s.w.Root(), NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	h := Open(s.w, ses, Options{})
	t.Cleanup(func() { _ = errors.Join(h.Close(), ses.Close()) })
	r, err := h.Become(t.Context(), Record{}, []Target{{Path: s.abs("d"), Was: Dir}, {Path: s.abs("d/a"), Was: Regular, Bytes: 3}}, func() error { return nil })
	if err != nil || r.Stash != "" || len(r.Files) != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	if _, err := h.Undo(t.Context(), r.ID, UndoOptions{}); err != nil {
		t.Fatal(err)
	}
	same(t, "undone", s.image(), before)
}

// fullExchange exchanges on a disk with no room, or a few pages of it: all happens, or
// nothing, and undo brings back what was there.
func fullExchange(top string) error {
	if err := os.MkdirAll(top, 0o700); err != nil {
		return err
	}
	if err := unix.Mount("none", top, "tmpfs", 0, "size=1m,mode=700"); err != nil {
		return err
	}
	defer func() { _ = unix.Unmount(top, unix.MNT_DETACH) }()
	abs := func(name string) string { return filepath.Join(top, "W", name) }
	var errs []error
	for _, dir := range []string{"W/d/e", "up"} {
		errs = append(errs, os.MkdirAll(filepath.Join(top, dir), 0o755))
	}
	for _, name := range []string{"W/d/a", "W/d/e/b", "W/f", "up/f", "up/n"} {
		errs = append(errs, os.WriteFile(filepath.Join(top, name), []byte(name), 0o644))
	}
	h, done, err := openSite(top, "default", Options{})
	if err := errors.Join(append(errs, err)...); err != nil {
		return err
	}
	defer done()
	targets := []Target{
		{Path: abs("d"), Was: Dir},
		{Path: abs("d/a"), Was: Regular},
		{Path: abs("d/e"), Was: Dir},
		{Path: abs("d/e/b"), Was: Regular},
		{Path: abs("f"), Was: Regular, State: State{Kind: Regular, Mode: 0o644}, From: filepath.Join(top, "up/f")},
		{Path: abs("n"), State: State{Kind: Dir, Mode: 0o755}},
		{Path: abs("n/n"), State: State{Kind: Regular, Mode: 0o644}, From: filepath.Join(top, "up/n")},
	}
	filler, err := os.Create(filepath.Join(top, "filler"))
	if err != nil {
		return err
	}
	defer filler.Close()
	full := int64(0)
	for page := make([]byte, 4096); ; full += 4096 {
		if _, err := filler.Write(page); err != nil {
			break
		}
	}
	before := fmt.Sprint(sums(filepath.Join(top, "W")))
	for room := range int64(40) {
		if err := filler.Truncate(full - room*4096); err != nil {
			return err
		}
		r, err := h.Become(context.Background(), Record{}, targets, func() error { return nil })
		if err != nil {
			if have := fmt.Sprint(sums(filepath.Join(top, "W"))); have != before || !safefile.DiskFull(err) || errors.Is(err, ErrUnfinished) {
				return fmt.Errorf("with %d pages: %w: %s, not %s", room, err, have, before)
			}
			continue
		}
		if _, err := h.Undo(context.Background(), r.ID, UndoOptions{}); err != nil && !safefile.DiskFull(err) {
			return err
		} else if err != nil {
			_ = filler.Truncate(0)
			if _, err := h.Undo(context.Background(), r.ID, UndoOptions{}); err != nil {
				return err
			}
		}
		if have := fmt.Sprint(sums(filepath.Join(top, "W"))); have != before || r.Stash == "" || room == 0 {
			return fmt.Errorf("with %d pages, undone: %s, not %s", room, have, before)
		}
		fmt.Println("exchanged with room for", room, "pages")
		return nil
	}
	return errors.New("it never went")
}

// BenchmarkDelete deletes 3,000 files in a directory, or in their place.
func BenchmarkDelete(b *testing.B) {
	for _, whole := range []bool{true, false} {
		b.Run(fmt.Sprint("whole=", whole), func(b *testing.B) {
			s := newSite(b)
			var targets []Target
			if whole {
				targets = append(targets, Target{Path: s.abs("d"), Was: Dir})
			}
			for i := range 3000 {
				targets = append(targets, Target{Path: s.abs(fmt.Sprintf("d/%d/f%d", i%30, i)), Was: Regular, Bytes: 10})
			}
			for i := range 30 {
				if whole {
					targets = append(targets, Target{Path: s.abs(fmt.Sprintf("d/%d", i)), Was: Dir})
				}
			}
			var undo, rm time.Duration
			for b.Loop() {
				b.StopTimer()
				for i := range 3000 {
					s.put(fmt.Sprintf("d/%d/f%d", i%30, i), "0123456789")
				}
				b.StartTimer()
				r, err := s.Become(context.Background(), Record{}, targets, func() error { return nil })
				b.StopTimer()
				if err != nil {
					b.Fatal(err)
				}
				began := time.Now()
				s.undo(r.ID)
				undo += time.Since(began)
				began = time.Now()
				if err := os.RemoveAll(s.abs("d")); err != nil {
					b.Fatal(err)
				}
				rm += time.Since(began)
				b.StartTimer()
			}
			b.ReportMetric(float64(undo.Milliseconds())/float64(b.N), "ms/undo")
			b.ReportMetric(float64(rm.Milliseconds())/float64(b.N), "ms/rm")
		})
	}
}

// TestExchangeOfPath: one file of a change by renames comes back by itself, also out of a
// directory that went as a whole, and so does the rest.
func TestExchangeOfPath(t *testing.T) {
	s := newSite(t)
	s.exotic()
	before := s.image()
	r := s.exchanged()
	after := s.image()
	s.undoPath("f4")
	s.undoPath("shut/a")
	s.undoPath("tree/shut")
	if have := s.get("tree/shut/b") + s.get("shut/a") + s.get("f1"); have != "fourshutnew 1" {
		t.Error(have)
	}
	if info, err := os.Lstat(s.abs("tree/shut")); err != nil || info.Mode().Perm() != 0o500 {
		t.Error(info, err)
	}
	if _, err := s.Undo(t.Context(), "", UndoOptions{Path: s.abs("tree/shut")}); !errors.Is(err, ErrNoRecord) {
		t.Errorf("again: %v", err)
	}
	part := s.image()
	u := s.undo(r.ID) // the rest
	same(t, "over what came back", s.image(), before)
	s.undo(u.ID)
	same(t, "that done again", s.image(), part)
	if _, err := s.Undo(t.Context(), "", UndoOptions{Path: s.abs("tree/pipe")}); err == nil || !strings.Contains(err.Error(), "pipe") {
		t.Errorf("a pipe: %v", err)
	}
	for range 3 {
		s.undo(s.undos()[0].ID)
	}
	same(t, "done again", s.image(), after)
	s.undo(r.ID)
	same(t, "undone", s.image(), before)
}
