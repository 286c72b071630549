package change

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// shelve keeps names of the workspace, does something, and records what came of it.
func shelve(h *History, names []Doomed, do func(root string) error) (Record, error) {
	return shelveLater(h, names, nil, do)
}

// shelveLater is shelve with names that are added once the command is at work.
func shelveLater(h *History, names, later []Doomed, do func(root string) error) (Record, error) {
	root := h.w.Root()
	for _, list := range [][]Doomed{names, later} {
		for i := range list {
			list[i].Path = filepath.Join(root, list[i].Path)
		}
	}
	o := ShelveOptions{Tool: "bash", Title: "rm", Names: names, First: []string{filepath.Join(root, "sub")}, MinAside: 1}
	s, err := h.Shelve(context.Background(), o)
	if err != nil {
		return Record{}, err
	}
	defer s.Close()
	h.reach("shelved")
	for _, d := range slices.Concat(later, later, names) { // what is kept stays as it is
		if err := s.Add(context.Background(), []Doomed{d}); err != nil {
			return Record{}, err
		}
		if slices.Contains(later, d) {
			h.reach("added")
		}
	}
	if err := do(root); err != nil {
		return Record{}, err
	}
	h.reach("destroyed")
	return s.Finish(context.Background())
}

// destroy does to the tree of tens what commands do: it removes, replaces, overwrites,
// cuts, moves and makes.
func destroy(h *History) error {
	names := []Doomed{{Path: "f0", Written: true}, {Path: "f1"}, {Path: "f3"}, {Path: "sub"}, {Path: "link"}, {Path: "made/deep/new"}, {Path: "f5"}}
	later := []Doomed{{Path: "f6"}, {Path: "hard"}, {Path: "f7", Written: true}, {Path: "hard2", Written: true}}
	_, err := shelveLater(h, names, later, func(root string) error {
		name := func(rel string) string { return filepath.Join(root, rel) }
		return errors.Join(
			os.WriteFile(name("f0"), []byte("overwritten"), 0o644),
			os.Rename(name("f5"), name("f6")),
			os.Remove(name("f1")), os.WriteFile(name("f1"), []byte("new"), 0o600),
			os.Remove(name("f3")),
			os.RemoveAll(name("sub")),
			os.Remove(name("link")), os.Mkdir(name("link"), 0o700), os.WriteFile(name("link/in"), nil, 0o400),
			os.MkdirAll(name("made/deep"), 0o755), os.WriteFile(name("made/deep/new"), []byte("n"), 0o644),
			os.Remove(name("hard")),
			os.Truncate(name("f7"), 1),
			os.WriteFile(name("hard2"), []byte("overwritten, too"), 0o644),
		)
	})
	return err
}

func TestShelf(t *testing.T) {
	s := newSite(t)
	s.tens()
	old := time.Unix(1_000_000_000, 0)
	if err := os.Chtimes(s.abs("f3"), old, old); err != nil {
		t.Fatal(err)
	}
	inode, _ := os.Stat(s.abs("f3"))
	before := s.image()
	if err := destroy(s.History); err != nil {
		t.Fatal(err)
	}
	after := s.image()
	u := s.undo("")
	same(t, "undone", s.image(), before)
	if now, err := os.Stat(s.abs("f3")); err != nil || !os.SameFile(now, inode) || !now.ModTime().Equal(old) {
		t.Errorf("f3 is another file: %v, %v", now, err)
	}
	again := s.undo(u.ID)
	same(t, "redone", s.image(), after)
	s.put("link/more", "x")
	_, err := s.Undo(context.Background(), again.ID, UndoOptions{})
	if c, ok := errors.AsType[*ChangedError](err); !ok || len(c.Files) != 1 || !strings.HasSuffix(c.Files[0].Path, "/link") {
		t.Fatalf("changed since, and yet: %v", err)
	}
	same(t, "refused", strings.Replace(s.image(), "\"link/more\" -rw-r--r-- \"x\"\n", "", 1), after)
	if err := os.Remove(s.abs("link/more")); err != nil {
		t.Fatal(err)
	}
	s.undo(again.ID)
	same(t, "undone again", s.image(), before)
}

// TestShelfAmongOthers: edits and commands are one history, in any order.
func TestShelfAmongOthers(t *testing.T) {
	s := newSite(t)
	s.put("a", "1")
	if _, err := s.Commit(context.Background(), One("edit", Change{Op: Replace, Path: s.p("a"), Data: []byte("2")})); err != nil {
		t.Fatal(err)
	}
	remove := func() {
		if _, err := shelve(s.History, []Doomed{{Path: "a"}}, func(root string) error { return os.Remove(filepath.Join(root, "a")) }); err != nil {
			t.Fatal(err)
		}
	}
	remove()
	s.undo("")
	s.undo("")
	if s.get("a") != "1" {
		t.Fatalf("a is %q", s.get("a"))
	}
	// What was put back by its content, as an edit is, is as it was.
	rec, err := shelve(s.History, []Doomed{{Path: "a"}}, func(root string) error {
		return errors.Join(os.Remove(filepath.Join(root, "a")), os.WriteFile(filepath.Join(root, "a"), []byte("3"), 0o644))
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Commit(context.Background(), One("edit", Change{Op: Replace, Path: s.p("a"), Data: []byte("4")})); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Undo(context.Background(), rec.ID, UndoOptions{}); !errors.As(err, new(*ChangedError)) {
		t.Fatal(err)
	}
	s.undo("")
	s.undo(rec.ID)
	if s.get("a") != "1" {
		t.Fatalf("a is %q", s.get("a"))
	}
}

// TestShelfRandom: whatever happens to names that were kept comes back, and goes again.
func TestShelfRandom(t *testing.T) {
	for seed := range seeds() {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(seed), 7))
			s := newSite(t)
			s.History = s.again(Options{NoSync: true})
			for i := range 8 {
				s.put(randomName(r), fmt.Sprint("start ", i))
			}
			images := []string{s.image()}
			var ids []string
			for range 4 {
				var names []Doomed
				entries, _ := os.ReadDir(s.abs(""))
				for _, e := range entries {
					names = append(names, Doomed{Path: e.Name(), Written: true})
				}
				names = append(names, Doomed{Path: "x", Written: true})
				for range 200 { // nearly all names that there may be
					names = append(names, Doomed{Path: randomName(r), Written: true})
				}
				rec, err := shelve(s.History, names, func(string) error {
					for range 1 + r.IntN(6) {
						s.disturb(r)
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				if rec.ID == "" {
					same(t, "nothing changed", s.image(), images[len(images)-1])
					continue
				}
				images, ids = append(images, s.image()), append(ids, rec.ID)
				u := s.undo("")
				same(t, "undone", s.image(), images[len(images)-2])
				s.undo(u.ID)
				same(t, "redone", s.image(), images[len(images)-1])
				if t.Failed() {
					t.FailNow()
				}
			}
			for i := range slices.Backward(ids) {
				s.undo("")
				same(t, fmt.Sprint("undone to ", i), s.image(), images[i])
			}
		})
	}
}

// TestShelfKilled kills the process at every point, of the command and of the undo: the
// tree is then one or the other, and what the command did can be undone.
func TestShelfKilled(t *testing.T) {
	before, after := images(t, destroy)
	for _, role := range []string{"shelve", "unshelve"} {
		points := 0
		for at := 0; ; at++ {
			s := newSite(t)
			s.tens()
			if role == "unshelve" {
				if err := destroy(s.History); err != nil {
					t.Fatal(err)
				}
			}
			err := s.command(role, strconv.Itoa(at)).Run()
			if err == nil {
				break
			}
			if points++; !errors.As(err, new(*exec.ExitError)) || points > 100 {
				t.Fatal(err)
			}
			h := s.again(Options{NoSync: true})
			if _, err := h.Recover(context.Background()); err != nil {
				t.Fatalf("%s %d: %v", role, at, err)
			}
			have := s.image()
			if have != before && have != after {
				t.Fatalf("%s %d: a mix:\n%s\nwas\n%s", role, at, have, before)
			}
			last, _, err := h.Newest(context.Background(), 1)
			if (len(last) == 1) != (have == after) || err != nil {
				t.Fatalf("%s %d: newest %+v, %v", role, at, last, err)
			}
			if len(last) == 1 {
				h.undoAll(t)
				same(t, "undone", s.image(), before)
			}
			left, _ := os.ReadDir(s.abs("../S"))
			if open, _ := filepath.Glob(filepath.Join(s.session.Path(journalDir, shelvingDir), "*")); len(open) > 0 || len(left) == 0 {
				t.Errorf("left: %v", open)
			}
		}
		if points < 2 {
			t.Errorf("%s was killed at %d points", role, points)
		}
	}
}

// TestShelfElsewhere: where the state lies on another file system there are copies.
func TestShelfElsewhere(t *testing.T) {
	dir, err := os.MkdirTemp("/dev/shm", "agentkit-test-") //nolint:usetesting // it has to be another file system
	if err != nil {
		t.Skip("no other file system here: ", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := newSite(t)
	if err := errors.Join(os.Remove(s.abs("")), os.Symlink(dir, filepath.Join(s.top, "W"))); err != nil {
		t.Fatal(err)
	}
	s.History = s.again(Options{})
	s.tens()
	image := func() string { return imageOf(t, dir) }
	before := image()
	if err := destroy(s.History); err != nil {
		t.Fatal(err)
	}
	after := image()
	u := s.undo("")
	same(t, "undone", image(), before)
	u = s.undo(u.ID)
	same(t, "redone", image(), after)
	s.undo(u.ID)
	same(t, "undone again", image(), before)
}

// TestShelfLimits: too much is refused before anything is kept, and the oldest go first.
func TestShelfLimits(t *testing.T) {
	s := newSite(t)
	for i := range 4 {
		s.put(fmt.Sprint("d/f", i), strings.Repeat("x", 1000))
		s.put(fmt.Sprint("g", i), strings.Repeat("x", 1000))
	}
	d := []Doomed{{Path: s.abs("d")}}
	for _, o := range []ShelveOptions{{Names: d, MaxBytes: 3999}, {Names: d, MaxNames: 3}} {
		if _, err := s.Shelve(context.Background(), o); !errors.Is(err, ErrShelfFull) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if left, _ := os.ReadDir(s.session.Path(journalDir, shelfDir)); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	var ids []string
	for i := range 4 {
		shelf, err := s.Shelve(context.Background(), ShelveOptions{Names: []Doomed{{Path: s.abs(fmt.Sprint("g", i))}}, MaxBytes: 2500})
		if err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(s.abs(fmt.Sprint("g", i)))
		r, err := shelf.Finish(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, r.ID)
	}
	for i, id := range ids {
		_, err := s.Get(context.Background(), id)
		if dropped := errors.Is(err, ErrDropped); dropped != (i < 2) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if left, _ := os.ReadDir(s.session.Path(journalDir, shelfDir)); len(left) != 2 {
		t.Errorf("left: %v", left)
	}
}

// TestKeptSizes: how much each change keeps is known without its record, of those that there
// are, and a line that was not ended says nothing.
func TestKeptSizes(t *testing.T) {
	s := newSite(t)
	var ids []string
	for i := range 3 {
		s.put("f", strings.Repeat("x", 1000+i))
		r, err := shelve(s.History, []Doomed{{Path: "f"}}, func(root string) error { return os.Remove(filepath.Join(root, "f")) })
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, r.ID)
	}
	file := s.session.Path(journalDir, keptFile)
	data, _ := os.ReadFile(file)
	for i, id := range ids[:2] { // the last one is alone with what it keeps
		if line := fmt.Sprintf("%s %d.\n", id, 1000+i); strings.Count(string(data), line) != 1 {
			t.Errorf("%q is not in %q once", line, data)
		}
	}
	if err := os.WriteFile(file, []byte(ids[0]+" 7.\n"+ids[1]+" 7.\nnone 7.\n"+ids[2]+" 7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(s.session.Path(journalDir, doneDir, ids[1])); err != nil {
		t.Fatal(err)
	}
	k := s.keptSizes()
	for id, want := range map[string]int64{ids[0]: 7, ids[1]: -1, "none": -1, ids[2]: 1002} {
		if size, err := k.of(id); err == nil && size != want || missing(err) != (want < 0) {
			t.Errorf("%s: %d %v, want %d", id, size, err, want)
		}
	}
}

// TestShelfClosed: directories that their owner has closed come back closed, and what
// is dropped goes.
func TestShelfClosed(t *testing.T) {
	s := newSite(t)
	s.put("d/in/f", "x")
	s.put("d/g", "y")
	for _, name := range []string{"d/in", "d"} {
		if err := os.Chmod(s.abs(name), 0o500); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _, _ = os.Chmod(s.abs("d"), 0o700), os.Chmod(s.abs("d/in"), 0o700) })
	before := s.image()
	open := func(root string) error {
		return errors.Join(os.Chmod(filepath.Join(root, "d"), 0o700), os.Chmod(filepath.Join(root, "d/in"), 0o700))
	}
	if _, err := shelve(s.History, []Doomed{{Path: "d"}}, func(root string) error {
		return errors.Join(open(root), os.RemoveAll(filepath.Join(root, "d")))
	}); err != nil {
		t.Fatal(err)
	}
	u := s.undo("")
	same(t, "undone", s.image(), before)
	u = s.undo(u.ID)
	if _, err := os.Lstat(s.abs("d")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	s.dropShelf(u.ID)
	if left, _ := os.ReadDir(s.session.Path(journalDir, shelfDir)); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestTouched: what another process changes is known at once, however soon after the last look.
func TestTouched(t *testing.T) {
	s, others := newSite(t), 20
	remove := func(h *History, name string) Record {
		t.Helper()
		r, err := shelve(h, []Doomed{{Path: name}}, func(root string) error { return os.Remove(filepath.Join(root, name)) })
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	name := func(i int) string { return "n" + strconv.Itoa(i) }
	for i := range others + 1 {
		s.put(name(i), "x")
	}
	touched, other := s.Touched(remove(s.History, name(others)).ID), s.again(Options{})
	for i := range others {
		if touched(s.abs(name(i))) {
			t.Fatalf("%s is touched before it is", name(i))
		}
		if i%10 == 5 {
			time.Sleep(2 * coarse) // the next look relies on the directory's time
			if touched(s.abs(name(i))) {
				t.Fatal("time touches a file")
			}
		}
		remove(other, name(i))
		if !touched(s.abs(name(i))) || touched(s.abs(name(others))) {
			t.Fatalf("%s is not touched", name(i))
		}
	}
}

// TestShelfFollowsNoLink: a link that takes the place of a directory leads nowhere else.
func TestShelfFollowsNoLink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need rights there")
	}
	s := newSite(t)
	s.put("keys/x", "secret")
	if err := os.Symlink("keys", s.abs("d")); err != nil {
		t.Fatal(err)
	}
	shelf, err := s.Shelve(context.Background(), ShelveOptions{Names: []Doomed{{Path: s.abs("d/x")}}})
	if err != nil {
		t.Fatal(err)
	}
	defer shelf.Close()
	if names, _ := filepath.Glob(filepath.Join(s.session.Path(journalDir, shelfDir), "*", "*")); len(names) > 0 {
		t.Errorf("kept: %v", names)
	}
}

// TestNamesInRecords: what a record says of names that are no UTF-8 is of these very names.
func TestNamesInRecords(t *testing.T) {
	for _, name := range []string{"/r/a", "/r/a\xff", "base64:QQ=="} {
		was := Record{
			Files:   []File{{Path: name, From: name, Before: State{Kind: Link, Target: name}}},
			Shelf:   []Slot{{N: 1, Closed: map[string]fs.FileMode{name: 0o300, "other": 0o100}}},
			Parents: []Parent{{Path: name, Mode: 0o700}},
		}
		raw, err := json.Marshal(&was)
		var now Record
		if err == nil {
			err = json.Unmarshal(raw, &now)
		}
		if err != nil || !reflect.DeepEqual(was, now) {
			t.Errorf("%q: got %+v, %v, want %+v", name, now, err, was)
		}
	}
}

// TestShelfNew: where only losses count, what is new makes no change by itself, and goes with what comes back.
func TestShelfNew(t *testing.T) {
	s := newSite(t)
	s.put("a", "1")
	before := s.image()
	for _, lost := range []bool{false, true} {
		shelf, err := s.Shelve(context.Background(), ShelveOptions{Names: []Doomed{{Path: s.abs("a")}, {Path: s.abs("made"), Written: true}}, Losses: true})
		if err != nil {
			t.Fatal(err)
		}
		s.put("made", "2")
		if lost {
			err = os.Remove(s.abs("a"))
		}
		r, bad := shelf.Finish(context.Background())
		if err := errors.Join(err, bad); err != nil || (r.ID != "") != lost {
			t.Errorf("lost: %t, and the change is %q, %v", lost, r.ID, err)
		}
		if !lost && os.Remove(s.abs("made")) != nil {
			t.Fatal("it is not there")
		}
	}
	s.undo("")
	same(t, "undone", s.image(), before)
}
