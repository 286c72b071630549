package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestMain lets the test binary play another process, see process_test.go.
func TestMain(m *testing.M) {
	if role := os.Getenv("WORKSPACE_TEST_ROLE"); role != "" {
		os.Exit(play(role, os.Args[1:]))
	}
	os.Exit(m.Run())
}

// site is a root W beside an outside directory O, both in one real directory.
type site struct {
	*Workspace
	t         testing.TB
	top, w, o string
}

func newSite(t testing.TB) *site {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, top: top, w: filepath.Join(top, "W"), o: filepath.Join(top, "O")}
	s.put("W/src/a.ts", "inside")
	s.put("O/secret", "SECRET")
	s.put("H/note", "home")
	ws, err := Open(s.w, Options{Home: filepath.Join(top, "H"), LockDir: filepath.Join(top, "locks")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	s.Workspace = ws
	return s
}

func (s *site) put(rel, content string) string {
	s.t.Helper()
	name := filepath.Join(s.top, rel)
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(content), 0o644)); err != nil {
		s.t.Fatal(err)
	}
	return name
}

func (s *site) link(target, rel string) {
	s.t.Helper()
	if err := os.Symlink(target, filepath.Join(s.top, rel)); err != nil {
		s.t.Skip("no symbolic links here: ", err)
	}
}

func (s *site) resolve(name string) Path {
	s.t.Helper()
	p, err := s.Resolve(name)
	if err != nil {
		s.t.Fatalf("Resolve(%q): %v", name, err)
	}
	return p
}

func (s *site) content(rel, want string) {
	s.t.Helper()
	got, err := os.ReadFile(filepath.Join(s.top, rel))
	if err != nil || string(got) != want {
		s.t.Errorf("%s holds %q (%v), want %q", rel, got, err, want)
	}
}

// names checks that dir holds exactly these names: no temporary file is left.
func (s *site) names(rel string, want ...string) {
	s.t.Helper()
	list, err := os.ReadDir(filepath.Join(s.top, rel))
	if err != nil {
		s.t.Fatal(err)
	}
	var got []string
	for _, e := range list {
		got = append(got, e.Name())
	}
	if len(got) != len(want) {
		s.t.Fatalf("%s holds %q, want %q", rel, got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			s.t.Fatalf("%s holds %q, want %q", rel, got, want)
		}
	}
}

func TestOpenRoot(t *testing.T) {
	s := newSite(t)
	s.link(s.w, "alias")
	ctx := context.Background()
	for _, dir := range []string{filepath.Join(s.top, "alias"), s.w + "/", filepath.Join(s.w, "src", "..")} {
		w, err := Open(dir, Options{})
		if err != nil {
			t.Fatalf("Open(%q): %v", dir, err)
		}
		if w.Root() != s.w {
			t.Errorf("Open(%q).Root() = %q, want %q", dir, w.Root(), s.w)
		}
		p, err := w.Resolve(filepath.Join(s.top, "alias", "src", "a.ts"))
		if err != nil || !p.Inside || p.Rel != "src/a.ts" {
			t.Errorf("by the alias: %+v, %v", p, err)
		}
		if _, err := w.WriteFile(ctx, p, []byte("inside"), WriteOptions{}); err != nil {
			t.Error("writing without a lock directory:", err)
		}
		w.Close()
	}
	if w, err := Open("W", Options{Cwd: s.top}); err != nil || w.Root() != s.w {
		t.Errorf("a relative root: %v", err)
	}
	for dir, want := range map[string]error{
		"W": ErrName, "": ErrName, "a\x00b": ErrName,
		filepath.Join(s.top, "missing"):   fs.ErrNotExist,
		filepath.Join(s.w, "src", "a.ts"): ErrNotDir,
		s.w + "/nosuch/..":                fs.ErrNotExist,
	} {
		if _, err := Open(dir, Options{}); !errors.Is(err, want) {
			t.Errorf("Open(%q): %v, want %v", dir, err, want)
		}
	}
	if _, err := Open(s.w, Options{Home: "relative"}); !errors.Is(err, ErrName) {
		t.Errorf("a relative home: %v", err)
	}
}

func TestRootReplaced(t *testing.T) {
	s := newSite(t)
	if err := os.Rename(s.w, s.w+"-old"); err != nil {
		t.Skip(err)
	}
	s.link(s.o, "W")
	p, err := s.Resolve("secret")
	if !errors.Is(err, ErrMoved) || p.Inside {
		t.Fatalf("a root that became a link: %+v, %v", p, err)
	}
}

func TestOpenedByResolutionOnly(t *testing.T) {
	s := newSite(t)
	forged := Path{Given: "x", Real: filepath.Join(s.o, "secret"), Inside: true, Exists: true}
	if _, err := s.ReadFile(forged, 0); !errors.Is(err, ErrName) {
		t.Errorf("a path that nobody resolved: %v", err)
	}
	failed, _ := s.Resolve("src/a.ts/x")
	if _, err := s.WriteFile(context.Background(), failed, nil, WriteOptions{}); !errors.Is(err, ErrName) {
		t.Errorf("a path whose resolution failed: %v", err)
	}
}
