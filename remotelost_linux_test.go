package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agentkit-go/agentkit/pkg/sandbox"
)

// A farResult is what a call over a connection that may be lost says.
type farResult struct {
	Output   string
	Metadata struct {
		On, Job, Status string
		Repeated        bool
	}
	Error struct{ Code, Message, Hint string }
}

func (p *farHost) result(out []byte) (r farResult) {
	p.t.Helper()
	if err := json.Unmarshal(out, &r); err != nil {
		p.t.Fatalf("%v: %s", err, out)
	}
	return r
}

// withWords are the processes with all these words in their command lines.
func withWords(words ...string) (list []int) {
	found, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range found {
		text, _ := os.ReadFile(name) // it may just have ended
		line := strings.ReplaceAll(string(text), "\x00", " ")
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(line, w) }) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			list = append(list, pid)
		}
	}
	return list
}

// eventually waits until something is so.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 3000 {
		if is() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("not so in 30 s: %s", what)
}

// shellHost is a far end of a shell on this machine, behind a program that counts how often it was
// started.
func shellHost(t *testing.T) *farHost {
	t.Helper()
	p := newFarHost(t)
	p.put("lead", "#!/bin/sh\necho $$ >>DIR/starts\ncd DIR/root && exec env -i HOME=DIR/home PATH='"+os.Getenv("PATH")+"' sh\n", 0o700)
	p.on = "exec:" + p.dir + "/lead"
	return p
}

func (p *farHost) starts() []int {
	text, _ := os.ReadFile(filepath.Join(p.dir, "starts")) // there may be none yet
	var list []int
	for word := range strings.FieldsSeq(string(text)) {
		n, err := strconv.Atoi(word)
		if err != nil {
			p.t.Fatal(err)
		}
		list = append(list, n)
	}
	return list
}

// sockets are those of kept connections, when there are as many as wanted.
func (p *farHost) sockets(want int) (list []string) {
	p.t.Helper()
	dir := filepath.Join(p.dir, "ours/.local/state/agentkit/kept")
	eventually(p.t, fmt.Sprintf("%d connections are kept", want), func() bool {
		all, _ := filepath.Glob(dir + "/*")
		list = slices.DeleteFunc(all, func(name string) bool { return filepath.Ext(name) != "" })
		return len(list) == want
	})
	return list
}

// TestRemoteKept: one connection serves the calls that follow the first one, as long as they are
// told the same at the far end; others never see it.
func TestRemoteKept(t *testing.T) {
	t.Parallel()
	long(t)
	if sandbox.Probe().Level < sandbox.L3 {
		t.Skip("SKIPPED: this machine reaches no sandbox of level 3")
	}
	p := shellHost(t)
	if out, status := p.run("write", "a.txt", "one\n"); status != 0 {
		t.Fatalf("%s", out)
	}
	one := p.sockets(1)[0]
	if info, err := os.Stat(one); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
	if info, err := os.Stat(filepath.Dir(one)); err != nil || info.Mode().Perm() != 0o700 {
		t.Error(info, err)
	}
	for range 3 {
		if out, status := p.run("read", "a.txt"); status != 0 || p.result(out).Output != "1\tone\n" || p.result(out).Metadata.On != p.on {
			t.Errorf("%d %s", status, out)
		}
	}
	if out, status := p.run("bash", "echo x; exit 7"); status != 7 || p.result(out).Output != "x\n[exit status 7]\n" {
		t.Errorf("%d %s", status, out)
	}
	if n := len(p.starts()); n != 2 {
		t.Errorf("the far end was started %d times, want 2: for the first call, and to be kept", n)
	}

	// Who hears all that is printed has a connection of his own, and slows down nobody.
	if out, status := p.run("-o", "events", "bash", "echo x"); status != 0 || !strings.Contains(string(out), `{"event":"output","text":"x`) {
		t.Errorf("%d %s", status, out)
	}
	if n := len(p.starts()); n != 3 {
		t.Errorf("the far end was started %d times, want 3", n)
	}

	// Whoever goes away has ended what he called.
	c := p.command("bash", "--timeout-ms", "30000", "echo $$ >pid; sleep 300")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	pid := waitForPid(t, filepath.Join(p.dir, "root", "pid"))
	_ = c.Process.Kill()
	_ = c.Wait()
	ends(t, pid)

	// Another policy or environment has a far end of its own.
	if out, status := p.run("--profile", "readonly", "write", "b.txt", "x"); status != 126 {
		t.Errorf("%d %s", status, out)
	}
	p.sockets(2)
	c = p.command("read", "a.txt")
	c.Env = append(c.Env, "DOCKER_HOST=elsewhere")
	if out, err := c.Output(); err != nil {
		t.Errorf("%v %s", err, out)
	}
	p.sockets(3)
	if n := len(p.starts()); n != 7 {
		t.Errorf("the far end was started %d times, want 7", n)
	}

	// A question comes to whoever made the call, with the target's name.
	p.put("ours/ask.yaml", "version: 1\nask:\n  - bash(touch *)\n", 0o600)
	p.put("yes", "#!/bin/sh\ncat >DIR/request\necho '{\"decision\":\"allow\"}'\n", 0o700)
	policy := filepath.Join(p.dir, "ours/ask.yaml")
	if out, status := p.run("--policy", policy, "bash", "touch asked"); status != 126 {
		t.Errorf("%d %s", status, out)
	}
	p.sockets(4)
	for _, name := range []string{"asked", "again"} {
		if out, status := p.run("--policy", policy, "--ask=cmd:"+p.dir+"/yes", "bash", "touch "+name); status != 0 {
			t.Errorf("%d %s", status, out)
		}
	}
	if text, err := os.ReadFile(filepath.Join(p.dir, "request")); err != nil || !strings.Contains(string(text), `"on":"`+p.on) {
		t.Errorf("%v %s", err, text)
	}
	if n := len(p.starts()); n != 9 {
		t.Errorf("the far end was started %d times, want 9", n)
	}

	// Where the keeper is killed, the next call opens a connection itself.
	for _, keeper := range withWords("serve --keep", p.dir) {
		_ = syscall.Kill(keeper, syscall.SIGKILL)
	}
	if out, status := p.run("read", "a.txt"); status != 0 {
		t.Errorf("%d %s", status, out)
	}
	// A keeper whose socket is gone ends.
	_ = os.RemoveAll(filepath.Dir(one))
	eventually(t, "no keeper is left", func() bool { return len(withWords("serve --keep", p.dir)) == 0 })
}

// TestRemoteLost: a call whose connection is lost is asked for again, and not made twice.
func TestRemoteLost(t *testing.T) {
	t.Parallel()
	long(t)
	p := shellHost(t)
	call := func(script string, kill func()) (farResult, int) {
		t.Helper()
		pid := filepath.Join(p.dir, "root", "pid")
		_ = os.Remove(pid)
		c := p.command("--state", filepath.Join(p.dir, "ours", strings.Repeat("long", 30)), "bash", "--timeout-ms", "10000", script)
		var said strings.Builder
		c.Stdout = &said
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		n := waitForPid(t, pid)
		kill()
		_ = c.Wait()
		ends(t, n)
		return p.result([]byte(said.String())), c.ProcessState.ExitCode()
	}
	last := func() int { return p.starts()[len(p.starts())-1] }
	once := func() {
		t.Helper()
		if text, err := os.ReadFile(filepath.Join(p.dir, "root", "x")); err != nil || string(text) != "x\n" {
			t.Errorf("%q %v", text, err)
		}
		_ = os.Remove(filepath.Join(p.dir, "root", "x"))
	}
	// The far end is killed: nobody knows what the command has done.
	r, status := call("echo x >>x; echo $$ >pid; sleep 300", func() { _ = syscall.Kill(last(), syscall.SIGKILL) })
	if status != 130 || r.Error.Code != "interrupted" || !strings.Contains(r.Error.Message, "was cut off") || !r.Metadata.Repeated || r.Metadata.On != p.on {
		t.Errorf("%d %+v", status, r)
	}
	once()
	// The way there is gone for good: the error has the key that tells more later on.
	r, status = call("echo x >>x; echo $$ >pid; sleep 300", func() {
		_ = os.Rename(filepath.Join(p.dir, "lead"), filepath.Join(p.dir, "lost"))
		_ = syscall.Kill(last(), syscall.SIGKILL)
	})
	if status != 125 || r.Error.Code != "network" || !strings.Contains(r.Error.Message, "may have been made") {
		t.Errorf("%d %+v", status, r)
	}
	once()
	_, key, _ := strings.Cut(r.Error.Hint, "--idempotency-key ")
	key, _, _ = strings.Cut(key, " ")
	_ = os.Rename(filepath.Join(p.dir, "lost"), filepath.Join(p.dir, "lead"))
	out, status := p.run("--idempotency-key", key, "bash", "--timeout-ms", "10000", "echo x >>x; echo $$ >pid; sleep 300")
	if r = p.result(out); status != 130 || !r.Metadata.Repeated {
		t.Errorf("%q: %d %+v", key, status, r)
	}
	_ = os.RemoveAll(filepath.Join(p.dir, "ours"))
}

// TestRemoteKills: the connection, its keeper and the far end are killed at any moment of a call.
// No call is made twice, and what its result says is so; jobs live on, and nothing else does.
func TestRemoteKills(t *testing.T) {
	t.Parallel()
	long(t)
	kills := 5
	if n, err := strconv.Atoi(os.Getenv("KILLS")); err == nil {
		kills = n
	}
	p := sshHost(t)
	root := filepath.Join(p.dir, "root")
	if out, status := p.run("bash", "--background", "sleep 3000"); status != 0 {
		t.Fatalf("%s", out)
	}
	begun := time.Now()
	p.run("bash", "true")
	usual := time.Since(begun)
	told, jobs := map[string]int{}, 1
	far := filepath.Join(p.dir, "home", "state", "agentkit", "far")
	for i := range kills {
		if i%10 == 3 {
			_ = os.RemoveAll(far) // the program is carried again
		}
		name := fmt.Sprint("n", i)
		args := []string{"bash", "--timeout-ms", "30000", "echo x >>" + name + "; sleep 0.05; echo y >>" + name}
		job := i%5 == 4
		if job {
			args = []string{"bash", "--background", "echo x >>" + name + "; sleep 3000"}
		}
		c := p.command(args...)
		var said strings.Builder
		c.Stdout = &said
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		moment := usual + 100*time.Millisecond
		if i%2 == 0 { // while it runs, not while the way there is opened
			eventually(t, "the call has begun", func() bool {
				_, err := os.Stat(filepath.Join(root, name))
				return err == nil
			})
			moment = 80 * time.Millisecond
		}
		time.Sleep(rand.N(moment))
		victims := slices.Concat(withWords("ssh_config", p.dir), withWords("serve --keep", p.dir), withWords("serve --stdio --carried", p.dir))
		if len(victims) > 0 {
			_ = syscall.Kill(victims[rand.N(len(victims))], syscall.SIGKILL)
		}
		_ = c.Wait()
		r := p.result([]byte(said.String()))
		text, _ := os.ReadFile(filepath.Join(root, name)) // it may not have begun
		told[r.Error.Code]++
		switch {
		case job && r.Error.Code == "":
			jobs++
			eventually(t, "the job has begun", func() bool {
				text, _ = os.ReadFile(filepath.Join(root, name))
				return string(text) == "x\n"
			})
		case r.Error.Code == "":
			if string(text) != "x\ny\n" {
				t.Errorf("%d: done, and it has written %q: %s", i, text, said.String())
			}
		case r.Error.Code != "network" && r.Error.Code != "interrupted":
			t.Errorf("%d: %s", i, said.String())
		case (strings.Contains(r.Error.Message, "nothing was run") || strings.Contains(r.Error.Message, "getting through")) && len(text) > 0:
			t.Errorf("%d: it has written %q: %s", i, text, said.String())
		case strings.Count(string(text), "x") > 1:
			t.Errorf("%d: it was made twice: %s", i, said.String())
		}
	}
	t.Logf("%d kills, results by error: %v", kills, told)
	time.Sleep(100 * time.Millisecond)
	for i := range kills { // nothing begins when its result is out
		if text, _ := os.ReadFile(filepath.Join(root, fmt.Sprint("n", i))); strings.Count(string(text), "x") > 1 {
			t.Errorf("%d was made twice", i)
		}
	}
	out, status := p.run("jobs")
	if n := strings.Count(string(out), `"status":"running"`); status != 0 || n < jobs {
		t.Errorf("%d jobs live on, want %d: %s", n, jobs, out)
	}
	p.run("kill", "--all")
	_ = os.RemoveAll(filepath.Join(p.dir, "ours/.local/state/agentkit/kept"))
	eventually(t, "nothing is left at the far end", func() bool {
		parts, _ := filepath.Glob(filepath.Join(far, ".new-*"))
		return len(parts) == 0 && len(withWords("serve --keep", p.dir)) == 0 && len(withWords(filepath.Join(p.dir, "home", "state"))) == 0
	})
}
