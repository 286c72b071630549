package change

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// track runs a shell command and returns what is recorded of it.
func (s *site) track(o TrackOptions, script string) Record {
	s.t.Helper()
	t, err := s.Track(context.Background(), o)
	if err != nil {
		s.t.Fatal(err)
	}
	defer t.Close()
	c := exec.Command("bash", "-c", script)
	c.Dir = s.abs("")
	if out, err := c.CombinedOutput(); err != nil {
		s.t.Fatalf("%v: %s", err, out)
	}
	r, err := t.Finish(context.Background(), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

func actions(s *site, r Record) []string {
	var all []string
	for _, f := range r.Files {
		all = append(all, f.Action()+" "+strings.TrimPrefix(f.Path, s.abs("")+"/"))
	}
	slices.Sort(all)
	return all
}

func TestTracking(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash: tracking commands is NOT tested: ", err)
	}
	for _, c := range []struct {
		script string
		want   []string
		gaps   []string
		o      TrackOptions
	}{
		{"true", nil, nil, TrackOptions{}},
		{"touch a; touch -d yesterday d/x", nil, nil, TrackOptions{}},
		{"echo new > a", []string{"replace a"}, nil, TrackOptions{}},
		{"printf b > a", []string{"replace a"}, nil, TrackOptions{}}, // as long as before
		{"touch -r a /tmp/$$.r; printf c > a; touch -r /tmp/$$.r a; rm /tmp/$$.r", []string{"replace a"}, nil, TrackOptions{}},
		{"sed -i s/a/b/ a; chmod +x d/x; rm link; ln -s d link", []string{"mode d/x", "replace a", "replace link"}, nil, TrackOptions{}},
		{"rm -r d; mkdir e; mv a e", []string{"delete d/x", "mkdir e", "move e/a", "rmdir d", "delete a"}, nil, TrackOptions{}},
		{"mv d e", []string{"delete d/x", "mkdir e", "move e/x", "rmdir d"}, nil, TrackOptions{}},
		{"rm a; mkdir a; touch a/b", []string{"create a/b", "replace a"}, nil, TrackOptions{}},
		{"rm -r d; touch d", []string{"delete d/x", "replace d"}, nil, TrackOptions{}},
		{"ln a a2", []string{"create a2"}, nil, TrackOptions{}},
		{"mv big huge", []string{"delete big", "move huge"}, nil, TrackOptions{}},
		{"chmod 600 big", []string{"mode big"}, nil, TrackOptions{}},
		{"echo x >> big; echo y > new", []string{"create new"}, []string{"big"}, TrackOptions{}},
		{"rm big", nil, []string{"big"}, TrackOptions{}},
		{"mkfifo f", nil, []string{"f"}, TrackOptions{}},
		{"echo x > skip/me; echo y > a", []string{"replace a"}, nil, TrackOptions{Skip: func(rel string, _ fs.DirEntry) bool { return rel == "skip" }}},
		{"echo x > a", nil, []string{""}, TrackOptions{MaxEntries: 3}},
		{"echo x > a; echo x > d/x", []string{"replace a"}, []string{"d/x"}, TrackOptions{MaxBytes: 1}},
	} {
		t.Run(c.script, func(t *testing.T) {
			s := newSite(t)
			s.put("a", "a")
			s.put("d/x", "deep\xff")
			s.put("skip/me", "x")
			s.put("big", strings.Repeat("0123456789", 30_000))
			_ = os.Symlink("a", s.abs("link"))
			before := s.image()
			r := s.track(c.o, c.script)
			slices.Sort(c.want)
			if have := actions(s, r); !slices.Equal(have, c.want) {
				t.Errorf("recorded %q, want %q", have, c.want)
			}
			var gaps []string
			for _, g := range r.Gaps {
				gaps = append(gaps, strings.TrimPrefix(strings.TrimPrefix(g.Path, s.abs("")), "/"))
				if g.Why == "" {
					t.Error("a gap without a reason")
				}
			}
			if !slices.Equal(gaps, c.gaps) {
				t.Errorf("gaps %+v, want %q", r.Gaps, c.gaps)
			}
			if r.ID == "" {
				return
			}
			if len(gaps) > 0 {
				if _, err := s.Undo(context.Background(), "", UndoOptions{}); !errors.As(err, new(*GapError)) {
					t.Error(err)
				}
				if _, err := s.Undo(context.Background(), "", UndoOptions{Partial: true}); err != nil {
					t.Error(err)
				}
				return
			}
			s.undo("")
			if c.o.Skip == nil {
				same(t, "undone", s.image(), before)
			}
		})
	}
}

// TestTrackingAgain: the second look reads no content again, and the limits
// hold however often a file changes.
func TestTrackingAgain(t *testing.T) {
	s := newSite(t)
	past := time.Now().Add(-time.Hour)
	for i := range 50 {
		name := fmt.Sprint("d/f", i)
		s.put(name, strings.Repeat(name, 100))
		_ = os.Chtimes(s.abs(name), past, past)
	}
	time.Sleep(60 * time.Millisecond) // or they are too young to be trusted
	o := TrackOptions{MaxBytes: 64 << 10}
	for i := range 3 {
		tr, err := s.Track(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		info, err := tr.before.pack.Stat()
		if err != nil || info.Size() > 40<<10 {
			t.Errorf("look %d: %d bytes in the pack, %v", i, info.Size(), err)
		}
		tr.Close()
	}
	for i := range 20 {
		s.put("d/f0", strings.Repeat(fmt.Sprint(i%10), 20<<10))
		tr, err := s.Track(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		tr.Close()
		if size := sizeOf(t, s.session.Path(journalDir, trackDir)); size > 3*o.MaxBytes+32<<10 {
			t.Errorf("%d bytes after %d", size, i)
		}
	}
	list, _ := filepath.Glob(s.session.Path(journalDir, trackDir, "pack-*"))
	if len(list) != 1 {
		t.Errorf("%d packs", len(list))
	}
}

// TestTrackingOld: what is kept of an earlier look is not taken for what the
// file holds now.
func TestTrackingOld(t *testing.T) {
	s := newSite(t)
	for _, version := range []string{"one", "two", "now"} {
		s.put("a", version)
		time.Sleep(60 * time.Millisecond) // or it is too young to be remembered
		tr, err := s.Track(context.Background(), TrackOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s.put("a", "new")
		if _, err := tr.Finish(context.Background(), nil); err != nil {
			t.Fatal(err)
		}
		s.undo("")
		if have := s.get("a"); have != version {
			t.Errorf("%q came back, not %q", have, version)
		}
	}
}

// BenchmarkTrack looks at a tree of 5,000 files twice, as around a command.
func BenchmarkTrack(b *testing.B) {
	s := newSite(b)
	for i := range 5000 {
		s.put(fmt.Sprintf("d%d/e%d/f%d.go", i%10, i%100, i), strings.Repeat("package x\n", 400))
	}
	s.History = s.again(Options{NoSync: true})
	start := time.Now()
	first, err := s.Track(context.Background(), TrackOptions{})
	if err != nil {
		b.Fatal(err)
	}
	first.Close()
	took := time.Since(start)
	for b.Loop() {
		t, err := s.Track(context.Background(), TrackOptions{})
		if err == nil {
			_, err = t.Finish(context.Background(), nil)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(took.Milliseconds()), "first-ms")
}
