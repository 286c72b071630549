package workspace

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// play is what the test binary does when it is another process: it returns 0
// when all went well, and writes to standard output what the test waits for.
func play(role string, args []string) int {
	w, err := Open(args[0], Options{LockDir: args[1]})
	if err == nil {
		switch role {
		case "count":
			err = playCount(w)
		case "hold":
			err = playHold(w)
		case "write":
			err = playWrite(w)
		default:
			err = playPlatform(w, role, args)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, role+":", err)
		return 1
	}
	return 0
}

const rounds = 150

// playCount adds one to a number in a file, again and again, under its lock.
func playCount(w *Workspace) error {
	ctx := context.Background()
	for range rounds {
		p, err := w.Resolve("n")
		if err != nil {
			return err
		}
		l, err := w.Lock(ctx, p)
		if err != nil {
			return err
		}
		data, err := w.ReadFile(p, 0)
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(string(data))
		if err != nil {
			return fmt.Errorf("reading %q: %w", data, err)
		}
		_, err = w.WriteFile(ctx, p, []byte(strconv.Itoa(n+1)), WriteOptions{Lock: l, IfVersion: Version(data)})
		if err != nil {
			return err
		}
		l.Unlock()
	}
	return nil
}

func playHold(w *Workspace) error {
	p, err := w.Resolve("n")
	if err != nil {
		return err
	}
	if _, err := w.Lock(context.Background(), p); err != nil {
		return err
	}
	fmt.Println("ready")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

const bulk = 300_000

func playWrite(w *Workspace) error {
	fmt.Println("ready")
	for i := range 10_000 { // until it is killed
		p, err := w.Resolve("n")
		if err != nil {
			return err
		}
		data := bytes.Repeat([]byte{byte('A' + i%2)}, bulk)
		if _, err := w.WriteFile(context.Background(), p, data, WriteOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// command is this test binary in a role; it never outlives the test.
func (s *site) command(role string, args ...string) *exec.Cmd {
	s.t.Helper()
	self, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	c := exec.Command(self, append([]string{s.w, filepath.Join(s.top, "locks")}, args...)...)
	c.Env = append(os.Environ(), "WORKSPACE_TEST_ROLE="+role)
	c.Stderr = os.Stderr
	return c
}

// startReady starts a role and waits for its word.
func (s *site) startReady(role string) *exec.Cmd {
	s.t.Helper()
	c := s.command(role)
	in, err := c.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = in.Close() })
	out, err := c.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		s.t.Fatalf("%s said %q, %v", role, line, err)
	}
	return c
}

func kill(c *exec.Cmd) {
	_ = c.Process.Kill()
	_ = c.Wait() // killed: that is an error, and the wanted one
}

func TestLockedCounting(t *testing.T) {
	s := newSite(t)
	s.put("W/n", "0")
	var others sync.WaitGroup
	for range 2 {
		c := s.command("count")
		others.Go(func() {
			if err := c.Run(); err != nil {
				t.Error(err)
			}
		})
	}
	if err := playCount(s.Workspace); err != nil {
		t.Error(err)
	}
	others.Wait()
	s.content("W/n", strconv.Itoa(3*rounds))
	s.names("W", "n", "src")
}

func TestLockDiesWithItsHolder(t *testing.T) {
	s := newSite(t)
	s.put("W/n", "0")
	c := s.startReady("hold")
	p := s.resolve("n")
	ctx, cancel := context.WithCancelCause(context.Background())
	enough := errors.New("enough")
	cancel(enough)
	if _, err := s.Lock(ctx, p); !errors.Is(err, enough) {
		t.Fatalf("a lock that another process holds: %v", err)
	}
	if _, err := s.WriteFile(ctx, p, nil, WriteOptions{}); !errors.Is(err, enough) {
		t.Fatalf("writing what another process holds: %v", err)
	}
	kill(c)
	l, err := s.Lock(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	l.Unlock()
	l.Unlock()
	s.content("W/n", "0")
}

func TestLocks(t *testing.T) {
	s := newSite(t)
	local, err := Open(s.w, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	for name, w := range map[string]*Workspace{"files": s.Workspace, "local": local} {
		t.Run(name, func(t *testing.T) { checkLocks(t, w) })
	}
	s.names("W", "src")
}

func checkLocks(t *testing.T, w *Workspace) {
	ctx := context.Background()
	a, err := w.Resolve("src/a.ts")
	if err != nil {
		t.Fatal(err)
	}
	b, err := w.Resolve("not/there/yet")
	if err != nil {
		t.Fatal(err)
	}
	l, err := w.Lock(ctx, b, a, a) // the same file twice is one
	if err != nil {
		t.Fatal(err)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	for _, p := range []Path{a, b} {
		if _, err := w.Lock(done, p); !errors.Is(err, context.Canceled) {
			t.Errorf("%s was locked twice: %v", p.Given, err)
		}
	}
	if _, err := w.WriteFile(ctx, a, []byte("x"), WriteOptions{Lock: l}); err != nil {
		t.Error(err)
	}
	l.Unlock()
	if _, err := w.WriteFile(ctx, a, []byte("inside"), WriteOptions{Lock: l}); err != nil {
		t.Error("a lock that was given back is taken anew:", err)
	}
	var group sync.WaitGroup // in opposite orders: no deadlock
	n := 0
	for i := range 8 {
		group.Go(func() {
			order := []Path{a, b}
			if i%2 == 0 {
				order = []Path{b, a}
			}
			for range 20 {
				l, err := w.Lock(ctx, order...)
				if err != nil {
					t.Error(err)
					return
				}
				n++ // the race detector watches
				l.Unlock()
			}
		})
	}
	group.Wait()
	if n != 160 {
		t.Errorf("%d of 160 counted", n)
	}
	(*Lock)(nil).Unlock() // has no effect
}

// TestKilledWriting kills a writer at a random instant: the file is one of
// its contents, whole.
func TestKilledWriting(t *testing.T) {
	s := newSite(t)
	s.put("W/n", strings.Repeat("A", bulk))
	left := 0
	for range 25 {
		c := s.startReady("write")
		time.Sleep(time.Duration(rand.IntN(6000)) * time.Microsecond) // any instant will do
		kill(c)
		data, err := os.ReadFile(filepath.Join(s.w, "n"))
		if err != nil || len(data) != bulk || bytes.Count(data, data[:1]) != bulk {
			t.Fatalf("half a file: %d bytes, %v", len(data), err)
		}
		list, err := os.ReadDir(s.w)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			if e.Name() != "n" && e.Name() != "src" {
				left++
				if !IsTemp(e.Name()) {
					t.Errorf("%s was left and is not recognised", e.Name())
				}
				_ = os.Remove(filepath.Join(s.w, e.Name()))
			}
		}
	}
	t.Logf("%d of 25 kills left a temporary file", left)
	if _, err := s.write("n", "free", WriteOptions{}); err != nil {
		t.Error(err)
	}
}
