package wall

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// dump says all that a tree knows.
func (t *tree) dump() string {
	var lines []string
	for _, d := range t.list {
		subs := slices.Sorted(slices.Values(d.subs))
		lines = append(lines, fmt.Sprint(d.path, subs, d.hits, d.within))
	}
	slices.Sort(lines)
	return strings.Join(append(lines, t.beyond...), "\n")
}

// TestRemembered: a walk that remembers another finds what one finds that does not,
// whatever has happened to the tree between them; and where nothing has, it is the
// tree that is remembered.
func TestRemembered(t *testing.T) {
	dir := t.TempDir()
	root, file := filepath.Join(dir, "root"), filepath.Join(dir, "cache", "file")
	rnd := rand.New(rand.NewPCG(1, 5))
	pick := func() string {
		path := root
		for range rnd.IntN(4) {
			path = filepath.Join(path, string(rune('a'+rnd.IntN(4))))
		}
		return path
	}
	walk := func(before *tree) *tree {
		notable := func(path string, _ bool) (bool, bool) {
			name := filepath.Base(path)
			return strings.HasPrefix(name, ".env") || name == "odd\nname", name == "d"
		}
		return (&walker{notable: notable, passed: func(string) bool { return false }, before: before}).walk(root)
	}
	change := func() {
		path := pick()
		switch rnd.IntN(7) {
		case 0, 1:
			_ = os.MkdirAll(path, 0o755)
		case 2:
			_ = os.WriteFile(filepath.Join(path, fmt.Sprint(".env", rnd.IntN(3))), nil, 0o600)
		case 3:
			if path != root {
				_ = os.RemoveAll(path)
			}
		case 4:
			if path != root {
				_ = os.Rename(path, pick())
			}
		case 5:
			_ = os.Symlink("a", filepath.Join(path, "d"))
		case 6:
			if odd := filepath.Join(root, "odd\nname"); os.Remove(odd) != nil {
				_ = os.WriteFile(odd, nil, 0o600)
			}
		}
	}
	if err := os.MkdirAll(filepath.Join(root, "b/d/a"), 0o755); err != nil {
		t.Fatal(err)
	}
	same := 0
	for round := range 30 {
		for range 1 + rnd.IntN(8) {
			change()
		}
		time.Sleep(young + 10*time.Millisecond) // else nothing is remembered
		want := walk(nil)
		if again := walk(want); again != want {
			t.Fatalf("round %d: nothing has changed, and the walk found another tree", round)
		}
		if err := want.remember(file, "hash"); err != nil {
			t.Fatal(err)
		}
		if remembered(file, "other") != nil {
			t.Error("what another policy makes notable is remembered")
		}
		kept := remembered(file, "hash")
		now := walk(kept)
		if got := now.dump(); got != want.dump() {
			t.Fatalf("round %d: remembered:\n%s\nfound:\n%s", round, got, want.dump())
		}
		if now == kept {
			same++
		} else if len(kept.list) == len(want.list) {
			t.Errorf("round %d: all is remembered, and it was walked again", round)
		}
		for range rnd.IntN(4) {
			change()
		}
		found := walk(nil).dump()
		for name, before := range map[string]*tree{"the file": remembered(file, "hash"), "the tree": want} {
			if got := walk(before).dump(); got != found {
				t.Fatalf("round %d, with %s:\n%s\nfound:\n%s", round, name, got, found)
			}
		}
	}
	if same == 0 || same == 30 {
		t.Errorf("%d of the 30 trees were remembered whole; some are to be, and some not", same)
	}
}

// TestWholeSeconds: where a file system keeps whole seconds, what has changed in the last two may
// change again without a sign, so it is not remembered, and what is looked at then may have changed since.
func TestWholeSeconds(t *testing.T) {
	second := time.Now().Truncate(time.Second)
	for _, test := range []struct {
		changed time.Time
		ago     time.Duration
		kept    bool
	}{
		{second, 10 * time.Millisecond, false},
		{second, time.Second, false},
		{second, 2 * time.Second, false},
		{second, 2*time.Second + 3*young, true},
		{second.Add(time.Nanosecond), 10 * time.Millisecond, false},
		{second.Add(time.Nanosecond), 2 * young, true},
	} {
		stamp := test.changed.UnixNano()
		if kept := remembers(stamp, test.changed.Add(test.ago)); kept != test.kept {
			t.Errorf("changed at %s, read %s later: remembered %v, want %v", test.changed.Format(time.StampNano), test.ago, kept, test.kept)
		}
		if since := !latest(test.changed).Before(test.changed.Add(test.ago - young)); since == test.kept {
			t.Errorf("changed at %s, looked at %s later: may have changed since %v, want %v", test.changed.Format(time.StampNano), test.ago, since, !test.kept)
		}
	}
}
