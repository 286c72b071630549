package change

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentkit-go/agentkit/pkg/session"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// TestMain lets the test binary be another process.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "play" {
		if err := play(os.Args[2], os.Args[3], os.Args[4:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// soak reports whether the tests that take minutes are asked for.
func soak() bool { return os.Getenv("AGENTKIT_SOAK") != "" }

// A site is a workspace in top/W with the state in top/S.
type site struct {
	*History
	t   testing.TB
	top string
}

func newSite(t testing.TB) *site {
	s := &site{t: t, top: realTemp(t)}
	if err := os.Mkdir(filepath.Join(s.top, "W"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.History = s.again(Options{})
	return s
}

func realTemp(t testing.TB) string {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return top
}

// again opens the history as another process would.
func (s *site) again(o Options) *History { return s.of("default", o) }

func (s *site) of(id string, o Options) *History {
	s.t.Helper()
	h, done, err := openSite(s.top, id, o)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(done)
	return h
}

func openSite(top, id string, o Options) (h *History, done func(), err error) {
	w, err := workspace.Open(filepath.Join(top, "W"), workspace.Options{LockDir: filepath.Join(top, "L")})
	if err != nil {
		return nil, nil, err
	}
	ses, err := session.Open(session.Options{State: filepath.Join(top, "S"), Root: w.Root(), ID: id, NoSync: true})
	if err != nil {
		return nil, nil, err
	}
	h = Open(w, ses, o)
	return h, func() { _ = h.Close(); _ = ses.Close(); w.Close() }, nil
}

func (s *site) put(name, data string) {
	s.t.Helper()
	name = filepath.Join(s.top, "W", name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(data), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) get(name string) string {
	data, err := os.ReadFile(filepath.Join(s.top, "W", name))
	if err != nil {
		return "<" + err.Error() + ">"
	}
	return string(data)
}

func (s *site) abs(name string) string { return filepath.Join(s.top, "W", name) }

func (s *site) p(name string) workspace.Path {
	s.t.Helper()
	p, err := s.w.Resolve(name)
	if err != nil {
		s.t.Fatal(err)
	}
	return p
}

func (s *site) entry(name string) workspace.Path {
	s.t.Helper()
	p, err := s.w.ResolveEntry(name)
	if err != nil {
		s.t.Fatal(err)
	}
	return p
}

func (s *site) commit(changes ...Change) Record {
	s.t.Helper()
	r, err := s.Commit(context.Background(), Set{Tool: "test", Changes: changes})
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

func (s *site) undo(id string) Record {
	s.t.Helper()
	r, err := s.Undo(context.Background(), id, UndoOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// image is the whole workspace as text: names, kinds, modes and bytes.
func (s *site) image() string { s.t.Helper(); return imageOf(s.t, filepath.Join(s.top, "W")) }

func imageOf(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		fmt.Fprintf(&b, "%q %v", rel, info.Mode())
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if len(data) > 100 {
				data = []byte(Hash(data))
			}
			fmt.Fprintf(&b, " %q", data)
		case info.Mode()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(path)
			b.WriteString(" -> " + target)
		}
		b.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func same(t testing.TB, what, have, want string) {
	t.Helper()
	if have != want {
		t.Errorf("%s:\n%s\nwant\n%s", what, have, want)
	}
}

// clean checks that nothing of ours is left on the way.
func (s *site) clean() {
	s.t.Helper()
	left, err := filepath.Glob(filepath.Join(s.top, "S", "*", "*", "journal", "pending", "*"))
	left = slices.DeleteFunc(left, func(name string) bool { return filepath.Base(name)[0] == '.' }) // gc takes it
	if err != nil || len(left) > 0 {
		s.t.Errorf("left pending: %q, %v", left, err)
	}
}

// TestSets changes a tree in each way there is, undoes it, and undoes that.
func TestSets(t *testing.T) {
	ctx := context.Background()
	setup := func(s *site) {
		s.put("a", "one\r\ntwo\x00\xff")
		s.put("b", "two")
		s.put("run", "#!/bin/sh\n")
		_ = os.Chmod(s.abs("run"), 0o755)
		s.put("d/x", "deep")
		s.put("empty", "")
		_ = os.Symlink("a", s.abs("link"))
		_ = os.Symlink("nowhere", s.abs("dangling"))
		s.put("n\xff\xfe", "no UTF-8")
		s.put("hard1", "several names, one file")
		_ = os.Link(s.abs("hard1"), s.abs("hard2"))
		_ = os.Mkdir(s.abs("void"), 0o750)
	}
	for _, c := range []struct {
		name string
		set  func(*site) []Change
		want map[string]string // after it; "-" is gone
	}{
		{"write", func(s *site) []Change { return []Change{{Op: Write, Path: s.p("a"), Data: []byte("new")}} }, map[string]string{"a": "new"}},
		{"write nothing", func(s *site) []Change { return []Change{{Op: Write, Path: s.p("a")}} }, map[string]string{"a": ""}},
		{"fill", func(s *site) []Change { return []Change{{Op: Replace, Path: s.p("empty"), Data: []byte("x")}} }, map[string]string{"empty": "x"}},
		{"create", func(s *site) []Change { return []Change{{Op: Create, Path: s.p("n"), Data: []byte("x")}} }, map[string]string{"n": "x"}},
		{"create deep", func(s *site) []Change {
			return []Change{{Op: Create, Path: s.p("p/q/r"), Data: []byte("x")}, {Op: Create, Path: s.p("p/s"), Mode: new(fs.FileMode(0o700))}}
		}, map[string]string{"p/q/r": "x", "p/s": ""}},
		{"delete", func(s *site) []Change { return []Change{{Op: Delete, Path: s.p("run")}} }, map[string]string{"run": "-"}},
		{"delete all", func(s *site) []Change {
			return []Change{{Op: Delete, Path: s.p("d/x")}, {Op: Delete, Path: s.p("d")}, {Op: Delete, Path: s.p("void")}}
		}, map[string]string{"d": "-", "void": "-"}},
		{"move", func(s *site) []Change { return []Change{{Op: Move, Path: s.p("run"), To: s.p("e/f/walk")}} }, map[string]string{"run": "-", "e/f/walk": "#!/bin/sh\n"}},
		{"move and write", func(s *site) []Change {
			return []Change{{Op: Move, Path: s.p("run"), To: s.p("walk"), Data: []byte("#!/bin/bash\n")}}
		}, map[string]string{"run": "-", "walk": "#!/bin/bash\n"}},
		{"move to itself", func(s *site) []Change {
			return []Change{{Op: Move, Path: s.p("run"), To: s.p("run"), Data: []byte("x")}}
		}, map[string]string{"run": "x"}},
		{"move hard link and write", func(s *site) []Change {
			return []Change{{Op: Move, Path: s.p("hard1"), To: s.p("hard3"), Data: []byte("x")}}
		}, map[string]string{"hard1": "-", "hard2": "x", "hard3": "x"}},
		{"move a link", func(s *site) []Change { return []Change{{Op: Move, Path: s.entry("link"), To: s.entry("d/link")}} }, map[string]string{"link": "-"}},
		{"delete links", func(s *site) []Change {
			return []Change{{Op: Delete, Path: s.entry("link")}, {Op: Delete, Path: s.entry("dangling")}}
		}, map[string]string{"link": "-", "a": "one\r\ntwo\x00\xff"}},
		{"through a link", func(s *site) []Change { return []Change{{Op: Write, Path: s.p("link"), Data: []byte("new")}} }, map[string]string{"a": "new", "link": "new"}},
		{"through a dangling link", func(s *site) []Change { return []Change{{Op: Write, Path: s.p("dangling"), Data: []byte("new")}} }, map[string]string{"nowhere": "new"}},
		{"make a link", func(s *site) []Change { return []Change{{Op: Symlink, Path: s.p("k/l"), Data: []byte("../a")}} }, map[string]string{"k/l": "one\r\ntwo\x00\xff"}},
		{"make directories", func(s *site) []Change { return []Change{{Op: Mkdir, Path: s.p("k/l/m")}, {Op: Mkdir, Path: s.p("d")}} }, nil},
		{"mode", func(s *site) []Change { return []Change{{Op: Chmod, Path: s.p("run"), Mode: new(fs.FileMode(0o600))}} }, map[string]string{"run": "#!/bin/sh\n"}},
		{"to read-only", func(s *site) []Change {
			return []Change{{Op: Write, Path: s.p("run"), Data: []byte("x"), Mode: new(fs.FileMode(0o444))}}
		}, map[string]string{"run": "x"}},
		{"hard link", func(s *site) []Change { return []Change{{Op: Write, Path: s.p("hard1"), Data: []byte("short")}} }, map[string]string{"hard1": "short", "hard2": "short"}},
		{"not UTF-8", func(s *site) []Change { return []Change{{Op: Delete, Path: s.p("n\xff\xfe")}} }, map[string]string{"n\xff\xfe": "-"}},
		{"file to directory", func(s *site) []Change {
			return []Change{{Op: Delete, Path: s.p("a")}, {Op: Create, Path: s.p("b2"), Data: []byte("1")}}
		}, map[string]string{"a": "-", "b2": "1"}},
		{"swap by three", func(s *site) []Change {
			return []Change{
				{Op: Move, Path: s.p("a"), To: s.p("t")},
				{Op: Write, Path: s.p("b"), Data: []byte("one")},
				{Op: Create, Path: s.p("t2"), Data: []byte("two")},
			}
		}, map[string]string{"a": "-", "t": "one\r\ntwo\x00\xff", "b": "one", "t2": "two"}},
		{"source", func(s *site) []Change {
			return []Change{{Op: Write, Path: s.p("a"), Source: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("streamed")), nil }}}
		}, map[string]string{"a": "streamed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t)
			setup(s)
			before := s.image()
			r := s.commit(c.set(s)...)
			if r.ID == "" || len(r.Files) == 0 {
				t.Fatalf("%+v", r)
			}
			for name, want := range c.want {
				have := s.get(name)
				if _, err := os.Lstat(s.abs(name)); err != nil {
					have = "-"
				}
				if have != want {
					t.Errorf("%q is %q, want %q", name, have, want)
				}
			}
			after := s.image()
			if after == before {
				t.Fatal("nothing has changed")
			}
			dry, err := s.Undo(ctx, r.ID, UndoOptions{DryRun: true})
			if err != nil || len(dry.Files) == 0 || s.image() != after {
				t.Fatalf("dry: %+v, %v", dry, err)
			}
			h := s.again(Options{}) // another process
			u, err := h.Undo(ctx, "", UndoOptions{})
			if err != nil {
				t.Fatal(err)
			}
			same(t, "undone", s.image(), before)
			if _, err := s.Undo(ctx, r.ID, UndoOptions{}); !errors.Is(err, ErrUndone) {
				t.Errorf("twice: %v", err)
			}
			s.undo(u.ID)
			same(t, "the undo undone", s.image(), after)
			last, _, err := s.Newest(ctx, 1)
			if err != nil || len(last) != 1 || last[0].ID != r.ID {
				t.Errorf("newest: %+v, %v", last, err)
			}
			s.undo("")
			same(t, "undone again", s.image(), before)
			if last, _, err := s.Newest(ctx, 1); err != nil || len(last) != 0 {
				t.Errorf("newest of none: %+v, %v", last, err)
			}
			s.clean()
		})
	}
}

func TestNothingToDo(t *testing.T) {
	s := newSite(t)
	s.put("a", "x")
	info, _ := os.Stat(s.abs("a"))
	r := s.commit(Change{Op: Write, Path: s.p("a"), Data: []byte("x")})
	now, _ := os.Stat(s.abs("a"))
	if r.ID != "" || !os.SameFile(info, now) {
		t.Errorf("%+v", r)
	}
	if r := s.commit(); r.ID != "" {
		t.Errorf("%+v", r)
	}
	if list, err := s.List(context.Background(), 0); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	fresh := s.of("fresh", Options{})
	if list, err := fresh.List(context.Background(), 0); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := fresh.Get(context.Background(), "x"); !errors.Is(err, ErrNoRecord) {
		t.Error(err)
	}
	if _, err := fresh.Recover(context.Background()); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(fresh.session.Path()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("looking has made the session: %v", err)
	}
}

// TestRefusals checks that a set with one bad change changes nothing.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name   string
		bad    func(*site) Change
		want   error
		before func(*site)
	}{
		{"create what exists", func(s *site) Change { return Change{Op: Create, Path: s.p("b")} }, fs.ErrExist, nil},
		{"replace what does not", func(s *site) Change { return Change{Op: Replace, Path: s.p("no")} }, fs.ErrNotExist, nil},
		{"delete what does not", func(s *site) Change { return Change{Op: Delete, Path: s.p("no")} }, fs.ErrNotExist, nil},
		{"move what does not", func(s *site) Change { return Change{Op: Move, Path: s.p("no"), To: s.p("n")} }, fs.ErrNotExist, nil},
		{"move over", func(s *site) Change { return Change{Op: Move, Path: s.p("b"), To: s.p("d/x")} }, fs.ErrExist, nil},
		{"twice", func(s *site) Change { return Change{Op: Write, Path: s.p("a")} }, ErrTwice, nil},
		{"a directory", func(s *site) Change { return Change{Op: Write, Path: s.p("d")} }, workspace.ErrIsDir, nil},
		{"move a directory", func(s *site) Change { return Change{Op: Move, Path: s.p("d"), To: s.p("e")} }, workspace.ErrIsDir, nil},
		{"delete a full directory", func(s *site) Change { return Change{Op: Delete, Path: s.p("d")} }, nil, nil},
		{"read-only", func(s *site) Change { return Change{Op: Write, Path: s.p("ro"), Data: []byte("x")} }, workspace.ErrReadOnly, func(s *site) {
			s.put("ro", "y")
			_ = os.Chmod(s.abs("ro"), 0o444)
		}},
		{"mode of a link", func(s *site) Change { return Change{Op: Chmod, Path: s.entry("l"), Mode: new(fs.FileMode(0o600))} }, workspace.ErrNotRegular, func(s *site) { _ = os.Symlink("a", s.abs("l")) }},
		{"no mode", func(s *site) Change { return Change{Op: Chmod, Path: s.p("b")} }, nil, nil},
		{"no op", func(s *site) Change { return Change{Path: s.p("b")} }, nil, nil},
		{"beneath a file", func(s *site) Change { return Change{Op: Write, Path: s.p("a2/b"), Data: []byte("x")} }, workspace.ErrNotDir, nil},
		{"a failing source", func(s *site) Change {
			return Change{Op: Write, Path: s.p("b"), Source: func() (io.ReadCloser, error) { return nil, io.ErrClosedPipe }}
		}, io.ErrClosedPipe, nil},
		{"a source that changes", func(s *site) Change {
			n := 0
			return Change{Op: Write, Path: s.p("b"), Source: func() (io.ReadCloser, error) {
				n++
				return io.NopCloser(strings.NewReader(fmt.Sprint(n))), nil
			}}
		}, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t)
			s.put("a", "old a")
			s.put("b", "old b")
			s.put("d/x", "old x")
			if c.before != nil {
				c.before(s)
			}
			before := s.image()
			set := []Change{
				{Op: Write, Path: s.p("a"), Data: []byte("new a")},
				{Op: Create, Path: s.p("a2"), Data: []byte("new a2")},
				{Op: Create, Path: s.p("new/dir/file"), Data: []byte("new")},
				c.bad(s),
			}
			if c.name != "delete a full directory" && c.name != "move over" {
				set = append(set, Change{Op: Move, Path: s.p("d/x"), To: s.p("z/x")})
			}
			_, err := s.Commit(context.Background(), Set{Changes: set})
			if err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
			same(t, "the tree", s.image(), before)
			s.clean()
			if list, _ := s.List(context.Background(), 0); len(list) != 0 {
				t.Errorf("recorded: %+v", list)
			}
		})
	}
}

func TestConflicts(t *testing.T) {
	s := newSite(t)
	s.put("a", "1")
	s.put("b", "1")
	s.put("c", "1")
	v := workspace.Version([]byte("1"))
	set := Set{Changes: []Change{
		{Op: Write, Path: s.p("a"), Version: v, Data: []byte("2")},
		{Op: Write, Path: s.p("b"), Version: v, Data: []byte("2")},
		{Op: Delete, Path: s.p("c"), Version: v},
	}}
	s.put("b", "other")
	if err := os.Remove(s.abs("c")); err != nil {
		t.Fatal(err)
	}
	_, err := s.Commit(context.Background(), set)
	var c *workspace.ConflictError
	if !errors.As(err, &c) || c.Have != workspace.Version([]byte("other")) || !strings.Contains(err.Error(), s.abs("c")) {
		t.Errorf("%v", err)
	}
	if s.get("a") != "1" {
		t.Error("changed in spite of a conflict")
	}
}

// TestWas checks that a change that was made for a content meets no other one, and that
// what it replaces comes back, whether it fits in memory at once or not.
func TestWas(t *testing.T) {
	for _, size := range []int{0, 1, small, small + 1, 3 * small} {
		was := bytes.Repeat([]byte("a"), size)
		for name, now := range map[string][]byte{
			"same": was, "longer": append(bytes.Clone(was), 'b'), "shorter": was[:size/2], "other": bytes.Repeat([]byte("b"), size),
		} {
			s := newSite(t)
			s.put("f", string(now))
			_, err := s.Commit(t.Context(), Set{Changes: []Change{{Op: Replace, Path: s.p("f"), Was: was, Data: []byte("new")}}})
			if bytes.Equal(now, was) {
				if err != nil || s.get("f") != "new" {
					t.Errorf("%d bytes, %s: %v", size, name, err)
				}
				if s.undo(""); s.get("f") != string(was) {
					t.Errorf("%d bytes, %s: undone, it has %d bytes", size, name, len(s.get("f")))
				}
				continue
			}
			if c, ok := errors.AsType[*workspace.ConflictError](err); !ok || c.Want != workspace.Version(was) || c.Have != workspace.Version(now) {
				t.Errorf("%d bytes, %s: %v", size, name, err)
			}
			if s.get("f") != string(now) {
				t.Errorf("%d bytes, %s: changed in spite of a conflict", size, name)
			}
		}
	}
}

// TestChangedSince checks that undo never destroys what came later.
func TestChangedSince(t *testing.T) {
	for name, c := range map[string]struct {
		later   func(*site)
		refused string // the file named; "" when undo goes on
	}{
		"written":      {func(s *site) { s.put("a", "later") }, "a"},
		"created file": {func(s *site) { s.put("n/new", "later") }, "n/new"},
		"removed":      {func(s *site) { _ = os.Remove(s.abs("n/new")) }, ""}, // it is as before already
		"mode":         {func(s *site) { _ = os.Chmod(s.abs("a"), 0o600) }, "a"},
		"recreated":    {func(s *site) { s.put("gone", "again") }, "gone"},
		"moved target": {func(s *site) { s.put("to", "later") }, "to"},
		"source back":  {func(s *site) { s.put("from", "later") }, "from"},
		"now a dir":    {func(s *site) { _ = os.Remove(s.abs("a")); _ = os.Mkdir(s.abs("a"), 0o755) }, "a"},
		"now a link":   {func(s *site) { _ = os.Remove(s.abs("a")); _ = os.Symlink("to", s.abs("a")) }, "a"},
		"way is a link": {func(s *site) {
			_ = os.Rename(s.abs("n"), s.abs("m"))
			_ = os.Symlink("m", s.abs("n"))
		}, "n/new"},
		"another file": {func(s *site) { s.put("n/theirs", "x") }, ""},
		"same again":   {func(s *site) { s.put("a", "new") }, ""},
		"put back":     {func(s *site) { s.put("a", "old") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.put("a", "old")
			s.put("gone", "gone")
			s.put("from", "moved")
			s.commit(Change{Op: Write, Path: s.p("a"), Data: []byte("new")}, Change{Op: Create, Path: s.p("n/new"), Data: []byte("new")},
				Change{Op: Delete, Path: s.p("gone")}, Change{Op: Move, Path: s.p("from"), To: s.p("to")})
			c.later(s)
			before := s.image()
			_, err := s.Undo(context.Background(), "", UndoOptions{})
			if c.refused == "" {
				if err != nil || s.get("a") != "old" || s.get("from") != "moved" || s.get("gone") != "gone" {
					t.Errorf("%v\n%s", err, s.image())
				}
				if name == "another file" && s.get("n/theirs") != "x" {
					t.Error("another's file was touched")
				}
				return
			}
			var e *ChangedError
			if !errors.As(err, &e) || !slices.ContainsFunc(e.Files, func(g Gap) bool { return g.Path == s.abs(c.refused) }) {
				t.Errorf("%v", err)
			}
			same(t, "after the refusal", s.image(), before)
		})
	}
}

func TestModesOfTheJournal(t *testing.T) {
	s := newSite(t)
	for i := range 4 {
		s.put(fmt.Sprint("f", i), "the same everywhere")
	}
	for i := range 4 {
		r := s.commit(Change{Op: Write, Path: s.p(fmt.Sprint("f", i)), Data: []byte{byte(i)}})
		if (r.added == 0) != (i > 0) {
			t.Errorf("change %d has added %d bytes", i, r.added)
		}
	}
	n := 0
	err := filepath.WalkDir(s.session.Path(journalDir), func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if want := fs.FileMode(0o600); !e.IsDir() && info.Mode().Perm() != want {
			t.Errorf("%s: %v", path, info.Mode())
		}
		if strings.Contains(path, objectsDir+"/") {
			n++
		}
		return err
	})
	if err != nil || n != 1 {
		t.Errorf("%d contents are kept of one, %v", n, err)
	}
}

func TestDamage(t *testing.T) {
	s := newSite(t)
	s.put("a", "old")
	s.put("b", "old b")
	r := s.commit(Change{Op: Write, Path: s.p("a"), Data: []byte("new")}, Change{Op: Write, Path: s.p("b"), Data: []byte("new")})
	object := s.session.Path(journalDir, objectsDir, Hash([]byte("old")))
	for _, damage := range []func() error{
		func() error { return os.WriteFile(object, []byte("odd"), 0o600) },
		func() error { return os.Remove(object) },
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Undo(context.Background(), r.ID, UndoOptions{}); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), s.abs("a")) {
			t.Errorf("%v", err)
		}
		if s.get("a") != "new" || s.get("b") != "new" {
			t.Error("changed in spite of it")
		}
	}
}

func TestLimits(t *testing.T) {
	ctx := context.Background()
	s := newSite(t)
	h := s.again(Options{Limits: Limits{Records: 8, Bytes: 1 << 30}})
	s.put("a", "start")
	var ids, dropped []string
	for i := range 20 {
		r, err := h.Commit(ctx, One("t", Change{Op: Write, Path: s.p("a"), Data: fmt.Append(nil, i)}))
		if err != nil {
			t.Fatal(err)
		}
		ids, dropped = append(ids, r.ID), append(dropped, r.Dropped...)
		if list, err := h.List(ctx, 0); err != nil || len(list) > 8 || len(list)+len(dropped) != i+1 {
			t.Fatalf("%d records, %d dropped of %d, %v", len(list), len(dropped), i+1, err)
		}
	}
	if !slices.Equal(dropped, ids[:len(dropped)]) {
		t.Errorf("dropped %q of %q", dropped, ids)
	}
	if _, err := h.Undo(ctx, ids[0], UndoOptions{}); !errors.Is(err, ErrDropped) {
		t.Errorf("undoing a dropped one: %v", err)
	}
	if objects, _ := os.ReadDir(h.session.Path(journalDir, objectsDir)); len(objects) > 8 {
		t.Errorf("%d contents", len(objects))
	}
	// By bytes.
	h = s.of("bytes", Options{Limits: Limits{Bytes: 100 << 10}})
	dropped = nil
	for i := range 30 {
		r, err := h.Commit(ctx, One("t", Change{Op: Write, Path: s.p("a"), Data: bytes.Repeat([]byte{byte(i)}, 10<<10)}))
		if err != nil {
			t.Fatal(err)
		}
		dropped = append(dropped, r.Dropped...)
		if size := sizeOf(t, h.session.Path(journalDir, objectsDir)); size > 100<<10 {
			t.Errorf("%d bytes after %d", size, i)
		}
	}
	if len(dropped) < 15 {
		t.Errorf("dropped %d", len(dropped))
	}
	h.undoAll(t)
	// By age.
	now := time.Now()
	h = s.of("age", Options{Limits: Limits{Age: time.Hour}, Now: func() time.Time { return now }})
	first, _ := h.Commit(ctx, One("t", Change{Op: Write, Path: s.p("a"), Data: []byte("1")}))
	now = now.Add(2 * time.Hour)
	second, err := h.Commit(ctx, One("t", Change{Op: Write, Path: s.p("a"), Data: []byte("2")}))
	if err != nil || !slices.Equal(second.Dropped, []string{first.ID}) {
		t.Errorf("%q, %v", second.Dropped, err)
	}
	// One larger than all.
	h = s.of("large", Options{Limits: Limits{Bytes: 1000}})
	s.put("big", strings.Repeat("x", 5000))
	s.put("other", "o")
	for _, set := range [][]Change{
		{{Op: Write, Path: s.p("big"), Data: bytes.Repeat([]byte("y"), 5000)}},
		{{Op: Write, Path: s.p("big"), Data: []byte("z")}, {Op: Write, Path: s.p("other"), Data: []byte("p")}},
	} {
		r, err := h.Commit(ctx, Set{Changes: set})
		if err != nil || len(r.Gaps) != 1 || r.Gaps[0].Path != s.abs("big") {
			t.Errorf("%+v, %v", r, err)
		}
		var e *GapError
		if _, err := h.Undo(ctx, r.ID, UndoOptions{}); !errors.As(err, &e) {
			t.Errorf("%v", err)
		}
	}
	if _, err := h.Undo(ctx, "", UndoOptions{Partial: true}); err != nil || s.get("other") != "o" || s.get("big") != "z" {
		t.Errorf("%v: %s %s", err, s.get("other"), s.get("big"))
	}
}

func (h *History) undoAll(t testing.TB) (n int) {
	t.Helper()
	for {
		_, err := h.Undo(context.Background(), "", UndoOptions{})
		if errors.Is(err, ErrNoRecord) {
			return n
		}
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
}

func sizeOf(t testing.TB, dir string) (n int64) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		n += info.Size()
	}
	return n
}

// command runs the test binary as another process in a role.
func (s *site) command(role string, args ...string) *exec.Cmd {
	s.t.Helper()
	self, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	c := exec.Command(self, append([]string{"play", role, s.top}, args...)...)
	c.Stderr = os.Stderr
	return c
}
