package overlay

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/change"
	"github.com/agentkit-go/agentkit/pkg/session"
	"github.com/agentkit-go/agentkit/pkg/workspace"
	"golang.org/x/sys/unix"
)

// A site is a root with a session.
type site struct {
	*testing.T
	root string
	s    *session.Session
	h    *change.History
}

func newSite(t *testing.T) *site {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(top, "the root, so: named")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Open(root, workspace.Options{LockDir: filepath.Join(top, "locks")})
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.Open(session.Options{State: filepath.Join(top, "state"), Root: root, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	h := change.Open(w, s, change.Options{NoSync: true})
	t.Cleanup(func() {
		_ = errors.Join(h.Close(), s.Close())
		_ = exec.Command("chmod", "-R", "u+rwx", top).Run() // to be removed
	})
	return &site{t, root, s, h}
}

// escape is how mount takes a path among its options.
var escape = strings.NewReplacer(`\`, `\\`, ",", `\,`, ":", `\:`)

// try runs a script in a view of the root, and copies what that shows to view.
func (s *site) try(script string) (trial *Trial, view string) {
	s.Helper()
	trial, err := Begin(s.s, s.root, "a script")
	if err != nil {
		s.Fatal(err)
	}
	view = s.TempDir()
	s.Cleanup(func() { _ = exec.Command("chmod", "-R", "u+rwx", view).Run() })
	mount := `mount -t overlay overlay -o "$1" "$2" && cd "$2" && setpriv --inh-caps=-all --ambient-caps=-all sh -c "$3"; cp -a . "$4"`
	options := "noatime,userxattr,lowerdir=" + escape.Replace(s.root) + ",upperdir=" + escape.Replace(trial.Dir()+"/upper") + ",workdir=" + escape.Replace(trial.Dir()+"/work")
	c := exec.Command("sh", "-c", mount, "sh", options, s.root, script, view)
	c.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
		// What the overlay needs of whoever mounts it. The script loses it: files are closed to it as to a command.
		AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_DAC_READ_SEARCH, unix.CAP_FOWNER, unix.CAP_FSETID, unix.CAP_MKNOD},
	}
	out, err := c.CombinedOutput()
	if strings.Contains(string(out), "mount:") || err != nil && len(out) == 0 {
		s.Skipf("no overlay can be mounted here: NOT tested: %v %s", err, out)
	}
	if err := trial.Finish(s.Context()); err != nil {
		s.Fatalf("%v\n%s", err, script)
	}
	return trial, view
}

// tree describes everything below a directory.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	list := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		text := info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += fmt.Sprintf(" %d %q", info.ModTime().UnixNano(), data)
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			text += " " + target
		}
		list[rel] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func lines(tree map[string]string) string {
	var list []string
	for path, text := range tree {
		list = append(list, path+" "+text+"\n")
	}
	slices.Sort(list)
	return strings.Join(list, "")
}

// random makes a script of things that commands do to files.
func random(r *rand.Rand, steps int) string {
	names := []string{"a", "b", "d", "d/a", "d/e", "d/e/f", "d/e/g", "x", "x/y", "x/y/z", "n w", "ro", "ro/a"}
	pick := func() string { return "'" + names[r.IntN(len(names))] + "'" }
	var b strings.Builder
	for range steps {
		p, q := pick(), pick()
		fmt.Fprintln(&b, []string{
			"echo " + q + " > " + p, "echo more >> " + p, ": > " + p, "rm -rf " + p, "rm -rf " + p + "; mkdir " + p,
			"mkdir -p " + p, "mv " + p + " " + q, "mv -T " + p + " " + q, "cp -r " + p + " " + q, "ln -s " + q + " " + p, "ln -sfn " + p + " " + q,
			"ln -f " + p + " " + q, "chmod 700 " + p, "chmod 500 " + p, "[ -d " + p + " ] || chmod 640 " + p, "touch " + p, "touch -d 2001-02-03 " + p, "cat " + p + " >/dev/null; touch -a " + p,
			"rmdir " + p, "rm -rf " + p + "; echo x > " + p, "mv " + p + " t; mv t " + p, "rm -rf " + p + "; mkdir -p " + p + "/k; echo k > " + p + "/k/l",
			"rm -rf " + p + "; ln -s nowhere " + p,
		}[r.IntN(23)])
	}
	return b.String()
}

const planted = `mkdir -p d/e x/y; echo 1 > a; echo 2 > d/a; echo 3 > d/e/f; echo 4 > x/y/z; ln -s a b; chmod 600 d/a; chmod 750 x; printf '\377' > "$(printf 'd/\377')"; mkdir ro; echo 5 > ro/a; chmod 500 ro`

// TestRandomScripts: the list of changes turns the tree as it was into the view that
// the script left, and says nothing else; applied, the root is that view, and undone it
// is what it was.
func TestRandomScripts(t *testing.T) {
	for seed := range uint64(4) {
		s := newSite(t)
		plant := exec.Command("sh", "-c", planted)
		plant.Dir = s.root
		if out, err := plant.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		before := tree(t, s.root)
		script := random(rand.New(rand.NewPCG(seed, 0)), 25) + "mkfifo pipe\n"
		trial, view := s.try(script)
		after := tree(t, view)
		if got := lines(tree(t, s.root)); got != lines(before) {
			t.Fatalf("seed %d: the script changed the root:\n%s\n%s", seed, script, got)
		}
		list := map[string]bool{}
		for _, c := range trial.Changes {
			list[string(c.Path)] = true
			if (c.Before.Kind == change.Missing) != (before[string(c.Path)] == "") || (c.After.Kind == change.Missing) != (after[string(c.Path)] == "") {
				t.Errorf("seed %d: %+v", seed, c)
			}
		}
		for path := range union(before, after) {
			if differs := before[path] != after[path]; differs != list[path] && !strings.HasPrefix(after[path], "p") {
				t.Errorf("seed %d: %q: listed %v\nbefore %s\nafter  %s\n%s", seed, path, list[path], before[path], after[path], script)
			}
		}
		s.applied(trial, before, after, seed)
	}
}

// TestClosedDirectory: what the command changed in a directory that it opened for that,
// and closed again, is applied and taken back too.
func TestClosedDirectory(t *testing.T) {
	s := newSite(t)
	plant := exec.Command("sh", "-c", planted)
	plant.Dir = s.root
	if out, err := plant.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	before := tree(t, s.root)
	trial, view := s.try("chmod 700 ro; echo 6 > ro/a; echo 7 > ro/b; chmod 500 ro")
	s.applied(trial, before, tree(t, view), 0)
}

// TestSeveralNames: what the command writes to a file under one of its names is in it under
// all, as it is where the command runs in the root itself, and undo gives all of them back
// the file that they were. A file that takes the place of one of the names leaves the others.
func TestSeveralNames(t *testing.T) {
	const planted = `mkdir d e; echo 1 > a; ln a b; ln a d/c; echo 2 > e/x; ln e/x e/y; echo 3 > one; sleep .05`
	for _, script := range []string{
		"echo more >> a; cat a a > /dev/null", ": > d/c", "echo x > b", "chmod 600 a", "truncate -s 1 d/c; cp one e/y", "chmod 700 a; echo more >> a",
		"ln a new", "ln -f a one; echo more >> a",
		"sed -i s/1/q/ a", "rm a; cp -p one a", "mv one a", "rm a; echo new > a", "cp -p --remove-destination one b", "ln -f one a",
		"rm b; echo more >> a", "rm -r d; mkdir d; echo new > d/c; echo more >> a", "rm -r e; echo x > e",
	} {
		s, direct := newSite(t), t.TempDir()
		for _, dir := range []string{s.root, direct} {
			plant := exec.Command("sh", "-ec", planted)
			if plant.Dir = dir; plant.Run() != nil {
				t.Fatal(planted)
			}
		}
		before := groups(t, s.root)
		ran := exec.Command("sh", "-c", script)
		ran.Dir = direct
		_ = ran.Run()
		trial, _ := s.try(script)
		r, err := trial.Commit(context.Background(), s.h, "bash", nil)
		if err != nil {
			t.Fatalf("%s: %v", script, err)
		}
		if have, want := groups(t, s.root), groups(t, direct); have != want {
			t.Errorf("%s:\n%s\nwant\n%s", script, have, want)
		}
		if _, err := s.h.Undo(context.Background(), r.ID, change.UndoOptions{}); err != nil {
			t.Fatalf("%s: %v", script, err)
		}
		if have := groups(t, s.root); have != before {
			t.Errorf("%s: undone\n%s\nwant\n%s", script, have, before)
		}
	}
}

// TestSeveralNamesApplied: apply writes such a file where it is, also under a name that the
// command did not use, and undo takes it back.
func TestSeveralNamesApplied(t *testing.T) {
	for script, want := range map[string]string{"echo more >> a": `-rw-r--r-- "1\nmore\n" a`, "chmod 600 a": `-rw------- "1\n" a`, "ln a c; : > a": `-rw-r--r-- "" a`} {
		s := newSite(t)
		plant := exec.Command("sh", "-ec", "echo 1 > a; ln a b; sleep .05")
		if plant.Dir = s.root; plant.Run() != nil {
			t.Fatal("not planted")
		}
		before := groups(t, s.root)
		trial, _ := s.try(script)
		r, err := trial.Apply(context.Background(), s.h, "apply")
		if err != nil {
			t.Fatalf("%s: %v", script, err)
		}
		if have := groups(t, s.root); !strings.HasPrefix(have, "a "+want+"\nb "+want+"\n") {
			t.Errorf("%s:\n%s\nwant %s", script, have, want)
		}
		if _, err := s.h.Undo(context.Background(), r.ID, change.UndoOptions{}); err != nil {
			t.Fatalf("%s: %v", script, err)
		}
		if have := groups(t, s.root); have != before {
			t.Errorf("%s: undone\n%s\nwant\n%s", script, have, before)
		}
	}
}

// groups describes the files below a directory: mode, content, and which name is the first
// of the file's.
func groups(t *testing.T, dir string) string {
	t.Helper()
	first, text := map[uint64]string{}, ""
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		ino := info.Sys().(*syscall.Stat_t).Ino
		if first[ino] == "" {
			first[ino] = rel
		}
		text += fmt.Sprintf("%s %v %q %s\n", rel, info.Mode(), data, first[ino])
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// applied checks what becomes of the root.
func (s *site) applied(trial *Trial, before, after map[string]string, seed uint64) {
	if len(trial.Changes) == 0 {
		return
	}
	r, err := trial.Apply(context.Background(), s.h, "apply")
	if err != nil {
		s.Fatalf("seed %d: %v\n%+v", seed, err, trial.Changes)
	}
	for _, c := range trial.Left() {
		delete(after, string(c.Path))
		if r.Stash != "" {
			s.Errorf("seed %d: %q was left out", seed, c.Path)
		}
	}
	if have, want := lines(tree(s.T, s.root)), lines(after); have != want {
		s.Fatalf("seed %d: applied\n%s\nwant\n%s", seed, have, want)
	}
	if _, err := Open(s.s, s.root, trial.ID); !errors.Is(err, ErrNone) {
		s.Errorf("it is still there: %v", err)
	}
	if r.ID == "" {
		return
	}
	if _, err := s.h.Undo(context.Background(), r.ID, change.UndoOptions{}); err != nil {
		s.Fatalf("seed %d: %v", seed, err)
	}
	timeless := func(tree map[string]string) string {
		if r.Stash != "" {
			return lines(tree) // the very files came back
		}
		for path, text := range tree {
			if words := strings.SplitN(text, " ", 3); len(words) == 3 && text[0] == '-' {
				tree[path] = words[0] + words[2]
			}
		}
		return lines(tree)
	}
	if have, want := timeless(tree(s.T, s.root)), timeless(before); have != want {
		s.Fatalf("seed %d: undone\n%s\nwant\n%s", seed, have, want)
	}
}

func union(a, b map[string]string) map[string]bool {
	all := map[string]bool{}
	for _, m := range []map[string]string{a, b} {
		for path := range m {
			all[path] = true
		}
	}
	return all
}

// TestPlantedMeanwhile: what others put into a directory after the last look, right before it goes, does not go with
// it, from where undo would bring it back: nothing is done then.
func TestPlantedMeanwhile(t *testing.T) {
	for name, plant := range map[string]func(dir string) error{
		"new":     func(dir string) error { return os.WriteFile(filepath.Join(dir, "sub/planted"), nil, 0o600) },
		"changed": func(dir string) error { return os.WriteFile(filepath.Join(dir, "sub/g"), []byte("other"), 0o600) },
		"at top":  func(dir string) error { return os.Mkdir(filepath.Join(dir, "planted"), 0o700) },
		"in place": func(dir string) error {
			return errors.Join(os.Rename(dir+"/sub", dir+"/../own"), os.Rename(dir+"/../other", dir+"/sub"))
		},
	} {
		s := newSite(t)
		d := filepath.Join(s.root, "d")
		for _, file := range []string{"d/f", "d/sub/g", "other/g"} {
			path := filepath.Join(s.root, file)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("x"), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		trial, _ := s.try("rm -rf d; echo new >made")
		var before map[string]string
		late := func(ctx context.Context, r change.Record, targets []change.Target, look func() error) (change.Record, error) {
			return s.h.Exchange(ctx, r, targets, func() error {
				err := errors.Join(look(), plant(d))
				before = tree(t, s.root)
				return err
			})
		}
		_, err := trial.apply(context.Background(), late, change.Record{Tool: "bash", Title: "rm", Command: true}, true, nil)
		if _, ok := errors.AsType[*ConflictError](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
		if have, want := lines(tree(t, s.root)), lines(before); have != want {
			t.Errorf("%s: there is\n%s\nwant\n%s", name, have, want)
		}
	}
}
