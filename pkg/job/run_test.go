//go:build unix

package job

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

// sh runs a script; its output is returned as it came, and apart.
func sh(t *testing.T, ctx context.Context, c Command, script string) (s Status, both, stdout, stderr string) {
	t.Helper()
	var b, o, e bytes.Buffer
	c.Argv, c.Dir, c.Env = []string{"sh", "-c", script}, t.TempDir(), append(c.Env, "PATH=/usr/bin:/bin")
	s, err := Run(ctx, c, Output{Both: &b, Stdout: &o, Stderr: &e})
	if err != nil {
		t.Fatal(err)
	}
	return s, b.String(), o.String(), e.String()
}

func TestRun(t *testing.T) {
	s, both, out, errs := sh(t, t.Context(), Command{Stdin: "in\n", Env: []string{"A=b"}}, `cat; echo $A; sleep 0.1; echo bad >&2; sleep 0.1; echo end; exit 3`)
	if both != "in\nb\nbad\nend\n" || out != "in\nb\nend\n" || errs != "bad\n" || s.ExitCode != 3 || s.Signal != "" {
		t.Errorf("%+v %q %q %q", s, both, out, errs)
	}
	if s.MaxRSS == 0 || s.Wall < 200*time.Millisecond {
		t.Errorf("%+v", s)
	}
}

func TestStdinIsEmpty(t *testing.T) {
	if s, _, out, _ := sh(t, t.Context(), Command{}, `cat; echo done`); out != "done\n" || s.ExitCode != 0 {
		t.Errorf("%+v %q", s, out)
	}
}

func TestUnreadStdin(t *testing.T) {
	if s, _, out, _ := sh(t, t.Context(), Command{Stdin: strings.Repeat("x", 1<<20)}, `echo done`); out != "done\n" || s.ExitCode != 0 {
		t.Errorf("%+v %q", s, out)
	}
}

func TestSignals(t *testing.T) {
	for script, want := range map[string]string{`kill -9 $$`: "SIGKILL 137", `kill -SEGV $$`: "SIGSEGV 139", `kill -TERM $$`: "SIGTERM 143"} {
		if s, _, _, _ := sh(t, t.Context(), Command{}, script); fmt.Sprint(s.Signal, " ", s.ExitCode) != want {
			t.Errorf("%s: %+v", script, s)
		}
	}
}

// TestBackground: what is left in the background does not hold the caller,
// whether it holds the output or not, and is ended.
func TestBackground(t *testing.T) {
	for _, script := range []string{`sleep 60 & echo hi`, `sleep 60 >/dev/null 2>&1 & echo hi`, `(while :; do echo x >/dev/null; sleep 0.05; done) & echo hi`} {
		s, _, out, _ := sh(t, t.Context(), Command{}, script)
		if out != "hi\n" || s.ExitCode != 0 || !s.Leftovers || s.Wall > 20*time.Second {
			t.Errorf("%s: %+v %q", script, s, out)
		}
	}
}

// TestEscaped: what left the group by setsid may live on, but it does not hold
// the caller either.
func TestEscaped(t *testing.T) {
	s, _, out, _ := sh(t, t.Context(), Command{}, `setsid sleep 5 & echo hi`)
	if out != "hi\n" || s.Wall > 3*time.Second {
		t.Errorf("%+v %q", s, out)
	}
}

func TestTimeout(t *testing.T) {
	s, both, _, _ := sh(t, t.Context(), Command{Timeout: 300 * time.Millisecond, Grace: 100 * time.Millisecond}, `trap '' TERM; echo before; sleep 60 & wait; while :; do sleep 1; done`)
	if !s.TimedOut || both != "before\n" || s.Signal != "SIGKILL" || s.Wall > 20*time.Second {
		t.Errorf("%+v %q", s, both)
	}
}

func TestAbort(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, cancel)
	s, both, _, _ := sh(t, ctx, Command{}, `echo before; sleep 60`)
	if !s.Aborted || s.TimedOut || both != "before\n" || s.ExitCode != 143 {
		t.Errorf("%+v %q", s, both)
	}
}

// TestNothingLost: every byte of a large output arrives.
func TestNothingLost(t *testing.T) {
	for range 5 {
		var n counter
		if _, err := Run(t.Context(), Command{Argv: []string{"sh", "-c", "seq 1 200000"}, Dir: t.TempDir()}, Output{Both: &n}); err != nil || n != 1_288_895 {
			t.Fatalf("%d bytes, %v", n, err)
		}
	}
}

type counter int

func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }

func TestNotFound(t *testing.T) {
	if _, err := Run(t.Context(), Command{Argv: []string{"no-such-program-here"}, Dir: t.TempDir()}, Output{}); err == nil {
		t.Error("no error")
	}
	if _, err := Run(t.Context(), Command{}, Output{}); err == nil {
		t.Error("no error")
	}
}
