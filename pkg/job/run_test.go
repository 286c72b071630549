//go:build unix

package job

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agentkit-go/agentkit/pkg/killtree"
)

// sh runs a script; its output is returned as it came, and apart.
func sh(ctx context.Context, t *testing.T, c Command, script string) (s Status, both, stdout, stderr string) {
	t.Helper()
	var b, o, e bytes.Buffer
	c.Argv, c.Dir, c.Env = []string{"bash", "-c", script}, t.TempDir(), append(c.Env, "PATH=/usr/bin:/bin")
	if c.Tree.Method == "" {
		c.Tree.Self = os.Args[0]
	}
	s, err := Run(ctx, c, Output{Both: &b, Stdout: &o, Stderr: &e})
	if err != nil {
		t.Fatal(err)
	}
	return s, b.String(), o.String(), e.String()
}

// TestOrder: without Split what two streams print keeps its order, however fast.
func TestOrder(t *testing.T) {
	var want strings.Builder
	for i := range 500 {
		fmt.Fprintf(&want, "out %d\nerr %d\n", i, i)
	}
	const script = `for ((i = 0; i < 500; i++)); do echo out $i; echo err $i >&2; done`
	if _, both, out, errs := sh(t.Context(), t, Command{}, script); both != want.String() || out != both || errs != "" {
		t.Errorf("%.200q… %d bytes of one stream, %d of the other", both, len(out), len(errs))
	}
	r := registry(t)
	j := begin(t, r, spec(script))
	if i := finish(t, j); code(i) != 0 || text(t, j, Query{}) != want.String() {
		t.Errorf("%+v", i)
	}
}

func TestRun(t *testing.T) {
	s, both, out, errs := sh(t.Context(), t, Command{Stdin: "in\n", Env: []string{"A=b"}, Split: true}, `cat; echo $A; sleep 0.1; echo bad >&2; sleep 0.1; echo end; exit 3`)
	if both != "in\nb\nbad\nend\n" || out != "in\nb\nend\n" || errs != "bad\n" || s.ExitCode != 3 || s.Signal != "" {
		t.Errorf("%+v %q %q %q", s, both, out, errs)
	}
	if s.MaxRSS == 0 || s.Wall < 200*time.Millisecond {
		t.Errorf("%+v", s)
	}
}

func TestStdinIsEmpty(t *testing.T) {
	if s, _, out, _ := sh(t.Context(), t, Command{}, `cat; echo done`); out != "done\n" || s.ExitCode != 0 {
		t.Errorf("%+v %q", s, out)
	}
}

func TestUnreadStdin(t *testing.T) {
	if s, _, out, _ := sh(t.Context(), t, Command{Stdin: strings.Repeat("x", 1<<20)}, `echo done`); out != "done\n" || s.ExitCode != 0 {
		t.Errorf("%+v %q", s, out)
	}
}

func TestSignals(t *testing.T) {
	for script, want := range map[string]string{`kill -9 $$`: "SIGKILL 137", `kill -SEGV $$`: "SIGSEGV 139", `kill -TERM $$`: "SIGTERM 143"} {
		if s, _, _, _ := sh(t.Context(), t, Command{}, script); fmt.Sprint(s.Signal, " ", s.ExitCode) != want {
			t.Errorf("%s: %+v", script, s)
		}
	}
}

// TestBackground: what is left in the background does not hold the caller,
// whether it holds the output or not, and is ended.
func TestBackground(t *testing.T) {
	for _, script := range []string{`sleep 600 & echo hi`, `sleep 600 >/dev/null 2>&1 & echo hi`, `(while :; do echo x >/dev/null; sleep 0.05; done) & echo hi`} {
		s, _, out, _ := sh(t.Context(), t, Command{}, script)
		if out != "hi\n" || s.ExitCode != 0 || !s.Leftovers || s.Wall > 2*time.Minute {
			t.Errorf("%s: %+v %q", script, s, out)
		}
	}
}

// TestEscaped: what left the group by setsid may live on without a stage, but
// it does not hold the caller either. With one it ends.
func TestEscaped(t *testing.T) {
	for _, method := range []string{"", killtree.Group} {
		for _, script := range []string{`setsid sleep 270 & echo hi`, `nohup sleep 270 & disown; echo hi`, `(setsid sleep 270 &); echo hi`, `setsid bash -c 'trap "" TERM; for i in {1..500}; do echo; sleep 0.01; done' >/dev/null & echo hi`} {
			begin := time.Now()
			s, _, out, _ := sh(t.Context(), t, Command{Tree: killtree.Options{Method: method}}, script)
			if out != "hi\n" || time.Since(begin) > 2*time.Minute || method == "" && !s.Leftovers {
				t.Errorf("%s: %+v %q", script, s, out)
			}
			if took := time.Since(begin) - s.Wall; took > 200*time.Millisecond {
				t.Logf("%s (%s): returned %v after the shell's end", script, s.Method, took)
			}
		}
	}
}

// TestStops: a command that stops itself does not hold the caller.
func TestStops(t *testing.T) {
	if s, both, _, _ := sh(t.Context(), t, Command{}, `echo before; kill -STOP $$`); runtime.GOOS == "linux" && (!s.Stopped || s.Signal != "SIGSTOP" || s.ExitCode != 147 || both != "before\n") {
		t.Errorf("%+v %q", s, both)
	}
}

// TestTerminal: with a terminal the command sees one, of the right size.
func TestTerminal(t *testing.T) {
	s, _, out, _ := sh(t.Context(), t, Command{TTY: true, Rows: 30, Cols: 100, Stdin: "typed\n"}, `stty size; test -t 0 && test -t 1 && test -t 2 && echo yes; read x; echo "got $x" >&2; tty; exit 5`)
	if !strings.Contains(out, "30 100\r\n") || !strings.Contains(out, "yes\r\n") || !strings.Contains(out, "got typed\r\n/dev/") || s.ExitCode != 5 {
		t.Errorf("%+v %q", s, out)
	}
	s, _, out, _ = sh(t.Context(), t, Command{TTY: true}, `sleep 600 & stty size`)
	if out != "24 80\r\n" || s.ExitCode != 0 { // the end of the session's leader ends sleep
		t.Errorf("%+v %q", s, out)
	}
}

func TestTimeout(t *testing.T) {
	s, both, _, _ := sh(t.Context(), t, Command{Timeout: 300 * time.Millisecond, Grace: 100 * time.Millisecond}, `trap '' TERM; echo before; sleep 600 & wait; while :; do sleep 1; done`)
	if !s.TimedOut || both != "before\n" || s.Signal != "SIGKILL" || s.Wall > 2*time.Minute {
		t.Errorf("%+v %q", s, both)
	}
}

func TestAbort(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, cancel)
	s, both, _, _ := sh(ctx, t, Command{}, `echo before; sleep 600`)
	if !s.Aborted || s.TimedOut || both != "before\n" || s.ExitCode != 143 {
		t.Errorf("%+v %q", s, both)
	}
}

// TestNothingLost: every byte of a large output arrives.
func TestNothingLost(t *testing.T) {
	runs := 5
	if n, err := strconv.Atoi(os.Getenv("JOB_SOAK")); err == nil {
		runs = n
	}
	for range runs {
		var n counter
		if _, err := Run(t.Context(), Command{Argv: []string{"sh", "-c", "seq 1 200000"}, Dir: t.TempDir(), Tree: killtree.Options{Self: os.Args[0]}}, Output{Both: &n}); err != nil || n != 1_288_895 {
			t.Fatalf("%d bytes, %v", n, err)
		}
	}
}

type counter int

func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }

// slowly takes its time over what it is given.
type slowly struct{ n int }

func (w *slowly) Write(p []byte) (int, error) {
	time.Sleep(30 * time.Millisecond)
	w.n += len(p)
	return len(p), nil
}

// TestSlowReader: what was printed is taken in however long that takes, though
// the command has long ended.
func TestSlowReader(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere it is not known what waits in a pipe")
	}
	w := &slowly{}
	c := Command{Argv: []string{"bash", "-c", "head -c 900000 /dev/zero"}, Dir: t.TempDir(), Env: []string{"PATH=/usr/bin:/bin"}, Tree: killtree.Options{Self: os.Args[0]}}
	s, err := Run(t.Context(), c, Output{Stdout: w})
	if err != nil || s.Held || w.n != 900_000 {
		t.Errorf("%d bytes of 900000, %+v %v", w.n, s, err)
	}
}

func TestNotFound(t *testing.T) {
	if _, err := Run(t.Context(), Command{Argv: []string{"no-such-program-here"}, Dir: t.TempDir()}, Output{}); err == nil {
		t.Error("no error")
	}
	if _, err := Run(t.Context(), Command{}, Output{}); err == nil {
		t.Error("no error")
	}
}

// TestCollected shows that a command that has ended leaves its caller nothing
// to wait for.
func TestCollected(t *testing.T) {
	before := children(t) // of other tests
	var rest []func()
	for range 20 {
		sh(t.Context(), t, Command{Later: func(f func()) { rest = append(rest, f) }}, `true`)
	}
	for _, f := range rest {
		f()
	}
	for range 20 {
		sh(t.Context(), t, Command{}, `true`)
		for _, pid := range children(t) {
			if !slices.Contains(before, pid) {
				t.Fatalf("left: %s", pid)
			}
		}
	}
	if len(rest) != 20 {
		t.Errorf("%d of 20 were put off", len(rest))
	}
}

// children are the processes that we have not waited for.
func children(t *testing.T) []string {
	t.Helper()
	lists, _ := filepath.Glob("/proc/self/task/*/children")
	if len(lists) == 0 {
		t.Skip("this system does not list a process's children")
	}
	var list []string
	for _, name := range lists {
		b, _ := os.ReadFile(name)
		list = append(list, strings.Fields(string(b))...)
	}
	return list
}
