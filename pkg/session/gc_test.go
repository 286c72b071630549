package session

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

const day = 24 * time.Hour

// layout makes files of given size and age below the state directory: "s1/x"
// is in session s1. The use file of each session is put in place too.
func layout(t *testing.T, state string, now time.Time, files map[string]struct {
	size int
	age  time.Duration
},
) {
	t.Helper()
	for name, f := range files {
		id, rest, _ := strings.Cut(name, "/")
		s := openTest(t, state, func(o *Options) { o.ID = id; o.Now = func() time.Time { return now } })
		path := s.Path(filepath.FromSlash(rest))
		if _, err := os.Lstat(s.Dir()); err != nil {
			must(t, s.Use(t.Context()))
			must(t, s.Close())
		}
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		if rest != useFile {
			must(t, os.WriteFile(path, make([]byte, f.size), 0o600))
		}
		must(t, os.Chtimes(path, now.Add(-f.age), now.Add(-f.age)))
	}
}

func listFiles(t *testing.T, state string) []string {
	t.Helper()
	var all []string
	must(t, filepath.Walk(state, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		rel, err := filepath.Rel(state, path)
		_, rest, _ := strings.Cut(filepath.ToSlash(rel), "/")
		if base := filepath.Base(rest); base != useFile && base != ".lock" {
			all = append(all, rest)
		}
		return err
	}))
	return all
}

func TestCollect(t *testing.T) {
	type file = struct {
		size int
		age  time.Duration
	}
	for _, c := range []struct {
		name   string
		limits Limits
		free   int64
		files  map[string]file
		hold   func(*testing.T, *Session) // keeps s1 in use
		gone   []string
		freed  int64
	}{
		{
			name: "nothing to do",
			files: map[string]file{
				"s1/todo.json": {10, 20 * day}, "s1/spill/a.txt": {100, 6 * day}, "s1/cache/c": {1, 6 * day}, "s1/.session": {0, 29 * day},
			},
		},
		{
			name: "spill and cache by age",
			files: map[string]file{
				"s1/todo.json": {10, 20 * day}, "s1/spill/a.txt": {100, 8 * day}, "s1/spill/b.txt": {100, 6 * day},
				"s1/cache/c/d": {7, 8 * day}, "s1/audit.jsonl": {5, 20 * day}, "s1/journal/x": {5, 20 * day},
				"s1/jobs/j/log": {5, 20 * day}, "s2/spill/a.txt": {1, 6 * day},
			},
			gone: []string{"s1/cache/c/d", "s1/spill/a.txt"}, freed: 107,
		},
		{
			name: "idle session by age",
			files: map[string]file{
				"s1/todo.json": {10, 1 * day}, "s1/.session": {0, 31 * day}, "s2/todo.json": {10, 60 * day},
			},
			gone: []string{"s1/todo.json"}, freed: 10 + int64(len("session s1\nroot /srv/project\n")),
		},
		{
			name: "temporary files of the killed",
			files: map[string]file{
				"s1/.todo.json.abc.tmp": {10, 2 * time.Hour}, "s1/jobs/j/.status.abc.tmp": {10, 2 * time.Hour}, "s1/.x.tmp": {1, time.Minute},
			},
			gone: []string{"s1/.todo.json.abc.tmp", "s1/jobs/j/.status.abc.tmp"}, freed: 20,
		},
		{
			name:   "by size, the oldest first over all sessions",
			limits: Limits{StateTotal: 2500},
			files: map[string]file{
				"s1/spill/a.txt": {1000, 3 * day}, "s1/spill/b.txt": {1000, 1 * day}, "s2/spill/c.txt": {1000, 4 * day},
				"s2/cache/d": {1000, 2 * day}, "s2/todo.json": {100, 6 * day},
			},
			gone: []string{"s1/spill/a.txt", "s2/spill/c.txt"}, freed: 2000,
		},
		{
			name:   "by size, finished jobs",
			limits: Limits{StateTotal: 1500},
			files: map[string]file{
				"s1/jobs/j1/log": {1000, 3 * day}, "s1/jobs/j1/lock": {0, 3 * day}, "s1/jobs/j2/log": {1000, 1 * day}, "s1/jobs/j2/lock": {0, 4 * day},
			},
			gone: []string{"s1/jobs/j1/lock", "s1/jobs/j1/log"}, freed: 1000,
		},
		{
			name:   "by size, idle sessions at last",
			limits: Limits{StateTotal: 1500},
			files: map[string]file{
				"s1/audit.jsonl": {1000, 1 * day}, "s1/.session": {0, 9 * day}, "s2/audit.jsonl": {1000, 9 * day}, "s2/.session": {0, 8 * day}, "s2/spill/a.txt": {10, 1 * day},
			},
			gone: []string{"s1/audit.jsonl", "s2/spill/a.txt"}, freed: 1010 + int64(len("session s1\nroot /srv/project\n")),
		},
		{
			name:   "a session in use",
			limits: Limits{StateTotal: 10},
			files: map[string]file{
				"s1/spill/a.txt": {1000, 60 * day}, "s1/todo.json": {10, 60 * day}, "s2/spill/b.txt": {7, 8 * day},
			},
			hold: func(t *testing.T, s *Session) { must(t, s.Use(t.Context())) },
			gone: []string{"s1/spill/a.txt", "s2/spill/b.txt"}, freed: 1007 + int64(len("session s2\nroot /srv/project\n")),
		},
		{
			name: "a session with a live job",
			files: map[string]file{
				"s1/spill/a.txt": {1000, 60 * day}, "s1/.session": {10, 60 * day}, "s1/jobs/j/lock": {0, 60 * day}, "s2/spill/b.txt": {7, 8 * day},
			},
			hold: func(t *testing.T, s *Session) {
				f, err := os.OpenFile(s.Path("jobs", "j", "lock"), os.O_RDWR, 0)
				must(t, err)
				must(t, safefile.TryLock(f, true))
				t.Cleanup(func() { _ = f.Close() })
			},
			gone: []string{"s1/spill/a.txt", "s2/spill/b.txt"}, freed: 1007,
		},
		{
			name: "so much, the oldest first, and no records",
			free: 1500,
			files: map[string]file{
				"s1/spill/a.txt": {1000, 3 * day}, "s1/jobs/j/log": {1000, 2 * day}, "s1/cache/c": {1000, 1 * day},
				"s1/journal/x": {1000, 4 * day}, "s1/audit.jsonl": {1000, 4 * day},
			},
			gone: []string{"s1/jobs/j/log", "s1/spill/a.txt"}, freed: 2000,
		},
		{
			name: "more than may go",
			free: 1 << 40,
			files: map[string]file{
				"s1/spill/a.txt": {1000, 0}, "s1/journal/x": {1000, 4 * day}, "s2/spill/b.txt": {1000, 0}, "s2/todo.json": {10, 29 * day},
			},
			hold: func(t *testing.T, s *Session) { must(t, s.Use(t.Context())) },
			gone: []string{"s1/spill/a.txt", "s2/spill/b.txt"}, freed: 2000,
		},
		{
			name:  "one that is written",
			free:  1 << 40,
			files: map[string]file{"s1/todo.json": {10, 0}},
			hold: func(t *testing.T, s *Session) {
				p, err := s.Spill("txt")
				must(t, err)
				t.Cleanup(func() { _ = p.Close() })
				_, err = p.Write(make([]byte, 100))
				must(t, err)
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			state := t.TempDir()
			now := time.Now()
			layout(t, state, now, c.files)
			if c.hold != nil {
				c.hold(t, openTest(t, state))
			}
			before := listFiles(t, state)
			o := CollectOptions{State: state, Limits: c.limits, Free: c.free, Now: now, DryRun: true}
			dry, err := Collect(t.Context(), o)
			must(t, err)
			if after := listFiles(t, state); !slices.Equal(before, after) {
				t.Errorf("a dry run left %q", after)
			}
			o.DryRun = false
			report, err := Collect(t.Context(), o)
			must(t, err)
			if !slices.Equal(dry.Removed, report.Removed) || dry.Freed != report.Freed {
				t.Errorf("the dry run says\n%+v, the run\n%+v", dry, report)
			}
			after := listFiles(t, state)
			gone := slices.DeleteFunc(before, func(f string) bool { return slices.Contains(after, f) })
			if !slices.Equal(gone, c.gone) || report.Freed != c.freed {
				t.Errorf("gone %q, freed %d; want %q, %d\n%+v", gone, report.Freed, c.gone, c.freed, report)
			}
			o.Free = 0
			again, err := Collect(t.Context(), o)
			must(t, err)
			if len(again.Removed) != 0 || again.Kept != report.Kept {
				t.Errorf("a second run: %+v after %+v", again, report)
			}
			sessions := map[string]bool{}
			for name := range maps.Keys(c.files) {
				sessions[name[:2]] = true
			}
			if report.Sessions != len(sessions) || report.InUse > 0 != (c.hold != nil) {
				t.Errorf("report: %+v", report)
			}
		})
	}
}

func TestCollectFollowsNoLink(t *testing.T) {
	outside := t.TempDir()
	precious := filepath.Join(outside, "precious.txt")
	must(t, os.WriteFile(precious, make([]byte, 1000), 0o600))
	state := t.TempDir()
	now := time.Now()
	s := openTest(t, state)
	must(t, s.WriteFile(context.Background(), "todo.json", []byte("{}")))
	must(t, s.Close())
	other := filepath.Join(state, s.hash)
	for _, link := range []string{s.Path("spill"), s.Path("cache"), filepath.Join(other, "s2"), filepath.Join(state, strings.Repeat("0", 16))} {
		if err := os.Symlink(outside, link); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	must(t, os.Mkdir(s.Path("journal"), 0o700))
	must(t, os.Symlink(precious, s.Path("journal", "x")))
	for _, after := range []time.Duration{10 * day, 100 * day} {
		_, err := Collect(t.Context(), CollectOptions{State: state, Now: now.Add(after), Limits: Limits{StateTotal: 1}})
		must(t, err)
	}
	if exists(s.Dir()) {
		t.Error("the session stays")
	}
	if !exists(precious) {
		t.Error("gc followed a link")
	}
	link := filepath.Join(t.TempDir(), "state")
	must(t, os.Symlink(state, link))
	if _, err := Collect(t.Context(), CollectOptions{State: link, Now: now}); !errors.Is(err, safefile.ErrUnsafe) {
		t.Errorf("Collect of a link: %v", err)
	}
}

func TestCollectRemovesHalfRemoved(t *testing.T) {
	state := t.TempDir()
	s := openTest(t, state)
	must(t, s.WriteFile(context.Background(), "todo.json", []byte("{}")))
	must(t, s.Close())
	must(t, os.Rename(s.Dir(), filepath.Join(filepath.Dir(s.Dir()), gonePrefix+"x")))
	must(t, os.WriteFile(filepath.Join(state, "README"), nil, 0o600)) // not ours
	r, err := Collect(t.Context(), CollectOptions{State: state, Now: time.Now()})
	must(t, err)
	if len(r.Removed) != 1 || r.Removed[0].Why != Leftover || r.Sessions != 0 || r.Kept != 0 {
		t.Errorf("%+v", r)
	}
	if entries, _ := os.ReadDir(filepath.Join(state, s.hash)); len(entries) != 0 {
		t.Errorf("left: %v", entries)
	}
	if !exists(filepath.Join(state, "README")) {
		t.Error("gc removed a file that is not ours")
	}
}

func TestOpportunistic(t *testing.T) {
	state := t.TempDir()
	now := time.Now()
	s := openTest(t, state, func(o *Options) { o.Now = func() time.Time { return now } })
	must(t, s.WriteFile(context.Background(), "cache/mine", []byte("x"))) // in use, yet our own
	must(t, os.Chtimes(s.Path("cache", "mine"), now.Add(-8*day), now.Add(-8*day)))
	other := openTest(t, state, func(o *Options) { o.ID = "other" })
	must(t, other.WriteFile(context.Background(), "spill/a.txt", []byte("x")))
	must(t, other.Close())
	old := func() { must(t, os.Chtimes(other.Path("spill", "a.txt"), now.Add(-8*day), now.Add(-8*day))) }
	old()
	if r := s.Opportunistic(t.Context()); len(r.Removed) != 1 {
		t.Errorf("first: %+v", r)
	}
	if exists(s.Path("cache", "mine")) {
		t.Error("our own old cache file stays")
	}
	must(t, other.WriteFile(context.Background(), "spill/a.txt", []byte("x")))
	must(t, other.Close())
	old()
	now = now.Add(59 * time.Minute)
	if r := s.Opportunistic(t.Context()); r.Sessions != 0 || !exists(other.Path("spill", "a.txt")) {
		t.Errorf("within the hour: %+v", r)
	}
	now = now.Add(2 * time.Minute)
	if r := s.Opportunistic(t.Context()); len(r.Removed) != 1 {
		t.Errorf("after an hour: %+v", r)
	}

	// While the disk is nearly full it looks more often, and keeps less.
	must(t, other.WriteFile(context.Background(), "spill/a.txt", []byte("x")))
	must(t, other.WriteFile(context.Background(), "spill/b.txt", []byte("x")))
	must(t, other.Close())
	must(t, os.Chtimes(other.Path("spill", "a.txt"), now.Add(-11*time.Minute), now.Add(-11*time.Minute)))
	must(t, os.Chtimes(other.Path("spill", "b.txt"), now, now))
	now = now.Add(2 * time.Minute)
	if r := s.Opportunistic(t.Context()); r.Sessions != 0 {
		t.Errorf("within the hour, with room: %+v", r)
	}
	s.scarce = func(string) bool { return true }
	if r := s.Opportunistic(t.Context()); len(r.Removed) != 1 || exists(other.Path("spill", "a.txt")) || !exists(other.Path("spill", "b.txt")) {
		t.Errorf("without room: %+v", r)
	}
}

func BenchmarkOpportunisticIdle(b *testing.B) {
	s := openTest(b, b.TempDir())
	must(b, s.Use(b.Context()))
	s.Opportunistic(b.Context())
	for b.Loop() {
		s.Opportunistic(b.Context())
	}
}

// What comes into use between the look and the removal stays.
func TestCollectLooksAgain(t *testing.T) {
	for _, c := range []struct {
		name string
		use  func(*testing.T, *Session)
	}{
		{"in use", func(t *testing.T, s *Session) { must(t, s.Use(t.Context())) }},
		{"was used", func(t *testing.T, s *Session) { must(t, errors.Join(s.Use(t.Context()), s.Close())) }},
		{"a job lives", func(t *testing.T, s *Session) {
			release, err := s.HoldJob(t.Context(), "j")
			must(t, err)
			t.Cleanup(release)
			must(t, s.Close())
			must(t, os.Chtimes(s.Path(useFile), time.Unix(1000, 0), time.Unix(1000, 0)))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			s := openTest(t, dir)
			must(t, errors.Join(s.WriteFile(context.Background(), "todo.json", nil), s.Close()))
			must(t, os.Chtimes(s.Path(useFile), time.Unix(1000, 0), time.Unix(1000, 0)))
			state, err := safefile.OpenOwned(dir)
			must(t, err)
			defer state.Close()
			found, err := scan(t.Context(), state)
			must(t, err)
			plan(found, &CollectOptions{Limits: Limits{}.withDefaults(), Now: time.Now()})
			if len(found) != 1 || !found[0].whole {
				t.Fatalf("found %+v", found)
			}
			c.use(t, s)
			if removed, err := found[0].removeAll(state, false); len(removed) != 0 || err != nil || !exists(s.Path("todo.json")) {
				t.Errorf("removed %v, %v", removed, err)
			}
		})
	}
}
