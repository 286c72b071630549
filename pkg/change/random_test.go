package change

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestRandom: any sequence of changes, and then all of them undone, is the
// tree as it was, byte for byte and mode for mode; and every undo on the way
// is what stood there.
func TestRandom(t *testing.T) {
	seeds := seeds()
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(seed), 1))
			s := newSite(t)
			s.History = s.again(Options{NoSync: true})
			for i := range 8 {
				s.put(randomName(r), fmt.Sprint("start ", i))
			}
			images := []string{s.image()}
			for range 25 {
				var set Set
				for range 1 + r.IntN(5) {
					set.Changes = append(set.Changes, s.randomChange(r))
				}
				rec, err := s.Commit(context.Background(), set)
				now := s.image()
				last := images[len(images)-1]
				switch {
				case err != nil && now != last:
					t.Fatalf("refused with %v, and yet:\n%s\nwas\n%s", err, now, last)
				case errors.Is(err, ErrUnfinished):
					t.Fatal(err)
				case err != nil || rec.ID == "":
				default:
					images = append(images, now)
				}
				if r.IntN(6) == 0 && len(images) > 1 { // back and forth
					u := s.undo("")
					same(t, "undone", s.image(), images[len(images)-2])
					s.undo(u.ID)
					same(t, "redone", s.image(), images[len(images)-1])
				}
				if t.Failed() {
					t.Fatalf("%+v", set)
				}
			}
			for i := len(images) - 2; i >= 0; i-- {
				s.undo("")
				same(t, fmt.Sprintf("undone to %d", i), s.image(), images[i])
				if t.Failed() {
					return
				}
			}
			if _, err := s.Undo(context.Background(), "", UndoOptions{}); !errors.Is(err, ErrNoRecord) {
				t.Error(err)
			}
			s.clean()
		})
	}
}

// seeds is how many trees a random test begins with.
func seeds() int {
	switch {
	case soak():
		return 200
	case testing.Short():
		return 6
	}
	return 14
}

func randomName(r *rand.Rand) string {
	name := string(rune('a' + r.IntN(5)))
	for range r.IntN(3) {
		name += "/" + string(rune('p'+r.IntN(4)))
	}
	return name + ".f"
}

// randomChange may well be one that is refused.
func (s *site) randomChange(r *rand.Rand) Change {
	var names []string
	_ = filepath.WalkDir(s.abs(""), func(path string, _ fs.DirEntry, _ error) error {
		if path != s.abs("") {
			names = append(names, path)
		}
		return nil
	})
	old := func() string {
		if len(names) == 0 || r.IntN(10) == 0 {
			return s.abs(randomName(r))
		}
		return names[r.IntN(len(names))]
	}
	c := Change{Path: s.entry(s.abs(randomName(r))), Data: bytes.Repeat([]byte{byte(r.Uint32())}, r.IntN(2000))}
	switch r.IntN(9) {
	case 0, 1:
		c.Op = Write
	case 2:
		c.Op = Create
	case 3:
		c.Op, c.Path = Replace, s.entry(old())
	case 4:
		c.Op, c.Path = Delete, s.entry(old())
	case 5:
		c.Op, c.Path, c.To, c.Data = Move, s.entry(old()), c.Path, nil
	case 6:
		c.Op, c.Path, c.To = Move, s.entry(old()), c.Path
	case 7:
		c.Op, c.Path = Chmod, s.entry(old())
	case 8:
		c.Op, c.Data = Symlink, []byte("target")
	}
	if c.Op == Chmod || r.IntN(5) == 0 {
		c.Mode = new([]fs.FileMode{0o644, 0o755, 0o600, 0o444, 0o640}[r.IntN(5)])
	}
	return c
}

// TestRandomTracking: whatever a command does to the tree, it can be undone.
func TestRandomTracking(t *testing.T) {
	seeds := seeds()
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(seed), 2))
			s := newSite(t)
			s.History = s.again(Options{NoSync: true})
			for i := range 10 {
				s.put(randomName(r), fmt.Sprint("start ", i))
			}
			var images []string
			for range 5 {
				before := s.image()
				tracking, err := s.Track(context.Background(), TrackOptions{})
				if err != nil {
					t.Fatal(err)
				}
				for range 6 {
					s.disturb(r)
				}
				rec, err := tracking.Finish(context.Background(), nil)
				if err != nil || len(rec.Gaps) > 0 {
					t.Fatalf("%+v, %v", rec.Gaps, err)
				}
				if after := s.image(); (rec.ID != "") != (after != before) {
					t.Fatalf("recorded %v of\n%s\nfrom\n%s", rec.Files, after, before)
				}
				if rec.ID != "" {
					images = append(images, before)
				}
			}
			after := s.image()
			for _, want := range slices.Backward(images) {
				s.undo("")
				same(t, "undone", s.image(), want)
			}
			list, _ := s.List(context.Background(), len(images))
			for i := range images { // the newest undo first
				s.undo(list[i].ID)
			}
			same(t, "redone", s.image(), after)
		})
	}
}

// disturb does to the tree what a command may do.
func (s *site) disturb(r *rand.Rand) {
	var names []string
	_ = filepath.WalkDir(s.abs(""), func(path string, _ fs.DirEntry, _ error) error {
		if path != s.abs("") {
			names = append(names, path)
		}
		return nil
	})
	at := s.abs(randomName(r))
	if len(names) > 0 && r.IntN(4) > 0 {
		at = names[r.IntN(len(names))]
	}
	to := s.abs(randomName(r))
	switch r.IntN(8) {
	case 0:
		_ = os.RemoveAll(at)
	case 1:
		_ = os.Rename(at, to)
	case 2, 3:
		_ = os.MkdirAll(filepath.Dir(to), 0o755)
		_ = os.WriteFile(to, []byte(fmt.Sprint(r.Uint32())), 0o644)
	case 4:
		_ = os.WriteFile(at, []byte(fmt.Sprint(r.Uint32())[:1]), 0o644) // often of the same size
	case 5:
		_ = os.Symlink("x", to)
	case 6:
		if info, err := os.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink == 0 {
			_ = os.Chmod(at, []fs.FileMode{0o700, 0o755, 0o750}[r.IntN(3)])
		}
	case 7:
		_ = os.MkdirAll(at, 0o710)
	}
}
