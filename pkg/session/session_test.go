package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

func openTest(t testing.TB, state string, change ...func(*Options)) *Session {
	t.Helper()
	o := Options{State: state, Root: "/srv/project", ID: "s1"}
	if runtime.GOOS == "windows" {
		o.Root = `C:\srv\project`
	}
	for _, c := range change {
		c(&o)
	}
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestReadingCreatesNothing(t *testing.T) {
	state := filepath.Join(t.TempDir(), "a", "state")
	s := openTest(t, state)
	_, err := s.ReadFile("todo.json")
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("ReadFile: %v, want not exist", err)
	}
	if s.Owns(s.Path("spill", "x.txt")) {
		t.Error("Owns a file that is not there")
	}
	must(t, s.RemoveAll("cache/x"))
	if _, err := s.JobAlive("j"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("JobAlive: %v", err)
	}
	if r := s.Opportunistic(t.Context()); r.Sessions != 0 {
		t.Errorf("Opportunistic: %+v", r)
	}
	if _, err := os.Lstat(filepath.Dir(state)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was created: %v", err)
	}
}

func TestIDs(t *testing.T) {
	for id, ok := range map[string]bool{
		"default": true, "A.b_c-9": true, "...": true, strings.Repeat("x", 64): true, "-x": true,
		".": false, "..": false, "a/b": false, "a b": false, "é": false, "@gone-1": false, "a\x00": false,
		strings.Repeat("x", 65): false, `a\b`: false, "../x": false,
	} {
		_, err := Open(Options{State: t.TempDir(), Root: t.TempDir(), ID: id})
		if ok != (err == nil) || !ok && !errors.Is(err, ErrID) {
			t.Errorf("Open with ID %q: %v", id, err)
		}
	}
	s := openTest(t, t.TempDir(), func(o *Options) { o.ID = "" })
	if s.ID() != "default" {
		t.Errorf("ID = %q, want default", s.ID())
	}
	for _, o := range []Options{{State: "rel", Root: t.TempDir()}, {State: t.TempDir(), Root: ""}} {
		if _, err := Open(o); err == nil {
			t.Errorf("Open(%+v) takes a relative path", o)
		}
	}
}

func TestNames(t *testing.T) {
	s := openTest(t, t.TempDir())
	for _, name := range []string{"", "/etc/x", "../x", "a/../x", "a//b", ".lock", "a/.b", "a/", "a\x00", `a\b`} {
		if err := s.WriteFile(context.Background(), name, nil); !errors.Is(err, ErrName) {
			t.Errorf("WriteFile(%q): %v, want ErrName", name, err)
		}
		if _, err := s.ReadFile(name); !errors.Is(err, ErrName) {
			t.Errorf("ReadFile(%q): %v, want ErrName", name, err)
		}
	}
}

func TestUpdate(t *testing.T) {
	s := openTest(t, t.TempDir())
	set := func(want, new string) func([]byte) ([]byte, error) {
		return func(old []byte) ([]byte, error) {
			if string(old) != want {
				t.Errorf("old = %q, want %q", old, want)
			}
			return []byte(new), nil
		}
	}
	must(t, s.Update(t.Context(), "a/b/todo.json", set("", "1")))
	must(t, s.Update(t.Context(), "a/b/todo.json", set("1", "2")))
	boom := errors.New("boom")
	if err := s.Update(t.Context(), "a/b/todo.json", func([]byte) ([]byte, error) { return []byte("x"), boom }); !errors.Is(err, boom) {
		t.Errorf("Update: %v", err)
	}
	data, err := s.ReadFile("a/b/todo.json")
	if string(data) != "2" || err != nil {
		t.Errorf("ReadFile = %q, %v", data, err)
	}
	must(t, s.Update(t.Context(), "a/b/todo.json", func([]byte) ([]byte, error) { return nil, nil }))
	if _, err := s.ReadFile("a/b/todo.json"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after removal: %v", err)
	}
	must(t, s.WriteFile(context.Background(), "empty", nil))
	if data, err := s.ReadFile("empty"); err != nil || len(data) != 0 {
		t.Errorf("empty: %q, %v", data, err)
	}
	left, _ := filepath.Glob(s.Path(".*" + safefile.TempSuffix))
	if len(left) != 0 {
		t.Errorf("temporary files left: %q", left)
	}
}

func TestSessionsAreIsolated(t *testing.T) {
	state := t.TempDir()
	all := []*Session{
		openTest(t, state),
		openTest(t, state, func(o *Options) { o.ID = "s2" }),
		openTest(t, state, func(o *Options) { o.Root += "2" }),
	}
	for i, s := range all {
		must(t, s.WriteFile(context.Background(), "todo.json", fmt.Append(nil, i)))
	}
	sp, err := all[0].Spill("txt")
	must(t, err)
	must(t, sp.Close())
	for i, s := range all {
		if data, err := s.ReadFile("todo.json"); err != nil || string(data) != fmt.Sprint(i) {
			t.Errorf("session %d reads %q, %v", i, data, err)
		}
		if s.Owns(sp.Path()) != (i == 0) {
			t.Errorf("session %d: Owns = %v", i, s.Owns(sp.Path()))
		}
	}
}

// On a file system that folds case, two IDs may share a directory.
func TestForeignDirectoryIsRefused(t *testing.T) {
	state := t.TempDir()
	s := openTest(t, state)
	must(t, s.WriteFile(context.Background(), "x", nil))
	must(t, s.Close())
	must(t, os.WriteFile(s.Path(useFile), []byte("session S1\nroot /srv/project\n"), 0o600))
	if err := openTest(t, state).WriteFile(context.Background(), "x", []byte("2")); err == nil {
		t.Error("wrote into another session's directory")
	}
	// What a killed process left half-written is completed.
	must(t, os.WriteFile(s.Path(useFile), []byte("sess"), 0o600))
	must(t, openTest(t, state).WriteFile(context.Background(), "x", []byte("2")))
}

func TestInsideRoot(t *testing.T) {
	root := t.TempDir()
	for state, want := range map[string]bool{
		filepath.Join(root, ".agentkit"): true,
		root:                             true,
		root + "-state":                  false,
		filepath.Dir(root):               false,
	} {
		s, err := Open(Options{State: state, Root: root})
		must(t, err)
		if s.InsideRoot() != want {
			t.Errorf("InsideRoot of %s = %v", state, !want)
		}
	}
}

func TestLockWaitsForContext(t *testing.T) {
	s := openTest(t, t.TempDir())
	unlock, err := s.Lock(t.Context(), "todo.json")
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	if err := s.Update(ctx, "todo.json", func(b []byte) ([]byte, error) { return b, nil }); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Update under a lock: %v", err)
	}
	unlock()
	must(t, s.WriteFile(context.Background(), "todo.json", []byte("{}")))
}

func TestDirectoryRemovedWhileInUse(t *testing.T) {
	s := openTest(t, t.TempDir())
	must(t, s.WriteFile(context.Background(), "todo.json", []byte("1")))
	must(t, os.RemoveAll(s.Dir()))
	must(t, s.WriteFile(context.Background(), "todo.json", []byte("2")))
	data, err := s.ReadFile("todo.json")
	if string(data) != "2" || err != nil {
		t.Errorf("ReadFile = %q, %v", data, err)
	}
}

func TestDefaultState(t *testing.T) {
	for _, c := range []struct {
		goos, env, want string
	}{
		{"linux", "HOME=/h", "/h/.local/state/agentkit"},
		{"darwin", "HOME=/h", "/h/.local/state/agentkit"},
		{"linux", "HOME=/h XDG_STATE_HOME=/x", "/x/agentkit"},
		{"linux", "HOME=/h XDG_STATE_HOME=x", "/h/.local/state/agentkit"},
		{"linux", "HOME=/h XDG_STATE_HOME=/x AGENTKIT_STATE=/s", "/s"},
		{"linux", "HOME=/h AGENTKIT_STATE=s", ""},
		{"linux", "", ""},
		{"windows", `LOCALAPPDATA=C:\L`, `C:\L\agentkit\state`},
		{"windows", `LOCALAPPDATA=\L`, ``},
		{"windows", `HOME=/h`, ``},
	} {
		env := map[string]string{}
		for v := range strings.FieldsSeq(c.env) {
			name, value, _ := strings.Cut(v, "=")
			env[name] = value
		}
		got, err := DefaultState(func(n string) string { return env[n] }, c.goos)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s, %s: %q, %v; want %q", c.goos, c.env, got, err, c.want)
		}
	}
}

func TestNewID(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		id := NewID("job_")
		if seen[id] || len(id) != 20 || !validID(id) {
			t.Fatalf("ID %q", id)
		}
		seen[id] = true
	}
	last := ""
	at := time.Unix(0, 0)
	for _, step := range []time.Duration{0, time.Microsecond, time.Second, time.Hour, 50 * 365 * 24 * time.Hour, 200 * 365 * 24 * time.Hour} {
		at = at.Add(step)
		if id := NewSortableID("", at); id[:11] < last || step > 0 && id[:11] == last {
			t.Errorf("%q does not sort after %q", id, last)
		} else {
			last = id[:11]
		}
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("a/b")
	f.Add("../x")
	f.Fuzz(func(t *testing.T, name string) {
		if _, err := split(name); err == nil && !filepath.IsLocal(filepath.FromSlash(name)) {
			t.Errorf("split takes %q", name)
		}
	})
}

func BenchmarkOpen(b *testing.B) {
	state := b.TempDir()
	must(b, openTest(b, state).WriteFile(context.Background(), "x", nil))
	o := Options{State: state, Root: "/srv/project", ID: "s1"}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Open(o); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpenUse(b *testing.B) {
	state := b.TempDir()
	o := Options{State: state, Root: "/srv/project", ID: "s1"}
	for b.Loop() {
		s, err := Open(o)
		if err == nil {
			err = errors.Join(s.Use(b.Context()), s.Close())
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkUpdate(b *testing.B) {
	for _, sync := range []bool{false, true} {
		b.Run(fmt.Sprintf("sync=%v", sync), func(b *testing.B) {
			s := openTest(b, b.TempDir(), func(o *Options) { o.NoSync = !sync })
			n := 0
			for b.Loop() {
				n++
				must(b, s.Update(b.Context(), "todo.json", func([]byte) ([]byte, error) { return json.Marshal(n) }))
			}
		})
	}
}
