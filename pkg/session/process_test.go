//go:build unix

package session

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// The test binary is its own second process: with SESSION_TEST set it does
// what that says to the session in SESSION_STATE.
func TestMain(m *testing.M) {
	if what := os.Getenv("SESSION_TEST"); what != "" {
		if err := child(what, os.Getenv("SESSION_STATE")); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

type counter struct {
	N    int
	Text string
}

func increment(s *Session) error {
	return s.Update(context.Background(), "todo.json", func(old []byte) ([]byte, error) {
		var c counter
		if old != nil {
			if err := json.Unmarshal(old, &c); err != nil {
				return nil, err
			}
		}
		c.N++
		c.Text = strings.Repeat("x", c.N%5000)
		return json.Marshal(c)
	})
}

func child(what, state string) error {
	s, err := Open(Options{State: state, Root: "/srv/project", ID: "s1", NoSync: true})
	if err != nil {
		return err
	}
	switch what {
	case "limited": // a write beyond the size a file may have
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1000, Max: 1000}); err != nil {
			return err
		}
		if err := s.WriteFile(context.Background(), "todo.json", make([]byte, 900)); err != nil {
			return err
		}
		if err := s.WriteFile(context.Background(), "todo.json", make([]byte, 5000)); !errors.Is(err, syscall.EFBIG) {
			return fmt.Errorf("WriteFile: %w", err)
		}
		p, err := s.Spill("txt")
		if err != nil {
			return err
		}
		if n, err := p.Write(make([]byte, 5000)); n != 1000 || !errors.Is(err, syscall.EFBIG) {
			return fmt.Errorf("Spill.Write: %d, %w", n, err)
		}
		return p.Close()
	case "update": // a number of updates
		for range 200 {
			if err := increment(s); err != nil {
				return err
			}
		}
		return nil
	case "forever": // updates and spills until killed
		for n := 0; ; n++ {
			if err := increment(s); err != nil {
				return err
			}
			if n == 0 {
				fmt.Println("ready")
			}
		}
	case "hold": // a lock, a job and a spill until killed
		_, err1 := s.Lock(context.Background(), "todo.json")
		_, err2 := s.HoldJob(context.Background(), "j1")
		p, err3 := s.Spill("txt")
		if err := errors.Join(err1, err2, err3); err != nil {
			return err
		}
		if _, err := p.Write([]byte("spilled")); err != nil {
			return err
		}
		fmt.Println(p.Path())
		_, err := io.Copy(io.Discard, os.Stdin)
		return err
	}
	return fmt.Errorf("unknown: %s", what)
}

// spawn starts the child and returns it with its first line of output; want
// "" waits for none.
func spawn(t *testing.T, what, state string, wait bool) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "SESSION_TEST="+what, "SESSION_STATE="+state)
	in, err := cmd.StdinPipe()
	must(t, err)
	t.Cleanup(func() { _ = in.Close() })
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	if !wait {
		return cmd, ""
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("child %s: %q, %v", what, line, err)
	}
	return cmd, strings.TrimSpace(line)
}

func readCounter(t *testing.T, s *Session) counter {
	t.Helper()
	data, err := s.ReadFile("todo.json")
	must(t, err)
	var c counter
	must(t, json.Unmarshal(data, &c))
	return c
}

func TestProcessesLoseNoUpdate(t *testing.T) {
	state := t.TempDir()
	var cmds []*exec.Cmd
	for range 8 {
		cmd, _ := spawn(t, "update", state, false)
		cmds = append(cmds, cmd)
	}
	for _, cmd := range cmds {
		must(t, cmd.Wait())
	}
	if c := readCounter(t, openTest(t, state)); c.N != 1600 {
		t.Errorf("%d updates, want 1600", c.N)
	}
}

func TestFullDisk(t *testing.T) {
	state := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "SESSION_TEST=limited", "SESSION_STATE="+state)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s := openTest(t, state)
	if data, err := s.ReadFile("todo.json"); len(data) != 900 || err != nil {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	if left, _ := filepath.Glob(s.Path(".*" + safefile.TempSuffix)); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
}

func TestKilledWriterLeavesWholeState(t *testing.T) {
	state := t.TempDir()
	s := openTest(t, state, func(o *Options) { o.NoSync = true })
	last := 0
	for round := range 20 {
		cmd, _ := spawn(t, "forever", state, true)
		time.Sleep(time.Duration(round*137%2000) * time.Microsecond) // some instant
		must(t, cmd.Process.Kill())
		_ = cmd.Wait()
		c := readCounter(t, s)
		if c.N <= last || len(c.Text) != c.N%5000 {
			t.Fatalf("round %d: %d after %d, text of %d", round, c.N, last, len(c.Text))
		}
		must(t, increment(s)) // the lock is free
		last = c.N + 1
	}
	// What the killed left goes with the next gc.
	must(t, s.Close())
	now := time.Now().Add(2 * time.Hour)
	_, err := Collect(t.Context(), CollectOptions{State: state, Now: now})
	must(t, err)
	if left, _ := filepath.Glob(s.Path(".*" + safefile.TempSuffix)); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
}

func TestLocksDieWithTheirHolder(t *testing.T) {
	state := t.TempDir()
	s := openTest(t, state, func(o *Options) { o.Limits.SpillTotal = 8 })
	cmd, spill := spawn(t, "hold", state, true)
	alive, err := s.JobAlive("j1")
	if !alive || err != nil {
		t.Errorf("JobAlive = %v, %v", alive, err)
	}
	if _, err := s.HoldJob(t.Context(), "j1"); !errors.Is(err, safefile.ErrLocked) {
		t.Errorf("HoldJob: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := s.Lock(ctx, "todo.json"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Lock: %v", err)
	}
	// The whole room is taken by a spill that is still written.
	p, err := s.Spill("txt")
	must(t, err)
	if n, err := p.Write([]byte("12345678")); n > 1 || !errors.Is(err, ErrSpillFull) {
		t.Errorf("Write = %d, %v", n, err)
	}
	must(t, p.Close())
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	unlock, err := s.Lock(t.Context(), "todo.json")
	must(t, err)
	unlock()
	if alive, err := s.JobAlive("j1"); alive || err != nil {
		t.Errorf("JobAlive after kill = %v, %v", alive, err)
	}
	p, err = s.Spill("txt")
	must(t, err)
	if n, err := p.Write([]byte("12345678")); n != 8 || err != nil {
		t.Errorf("Write = %d, %v", n, err)
	}
	must(t, p.Close())
	if _, err := os.Lstat(spill); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the killed one's spill stays: %v", err)
	}
}

// A writer and a gc that takes every idle session at once.
func TestUseAgainstCollect(t *testing.T) {
	state := t.TempDir()
	done := make(chan error, 1)
	go func() {
		for i := range 300 {
			s, err := Open(Options{State: state, Root: "/srv/project", ID: "s1", NoSync: true})
			if err == nil {
				err = s.WriteFile(context.Background(), "jobs/a/todo.json", fmt.Append(nil, i))
			}
			if err == nil {
				var data []byte
				if data, err = s.ReadFile("jobs/a/todo.json"); err == nil && string(data) != fmt.Sprint(i) {
					err = fmt.Errorf("read %q, want %d", data, i)
				}
			}
			if err = errors.Join(err, s.Close()); err != nil {
				done <- fmt.Errorf("round %d: %w", i, err)
				return
			}
		}
		done <- nil
	}()
	removed := 0
	for {
		r, err := Collect(t.Context(), CollectOptions{State: state, Now: time.Now().Add(1000 * time.Hour)})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
		removed += len(r.Removed)
		select {
		case err := <-done:
			must(t, err)
			if removed == 0 {
				t.Error("gc never removed the session: the test tests nothing")
			}
			return
		default:
		}
	}
}

func TestModesUnderAnyUmask(t *testing.T) {
	for _, mask := range []int{0, 0o777, 0o022} {
		state := filepath.Join(t.TempDir(), "state")
		fillUnder(t, mask, state)
		n := 0
		must(t, filepath.WalkDir(state, func(path string, d fs.DirEntry, err error) error {
			must(t, err)
			info, err := d.Info()
			must(t, err)
			want := fs.FileMode(0o600)
			if d.IsDir() {
				want = 0o700
			}
			n++
			if info.Mode().Perm() != want {
				t.Errorf("umask %04o: %s has mode %04o", mask, path, info.Mode().Perm())
			}
			return nil
		}))
		if n < 15 {
			t.Errorf("only %d files looked at", n)
		}
	}
}

// fillUnder makes one of everything in the state directory while mask is the
// umask; however the test ends, the others keep theirs.
func fillUnder(t *testing.T, mask int, state string) {
	t.Helper()
	root := t.TempDir()
	defer syscall.Umask(syscall.Umask(mask))
	s, err := Open(Options{State: state, Root: root, ID: "s1"})
	must(t, err)
	defer func() { _ = s.Close() }()
	must(t, s.WriteFile(context.Background(), "todo.json", []byte("{}")))
	must(t, s.WriteFile(context.Background(), "cache/a/b", nil))
	p, err := s.Spill("txt")
	must(t, err)
	_, err = p.Write([]byte("x"))
	must(t, errors.Join(err, p.Close()))
	release, err := s.HoldJob(t.Context(), "j")
	must(t, err)
	release()
	s.Opportunistic(t.Context())
}

func TestUnsafePathsAreRefused(t *testing.T) {
	outside := t.TempDir()
	victim := filepath.Join(outside, "victim")
	link := func(target string) func(string) error {
		return func(path string) error {
			must(t, os.RemoveAll(path))
			return os.Symlink(target, path)
		}
	}
	mode := func(m fs.FileMode) func(string) error { return func(path string) error { return os.Chmod(path, m) } }
	use := func(s *Session) error {
		_, err := s.ReadFile("todo.json")
		return errors.Join(err, s.WriteFile(context.Background(), "todo.json", []byte("evil")))
	}
	spill := func(s *Session) error { _, err := s.Spill("txt"); return err }
	job := func(s *Session) error { _, err := s.HoldJob(t.Context(), "j"); return err }
	for _, c := range []struct {
		name  string
		path  string // below the state directory; "H" is the root's hash
		spoil func(path string) error
		act   func(*Session) error
	}{
		{"state is a link", "", link(outside), use},
		{"root is a link", "H", link(outside), use},
		{"session is a link", "H/s1", link(outside), use},
		{"file is a link", "H/s1/todo.json", link(victim), use},
		{"file is a relative link in the session", "H/s1/todo.json", link("other"), use},
		{"file is a hard link", "H/s1/todo.json", func(p string) error {
			must(t, os.Remove(p))
			return os.Link(victim, p)
		}, use},
		{"file is a FIFO", "H/s1/todo.json", func(p string) error {
			must(t, os.Remove(p))
			return syscall.Mkfifo(p, 0o600)
		}, use},
		{"use file is a link", "H/s1/" + useFile, link(victim), use},
		{"lock is a link", "H/s1/.todo.json.lock", link(victim), use},
		{"spill is a link", "H/s1/spill", link(outside), spill},
		{"spill lock is a link", "H/s1/spill/.lock", link(victim), spill},
		{"jobs is a link", "H/s1/jobs", link(outside), job},
		{"job is a link", "H/s1/jobs/j", link(outside), job},
		{"job lock is a link", "H/s1/jobs/j/lock", link(victim), job},
		{"others may write the state", "", mode(0o777), use},
		{"others may read the root", "H", mode(0o705), use},
		{"group may read the session", "H/s1", mode(0o750), use},
		{"group may enter spill", "H/s1/spill", mode(0o710), spill},
	} {
		t.Run(c.name, func(t *testing.T) {
			must(t, os.WriteFile(victim, []byte("good"), 0o600))
			state := filepath.Join(t.TempDir(), "state")
			s := openTest(t, state)
			must(t, s.WriteFile(context.Background(), "todo.json", []byte("{}")))
			p, err := s.Spill("txt")
			must(t, err)
			must(t, p.Close())
			release, err := s.HoldJob(t.Context(), "j")
			must(t, err)
			release()
			must(t, s.Close())
			must(t, c.spoil(filepath.Join(state, strings.Replace(c.path, "H", s.hash, 1))))

			for name, session := range map[string]*Session{"a new session": nil, "an old session": s} {
				if session == nil {
					if session, err = Open(Options{State: state, Root: "/srv/project", ID: "s1"}); err != nil {
						if !errors.Is(err, safefile.ErrUnsafe) {
							t.Errorf("Open: %v", err)
						}
						continue
					}
				}
				if err := c.act(session); !errors.Is(err, safefile.ErrUnsafe) {
					t.Errorf("%s: %v, want safefile.ErrUnsafe", name, err)
				}
				_ = session.Close()
			}
			if data, _ := os.ReadFile(victim); string(data) != "good" {
				t.Errorf("the victim now holds %q", data)
			}
			if entries, _ := os.ReadDir(outside); len(entries) != 1 {
				t.Errorf("written outside: %v", entries)
			}
		})
	}
}

func TestReadableStateDirectoryIsFine(t *testing.T) {
	state := t.TempDir()
	must(t, os.Chmod(state, 0o755))
	must(t, openTest(t, state).WriteFile(context.Background(), "todo.json", nil))
}

func TestOtherOwnerIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("giving files away needs root")
	}
	state := t.TempDir()
	s := openTest(t, state)
	must(t, s.WriteFile(context.Background(), "todo.json", nil))
	must(t, os.Chown(s.Path("todo.json"), 12345, 0))
	if _, err := s.ReadFile("todo.json"); !errors.Is(err, safefile.ErrUnsafe) {
		t.Errorf("ReadFile: %v", err)
	}
	must(t, os.Chown(s.Dir(), 12345, 0))
	if _, err := Open(Options{State: state, Root: "/srv/project", ID: "s1"}); !errors.Is(err, safefile.ErrUnsafe) {
		t.Errorf("Open: %v", err)
	}
}

// TestQuestionsDisturbNobody: who asks whether a job lives is not in the way of who
// takes it, although the question takes the lock.
func TestQuestionsDisturbNobody(t *testing.T) {
	s := openTest(t, t.TempDir())
	release, err := s.HoldJob(t.Context(), "j")
	must(t, err)
	release()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range 4 {
		go func() {
			for ctx.Err() == nil {
				_, _ = s.JobAlive("j")
			}
		}()
	}
	for range 300 {
		release, err := s.HoldJob(t.Context(), "j")
		must(t, err)
		if alive, err := s.JobAlive("j"); !alive || err != nil {
			t.Fatalf("JobAlive = %v, %v", alive, err)
		}
		release()
	}
}
