//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agentkit-go/agentkit/pkg/killtree"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// TestStatus shows that a command ends in the sandbox as it does without one.
func TestStatus(t *testing.T) {
	t.Parallel()
	for _, uid := range users(t) {
		for _, level := range levels() {
			for _, c := range []struct {
				command string
				code    int
				signal  syscall.Signal
			}{
				{"true", 0, 0},
				{"exit 42", 42, 0},
				{"kill -TERM $$", -1, syscall.SIGTERM},
				{"kill -KILL $$", -1, syscall.SIGKILL},
				{"kill -SEGV $$", -1, syscall.SIGSEGV},
				{"kill -PIPE $$", -1, syscall.SIGPIPE},
				{"nosuchprogram", 127, 0},
				{"./notexecutable", 126, 0},
			} {
				b := newBox(t, uid, level)
				if err := os.WriteFile(filepath.Join(b.dir, "notexecutable"), nil, 0o644); err != nil {
					t.Fatal(err)
				}
				b.bash(t, c.command)
				if b.state.ExitCode != c.code || b.state.Signal != c.signal {
					t.Errorf("%s as %d: %s: status %d, signal %v; stderr %s", level, uid, c.command, b.state.ExitCode, b.state.Signal, b.stderr)
				}
				if b.report.Level != level || len(b.report.Missing) != 0 {
					t.Errorf("%s as %d: the report says %+v", level, uid, b.report)
				}
			}
		}
	}
}

// TestNotStarted shows that what cannot be started is an error of the start, made by
// a fork or by a stage.
func TestNotStarted(t *testing.T) {
	t.Parallel()
	for _, level := range levels() {
		b := newBox(t, os.Getuid(), level)
		how, err := starting(&b.Config, reachable(t, os.Args[0]))
		if err != nil {
			t.Fatal(err)
		}
		for _, how.NoFork = range []bool{false, true} {
			for _, test := range []struct {
				path, dir string
				op        string
			}{
				{"/nonexistent/program", "", "fork/exec"},
				{filepath.Join(b.dir, ".env"), "", "fork/exec"},
				{"/bin/true", "/nonexistent/dir", "chdir"},
			} {
				_, err := how.Start(&exec.Cmd{Path: test.path, Args: []string{"x"}, Dir: test.dir})
				e, ok := errors.AsType[*os.PathError](err)
				if !ok || e.Op != test.op {
					t.Errorf("%s: starting %s in %q, no fork %v: %v", level, test.path, test.dir, how.NoFork, err)
				}
			}
		}
	}
}

// TestInput shows that standard input reaches the command.
func TestInput(t *testing.T) {
	t.Parallel()
	for _, level := range levels() {
		b := newBox(t, os.Getuid(), level)
		b.stdin = strings.Repeat("line\n", 10_000)
		if b.run(t, "/usr/bin/wc", "-l"); strings.TrimSpace(b.stdout) != "10000" {
			t.Errorf("%s: %q %s", level, b.stdout, b.stderr)
		}
	}
}

// TestTerminal shows that a command keeps its controlling terminal, can ask it
// and is interrupted by it, and makes terminals of its own.
func TestTerminal(t *testing.T) {
	t.Parallel()
	// A shell that starts the tests in the background has them ignore interrupts, and their
	// commands would, too. What is listened for is not ignored.
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, os.Interrupt)
	defer signal.Stop(heard)
	for _, uid := range users(t) {
		for _, level := range levels() {
			ours, theirs, err := pty.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer ours.Close()
			b := newBox(t, uid, level)
			b.tty = theirs
			if err := theirs.Chown(uid, uid); err != nil {
				t.Fatal(err)
			}
			tree := b.start(t, "/bin/bash", "--noprofile", "--norc", "-c", `
				test -t 0 && tty >/dev/null && echo a-terminal </dev/null >/dev/tty
				script -qec 'test -t 0 && echo inner-terminal' /dev/null </dev/null
				trap 'echo interrupted; exit 3' INT; echo ready; while :; do sleep 1; done`)
			_ = theirs.Close()
			got := readUntil(t, ours, "ready")
			for _, want := range []string{"a-terminal", "inner-terminal"} {
				if !strings.Contains(got, want) {
					t.Errorf("%s as %d: no %s in %q", level, uid, want, got)
				}
			}
			interrupt(t, ours, tree)
			if s := tree.State(); s != nil && s.ExitCode != 3 {
				t.Errorf("%s as %d: %+v after an interrupt", level, uid, s)
			}
			tree.End(0)
		}
	}
}

// interrupt types Ctrl-C until the command has ended: bash loses one that comes when a
// child that it has forked still is bash.
func interrupt(t *testing.T, terminal *os.File, tree *killtree.Tree) {
	t.Helper()
	for range 30 {
		if _, err := terminal.WriteString("\x03"); err != nil {
			t.Fatal(err)
		}
		select {
		case <-tree.Exited():
			return
		case <-time.After(2 * time.Second):
		}
	}
	t.Error("the command does not end when it is interrupted")
}

func readUntil(t *testing.T, f *os.File, want string) string {
	t.Helper()
	var got strings.Builder
	buf := make([]byte, 1024)
	for !strings.Contains(got.String(), want) {
		n, err := f.Read(buf)
		if err != nil {
			t.Fatalf("%v after %q", err, got.String())
		}
		got.Write(buf[:n])
	}
	return got.String()
}

// TestStops shows that a command that is stopped is seen to be, and goes on.
func TestStops(t *testing.T) {
	t.Parallel()
	for _, level := range levels() {
		b := newBox(t, os.Getuid(), level)
		tree := b.start(t, "/bin/bash", "-c", "kill -STOP $$; exit 5")
		select {
		case s := <-tree.Stopped():
			if s != syscall.SIGSTOP {
				t.Errorf("%s: stopped by %v", level, s)
			}
		case <-tree.Exited():
			t.Errorf("%s: it ended instead: %+v", level, tree.State())
		}
		tree.SignalAll(syscall.SIGCONT)
		<-tree.Exited()
		if s := tree.State(); s.ExitCode != 5 {
			t.Errorf("%s: %+v", level, s)
		}
	}
}

// TestSignals shows that signals to the process group reach the command, and
// that ending the tree ends all of it.
func TestSignals(t *testing.T) {
	t.Parallel()
	for _, level := range levels() {
		b := newBox(t, os.Getuid(), level)
		tree := b.start(t, "/bin/bash", "-c", "trap 'exit 9' TERM; touch ready; while :; do sleep 0.01; done")
		await(t, filepath.Join(b.dir, "ready"))
		tree.Signal(syscall.SIGTERM)
		<-tree.Exited()
		if s := tree.State(); s.ExitCode != 9 {
			t.Errorf("%s: %+v", level, s)
		}
		tree.End(0)

		b = newBox(t, os.Getuid(), level)
		tree = b.start(t, "/bin/bash", "-c", "(trap '' TERM; setsid sleep 1000 & setsid sleep 1000 & touch ready; wait) & wait")
		await(t, filepath.Join(b.dir, "ready"))
		tree.End(time.Millisecond)
		if left := tree.Members(); len(left) != 0 {
			t.Errorf("%s: %v is left", level, left)
		}
	}
}

func await(t *testing.T, path string) {
	t.Helper()
	for range 10_000 {
		if _, err := os.Lstat(path); err == nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("%s never was", path)
}

// TestLimits shows that a command gets the limit on open files that this
// process was started with, not the one that Go raised it to.
func TestLimits(t *testing.T) {
	want := strings.TrimSpace(commandOutput(t, "/bin/sh", "-c", "ulimit -n"))
	b := newBox(t, os.Getuid(), L2).bash(t, "ulimit -n")
	if got := strings.TrimSpace(b.stdout); got != want {
		t.Errorf("%s open files, %s outside", got, want)
	}
}

// TestStateInside shows that a command cannot reach our state though the root
// holds it, that it works on in the rest of the root, and that at L2, where
// nothing can be mounted over the state, no link leads it elsewhere.
func TestStateInside(t *testing.T) {
	for _, uid := range []int{os.Getuid(), 1000} {
		for _, level := range levels() {
			t.Run(fmt.Sprintf("%v as %d", level, uid), func(t *testing.T) {
				if uid != os.Getuid() && os.Getuid() != 0 {
					t.Skip("only root can be somebody else")
				}
				b := newBox(t, uid, level)
				state := filepath.Join(b.dir, "sub", "state")
				out := filepath.Join(filepath.Dir(b.dir), "out")
				err := errorsJoin(os.Mkdir(state, 0o755), os.WriteFile(state+"/grants", []byte("none\n"), 0o644), os.WriteFile(b.dir+"/file", nil, 0o644),
					os.Symlink(out, b.dir+"/link"), os.Symlink(out, b.dir+"/sub/link"))
				kept := filepath.Join(b.dir, ".agentkit")
				err = errorsJoin(err, os.MkdirAll(kept+"/state", 0o755), os.WriteFile(kept+"/policy.yaml", []byte("none\n"), 0o644))
				for _, name := range []string{state, state + "/grants", b.dir + "/file", kept, kept + "/state", kept + "/policy.yaml"} {
					err = errorsJoin(err, os.Chown(name, uid, uid))
				}
				if err != nil {
					t.Fatal(err)
				}
				b.Private, b.Hidden, b.ReadOnly = []string{state, kept + "/state"}, append(b.Hidden, state), append(b.ReadOnly, state, kept)
				b.bash(t, `for f in .agentkit/policy.yaml sub/state/grants sub/state/new link/new sub/link/new link/victim; do echo evil >>$f && echo wrote $f; done
					cat sub/state/grants; mv sub/state sub/other && echo moved; mv sub other && echo moved above; rm -r sub/state && echo removed
					echo fine >>file && echo fine >sub/deep/new && cat file sub/deep/new; true`)
				if b.stdout != "fine\nfine\n" {
					t.Errorf("%q %s", b.stdout, b.stderr)
				}
				if raw, err := os.ReadFile(state + "/grants"); string(raw) != "none\n" || err != nil {
					t.Errorf("%q %v", raw, err)
				}
				if names, _ := filepath.Glob(out + "/*new"); len(names) > 0 {
					t.Errorf("%q", names)
				}
				if b.bash(t, `echo new >new && echo new`); (b.stdout == "new\n") != (level == L3) {
					t.Errorf("right beside what holds the state: %q %s", b.stdout, b.stderr)
				}
			})
		}
	}
}

// TestClosed: what the user cannot read anyway needs no rules around it; what the
// user could open up does.
func TestClosed(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make files of others")
	}
	dir := t.TempDir()
	for d := dir; d != os.TempDir() && d != "/"; d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	const user = 1000
	want := map[string]bool{"own": false, "secret": true, "open": false, "room": true, "passage": false, "link": false, "absent": false}
	for name, mode := range map[string]os.FileMode{"own": 0, "secret": 0o600, "open": 0o644, "room": os.ModeDir | 0o700, "passage": os.ModeDir | 0o711} {
		path := filepath.Join(dir, name)
		made := os.WriteFile(path, nil, 0o600)
		if mode.IsDir() {
			made = errors.Join(os.Remove(path), os.Mkdir(path, 0o700))
		}
		if err := errors.Join(made, os.Chmod(path, mode.Perm())); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Lchown(filepath.Join(dir, "own"), user, user), os.Symlink("secret", filepath.Join(dir, "link"))); err != nil {
		t.Fatal(err)
	}
	got := make(chan map[string]bool)
	go func() {
		runtime.LockOSThread() // and never let go: the thread ends as the other user
		result := map[string]bool{}
		for _, call := range [][4]uintptr{{unix.SYS_SETRESGID, ^uintptr(0), user, ^uintptr(0)}, {unix.SYS_SETRESUID, ^uintptr(0), user, ^uintptr(0)}} {
			if _, _, e := unix.RawSyscall(call[0], call[1], call[2], call[3]); e != 0 {
				t.Error(e)
			}
		}
		for name := range want {
			result[name] = closed(filepath.Join(dir, name))
		}
		got <- result
	}()
	if is := <-got; !maps.Equal(is, want) {
		t.Errorf("%v, want %v", is, want)
	}
}

// TestLinksOpenNothing: a link beside a secret, or to what holds it, is no way to
// it where rules, not mounts, hide it.
func TestLinksOpenNothing(t *testing.T) {
	home := t.TempDir()
	secret := filepath.Join(home, ".ssh")
	if err := errors.Join(os.Mkdir(secret, 0o700), os.WriteFile(filepath.Join(home, "plain"), nil, 0o600), os.Mkdir(filepath.Join(home, "dir"), 0o700),
		os.Symlink(".ssh", filepath.Join(home, "innocent")), os.Symlink("/", filepath.Join(home, "root")), os.Symlink(home, filepath.Join(home, "self"))); err != nil {
		t.Fatal(err)
	}
	r := newRuleset(7)
	r.fill(&Config{Root: "/nonexistent", Hidden: []string{secret}}, false)
	seen := map[string]bool{}
	for _, rule := range r.rules {
		if i, err := os.Lstat(rule.Path); err == nil && i.Mode()&os.ModeSymlink != 0 && rule.Flags&unix.O_NOFOLLOW == 0 && !strings.HasPrefix(rule.Path, "/dev/") {
			t.Errorf("%s is followed", rule.Path)
		}
		if safefile.Below(rule.Path, secret) && rule.Access&unix.LANDLOCK_ACCESS_FS_READ_FILE != 0 {
			t.Errorf("%s opens the secret", rule.Path)
		}
		seen[strings.TrimPrefix(rule.Path, home+"/")] = true
	}
	for name, want := range map[string]bool{"plain": true, "dir": true, "innocent": false, "root": false, "self": false, ".ssh": false} {
		if seen[name] != want {
			t.Errorf("%s has a rule: %v", name, seen[name])
		}
	}
}
