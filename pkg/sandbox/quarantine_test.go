package sandbox

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestQuarantine changes protected paths in every way and gets them back.
func TestQuarantine(t *testing.T) {
	tests := []struct {
		name   string
		change func(root string) error
		want   string // "path action", in order
	}{
		{"nothing", func(string) error { return nil }, ""},
		{"created", func(r string) error { return os.WriteFile(r+"/.envrc", []byte("evil"), 0o755) }, ".envrc created"},
		{"a directory created", func(r string) error {
			return errorsJoin(os.MkdirAll(r+"/.vscode/a/b", 0o755), os.WriteFile(r+"/.vscode/a/b/tasks.json", []byte("evil"), 0o644))
		}, ".vscode created"},
		{"a link created", func(r string) error { return os.Symlink("/etc/passwd", r+"/.envrc") }, ".envrc created"},
		{"changed", func(r string) error { return os.WriteFile(r+"/.git/config", []byte("evil"), 0o644) }, ".git/config changed"},
		{"mode", func(r string) error { return os.Chmod(r+"/.git/hooks/sample", 0o755) }, ".git/hooks changed"},
		{"deleted", func(r string) error { return os.RemoveAll(r + "/.git/hooks") }, ".git/hooks deleted"},
		{"above deleted", func(r string) error { return os.RemoveAll(r + "/.git") }, ".git/hooks deleted, .git/config deleted"},
		{"above replaced by a file", func(r string) error {
			return errorsJoin(os.RemoveAll(r+"/sub"), os.WriteFile(r+"/sub", nil, 0o644))
		}, "sub/deep/protected deleted"},
		{"turned into a directory", func(r string) error {
			return errorsJoin(os.Remove(r+"/.git/config"), os.Mkdir(r+"/.git/config", 0o755))
		}, ".git/config changed"},
		{"turned into a link", func(r string) error {
			return errorsJoin(os.Rename(r+"/.git/config", r+"/c"), os.Symlink("../c", r+"/.git/config"))
		}, ".git/config changed"},
		{"a hook", func(r string) error { return os.WriteFile(r+"/.git/hooks/pre-commit", []byte("evil"), 0o755) }, ".git/hooks changed"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c, dir := guardedConfig(t)
			before := listing(t, c.Root)
			s, err := c.Snapshot(L2)
			if err := errorsJoin(err, test.change(c.Root)); err != nil {
				t.Fatal(err)
			}
			list, err := s.Restore(filepath.Join(dir, "state", "quarantine"), Found{})
			if err != nil {
				t.Fatal(err)
			}
			inTheWay := test.name == "above replaced by a file"
			var got []string
			for _, r := range list {
				name, _ := filepath.Rel(c.Root, r.Path)
				got = append(got, name+" "+r.Action)
				if (r.Quarantine == "") != (r.Action == "deleted" && !inTheWay) {
					t.Errorf("%+v", r)
				}
			}
			if s := strings.Join(got, ", "); s != test.want {
				t.Errorf("restored %q, want %q", s, test.want)
			}
			if now := listing(t, c.Root); now != before && test.name != "turned into a link" {
				t.Errorf("was\n%s\nis\n%s", before, now)
			}
		})
	}
}

// TestRestoreByNoLink: what a link in the place of a directory leads to is neither put away nor
// written over with what was in the directory.
func TestRestoreByNoLink(t *testing.T) {
	for _, watched := range []bool{false, true} {
		c, dir := guardedConfig(t)
		other := filepath.Join(c.Root, "other", "deep")
		if watched {
			c.ReadOnly, c.Watched = nil, []string{filepath.Join(c.Root, "sub", "deep", "protected")}
		}
		s, err := c.Snapshot(L2)
		if err = errorsJoin(err, os.RemoveAll(c.Root+"/sub"), os.MkdirAll(other, 0o755), os.Symlink("other", c.Root+"/sub"),
			os.WriteFile(other+"/protected", []byte("theirs"), 0o644), os.WriteFile(other+"/new", []byte("theirs"), 0o644)); err != nil {
			t.Fatal(err)
		}
		list, err := s.Restore(filepath.Join(dir, "state", "quarantine"), Found{Appeared: []string{filepath.Join(c.Root, "sub", "deep", "new")}})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"protected", "new"} {
			if now, err := os.ReadFile(filepath.Join(other, name)); string(now) != "theirs" {
				t.Errorf("%s: %q, %v", name, now, err)
			}
		}
		i, err := os.Lstat(c.Root + "/sub")
		if err != nil || i.IsDir() == watched || (len(list) == 0) != watched {
			t.Errorf("watched %v: %v, %v, %+v", watched, i, err, list)
		}
	}
}

// TestInherit: what a command that runs changes again as soon as it is put back is not taken for what
// was there, by one that begins meanwhile and ends later, nor is what it has made.
func TestInherit(t *testing.T) {
	c, dir := guardedConfig(t)
	first, err := c.Snapshot(L2)
	if err = errorsJoin(err, os.WriteFile(c.Root+"/.git/config", []byte("evil"), 0o644), os.Mkdir(c.Root+"/.idea", 0o755), os.WriteFile(c.Root+"/.idea/x", []byte("evil"), 0o644)); err != nil {
		t.Fatal(err)
	}
	first.Later = json.RawMessage("{}")
	c.Watched = []string{c.Root + "/.idea/x"}
	second, err := c.Snapshot(L2)
	if err == nil {
		_, err = second.Inherit(slices.Values([]*Snapshot{first}), func(json.RawMessage) (Found, error) {
			return Found{Appeared: []string{c.Root + "/.idea", c.Root + "/.zed"}}, nil
		})
	}
	_, bad := first.Restore(filepath.Join(dir, "state", "quarantine"), Found{Appeared: []string{c.Root + "/.idea"}})
	if err = errorsJoin(err, bad, os.WriteFile(c.Root+"/.zed", []byte("evil"), 0o644)); err != nil {
		t.Fatal(err)
	}
	if _, err := second.Restore(filepath.Join(dir, "state", "quarantine"), Found{}); err != nil {
		t.Fatal(err)
	}
	if now, err := os.ReadFile(c.Root + "/.git/config"); string(now) != "[core]\n" {
		t.Errorf("the configuration: %q, %v", now, err)
	}
	for _, name := range []string{".idea", ".zed"} {
		if _, err := os.Lstat(filepath.Join(c.Root, name)); err == nil {
			t.Errorf("%s is there", name)
		}
	}
}

// TestForgotten: what a command that runs shows while another looks at what is there, and takes away before it
// is asked what it has made, is not what the other brings back.
func TestForgotten(t *testing.T) {
	c, dir := guardedConfig(t)
	first, err := c.Snapshot(L2)
	shown := filepath.Join(c.Root, ".idea", "x")
	if err = errorsJoin(err, os.Mkdir(filepath.Dir(shown), 0o755), os.WriteFile(shown, []byte("evil"), 0o644)); err != nil {
		t.Fatal(err)
	}
	first.Later = json.RawMessage("{}")
	c.Watched = []string{shown}
	second, err := c.Snapshot(L2)
	if err = errorsJoin(err, os.Remove(shown)); err != nil {
		t.Fatal(err)
	}
	knew := func(path string) bool { return path != shown }
	forgotten, err := second.Inherit(slices.Values([]*Snapshot{first}), func(json.RawMessage) (Found, error) { return Found{Knew: knew}, nil })
	if err != nil || !slices.Equal(forgotten, []string{shown}) {
		t.Errorf("forgotten: %q, %v", forgotten, err)
	}
	if _, err := second.Restore(filepath.Join(dir, "state", "quarantine"), Found{}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(shown); err == nil {
		t.Error("it was brought back")
	}
}

// TestRestoreAfterLink: what has appeared in the place of a directory goes before what was in that comes back.
func TestRestoreAfterLink(t *testing.T) {
	c, dir := guardedConfig(t)
	c.ReadOnly = []string{filepath.Join(c.Root, "sub", "deep", "protected")}
	s, err := c.Snapshot(L2)
	was, bad := os.ReadFile(c.ReadOnly[0])
	if err = errorsJoin(err, bad, os.Rename(c.Root+"/sub", c.Root+"/moved"), os.Symlink("/nowhere", c.Root+"/sub")); err != nil {
		t.Fatal(err)
	}
	list, err := s.Restore(filepath.Join(dir, "state", "quarantine"), Found{Appeared: []string{filepath.Join(c.Root, "sub")}})
	if err != nil || len(list) != 2 {
		t.Errorf("%+v, %v", list, err)
	}
	if now, err := os.ReadFile(c.ReadOnly[0]); err != nil || string(now) != string(was) {
		t.Errorf("what was there: %q, %v", now, err)
	}
}

// TestSeparateGitDir: what git keeps of the root is in its place again where a file leads to another.
func TestSeparateGitDir(t *testing.T) {
	c, dir := guardedConfig(t)
	before := listing(t, c.Root)
	s, err := c.Snapshot(L2)
	if err = errorsJoin(err, os.Mkdir(c.Root+"/a", 0o755), os.Rename(c.Root+"/.git", c.Root+"/a/git"), os.WriteFile(c.Root+"/.git", []byte("gitdir: a/git\n"), 0o644),
		os.WriteFile(c.Root+"/a/git/config", []byte("evil"), 0o644), os.WriteFile(c.Root+"/a/git/objects", []byte("history"), 0o644)); err != nil {
		t.Fatal(err)
	}
	list, err := s.Restore(filepath.Join(dir, "state", "quarantine"), Found{Appeared: []string{c.Root + "/.git", c.Root + "/a/git/config"}})
	if err != nil || len(list) != 2 {
		t.Errorf("%+v, %v", list, err)
	}
	if history, err := os.ReadFile(c.Root + "/.git/objects"); err != nil || string(history) != "history" {
		t.Errorf("%q, %v", history, err)
	}
	if err := errorsJoin(os.Remove(c.Root+"/.git/objects"), os.Remove(c.Root+"/a"), os.Remove(list[0].Quarantine)); err != nil {
		t.Error(err)
	}
	if now := listing(t, c.Root); now != before {
		t.Errorf("was\n%s\nis\n%s", before, now)
	}
}

// TestSnapshotByLink: a link that was there before stays, and what it leads to is put back.
func TestSnapshotByLink(t *testing.T) {
	c, dir := guardedConfig(t)
	c.ReadOnly = []string{c.Root + "/link/deep/protected"}
	err := os.Symlink("sub", c.Root+"/link")
	before := listing(t, c.Root)
	s, bad := c.Snapshot(L2)
	if err = errorsJoin(err, bad, os.Remove(c.Root+"/sub/deep/protected"), os.WriteFile(c.Root+"/sub/deep/protected", []byte("evil"), 0o644)); err != nil {
		t.Fatal(err)
	}
	if list, err := s.Restore(filepath.Join(dir, "state", "quarantine"), Found{}); err != nil || len(list) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
	if now := listing(t, c.Root); now != before {
		t.Errorf("was\n%s\nis\n%s", before, now)
	}
}

// TestQuarantineLeavesModes: a hard link that is put away has its mode with the file
// that stays.
func TestQuarantineLeavesModes(t *testing.T) {
	c, dir := guardedConfig(t)
	s, err := c.Snapshot(L2)
	at, link := filepath.Join(c.Root, "plain"), filepath.Join(c.Root, ".git", "linked")
	if err := errorsJoin(err, os.WriteFile(at, []byte("x"), 0o640), os.Link(at, link)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Restore(filepath.Join(dir, "state", "quarantine"), Found{Appeared: []string{link}}); err != nil {
		t.Fatal(err)
	}
	if i, err := os.Stat(at); err != nil || i.Mode() != 0o640 {
		t.Errorf("the file that stays has mode %v: %v", i.Mode(), err)
	}
}

// TestQuarantineStaysInside shows that a link which the command puts above a
// protected path leads nothing of ours astray.
func TestQuarantineStaysInside(t *testing.T) {
	c, dir := guardedConfig(t)
	s, err := c.Snapshot(L2)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dir, "out", "git")
	if err := errorsJoin(
		os.MkdirAll(other+"/hooks", 0o755), os.WriteFile(other+"/hooks/theirs", []byte("x"), 0o644), os.WriteFile(other+"/config", []byte("x"), 0o644),
		os.RemoveAll(c.Root+"/.git"), os.Symlink("../out/git", c.Root+"/.git"),
	); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Restore(filepath.Join(dir, "state", "quarantine"), Found{}); err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(c.Root + "/.git/config"); err != nil || string(b) != "[core]\n" {
		t.Errorf("the configuration: %q, %v", b, err)
	}
	if b, err := os.ReadFile(other + "/hooks/theirs"); err != nil || string(b) != "x" {
		t.Errorf("the other's file: %q, %v", b, err)
	}
	if b, err := os.ReadFile(other + "/config"); err != nil || string(b) != "x" {
		t.Errorf("the other's configuration: %q, %v", b, err)
	}
}

// TestQuarantineKeepsOut shows that our own state inside a writable directory is
// neither remembered nor put back, nor is what holds the quarantine.
func TestQuarantineKeepsOut(t *testing.T) {
	for _, at := range []string{"state", ".agentkit/state", ".vscode/deep/state"} {
		c, _ := guardedConfig(t)
		state := filepath.Join(c.Root, at)
		c.ReadOnly, c.Private = append(c.ReadOnly, state, filepath.Join(c.Root, ".agentkit")), []string{state}
		if err := os.MkdirAll(state, 0o755); err != nil {
			t.Fatal(err)
		}
		s, err := c.Snapshot(L2)
		if err == nil {
			err = errorsJoin(os.WriteFile(state+"/audit", []byte("ours"), 0o644), os.WriteFile(c.Root+"/.git/config", []byte("evil"), 0o644))
		}
		if err != nil {
			t.Fatal(err)
		}
		list, err := s.Restore(filepath.Join(state, "quarantine"), Found{})
		if err != nil || len(list) != 1 || list[0].Path != c.Root+"/.git/config" {
			t.Errorf("%s: %+v, %v", at, list, err)
		}
		if b, err := os.ReadFile(state + "/audit"); err != nil || string(b) != "ours" {
			t.Errorf("%s: %q, %v", at, b, err)
		}

		c.Private = nil // a mistake that must not cost anything
		if s, err = c.Snapshot(L2); err == nil {
			err = os.WriteFile(state+"/more", []byte("x"), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		before := listing(t, state)
		if _, err := s.Restore(filepath.Join(state, "quarantine"), Found{}); err == nil || !strings.Contains(err.Error(), "quarantine") {
			t.Errorf("%s: %v", at, err)
		}
		if now := listing(t, state); now != before {
			t.Errorf("%s: was\n%s\nis\n%s", at, before, now)
		}
	}
}

// TestQuarantineAtL3 shows that where mounts hold what exists, only what does
// not is looked after.
func TestQuarantineAtL3(t *testing.T) {
	c, _ := guardedConfig(t)
	s, err := c.Snapshot(L3)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, g := range s.paths {
		names = append(names, g.name)
	}
	if got := strings.Join(names, " "); got != ".envrc .vscode" {
		t.Errorf("guards %s", got)
	}
}

func guardedConfig(t *testing.T) (c *Config, dir string) {
	t.Helper()
	dir = t.TempDir()
	root := filepath.Join(dir, "root")
	if err := errorsJoin(
		os.MkdirAll(root+"/.git/hooks", 0o755), os.MkdirAll(root+"/sub/deep", 0o755), os.MkdirAll(dir+"/out", 0o755),
		os.WriteFile(root+"/.git/config", []byte("[core]\n"), 0o644), os.WriteFile(root+"/.git/hooks/sample", []byte("#!/bin/sh\n"), 0o644),
		os.WriteFile(root+"/sub/deep/protected", []byte("x"), 0o444),
	); err != nil {
		t.Fatal(err)
	}
	return &Config{Root: root, ReadOnly: []string{
		root + "/.git/hooks", root + "/.git/config", root + "/.envrc", root + "/.vscode", root + "/sub/deep/protected",
	}}, dir
}

// listing is everything below dir in one text.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(dir, func(path string, i os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		text := ""
		if i.Mode().IsRegular() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text = string(content)
		}
		b.WriteString(i.Mode().String() + " " + path + " " + text + "\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func errorsJoin(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestHeldAsOthers checks that what no mount holds any more is kept as what none has held, also for
// another process, so that it comes back when there is room again.
func TestHeldAsOthers(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	path := filepath.Join(dir, ".envrc")
	write := func(text string) error { return os.WriteFile(path, []byte(text), 0o600) }
	if err := errorsJoin(err, write("was")); err != nil {
		t.Fatal(err)
	}
	if bornAt(path) == "" {
		t.Skip("SKIPPED: nothing tells a file from one that takes its place here")
	}
	s, err := (&Config{Root: dir, ReadOnly: []string{path}}).Snapshot(L3)
	if err != nil || len(s.mounted) != 1 || len(s.paths) != 0 {
		t.Fatalf("%v, %+v", err, s)
	}
	if s.unheld([]string{path, "other"}); len(s.paths) != 0 {
		t.Errorf("nothing has taken its place: %+v", s.paths)
	}
	if err := errorsJoin(os.Rename(path, path+"~"), write("planted")); err != nil {
		t.Fatal(err)
	}
	s.unheld([]string{path})
	raw, err := (&Snapshot{paths: s.paths}).MarshalJSON()
	var kept Snapshot
	if err := errorsJoin(err, kept.UnmarshalJSON(raw)); err != nil || len(kept.paths) != 1 || string(kept.paths[0].was[".envrc"].data) != "was" {
		t.Errorf("%v, %+v", err, kept)
	}
}

// TestMountedIsBounded checks that files that mounts hold leave others their room.
func TestMountedIsBounded(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := &Config{Root: dir}
	for i := range 20 {
		c.ReadOnly = append(c.ReadOnly, filepath.Join(dir, fmt.Sprint(i, ".lock")))
		if err := os.WriteFile(c.ReadOnly[i], make([]byte, maxMountedFile+i%2), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := c.Snapshot(L3)
	if err != nil || s.size > maxMounted || len(s.mounted) != maxMounted/maxMountedFile && bornAt(dir) != "" {
		t.Errorf("%v: %d files of %d bytes", err, len(s.mounted), s.size)
	}
}

// TestRestoreOvertaken checks what is said where something else comes to the place of what is
// brought back: what another call brought back is as it was, what a command made is not.
func TestRestoreOvertaken(t *testing.T) {
	for made, said := range map[string]bool{"was": false, "planted anew": true} {
		dir, kept := t.TempDir(), t.TempDir()
		name := filepath.Join(dir, "x")
		g := &guarded{dir: dir, name: "x", was: map[string]saved{"x": {mode: 0o600, data: []byte("was")}}}
		root, err := os.OpenRoot(dir)
		if err := errorsJoin(err, os.WriteFile(name, []byte("planted"), 0o600)); err != nil {
			t.Fatal(err)
		}
		r, err := g.restoreIn(root, (&Found{}).written, func() (string, error) {
			return kept, os.WriteFile(name, []byte(made), 0o600)
		})
		now, bad := os.ReadFile(name)
		if err := errorsJoin(err, bad, root.Close()); err != nil {
			t.Fatal(err)
		}
		if string(now) != made || r == nil || (r.Why != "") != said || r.Quarantine != kept {
			t.Errorf("%s: %q, %+v", made, now, r)
		}
	}
}

// TestBringOverNothing: what has come to the place of what is put back, or of a directory above it, while
// that was put away is not written to, by a link neither.
func TestBringOverNothing(t *testing.T) {
	for _, kind := range []string{"a file", "a link", "a hard link", "a link above", "a directory for a link above"} {
		dir := t.TempDir()
		theirs, name := filepath.Join(dir, "theirs"), "x"
		err := errorsJoin(os.Mkdir(theirs, 0o500), os.Chmod(theirs, 0o700), os.WriteFile(theirs+"/file", []byte("theirs"), 0o640))
		was := map[string]saved{"x": {mode: 0o600, data: []byte("was")}}
		switch kind {
		case "a file":
			err = errorsJoin(err, os.Rename(theirs+"/file", dir+"/x"), os.Link(dir+"/x", theirs+"/file"))
		case "a link":
			err = errorsJoin(err, os.Symlink("theirs/file", dir+"/x"))
		case "a hard link":
			err = errorsJoin(err, os.Link(theirs+"/file", dir+"/x"))
		case "a link above":
			err = errorsJoin(err, os.Symlink("theirs", dir+"/x"))
			name, was = "x/file", map[string]saved{"x/file": {mode: 0o600, data: []byte("was")}, "x/a": {mode: 0o600, data: []byte("was")}}
		default:
			err = errorsJoin(err, os.Symlink("theirs", dir+"/x"))
			was["x"] = saved{mode: fs.ModeDir | 0o755}
		}
		root, bad := os.OpenRoot(dir)
		if err = errorsJoin(err, bad); err != nil {
			t.Fatal(err)
		}
		if err := (&guarded{dir: dir, name: name, was: was}).bring(root); err == nil {
			t.Errorf("%s: all is said to be there", kind)
		}
		now, err := os.ReadFile(theirs + "/file")
		i, bad := os.Stat(theirs + "/file")
		if err = errorsJoin(err, bad); err != nil || string(now) != "theirs" || i.Mode() != 0o640 {
			t.Errorf("%s: %q, %v, %v", kind, now, i.Mode(), err)
		}
		if list, err := os.ReadDir(theirs); err != nil || len(list) != 1 {
			t.Errorf("%s: %v, %v", kind, list, err)
		}
		_ = root.Close()
	}
}

// TestWritten: what calls of their own have written of a protected file beside a command stays, where each wrote
// on what the one before had left and the first on what was there; what a command did to it goes.
func TestWritten(t *testing.T) {
	sum := func(text string) string { return saved{data: []byte(text)}.sum() }
	for name, c := range map[string]struct {
		now     string
		written []Written
		stays   bool
	}{
		"by nobody who may":          {now: "new"},
		"by a call":                  {now: "new", written: []Written{{"", sum("was"), sum("new")}}, stays: true},
		"by two":                     {now: "newer", written: []Written{{"", sum("was"), sum("new")}, {"", sum("new"), sum("newer")}}, stays: true},
		"on what a command had made": {now: "evil, new", written: []Written{{"", sum("evil"), sum("evil, new")}}},
		"on it, after one that may":  {now: "newer", written: []Written{{"", sum("was"), sum("new")}, {"", sum("evil"), sum("newer")}}},
		"anew":                       {now: "new", written: []Written{{"", sum("x"), sum("y")}, {"", "", sum("new")}}, stays: true},
		"and changed by a command":   {now: "evil", written: []Written{{"", sum("was"), sum("new")}}},
	} {
		for _, file := range []string{"/.git/config", "/.git/hooks/sample"} { // protected by itself, and in a directory that is
			t.Run(name+file, func(t *testing.T) {
				config, dir := guardedConfig(t)
				path := config.Root + file
				beside := config.Root + "/.git/hooks/other" // a command has changed it, whatever became of the file
				written := slices.Clone(c.written)
				for i := range written {
					written[i].Path = path
				}
				found := Found{Written: func() []Written { return written }}
				err := errorsJoin(os.WriteFile(path, []byte("was"), 0o644), os.WriteFile(beside, []byte("was"), 0o644))
				s, bad := config.Snapshot(L2)
				if err = errorsJoin(err, bad, os.WriteFile(path, []byte(c.now), 0o644), os.WriteFile(beside, []byte("evil"), 0o644)); err != nil {
					t.Fatal(err)
				}
				s.Later = json.RawMessage("{}")
				next, err := config.Snapshot(L2) // of a command that begins beside it, and ends later
				if _, bad := next.Inherit(slices.Values([]*Snapshot{s}), func(json.RawMessage) (Found, error) { return found, nil }); errorsJoin(err, bad) != nil {
					t.Fatal(err)
				}
				want := map[bool]string{true: c.now, false: "was"}[c.stays]
				wrote, bad := os.Stat(path)
				for _, s := range []*Snapshot{s, next} {
					list, err := s.Restore(filepath.Join(dir, "state", "quarantine"), found)
					now, unread := os.ReadFile(path)
					other, gone := os.ReadFile(beside)
					if err := errorsJoin(err, bad, unread, gone); err != nil || string(now) != want || string(other) != "was" {
						t.Errorf("%q, %q, %v, %+v", now, other, err, list)
					}
					if i, err := os.Stat(path); err != nil || c.stays && !os.SameFile(wrote, i) {
						t.Errorf("it is not the file that was written: %v", err)
					}
				}
				err = os.WriteFile(path, []byte("evil"), 0o644)
				_, bad = next.Restore(filepath.Join(dir, "state", "quarantine"), Found{})
				if now, unread := os.ReadFile(path); errorsJoin(err, bad, unread) != nil || string(now) != want {
					t.Errorf("what was there when the second one began has not come back: %q, %v", now, errorsJoin(err, bad, unread))
				}
			})
		}
	}
}
