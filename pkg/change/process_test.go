package change

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// play is what the test binary does when it is another process.
func play(role, top string, args []string) error {
	h, done, err := openSite(top, "default", Options{NoSync: role != "sync"})
	if err != nil {
		return err
	}
	defer done()
	switch role {
	case "count":
		return playCount(h, args[0])
	case "tens":
		return playTens(h, args, commitTens)
	case "become":
		return playTens(h, args, becomeTens)
	case "shelve":
		return playTens(h, args, destroy)
	case "unshelve":
		return playTens(h, args, func(h *History) error {
			_, err := h.Undo(context.Background(), "", UndoOptions{})
			return err
		})
	case "together":
		return playTogether(h)
	case "undo":
		mark()
		_, err := h.Undo(context.Background(), "", UndoOptions{})
		return err
	case "recover":
		mark()
		_, err := h.Recover(context.Background())
		return err
	}
	return playPlatform(h, role, top, args)
}

const rounds = 50

// playCount adds one to a number in a file, again and again: under a lock of
// its own, or on the version that it read.
func playCount(h *History, how string) error {
	ctx := context.Background()
	for range rounds {
		for {
			p, err := h.w.Resolve("n")
			if err != nil {
				return err
			}
			c := Change{Op: Replace, Path: p}
			var lock *workspace.Lock
			if how == "lock" {
				if lock, err = h.Lock(ctx, p); err != nil {
					return err
				}
			}
			data, err := h.w.ReadFile(p, 0)
			if err != nil {
				return err
			}
			n, err := strconv.Atoi(string(data))
			if err != nil {
				return fmt.Errorf("reading %q: %w", data, err)
			}
			c.Data, c.Version = []byte(strconv.Itoa(n+1)), workspace.Version(data)
			_, err = h.Commit(ctx, Set{Tool: "count", Changes: []Change{c}, Lock: lock})
			lock.Unlock()
			if err == nil {
				break
			}
			if how == "lock" || !errors.As(err, new(*workspace.ConflictError)) {
				return err
			}
		}
	}
	return nil
}

// TestNothingIsLost: 8 processes with 50 changes each of one file.
func TestNothingIsLost(t *testing.T) {
	for _, how := range []string{"lock", "version"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.put("n", "0")
			var wg sync.WaitGroup
			for range 8 {
				c := s.command("count", how)
				wg.Go(func() {
					if err := c.Run(); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if have := s.get("n"); have != strconv.Itoa(8*rounds) {
				t.Fatalf("%s of %d", have, 8*rounds)
			}
			s.clean()
			if list, err := s.List(context.Background(), 0); err != nil || len(list) != 8*rounds {
				t.Errorf("%d records, %v", len(list), err)
			}
			for range 20 {
				s.undo("")
			}
			if have := s.get("n"); have != strconv.Itoa(8*rounds-20) {
				t.Errorf("20 undone of %d is %s", 8*rounds, have)
			}
		})
	}
}

// together are files that always hold the same number.
func together(h *History) (all []workspace.Path, err error) {
	for _, name := range []string{"x", "y/z", "hard"} {
		p, pathErr := h.w.Resolve(name)
		all, err = append(all, p), errors.Join(err, pathErr)
	}
	return all, err
}

// playTogether counts in all of them at once until it is killed.
func playTogether(h *History) error {
	ctx := context.Background()
	for {
		all, err := together(h)
		if err != nil {
			return err
		}
		lock, err := h.Lock(ctx, all...)
		if err != nil {
			return err
		}
		set := Set{Lock: lock}
		text := ""
		for i, p := range all {
			data, err := h.w.ReadFile(p, 0)
			if err != nil {
				return err
			}
			if i > 0 && string(data) != text {
				return fmt.Errorf("%s holds %.20q, others %.20q", p.Given, data, text)
			}
			text = string(data)
		}
		first, _, _ := strings.Cut(text, "\n")
		n, err := strconv.Atoi(first)
		if err != nil {
			return err
		}
		for _, p := range all {
			set.Changes = append(set.Changes, Change{Op: Replace, Path: p, Data: []byte(strings.Repeat(strconv.Itoa(n+1)+"\n", 2000))})
		}
		if _, err := h.Commit(ctx, set); err != nil {
			return err
		}
		lock.Unlock()
	}
}

// TestKilledTogether: four processes change the same three files all the time,
// and one after the other is killed at a random moment and replaced. Whoever
// comes next finds the three alike.
func TestKilledTogether(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, name := range []string{"x", "y/z", "hard"} {
		s.put(name, strings.Repeat("0\n", 2000))
	}
	if err := os.Link(s.abs("hard"), s.abs("hard2")); err != nil {
		t.Skip("no hard links: NOT tested: ", err)
	}
	sessions := []string{"together", "together", "together", "together"}
	running := make([]*exec.Cmd, len(sessions))
	start := func(i int) {
		running[i] = s.command(sessions[i])
		if err := running[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	for i := range running {
		start(i)
	}
	for s.get("x") == strings.Repeat("0\n", 2000) {
		if time.Since(began) > time.Minute {
			t.Fatal("nothing happened in a minute")
		}
		time.Sleep(time.Millisecond)
	}
	pause := max(60*time.Millisecond, time.Since(began)) // so that some get far enough on a slow machine, too
	for kill := range 60 {
		i := kill % len(running)
		time.Sleep(rand.N(pause)) // any moment is right
		_ = running[i].Process.Kill()
		if err := running[i].Wait(); running[i].ProcessState.Exited() {
			t.Fatal("it ended by itself: ", err)
		}
		if kill < 56 {
			start(i)
		}
	}
	if _, err := s.Recover(context.Background()); err != nil {
		t.Fatal(err)
	}
	if x := s.get("x"); x != s.get("y/z") || x != s.get("hard") || x != s.get("hard2") {
		t.Errorf("%.10q %.10q %.10q", x, s.get("y/z"), s.get("hard"))
	}
	first, _, _ := strings.Cut(s.get("x"), "\n")
	n, _ := strconv.Atoi(first)
	t.Logf("counted to %d", n)
	if n < 2 {
		t.Error("nothing happened since the first was killed")
	}
	s.clean()
}

// tens is a change of ten files in each way there is.
func tens(h *History) (Set, error) {
	var set Set
	var errs []error
	p := func(name string) workspace.Path {
		path, err := h.w.ResolveEntry(name)
		errs = append(errs, err)
		return path
	}
	set.Changes = []Change{
		{Op: Write, Path: p("f0"), Data: []byte("new 0")},
		{Op: Write, Path: p("f1"), Data: []byte(strings.Repeat("new 1\n", 5000))},
		{Op: Write, Path: p("sub/f2"), Data: []byte("new 2"), Mode: new(fs.FileMode(0o600))},
		{Op: Write, Path: p("hard"), Data: []byte(strings.Repeat("new hard\n", 3000))},
		{Op: Delete, Path: p("f3")},
		{Op: Delete, Path: p("link")},
		{Op: Create, Path: p("made/deep/f4"), Data: []byte("new 4")},
		{Op: Move, Path: p("f5"), To: p("made/f5")},
		{Op: Move, Path: p("f6"), To: p("f6b"), Data: []byte("new 6")},
		{Op: Chmod, Path: p("f7"), Mode: new(fs.FileMode(0o755))},
		{Op: Symlink, Path: p("made/link"), Data: []byte("../f0")},
	}
	return set, errors.Join(errs...)
}

func (s *site) tens() {
	for i := range 8 {
		name := fmt.Sprint("f", i)
		if i == 2 {
			name = "sub/f2"
		}
		s.put(name, strings.Repeat(fmt.Sprintf("old %d\n", i), 1+1000*(i%3)))
	}
	s.put("hard", strings.Repeat("old hard one\n", 2000))
	if err := errors.Join(os.Link(s.abs("hard"), s.abs("hard2")), os.Symlink("f0", s.abs("link"))); err != nil {
		s.t.Fatal(err)
	}
}

func commitTens(h *History) error {
	set, err := tens(h)
	if err == nil {
		_, err = h.Commit(context.Background(), set)
	}
	return err
}

// becomeTens changes the same tree as a command's view would: what stands there is of
// another kind before and after.
func becomeTens(h *History) error {
	text := func(s string) func() (io.ReadCloser, error) {
		return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(s)), nil }
	}
	name := func(rel string) string { return filepath.Join(h.w.Root(), rel) }
	_, err := h.Become(context.Background(), Record{Tool: "t"}, []Target{
		{Path: name("f0"), Was: Regular, State: State{Kind: Link, Target: "f1"}},
		{Path: name("f1"), Was: Regular, State: State{Kind: Regular, Mode: 0o640}, Open: text(strings.Repeat("new 1\n", 5000))},
		{Path: name("f3"), Was: Regular, State: State{Kind: Dir, Mode: 0o755}},
		{Path: name("f3/in"), State: State{Kind: Regular, Mode: 0o444}, Open: text("in")},
		{Path: name("f7"), Was: Regular, State: State{Kind: Regular, Mode: 0o755}},
		{Path: name("hard"), Was: Regular, State: State{Kind: Regular, Mode: 0o644}, Open: text("hard")},
		{Path: name("link"), Was: Link, State: State{Kind: Dir, Mode: 0o700}},
		{Path: name("link/in"), State: State{Kind: Link, Target: "nowhere"}},
		{Path: name("sub"), Was: Dir, State: State{Kind: Link, Target: "f5"}},
		{Path: name("sub/f2"), Was: Regular},
	}, func() error { return nil })
	return err
}

func playTens(h *History, args []string, do func(*History) error) error {
	n, at := 0, -1
	if len(args) > 0 {
		at, _ = strconv.Atoi(args[0])
	}
	h.at = func(string) {
		if n == at {
			killSelf()
		}
		n++
	}
	mark()
	err := do(h)
	if err == nil {
		fmt.Println(n)
	}
	return err
}

func killSelf() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		_ = self.Kill()
	}
	select {}
}

// images are the tree of tens before and after.
func images(t *testing.T, do func(*History) error) (before, after string) {
	s := newSite(t)
	s.tens()
	before = s.image()
	if err := do(s.History); err != nil {
		t.Fatal(err)
	}
	return before, s.image()
}

// recovered checks that after a kill and a recovery the tree is old or new,
// that undo works in either case, and that nothing is left over.
func (s *site) recovered(before, after string) (finished bool) {
	s.t.Helper()
	h := s.again(Options{NoSync: true})
	if _, err := h.Recover(context.Background()); err != nil {
		s.t.Fatal(err)
	}
	have := s.image()
	if runtime.GOOS != "linux" {
		have = strip(have) // elsewhere it is not known whose they are
	}
	if have != before && have != after {
		s.t.Fatalf("a mix:\n%s", have)
	}
	s.clean()
	last, _, err := h.Newest(context.Background(), 1)
	if (len(last) == 1) != (have == after) || err != nil {
		s.t.Fatalf("newest %+v, %v", last, err)
	}
	if have == after {
		h.undoAll(s.t)
		same(s.t, "undone", strip(s.image()), before)
	}
	return have == after
}

// strip leaves out temporary files of killed writes: they are somebody's that
// may still be alive, until they are old.
func strip(image string) string {
	var b strings.Builder
	for line := range strings.Lines(image) {
		if name, err := strconv.Unquote(strings.SplitAfterN(line, `"`, 3)[0] + strings.SplitAfterN(line, `"`, 3)[1]); err == nil && workspace.IsTemp(filepath.Base(name)) {
			continue
		}
		b.WriteString(line)
	}
	return b.String()
}

// TestKilledBetween kills the process between any two things that it does.
func TestKilledBetween(t *testing.T) {
	t.Run("commit", func(t *testing.T) { killedBetween(t, "tens", commitTens) })
	t.Run("become", func(t *testing.T) { killedBetween(t, "become", becomeTens) })
}

func killedBetween(t *testing.T, role string, do func(*History) error) {
	before, after := images(t, do)
	points := 1
	for at, finished := 0, 0; at < points; at++ {
		s := newSite(t)
		s.tens()
		c := s.command(role, strconv.Itoa(at))
		out, err := c.Output()
		if n, convErr := strconv.Atoi(strings.TrimSpace(string(out))); err == nil && convErr == nil {
			t.Logf("%d points, %d of them finished", n, finished)
			return
		}
		points = at + 2
		if !errors.As(err, new(*exec.ExitError)) {
			t.Fatal(err)
		}
		if s.recovered(before, after) {
			finished++
		}
		if at > 200 {
			t.Fatal("it never ends")
		}
	}
}

// TestOthersFinish: the next one that wants a file of a killed change gets it
// whole, without asking for it, also from another session.
func TestOthersFinish(t *testing.T) {
	for _, id := range []string{"default", "another"} {
		s := newSite(t)
		s.tens()
		if err := s.command("tens", "16").Run(); err == nil {
			t.Fatal("it was not killed")
		}
		h := s.of(id, Options{})
		if _, err := h.Commit(context.Background(), One("t", Change{Op: Create, Path: s.p("elsewhere")})); err != nil {
			t.Fatal(err)
		}
		if left, _ := h.unfinished(nil); len(left) != 1 {
			t.Fatalf("%d left: a change of another file is none of its business", len(left))
		}
		before := s.get("f7")
		if _, err := h.Commit(context.Background(), One("t", Change{Op: Write, Path: s.p("f1"), Data: []byte("x")})); err != nil {
			t.Fatal(err)
		}
		s.clean()
		if s.get("f0") != "old 0\n" || s.get("f7") != before || s.get("f1") != "x" {
			t.Errorf("%s: %q", id, s.get("f0"))
		}
	}
}

// TestChangedAfterCrash: what someone changed between the crash and the
// recovery stays, and is named.
func TestChangedAfterCrash(t *testing.T) {
	s := newSite(t)
	s.tens()
	if err := s.command("tens", "24").Run(); err == nil {
		t.Fatal("it was not killed")
	}
	s.put("f1", "somebody's")
	h := s.again(Options{})
	done, err := h.Recover(context.Background())
	if err != nil || len(done) != 1 || done[0].Finished || len(done[0].Kept) != 1 || done[0].Kept[0].Path != s.abs("f1") {
		t.Fatalf("%+v, %v", done, err)
	}
	if s.get("f1") != "somebody's" || s.get("f0") != "old 0\n" {
		t.Error(s.image())
	}
	s.clean()
}

// TestLiveIsLeftAlone: a change on its way of a living process is not touched.
func TestLiveIsLeftAlone(t *testing.T) {
	s := newSite(t)
	s.tens()
	other := s.again(Options{})
	checked := false
	s.at = func(point string) {
		if point != "recorded" {
			return
		}
		done, err := other.Recover(context.Background())
		if err != nil || len(done) != 0 {
			t.Errorf("%+v, %v", done, err)
		}
		checked = true
	}
	set, err := tens(s.History)
	if err == nil {
		_, err = s.Commit(context.Background(), set)
	}
	if err != nil || !checked {
		t.Fatal(err, checked)
	}
}

// TestPendingIsSwept: what a process left that was killed before its record
// counted goes when the journal is tidied.
func TestPendingIsSwept(t *testing.T) {
	s := newSite(t)
	s.put("a", "old")
	s.commit(Change{Op: Write, Path: s.p("a"), Data: []byte("new")})
	left := s.session.Path(journalDir, pendingDir, ".1k0.tmp")
	if err := os.WriteFile(left, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := s.again(Options{NoSync: true, Limits: Limits{Records: 2}})
	for i := range 8 {
		if _, err := h.Commit(context.Background(), One("t", Change{Op: Write, Path: s.p("a"), Data: fmt.Append(nil, i)})); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Lstat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Error("it is still there: ", err)
	}
	s.clean()
}

// TestUndoTogether takes one change back many times at once: one of them does
// it, the others say that it is done.
func TestUndoTogether(t *testing.T) {
	s := newSite(t)
	ctx := context.Background()
	for round := range 20 {
		s.put("a", "old")
		r, err := s.Commit(ctx, One("test", Change{Op: Write, Path: s.p("a"), Data: fmt.Append(nil, "new", round)}))
		if err != nil {
			t.Fatal(err)
		}
		errs := make([]error, 8)
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() {
				h := s.again(Options{NoSync: true})
				defer h.Close()
				_, errs[i] = h.Undo(ctx, r.ID, UndoOptions{})
			})
		}
		all.Wait()
		done := 0
		for _, err := range errs {
			switch {
			case err == nil:
				done++
			case !errors.Is(err, ErrUndone):
				t.Error(err)
			}
		}
		if done != 1 {
			t.Fatalf("undone %d times: %v", done, errs)
		}
	}
}

// TestChangedMeanwhile changes a file, as somebody without our lock does, after
// it was recorded and before it is touched: it is left as it is.
func TestChangedMeanwhile(t *testing.T) {
	large := strings.Repeat("old text\n", small/8)
	for name, c := range map[string]struct {
		content string
		change  func(*site) Change
	}{
		"delete": {"old", func(s *site) Change { return Change{Op: Delete, Path: s.p("a")} }},
		"move":   {"old", func(s *site) Change { return Change{Op: Move, Path: s.p("a"), To: s.p("b")} }},
		"write":  {"old", func(s *site) Change { return Change{Op: Write, Path: s.p("a"), Data: []byte("new")} }},
		"large":  {large, func(s *site) Change { return Change{Op: Write, Path: s.p("a"), Data: []byte("new")} }},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.put("a", c.content)
			change := c.change(s)
			s.at = func(point string) {
				if point == "recorded" {
					s.put("a", "somebody else's")
				}
			}
			_, err := s.Commit(context.Background(), One("test", change))
			if !errors.As(err, new(*workspace.ConflictError)) {
				t.Errorf("committed: %v", err)
			}
			if got := s.get("a"); got != "somebody else's" {
				t.Errorf("a holds %.40q", got)
			}
			if _, err := os.Lstat(s.abs("b")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("b is there: %v", err)
			}
		})
	}
}
