package job

import (
	"context"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/agentkit-go/agentkit/pkg/killtree"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// waits are commands that wait for input, each with the program that does.
var waits = [...]struct{ name, script, program, last, need string }{
	{"read", `printf 'Name: '; read -r x`, "bash", "Name:", ""},
	{"cat", `echo x; cat`, "cat", "x", ""},
	{"child", `echo asking; (sleep 0.1; sh -c 'read x') ; echo`, "sh", "asking", ""},
	{"beside work", `echo q; (while :; do sleep 0.01; done) & read -r x`, "bash", "q", ""},
	{"python", `python3 -c 'input("continue? ")'`, "python", "continue?", "python3"},
	{"select", `python3 -c 'import select,sys; print("s", flush=True); select.select([sys.stdin],[],[])'`, "python", "s", "python3"},
	{"poll", `python3 -c 'import select,sys
print("p", flush=True); p=select.poll(); p.register(0, select.POLLIN); p.poll()'`, "python", "p", "python3"},
}

// terminals are those that need a terminal.
var terminals = [...]struct{ name, script, program, last, need string }{
	{"shell", `exec bash --norc -i`, "bash", "bash", ""},
	{"repl", `exec python3 -q`, "python", ">>>", "python3"},
	{"pager", `seq 1 500 | TERM=xterm less`, "less", ":", "less"},
	{"node", `NODE_REPL_HISTORY= exec node`, "node", ">", "node"},
	{"debugger", `exec gdb -q -nx`, "gdb", "(gdb)", "gdb"},
	{"more", `seq 1 500 >"$DIR/long"; TERM=xterm exec more "$DIR/long"`, "more", "--More--", "more"},
	{"password", `read -r -s -p 'Password: ' x`, "bash", "Password:", ""},
	{"/dev/tty", `read -r x </dev/tty </dev/tty 2>/dev/null; read x`, "bash", "", ""},
	{"ssh-keygen", `exec ssh-keygen -q -t ed25519 -f "$DIR/key"`, "ssh-keygen", "Enter passphrase", "ssh-keygen"},
	{"editor", `cd "$DIR" && git init -q . && exec git -c user.name=n -c user.email=e -c core.editor='vi -u NONE' commit --allow-empty`, "vi", "", "vi"},
}

// busy are commands that do not wait for their input.
var busy = [...]struct{ name, script, need string }{
	{"sleep", `echo x; sleep 1000`, ""},
	{"spin", `while :; do :; done`, ""},
	{"build", `while :; do for i in 1 2 3; do expr $i + $i >/dev/null; done; echo step; done`, ""},
	{"other pipe", `sleep 1000 | cat`, ""},
	{"fifo", `mkfifo "$DIR/f$$"; read x <"$DIR/f$$"`, ""},
	{"wait", `sleep 1000 & wait`, ""},
	{"server", `exec python3 -c 'import socket; s=socket.socket(); s.bind(("127.0.0.1",0)); s.listen(); print("up", flush=True); s.accept()'`, "python3"},
	{"server with input", `exec python3 -c '
import selectors,socket,sys
s=socket.socket(); s.bind(("127.0.0.1",0)); s.listen()
p=selectors.PollSelector(); p.register(s,1); p.register(sys.stdin,1)
print("press q to stop", flush=True); p.select()'`, "python3"},
	{"epoll", `exec python3 -c '
import select,sys,os
r,w=os.pipe()
p=select.epoll(); p.register(r,1); print("? ", flush=True); p.poll()'`, "python3"},
	{"server that tells itself something", `exec node -e '
require("net").createServer().listen(0, "127.0.0.1"); process.stdin.on("data", () => {}); console.log("press q")'`, "node"},
	{"work in a thread", `exec node -e '
const w = require("worker_threads"); new w.Worker("for (;;);", {eval: true}); process.stdin.on("data", () => {}); console.log("press q")'`, "node"},
	{"work of a child", `exec node -e '
require("child_process").spawn("sleep", ["1000"], {stdio: ["ignore", "pipe", "inherit"]}); process.stdin.on("data", () => {}); console.log("press q")'`, "node"},
	{"looking now and then", `exec python3 -c '
import select,os
r,w=os.pipe(); p=select.poll(); p.register(r,1); p.register(0,1); print("? ", flush=True)
while True: p.poll(100)'`, "python3"},
	{"server with a reading thread", `exec python3 -c '
import socket,sys,threading
s=socket.socket(); s.bind(("127.0.0.1",0)); s.listen()
threading.Thread(target=sys.stdin.readline,daemon=True).start()
print("up", flush=True); s.accept()'`, "python3"},
	{"main thread at work", `exec python3 -c '
import sys,threading,time
threading.Thread(target=sys.stdin.readline,daemon=True).start()
print("up", flush=True); time.sleep(1000)'`, "python3"},
	{"parent that takes commands", `exec node -e '
process.stdin.on("data", () => {}); console.log("type rs to restart")
require("child_process").spawn(process.execPath, ["-e", "require(\"net\").createServer().listen(0, \"127.0.0.1\")"], {stdio: ["pipe", "inherit", "inherit"]})'`, "node"},
	{"monitor", `exec python3 -c '
import select,sys
while True:
  print(end="\033[H\033[J12:00 load\n\n  PID COMMAND\033[3;1H", flush=True); select.select([0], [], [], 3)'`, "python3"},
	{"no input", `exec 0</dev/null; sleep 1000`, ""},
}

func waitSpec(t *testing.T, script, need string, tty bool) (Spec, bool) {
	t.Helper()
	if need != "" {
		if _, err := exec.LookPath(need); err != nil {
			t.Logf("%s is not here: %q is not tried", need, script)
			return Spec{}, false
		}
		if _, err := user.LookupId(strconv.Itoa(os.Getuid())); err != nil && need == "ssh-keygen" {
			t.Logf("%s works for nobody whom it does not know by name: %q is not tried: %v", need, script, err)
			return Spec{}, false
		}
	}
	s := spec(script)
	dir := t.TempDir()
	s.Env = append(s.Env, "DIR="+dir)
	s.TTY, s.OpenStdin = tty, !tty
	return s, true
}

// together runs the checks at the same time: they only wait.
func together(t *testing.T, n int, check func(k int)) {
	t.Helper()
	var all sync.WaitGroup
	slots := make(chan struct{}, 12)
	for k := range n {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			check(k)
		})
	}
	all.Wait()
}

// TestWaiting: who waits for input is found within a second.
func TestWaiting(t *testing.T) {
	r := registry(t)
	check := func(name, script, program, last, need string, tty bool) {
		s, ok := waitSpec(t, script, need, tty)
		if !ok {
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		j, err := r.Start(ctx, s)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		defer func() { _, _ = j.Kill(context.Background(), 0) }()
		i, err := j.Wait(ctx, WaitFor{Input: true})
		if err != nil || i.State != Running || i.Waiting == nil {
			t.Errorf("%s tty=%v: %+v %v", name, tty, i, err)
			return
		}
		w := i.Waiting
		if !strings.HasPrefix(w.Program, program) || !strings.HasPrefix(w.LastLine, last) || w.Pid == 0 {
			t.Errorf("%s tty=%v: %+v", name, tty, w)
		}
		if asks := name == "password" || name == "ssh-keygen"; asks != w.Secret && !strings.Contains("shell repl pager editor node debugger more", name) {
			t.Errorf("%s tty=%v: %+v", name, tty, w)
		}
		if i, err := j.Live(context.Background()); err != nil || i.Waiting == nil || i.Waiting.Pid != w.Pid {
			t.Errorf("%s tty=%v asked again: %+v %v", name, tty, i, err)
		}
	}
	together(t, 2*len(waits)+len(terminals), func(k int) {
		if k < 2*len(waits) {
			c := waits[k/2]
			check(c.name, c.script, c.program, c.last, c.need, k%2 == 1)
			return
		}
		c := terminals[k-2*len(waits)]
		check(c.name, c.script, c.program, c.last, c.need, true)
	})
}

// TestNotWaiting: who does something else, or serves, does not wait.
func TestNotWaiting(t *testing.T) {
	r := registry(t)
	together(t, 2*len(busy), func(k int) {
		c := busy[k/2]
		s, ok := waitSpec(t, c.script, c.need, k%2 == 1)
		if !ok {
			return
		}
		j, err := r.Start(t.Context(), s)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			return
		}
		defer func() { _, _ = j.Kill(context.Background(), 0) }()
		ctx, cancel := context.WithTimeout(t.Context(), 1200*time.Millisecond)
		defer cancel()
		if i, err := j.Wait(ctx, WaitFor{Input: true}); err != nil || i.State != Running || i.Waiting != nil {
			t.Errorf("%s tty=%v: %+v %+v %v", c.name, k%2 == 1, i, i.Waiting, err)
		}
	})
}

// TestNotWoken: who was sent something and has not been woken yet does not wait.
func TestNotWoken(t *testing.T) {
	path := t.TempDir()
	if err := os.Chmod(path, 0o700); err != nil {
		t.Fatal(err)
	}
	dir, err := safefile.OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	cmd := exec.Command("sh", "-c", "while read -r line; do :; done")
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	tree, err := killtree.Options{}.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.End(0)
	s := &supervisor{dir: dir, run: &running{tree: tree, input: input.(*os.File)}, info: Info{State: Running, OpenStdin: true}}
	waits := func() bool { return s.blocked(tree.Members()).waits }
	for deadline := time.Now().Add(time.Minute); !waits(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it never waits")
		}
	}
	s.wakes(nil)
	if !waits() {
		t.Error("nothing wakes it, and it does not wait")
	}
	s.wakes([]byte("a line\n"))
	for range 3 {
		if b := s.blocked(tree.Members()); b.waits || b.reads {
			t.Fatalf("it was sent a line, and waits as before: %+v", b)
		}
	}
	if _, err := input.Write([]byte("a line\n")); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); !waits(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it has taken the line, and does not wait again")
		}
	}
}

// TestPasses: what a terminal keeps, or takes for itself, wakes nobody.
func TestPasses(t *testing.T) {
	pipe, lines, raw := source{}, source{tty: true, lines: true, ends: "\n\r\x04"}, source{tty: true}
	for _, c := range []struct {
		src  source
		text string
		want bool
	}{
		{pipe, "", false},
		{pipe, "x", true},
		{lines, "x", false},
		{lines, "x\r", true},
		{lines, "x\ny", true},
		{lines, "\x04", true},
		{lines, "\x03", false},
		{source{tty: true, lines: true, ends: "\n"}, "x\r", false},
		{raw, "x", true},
		{raw, "\x1b", true},
		{raw, "\x03", false},
		{raw, "\x1a\x13", false},
		{raw, "\x03x", true},
	} {
		if got := c.src.passes([]byte(c.text)); got != c.want {
			t.Errorf("%+v %q: %v", c.src, c.text, got)
		}
	}
}

// TestStillness: who is ready to run and gets next to no processor time is not
// quiet, who looks around now and then is, and so is who has done its work.
func TestStillness(t *testing.T) {
	for _, c := range []struct {
		name, states string // over and over again
		quiet        bool
	}{
		{"starved", "R", false},
		{"starved beside a disk", "RSD", false},
		{"asleep", "S", true},
		{"looks around", "SSSRSSSS", true},
		{"has worked and sleeps", strings.Repeat("R", 30) + strings.Repeat("S", 30), true},
	} {
		var q stillness
		quiet, now := false, time.Unix(1, 0)
		for i := range 60 {
			members := []killtree.Process{{State: 'S'}, {State: c.states[i%len(c.states)], CPU: time.Duration(i) * time.Millisecond}}
			quiet = q.look(now, 10, members)
			now = now.Add(sampling)
		}
		if quiet != c.quiet {
			t.Errorf("%s: quiet %v", c.name, quiet)
		}
	}
}

// TestQuiet: who waits for news gets them when there are no more for a moment, and
// not while the job works.
func TestQuiet(t *testing.T) {
	r := registry(t)
	cases := []struct {
		script string
		quiet  bool
	}{
		{`for i in 1 2 3; do echo $i; sleep 0.3; done; exec sleep 1000`, true},
		{`echo compiling; while :; do :; done`, false},
		{`echo parent; (while :; do :; done)`, false},
		{`while :; do echo again; sleep 0.3; done`, false},
		{`sleep 1000`, false},
	}
	together(t, len(cases), func(k int) {
		c := cases[k]
		limit := 20 * time.Second
		if !c.quiet {
			limit = 2*quietFor + time.Second/2
		}
		j, err := r.Start(t.Context(), spec(c.script))
		if err != nil {
			t.Errorf("%s: %v", c.script, err)
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		i, err := j.Wait(ctx, WaitFor{Quiet: true})
		if early := ctx.Err() == nil; err != nil || early != c.quiet || i.State != Running {
			t.Errorf("%s: quiet %v, %+v %v", c.script, early, i, err)
		}
		if c.quiet {
			if got, err := j.Read(ctx, Query{}); err != nil || string(got.Data) != "1\n2\n3\n" {
				t.Errorf("%q %v", got.Data, err)
			}
			// It is still quiet, but nothing has come.
			short, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
			if _, err := j.Wait(short, WaitFor{Quiet: true, From: i.Total}); err != nil || short.Err() == nil {
				t.Errorf("returned without news: %v", err)
			}
			cancel()
		}
		cancel()
		_, _ = j.Kill(context.Background(), 0)
	})
}

// TestUntil: a line is found in what was printed before and what comes, whole or
// not, without its colours, and in what an ended job has printed.
func TestUntil(t *testing.T) {
	r := registry(t)
	j := begin(t, r, spec(`echo start; sleep 0.3; printf 'Local: \033[36mhttp://localhost:\033[1m5173\033[0m/'; sleep 1000`))
	wait := func(pattern string, from int64, limit time.Duration) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		i, err := j.Wait(ctx, WaitFor{Until: regexp.MustCompile(pattern), From: from})
		if err != nil {
			t.Error(err)
		}
		if i.Found == nil {
			return ""
		}
		return *i.Found
	}
	if got := wait(`http://.*\d`, 0, 2*time.Minute); got != "Local: http://localhost:5173/" {
		t.Errorf("%q", got)
	}
	if got := wait(`^start$`, 0, 2*time.Minute); got != "start" {
		t.Errorf("%q", got)
	}
	if got := wait(`^start$`, 6, 300*time.Millisecond); got != "" {
		t.Errorf("%q was printed before", got)
	}
	if _, err := j.Kill(t.Context(), 0); err != nil {
		t.Error(err)
	}
	if got := wait(`tar`, 0, time.Second); got != "start" {
		t.Errorf("after its end: %q", got)
	}
	i, k, err := r.Run(t.Context(), spec(`echo one; echo listening; exec sleep 1000`), time.Minute, WaitFor{Until: regexp.MustCompile("^listen")}, Output{})
	if err != nil || k == nil || i.State != Running || i.Found == nil || *i.Found != "listening" {
		t.Errorf("%+v %v", i, err)
	}
}

// TestWaitingTime: a call that would wait for input for ever becomes a job
// within a second of asking.
func TestWaitingTime(t *testing.T) {
	r := registry(t)
	s := spec(`echo -n 'sure? '; read -r x; echo "$x"`)
	s.TTY = true
	began := time.Now()
	i, j, err := r.Run(t.Context(), s, time.Minute, WaitFor{Input: true}, Output{})
	if err != nil || j == nil || i.Waiting == nil || i.Waiting.LastLine != "sure?" {
		t.Fatalf("%+v %v", i, err)
	}
	t.Logf("after %v", time.Since(began))
	if err := j.Input(context.Background(), []byte("yes"), []string{"\r"}, false); err != nil {
		t.Fatal(err)
	}
	if i := finish(t, j); i.State != Completed || !strings.HasSuffix(text(t, j, Query{}), "yes\r\nyes\r\n") {
		t.Errorf("%+v %q", i, text(t, j, Query{}))
	}
}

// TestAsOther runs the jobs' tests as an ordinary user.
func TestAsOther(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become someone else")
	}
	//nolint:usetesting // the other user must be able to enter its parents
	dir, err := os.MkdirTemp("", "job")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chown(dir, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "agent")
	if err := os.WriteFile(file, data, 0o755); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(file, "-test.run=^(TestJob|TestInput|TestKeep|TestSupervisorKilled|TestWaiting|TestWaitingTime)$", "-test.v")
	c.Env, c.Dir = []string{"PATH=/usr/bin:/bin", "TMPDIR=" + dir, "HOME=" + dir}, dir
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := c.CombinedOutput()
	if err != nil || strings.Count(string(out), "--- PASS: Test") < 6 {
		t.Errorf("%v\n%s", err, out)
	}
}
