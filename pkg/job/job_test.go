//go:build unix

package job

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/agentkit-go/agentkit/pkg/killtree"
	"github.com/agentkit-go/agentkit/pkg/session"
)

// TestMain makes the test binary the stage, the supervisor, and a starter that
// is killed.
func TestMain(m *testing.M) {
	if code, ok := Stage(os.Args[1:], nil); ok {
		os.Exit(code)
	}
	if len(os.Args) == 4 && os.Args[1] == "starter" {
		starter(os.Args[2], os.Args[3])
		return
	}
	os.Exit(m.Run())
}

// starter starts one job and one foreground command, prints the job's ID, and
// waits to be killed.
func starter(state, mark string) {
	r, err := registryAt(state)
	if err != nil {
		fmt.Println(err)
		return
	}
	j, err := r.Start(context.Background(), spec("echo started; sleep 1; echo later; sleep 1000."+mark+"; :"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(j.ID())
	_, _, _ = r.Run(context.Background(), spec("exec sleep 1001."+mark), -1, WaitFor{}, Output{})
}

func registryAt(state string) (*Registry, error) {
	o := session.Options{State: state, Root: filepath.Dir(state), ID: "s", NoSync: true}
	s, err := session.Open(o)
	return &Registry{Session: s, Options: o, Self: os.Args[0]}, err
}

func registry(t testing.TB) *Registry {
	t.Helper()
	r, err := registryAt(filepath.Join(t.TempDir(), "state"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		list, err := r.List()
		if err != nil {
			t.Error(err)
		}
		for _, i := range list {
			if i.Alive() {
				j, err := r.Open(i.ID)
				if err == nil {
					_, err = j.Kill(context.Background(), 0)
				}
				if err != nil {
					t.Error(err)
				}
			}
		}
		_ = r.Session.Close()
	})
	return r
}

func spec(script string) Spec {
	return Spec{Command: Command{Argv: []string{"bash", "-c", script}, Dir: "/", Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=/", "TERM=dumb", "PS1=$ "}}}
}

func begin(t testing.TB, r *Registry, s Spec) *Job {
	t.Helper()
	j, err := r.Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// finish waits for a job, at most two minutes.
func finish(t testing.TB, j *Job) Info {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	i, err := j.Wait(ctx, WaitFor{})
	if err != nil || i.State == Running {
		t.Fatalf("%+v %v", i, err)
	}
	return i
}

// TestHeadOfFast: a job that ends before anybody looks for its process has that one's
// number all the same.
func TestHeadOfFast(t *testing.T) {
	r := registry(t)
	for n := range 30 {
		if i := finish(t, begin(t, r, spec("exit 0"))); i.Head.Pid <= 0 {
			t.Fatalf("job %d: %+v", n, i.Head)
		}
	}
}

func text(t testing.TB, j *Job, q Query) string {
	t.Helper()
	c, err := j.Read(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	return string(c.Data)
}

// until reads until the output has what is wanted.
func until(t testing.TB, j *Job, want string) string {
	t.Helper()
	got := ""
	for range 1000 {
		if got = text(t, j, Query{}); strings.Contains(got, want) {
			return got
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%q does not come: %q", want, got)
	return ""
}

func code(i Info) int {
	if i.ExitCode == nil {
		return -1
	}
	return *i.ExitCode
}

func TestJob(t *testing.T) {
	r := registry(t)
	s := spec(`echo out; sleep 0.1; echo err >&2; sleep 0.1; echo end; exit 3`)
	s.Name, s.Split = "three lines", true
	j := begin(t, r, s)
	if i, err := j.Info(); err != nil || i.State != Running || i.ExitCode != nil || i.Name != s.Name || i.Method == "" {
		t.Errorf("%+v %v", i, err)
	}
	i := finish(t, j)
	if i.State != Failed || code(i) != 3 || i.Signal != "" || i.Wall < 200*time.Millisecond || i.MaxRSS == 0 || i.Ended.Before(i.Started) || i.Total != 12 || i.Leftovers {
		t.Errorf("%+v", i)
	}
	for want, q := range map[string]Query{
		"out\nerr\nend\n": {}, "err\n": {Origin: Stderr}, "out\nend\n": {Origin: Stdout}, "end\n": {Offset: -4}, "rr\nend\n": {Offset: 5},
		"err\nend\n": {Lines: 2}, "out": {Max: 3}, "e": {Max: 1, Offset: 4}, "": {Offset: 99},
		"err\nend": {Grep: regexp.MustCompile(`^e`), Max: 0, Lines: 9},
	} {
		if got := text(t, j, q); strings.TrimSuffix(got, "\n") != strings.TrimSuffix(want, "\n") {
			t.Errorf("%+v: %q, not %q", q, got, want)
		}
	}
	if got := text(t, j, Query{SinceLast: true, Max: 4}); got != "out\n" {
		t.Errorf("%q", got)
	}
	if got := text(t, j, Query{SinceLast: true}) + "|" + text(t, j, Query{SinceLast: true}); got != "err\nend\n|" {
		t.Errorf("%q", got)
	}
	if c, err := j.Read(context.Background(), Query{Offset: 2, Max: 3}); err != nil || c.Offset != 2 || c.Next != 5 || c.Total != 12 || !c.More {
		t.Errorf("%+v %v", c, err)
	}
	again, err := r.Open(j.ID())
	if err != nil {
		t.Fatal(err)
	}
	if i, err := again.Info(); err != nil || code(i) != 3 || i.Alive() {
		t.Errorf("%+v %v", i, err)
	}
	if _, err := again.Kill(t.Context(), 0); err != nil {
		t.Error("killing the dead:", err)
	}
	if err := again.Input(context.Background(), []byte("x"), nil, false); !errors.Is(err, ErrEnded) {
		t.Error(err)
	}
	if err := r.Remove(j.ID()); err != nil {
		t.Error(err)
	}
	for _, id := range []string{j.ID(), "nothing", "../x", ""} {
		if _, err := r.Open(id); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: %v", id, err)
		}
	}
	st, err := os.Stat(r.Session.Path("jobs"))
	if err != nil || st.Mode().Perm() != 0o700 {
		t.Error(st, err)
	}
}

func TestCannotStart(t *testing.T) {
	r := registry(t)
	s := spec("true")
	s.Argv = []string{"no-such-program-here"}
	if _, err := r.Start(t.Context(), s); !errors.Is(err, exec.ErrNotFound) {
		t.Error(err)
	}
	s.Argv = []string{"/no/such/program"}
	if _, err := r.Start(t.Context(), s); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	s = spec("true")
	s.Dir = "/no/such/directory"
	if _, err := r.Start(t.Context(), s); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "directory") {
		t.Error(err)
	}
	if _, err := r.Start(t.Context(), Spec{}); err == nil {
		t.Error("nothing was started")
	}
	if list, err := r.List(); len(list) > 0 || err != nil {
		t.Error(list, err)
	}
	if left, _ := os.ReadDir(r.Session.Path("jobs")); len(left) > 0 {
		t.Error(left)
	}
}

// gone waits until no process has the mark as its argument.
func gone(t *testing.T, mark string, want bool) {
	t.Helper()
	for range 500 {
		out, _ := exec.Command("ps", "-e", "-o", "stat=,args=").Output()
		there := false
		for line := range strings.Lines(string(out)) {
			there = there || strings.Contains(line, "sleep") && strings.Contains(line, mark) && !strings.HasPrefix(line, "Z") && !strings.Contains(line, "starter")
		}
		if there != want {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("a process with %s is there: %v", mark, want)
}

// TestStarterKilled: a job survives its starter, a foreground command does not.
func TestStarterKilled(t *testing.T) {
	r := registry(t)
	mark := strconv.Itoa(os.Getpid())
	// What the starter was born with must not be held open by the supervisor.
	c := exec.Command("sh", "-c", `exec "$0" "$@" 9>&1`, os.Args[0], "starter", r.Options.State, mark)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var id string
	if _, err := fmt.Fscanln(out, &id); err != nil {
		t.Fatal(err)
	}
	gone(t, "1001."+mark, false)
	_ = c.Process.Kill()
	closed := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, out)
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(time.Minute):
		t.Error("the starter's output is held open")
	}
	_ = c.Wait()
	gone(t, "1001."+mark, true)
	j, err := r.Open(id)
	if err != nil {
		t.Fatal(err)
	}
	until(t, j, "started\nlater\n")
	if i, err := j.Info(); err != nil || i.State != Running {
		t.Errorf("%+v %v", i, err)
	}
	if i, err := j.Kill(t.Context(), time.Second); err != nil || i.State != Aborted || i.Signal != "SIGTERM" {
		t.Errorf("%+v %v", i, err)
	}
	gone(t, "1000."+mark, true)
	list, err := r.List()
	if err != nil || len(list) != 2 || list[1].State != Aborted {
		t.Errorf("%+v %v", list, err)
	}
}

// TestSupervisorKilled: with it the command ends, and the job is known as lost.
func TestSupervisorKilled(t *testing.T) {
	r := registry(t)
	mark := strconv.Itoa(os.Getpid()) + "7"
	j := begin(t, r, spec("echo there; setsid sleep 1002."+mark+" & sleep 1002."+mark))
	until(t, j, "there")
	gone(t, "1002."+mark, false)
	i, err := j.Info()
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(i.Supervisor.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	gone(t, "1002."+mark, true)
	i = finish(t, j)
	if i.State != Lost || i.ExitCode != nil || i.Alive() || text(t, j, Query{}) != "there\n" {
		t.Errorf("%+v", i)
	}
	if err := j.Signal(context.Background(), syscall.SIGTERM, false); !errors.Is(err, ErrEnded) {
		t.Error(err)
	}
}

func TestInput(t *testing.T) {
	r := registry(t)
	s := spec(`echo ready; cat; echo over`)
	s.OpenStdin, s.Stdin = true, "first\n"
	j := begin(t, r, s)
	until(t, j, "first\n")
	if err := j.Input(context.Background(), []byte("second"), []string{"\r"}, false); err != nil {
		t.Fatal(err)
	}
	until(t, j, "second\n")
	if err := j.Input(context.Background(), []byte("third\n"), nil, true); err != nil {
		t.Fatal(err)
	}
	if i := finish(t, j); i.State != Completed || text(t, j, Query{}) != "ready\nfirst\nsecond\nthird\nover\n" {
		t.Errorf("%+v %q", i, text(t, j, Query{}))
	}
	s = spec(`cat; echo over; sleep 60`)
	s.Stdin = "all\n"
	j = begin(t, r, s)
	until(t, j, "all\nover\n")
	if err := j.Input(context.Background(), []byte("x"), nil, false); !errors.Is(err, ErrNoInput) || err.Error() != ErrNoInput.Error() {
		t.Error(err)
	}
	if err := j.Resize(context.Background(), 5, 5); !errors.Is(err, ErrNoTerminal) || err.Error() != ErrNoTerminal.Error() {
		t.Error(err)
	}
	s = spec(`trap 'echo int; exit 9' INT; echo up; while :; do sleep 0.02; done`)
	s.OpenStdin = true
	j = begin(t, r, s)
	until(t, j, "up")
	if err := j.Input(context.Background(), nil, []string{"\x03"}, false); err != nil {
		t.Error(err)
	}
	if i := finish(t, j); code(i) != 9 || text(t, j, Query{}) != "up\nint\n" {
		t.Errorf("%+v %q", i, text(t, j, Query{}))
	}
}

func TestTerminalJob(t *testing.T) {
	r := registry(t)
	// Bash runs a trap between two commands, and so not while it reads.
	s := spec(`stty size; trap 'stty size; told=1' WINCH; echo up; while read -r x; do echo "got $x"; [ -n "$x" ] || until [ -n "$told" ]; do sleep 0.05; done; done; echo end of input; sleep 60`)
	s.TTY, s.Rows, s.Cols = true, 40, 120
	j := begin(t, r, s)
	until(t, j, "40 120\r\nup\r\n")
	if err := j.Input(context.Background(), []byte("hello"), []string{"\r"}, false); err != nil {
		t.Fatal(err)
	}
	until(t, j, "got hello\r\n")
	if err := j.Input(context.Background(), []byte("\n"), nil, false); err != nil {
		t.Fatal(err)
	}
	until(t, j, "got \r\n")
	if err := j.Resize(context.Background(), 10, 20); err != nil {
		t.Fatal(err)
	}
	until(t, j, "10 20\r\n")
	if err := j.Input(context.Background(), nil, nil, true); err != nil {
		t.Fatal(err)
	}
	until(t, j, "end of input")
	if err := j.Input(context.Background(), nil, []string{"\x03"}, false); err != nil {
		t.Fatal(err)
	}
	if i := finish(t, j); i.Signal != "SIGINT" && code(i) != 130 {
		t.Errorf("%+v", i)
	}
}

func TestEndings(t *testing.T) {
	r := registry(t)
	s := spec(`trap '' TERM; echo up; while :; do sleep 0.05; done`)
	s.Timeout, s.Grace = 200*time.Millisecond, 100*time.Millisecond
	limited := begin(t, r, s)
	s = spec(`trap 'echo bye; exit 4' TERM; echo up; while :; do sleep 0.05; done`)
	s.Split = true
	polite, rude := begin(t, r, s), begin(t, r, spec(`trap '' TERM; echo up; sleep 1000 & wait; while :; do sleep 0.05; done`))
	signalled := begin(t, r, spec(`echo up; kill -SEGV $$`))
	if i := finish(t, limited); i.State != TimedOut || i.Signal != "SIGKILL" || code(i) != 137 || text(t, limited, Query{}) != "up\n" {
		t.Errorf("%+v", i)
	}
	until(t, polite, "up")
	if i, err := polite.Kill(t.Context(), 10*time.Second); err != nil || i.State != Aborted || code(i) != 4 || text(t, polite, Query{Origin: Stdout}) != "up\nbye\n" {
		t.Errorf("%+v %v", i, err)
	}
	until(t, rude, "up")
	if i, err := rude.Kill(t.Context(), 50*time.Millisecond); err != nil || i.State != Aborted || i.Signal != "SIGKILL" {
		t.Errorf("%+v %v", i, err)
	}
	if i := finish(t, signalled); i.State != Failed || i.Signal != "SIGSEGV" || code(i) != 139 {
		t.Errorf("%+v", i)
	}
	usr := begin(t, r, spec(`trap 'echo usr; exit 0' USR1; echo up; while :; do sleep 0.02; done`))
	until(t, usr, "up")
	if err := usr.Signal(t.Context(), syscall.SIGUSR1, false); err != nil {
		t.Error(err)
	}
	if i := finish(t, usr); i.State != Completed {
		t.Errorf("%+v", i)
	}
	left := begin(t, r, spec(`sleep 1000 & setsid sleep 1000 & echo hi`))
	if i := finish(t, left); i.State != Completed || !i.Leftovers || i.Kept || i.Alive() {
		t.Errorf("%+v", i)
	}
}

// buffers takes output apart.
type buffers struct{ both, out, err bytes.Buffer }

func (b *buffers) output() Output { return Output{Both: &b.both, Stdout: &b.out, Stderr: &b.err} }

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestYield(t *testing.T) {
	r := registry(t)
	var b buffers
	split := spec(`echo out; echo err >&2; seq 1 20000; exit 6`)
	split.Split = true
	i, j, err := r.Run(t.Context(), split, 20*time.Second, WaitFor{}, b.output())
	if err != nil || j != nil || code(i) != 6 || i.State != Failed || b.both.Len() != 8+108894 || b.err.String() != "err\n" || b.out.Len() != 4+108894 {
		t.Errorf("%+v %v %v %d %q", i, j, err, b.both.Len(), b.err.String())
	}
	if list, err := r.List(); len(list) != 0 || err != nil {
		t.Errorf("it left %+v %v", list, err)
	}
	b = buffers{}
	s := spec(`echo one; while ! test -e "$GO"; do sleep 0.02; done; echo two`)
	file := filepath.Join(t.TempDir(), "go")
	s.Env = append(s.Env, "GO="+file)
	i, j, err = r.Run(t.Context(), s, 2*time.Second, WaitFor{}, b.output())
	if err != nil || j == nil || i.State != Running || i.ExitCode != nil || b.both.String() != "one\n" {
		t.Fatalf("%+v %v %v %q", i, j, err, b.both.String())
	}
	followed := make(chan string)
	go func() {
		i, err := j.Wait(context.Background(), WaitFor{Until: regexp.MustCompile("^t.o$"), From: j.Unread()})
		if i.Found == nil {
			t.Error("found nothing")
			i.Found = new(string)
		}
		followed <- fmt.Sprint(*i.Found, err)
	}()
	time.Sleep(50 * time.Millisecond)
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if i := finish(t, j); i.State != Completed || text(t, j, Query{}) != "one\ntwo\n" {
		t.Errorf("%+v %q", i, text(t, j, Query{}))
	}
	if got := <-followed; got != "two<nil>" {
		t.Errorf("followed: %q", got)
	}
	if i, j, err = r.Run(t.Context(), spec(`sleep 1000`), 0, WaitFor{}, Output{}); err != nil || j == nil || i.State != Running {
		t.Errorf("in the background: %+v %v", i, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	b = buffers{}
	i, j, err = r.Run(ctx, spec(`echo before; sleep 1000`), 30*time.Second, WaitFor{}, Output{Both: writerFunc(func(p []byte) (int, error) {
		cancel()
		return b.both.Write(p)
	})})
	if err != nil || j != nil || i.State != Aborted || b.both.String() != "before\n" || code(i) != 143 {
		t.Errorf("%+v %v %v %q", i, j, err, b.both.String())
	}
	i, j, err = r.Run(t.Context(), spec(`kill -STOP $$`), -1, WaitFor{}, Output{})
	if err != nil || j != nil || i.Signal != "SIGSTOP" {
		t.Errorf("%+v %v", i, err)
	}
}

func TestKeep(t *testing.T) {
	r := registry(t)
	s := spec(`(sleep 0.3; echo later; exec sleep 1000) & echo hi; exit 2`)
	s.Keep = true
	var b buffers
	began := time.Now()
	i, j, err := r.Run(t.Context(), s, -1, WaitFor{}, b.output())
	if err != nil || j == nil || code(i) != 2 || i.State != Failed || !i.Kept || i.Leftovers || b.both.String() != "hi\n" {
		t.Fatalf("%+v %v %v %q", i, j, err, b.both.String())
	}
	if took := time.Since(began) - i.Wall; took > time.Minute {
		t.Errorf("returned %v after the shell", took)
	}
	until(t, j, "hi\nlater\n")
	if list, err := r.List(); len(list) != 1 || err != nil || !list[0].Alive() {
		t.Errorf("%+v %v", list, err)
	}
	if err := r.Remove(j.ID()); err == nil {
		t.Error("removed while it runs")
	}
	if i, err = j.Kill(t.Context(), time.Second); err != nil || i.Kept || code(i) != 2 {
		t.Errorf("%+v %v", i, err)
	}
	s.Argv[2] = `sleep 0.01 & wait; echo hi`
	if i, j, err = r.Run(t.Context(), s, -1, WaitFor{}, Output{}); err != nil || j != nil || i.Kept {
		t.Errorf("%+v %v", i, err)
	}
}

func TestLimits(t *testing.T) {
	r := registry(t)
	r.Limits = Limits{Running: 2, Disk: 40_000}
	a, b := begin(t, r, spec(`seq 1 5000; sleep 1000`)), begin(t, r, spec(`sleep 1000`))
	until(t, a, "\n5000\n")
	var limit *LimitError
	if _, err := r.Start(t.Context(), spec("true")); !errors.As(err, &limit) || limit.Have != 2 || limit.Max != 2 || !strings.Contains(limit.What, "running") {
		t.Error(err)
	}
	if _, err := b.Kill(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	c := begin(t, r, spec(`seq 1 5000`))
	finish(t, c)
	// The log of what runs stays, those of the ended make room.
	d := begin(t, r, spec(`sleep 1000`))
	if _, err := c.Info(); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	if _, err := d.Kill(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	r.Limits.Disk = 20_000
	if _, err := r.Start(t.Context(), spec("true")); !errors.As(err, &limit) || !strings.Contains(limit.What, "bytes") || limit.Have < 20_000 {
		t.Error(err)
	}
	if i, err := a.Info(); err != nil || i.State != Running {
		t.Errorf("%+v %v", i, err)
	}
}

// TestLogLimit: of a long log the beginning and the end stay, and what is
// missing is said.
func TestLogLimit(t *testing.T) {
	r := registry(t)
	r.Limits = Limits{Log: 1 << 20}
	j := begin(t, r, spec(`seq 1 2000000; sleep 0.1`))
	i := finish(t, j)
	if i.Total != 14888896 || i.LostTo <= i.LostFrom {
		t.Skipf("this system cannot forget a part of a file: %+v", i)
	}
	if kept := i.Total - (i.LostTo - i.LostFrom); kept < 1<<19 || kept > 1<<20+1<<18 {
		t.Errorf("%d bytes are kept: %+v", kept, i)
	}
	c, err := j.Read(context.Background(), Query{Max: 8 << 20})
	if err != nil || c.Lost != i.LostTo-i.LostFrom || int64(len(c.Data)) != i.Total-c.Lost || bytes.IndexByte(c.Data, 0) >= 0 || !bytes.HasPrefix(c.Data, []byte("1\n2\n")) || !bytes.HasSuffix(c.Data, []byte("\n2000000\n")) {
		t.Errorf("%d bytes, %d lost, %v", len(c.Data), c.Lost, err)
	}
	if got := text(t, j, Query{Lines: 2}); got != "1999999\n2000000\n" {
		t.Errorf("%q", got)
	}
	if got := text(t, j, Query{Grep: regexp.MustCompile(`^(77|1999777|1000000)$`)}); got != "77\n1999777\n" {
		t.Errorf("%q", got)
	}
	st, err := os.Stat(filepath.Join(r.Session.Path("jobs"), j.ID(), logFile))
	if err != nil || st.Sys().(*syscall.Stat_t).Blocks*512 > 2<<20 {
		t.Error(st, err)
	}
}

// TestMany: jobs beside each other, each read by several at once, and what
// their supervisors cost.
func TestMany(t *testing.T) {
	r := registry(t)
	n := 12
	if s, err := strconv.Atoi(os.Getenv("JOB_SOAK")); err == nil {
		n = s
	}
	jobs := make([]*Job, n)
	began := time.Now()
	for k := range jobs {
		s := spec(fmt.Sprintf(`echo job %d; read x; seq 1 1000; echo "$x"`, k))
		s.OpenStdin = true
		jobs[k] = begin(t, r, s)
	}
	t.Logf("%v to start each of %d", time.Since(began)/time.Duration(n), n)
	if list, err := r.List(); len(list) != n || err != nil {
		t.Errorf("%d %v", len(list), err)
	}
	worst := 0
	for _, j := range jobs {
		i, err := j.Info()
		if err != nil {
			t.Fatal(err)
		}
		worst = max(worst, private(i.Supervisor.Pid)+private(i.Head.Pid))
	}
	t.Logf("at most %d KiB of private memory for a supervisor with its stage", worst)
	if worst > 8<<10 && !raceDetector {
		t.Errorf("%d KiB", worst)
	}
	var all sync.WaitGroup
	for k, j := range jobs {
		for range 3 {
			all.Go(func() {
				if i, err := j.Wait(t.Context(), WaitFor{}); err != nil || i.State != Completed {
					t.Errorf("%+v %v", i, err)
				}
				if c, err := j.Read(context.Background(), Query{}); err != nil || string(c.Data) != fmt.Sprintf("job %d\n", k)+seq(1000)+"fed\n" {
					t.Errorf("job %d: %d bytes %v", k, len(c.Data), err)
				}
			})
		}
		all.Go(func() {
			if err := j.Input(context.Background(), []byte("fed\n"), nil, false); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

func seq(n int) string {
	var b strings.Builder
	for k := range n {
		fmt.Fprintln(&b, k+1)
	}
	return b.String()
}

// private is a process's private memory in KiB, 0 where it cannot be known.
func private(pid int) (sum int) {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	for line := range strings.Lines(string(raw)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "Private_Dirty:" {
			n, _ := strconv.Atoi(f[1])
			sum += n
		}
	}
	return sum
}

// TestLongPath: the socket works where its path is longer than an address.
func TestLongPath(t *testing.T) {
	r, err := registryAt(filepath.Join(t.TempDir(), strings.Repeat("d", 100), "state"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(r.Options.State), 0o700); err != nil {
		t.Fatal(err)
	}
	s := spec(`cat`)
	s.OpenStdin = true
	j, err := r.Start(t.Context(), s)
	if err != nil {
		if killtree.Method() == killtree.Group {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	if err := j.Input(context.Background(), []byte("x\n"), nil, true); err != nil {
		t.Error(err)
	}
	if i := finish(t, j); i.State != Completed || text(t, j, Query{}) != "x\n" {
		t.Errorf("%+v", i)
	}
}

// TestLogParts checks the index against a plain model of the log.
func TestLogParts(t *testing.T) {
	dir := t.TempDir()
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	index, err := os.Create(filepath.Join(dir, "index"))
	if err != nil {
		t.Fatal(err)
	}
	w := &logWriter{log: log, index: index, most: 1 << 30, changed: func() {}, announce: func() {}}
	var all, out, errs []byte
	for k := range 200 {
		p := bytes.Repeat([]byte{byte('a' + k%26)}, k%7+1)
		o := Stdout
		if k%3 == 0 || k%5 == 0 {
			o = Stderr
			errs = append(errs, p...)
		} else {
			out = append(out, p...)
		}
		all = append(all, p...)
		if _, err := w.write(p, o); err != nil {
			t.Fatal(err)
		}
	}
	marks, err := os.ReadFile(index.Name())
	if err != nil {
		t.Fatal(err)
	}
	r := &logReader{log: log, marks: marks, total: w.size}
	for o, want := range map[Origin][]byte{Any: all, Stdout: out, Stderr: errs} {
		if got, next, err := r.plain(Query{Origin: o, Max: 1 << 20}, 0); !bytes.Equal(got, want) || next != r.total || err != nil {
			t.Errorf("%d: %d of %d bytes, %v", o, len(got), len(want), err)
		}
	}
	for at := range len(all) {
		if got, _, err := r.plain(Query{Max: 1 << 20}, int64(at)); !bytes.Equal(got, all[at:]) || err != nil {
			t.Fatalf("from %d: %d bytes, %v", at, len(got), err)
		}
	}
	r.from, r.to = 100, 300
	if got, _, err := r.plain(Query{Max: 1 << 20}, 50); !bytes.Equal(got, append(bytes.Clone(all[50:100]), all[300:]...)) || err != nil {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestKey(t *testing.T) {
	for name, want := range map[string]string{"ctrl-c": "\x03", "Enter": "\r", "ctrl-[": "\x1b", "alt-x": "\x1bx", "alt-up": "\x1b\x1b[A", "y": "y", "ctrl-@": "\x00", "F12": "\x1b[24~", "é": "é"} {
		if got, err := Key(name); err != nil || got != want {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
	for _, name := range []string{"", "ctrl-", "ctrl-1", "hyper-x", "alt-"} {
		if _, err := Key(name); !errors.Is(err, ErrKey) {
			t.Errorf("%q: %v", name, err)
		}
	}
	for k := 1; k < len(keys); k++ {
		if keys[k-1].name >= keys[k].name {
			t.Errorf("%s is not sorted", keys[k].name)
		}
	}
}

func TestLastLine(t *testing.T) {
	for in, want := range map[string]string{"a\nb\n": "b", "\x1b[1mPassword:\x1b[0m ": "Password:", "10%\r20%\r": "20%", "x\n\n  \n": "x", "\x1b]0;title\x07$ ": "$", "": "", "\x1b[": "", "\x1b": "", "ab\x1b(Bc": "abc", "\xff": "\ufffd"} {
		if got := lastLine([]byte(in)); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}

// TestLoose: a time limit that was meant for the call does not end what has become
// a job; one that was given does, and that is told.
func TestLoose(t *testing.T) {
	r := registry(t)
	// What is to end may take its time for it, on a machine that has much to do.
	ended := func(j *Job, alive bool) (i Info, err error) {
		for range 1000 {
			if i, err = j.Info(); err != nil || alive || !i.Alive() {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		return i, err
	}
	for _, c := range []struct {
		loose bool
		later time.Duration
		alive bool
	}{{true, 0, true}, {true, time.Hour, true}, {true, 600 * time.Millisecond, false}, {false, 0, false}} {
		t.Run(fmt.Sprint(c.loose, c.later), func(t *testing.T) {
			t.Parallel()
			s := spec(`sleep 1000 & echo hi`)
			s.Keep, s.Loose, s.Later, s.Timeout, s.Grace = true, c.loose, c.later, 500*time.Millisecond, time.Millisecond
			i, j, err := r.Run(t.Context(), s, time.Minute, WaitFor{}, Output{})
			if err != nil || !i.Kept {
				t.Fatalf("%+v %v", i, err)
			}
			time.Sleep(1200*time.Millisecond - time.Since(i.Started))
			if i, err = ended(j, c.alive); err != nil || i.Alive() != c.alive || i.Overtime == c.alive {
				t.Errorf("%+v: %+v %v", c, i, err)
			}
			if i.Alive() {
				if _, err := j.Kill(t.Context(), 0); err != nil {
					t.Error(err)
				}
			}
			s = spec(`sleep 1000`)
			s.Loose, s.Later, s.Timeout, s.Grace = c.loose, c.later, 500*time.Millisecond, time.Millisecond
			i, j, err = r.Run(t.Context(), s, 50*time.Millisecond, WaitFor{}, Output{})
			if err != nil || !i.Alive() {
				t.Fatalf("%+v %v", i, err)
			}
			time.Sleep(1200*time.Millisecond - time.Since(i.Started))
			if i, err = ended(j, c.alive); err != nil || i.Alive() != c.alive || !c.alive && i.State != TimedOut {
				t.Errorf("%+v: %+v %v", c, i, err)
			}
			if i.Alive() {
				if _, err := j.Kill(t.Context(), 0); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// A late reader says that it has ended while there is still something to come, as
// a terminal may.
type late struct{ steps []string }

func (l *late) Read(b []byte) (int, error) {
	if len(l.steps) == 0 {
		return 0, os.ErrClosed
	}
	s := l.steps[0]
	l.steps = l.steps[1:]
	if s == "" {
		return 0, syscall.EIO
	}
	return copy(b, s), nil
}

// TestTwice: the last that is printed on a terminal is not lost.
func TestTwice(t *testing.T) {
	for _, c := range []struct {
		steps []string
		want  string
	}{
		{[]string{"a\n", "", "len 6\n", "", ""}, "a\nlen 6\n"},
		{[]string{"", "b", "", "c", "", "", "never"}, "bc"},
		{[]string{"", "", "never"}, ""},
	} {
		var got strings.Builder
		var mu sync.Mutex
		(&running{}).pump(&twice{from: &late{c.steps}}, &mu, &got)
		if got.String() != c.want {
			t.Errorf("%q gave %q", c.steps, got.String())
		}
	}
}
