package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func spillSizes(t *testing.T, s *Session) (total int64, n int) {
	t.Helper()
	entries, err := os.ReadDir(s.Path("spill"))
	must(t, err)
	for _, e := range entries {
		if e.Name()[0] == '.' {
			continue
		}
		info, err := e.Info()
		must(t, err)
		total += info.Size()
		n++
	}
	return total, n
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

func TestSpillFileCap(t *testing.T) {
	s := openTest(t, t.TempDir(), func(o *Options) { o.Limits.SpillFile = 1000 })
	p, err := s.Spill("txt")
	must(t, err)
	in := bytes.Repeat([]byte("0123456789"), 150)
	n, err := p.Write(in[:700])
	if n != 700 || err != nil {
		t.Fatalf("Write = %d, %v", n, err)
	}
	if n, err = p.Write(in[700:]); n != 300 || !errors.Is(err, ErrSpillFull) {
		t.Errorf("Write = %d, %v; want 300, ErrSpillFull", n, err)
	}
	if n, err = p.Write(in); n != 0 || !errors.Is(err, ErrSpillFull) {
		t.Errorf("Write when full = %d, %v", n, err)
	}
	must(t, p.Close())
	must(t, p.Close())
	if _, err := p.Write(in); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Write when closed: %v", err)
	}
	if data, err := os.ReadFile(p.Path()); !bytes.Equal(data, in[:1000]) || err != nil {
		t.Errorf("%d bytes, %v", len(data), err)
	}
}

func TestOldestSpillGoesFirst(t *testing.T) {
	s := openTest(t, t.TempDir(), func(o *Options) { o.Limits.SpillTotal = 6400 }) // in steps of 100
	var open *Spill
	var paths []string
	for i := range 8 {
		p, err := s.Spill("txt")
		must(t, err)
		if n, err := p.Write(bytes.Repeat([]byte("x"), 1000)); n != 1000 || err != nil {
			t.Fatalf("spill %d: %d, %v", i, n, err)
		}
		paths = append(paths, p.Path())
		if i == 1 {
			open = p
			continue
		}
		must(t, p.Close())
		if total, _ := spillSizes(t, s); total > 6400 {
			t.Errorf("after spill %d: %d bytes", i, total)
		}
	}
	got := fmt.Sprint(exists(paths[0]), exists(paths[1]), exists(paths[2]), exists(paths[3]), exists(paths[7]))
	if want := fmt.Sprint(false, true, false, true, true); got != want {
		t.Errorf("spills 0 1 2 3 7 exist: %s, want %s", got, want)
	}
	must(t, open.Close())
}

// Spills written at once share the room; their sum never passes the total.
func TestSpillTotalHoldsAmongWriters(t *testing.T) {
	s := openTest(t, t.TempDir(), func(o *Options) { o.Limits.SpillTotal = 10_000 })
	var spills []*Spill
	full := 0
	for range 5 {
		p, err := s.Spill("log")
		must(t, err)
		spills = append(spills, p)
	}
	for range 30 {
		for _, p := range spills {
			if _, err := p.Write(bytes.Repeat([]byte("y"), 177)); errors.Is(err, ErrSpillFull) {
				full++
			} else {
				must(t, err)
			}
			if total, n := spillSizes(t, s); total > 10_000 || n != 5 {
				t.Fatalf("%d bytes in %d files", total, n)
			}
		}
	}
	total, _ := spillSizes(t, s)
	if full == 0 || total < 9_000 {
		t.Errorf("%d bytes, %d times full: the room is not used", total, full)
	}
	for _, p := range spills {
		must(t, p.Close())
	}
}

func TestExpiredSpillsGoAtTheNextLook(t *testing.T) {
	now := time.Now()
	s := openTest(t, t.TempDir(), func(o *Options) { o.Now = func() time.Time { return now } })
	old, err := s.Spill("txt")
	must(t, err)
	_, err = old.Write([]byte("old"))
	must(t, errors.Join(err, old.Close()))
	now = now.Add(8 * 24 * time.Hour)
	p, err := s.Spill("txt")
	must(t, err)
	_, err = p.Write([]byte("new"))
	must(t, errors.Join(err, p.Close()))
	if exists(old.Path()) || !exists(p.Path()) {
		t.Errorf("old %v, new %v", exists(old.Path()), exists(p.Path()))
	}
}

func TestSpillNames(t *testing.T) {
	now := time.Now()
	s := openTest(t, t.TempDir(), func(o *Options) { o.Now = func() time.Time { return now } })
	last := ""
	for range 100 {
		p, err := s.Spill("txt")
		must(t, err)
		must(t, p.Close())
		if p.Path() <= last {
			t.Fatalf("%s does not sort after %s", p.Path(), last)
		}
		last = p.Path()
	}
	for _, kind := range []string{"", "../x", "a.b", "A", "0123456789abcdefg"} {
		if _, err := s.Spill(kind); !errors.Is(err, ErrName) {
			t.Errorf("Spill(%q): %v", kind, err)
		}
	}
}

func TestOwns(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "real"), 0o700))
	if err := os.Symlink("real", filepath.Join(dir, "link")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	s := openTest(t, filepath.Join(dir, "link", "state"))
	p, err := s.Spill("txt")
	must(t, err)
	must(t, p.Close())
	must(t, s.WriteFile(context.Background(), "todo.json", nil))
	must(t, os.Symlink(s.Path("todo.json"), s.Path("spill", "link.txt")))
	must(t, s.WriteFile(context.Background(), "spill/sub/x.txt", nil))
	given := filepath.Join(dir, "link", "state", s.hash, "s1", "spill", filepath.Base(p.Path()))
	for path, want := range map[string]bool{
		p.Path(): true,
		given:    true,
		filepath.Dir(p.Path()) + "/./" + filepath.Base(p.Path()): true,
		s.Path("spill"):                                 false,
		s.Path("spill", "missing.txt"):                  false,
		s.Path("spill", ".lock"):                        false,
		s.Path("spill", "link.txt"):                     false,
		s.Path("spill", "sub", "x.txt"):                 false,
		s.Path("todo.json"):                             false,
		p.Path() + "/../../todo.json":                   false,
		filepath.Join("spill", filepath.Base(p.Path())): false,
		"": false,
	} {
		if s.Owns(path) != want {
			t.Errorf("Owns(%q) = %v", path, !want)
		}
	}
}

func BenchmarkSpill(b *testing.B) {
	chunk := bytes.Repeat([]byte("x"), 32<<10)
	s := openTest(b, b.TempDir(), func(o *Options) { o.Limits.SpillTotal = 64 << 20 })
	b.SetBytes(1 << 20)
	for b.Loop() {
		p, err := s.Spill("txt")
		must(b, err)
		for range 32 {
			if _, err := p.Write(chunk); err != nil {
				b.Fatal(err)
			}
		}
		must(b, p.Close())
	}
}
