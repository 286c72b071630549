package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// often is how many times a test repeats what chance may decide: few times
// here, many where AGENTKIT_SOAK is set.
func often(few, many int) int {
	if os.Getenv("AGENTKIT_SOAK") != "" {
		return many
	}
	return few
}

// A host runs the real binary in a directory of its own, with the profile
// open, and marks what it starts.
type host struct {
	t        *testing.T
	agentkit string
	dir      string
	mark     string // stands in the environment of everything started
}

// TestProcesses starts real commands and looks at the process table, at all that its
// own process has started: so it runs in one of its own, beside the other tests.
func TestProcesses(t *testing.T) {
	long(t)
	agentkit := os.Getenv("PROCESSES")
	if agentkit == "" {
		t.Parallel()
		pattern := "^TestProcesses$"
		if run := flag.Lookup("test.run").Value.String(); strings.Contains(run, "TestProcesses") {
			pattern = run
		}
		own := filepath.Join(t.TempDir(), "agentkit") // by which its processes are told from those of other tests
		install(t, own)
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run", pattern)
		c.Env = append(os.Environ(), "PROCESSES="+own)
		out, err := c.CombinedOutput()
		t.Logf("%s", out)
		if err != nil || !bytes.Contains(out, []byte("--- PASS: TestProcesses/NothingSurvives")) && pattern == "^TestProcesses$" {
			t.Errorf("the tests in a process of their own: %v", err)
		}
		return
	}
	for _, test := range []struct {
		name string
		run  func(*testing.T, *host)
	}{
		{"NothingSurvives", nothingSurvives},
		{"TimeLimitEndsAll", timeLimitEndsAll},
		{"KilledByForce", killedByForce},
		{"KilledAtOnce", killedAtOnce},
		{"Interrupted", interrupted},
		{"TwiceInterrupted", twiceInterrupted},
		{"NothingLost", nothingLost},
		{"JobOutlivesStarter", jobOutlivesStarter},
		{"ManyJobs", manyJobs},
		{"NothingToCollect", nothingToCollect},
		{"EndedHasAll", endedHasAll},
		{"OthersRights", othersRights},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, newHost(t, agentkit)) })
	}
}

func newHost(t *testing.T, agentkit string) *host {
	h := &host{t: t, agentkit: agentkit, dir: t.TempDir()}
	h.mark = "AGENT_TEST_MARK=" + filepath.Base(filepath.Dir(h.dir)) + strconv.Itoa(os.Getpid())
	t.Cleanup(func() {
		for _, pid := range h.survivors() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return h
}

func (h *host) command(args ...string) *exec.Cmd {
	c := exec.Command(h.agentkit, append([]string{"--profile", "open", "--root", h.dir, "--state", filepath.Join(h.dir, ".state")}, args...)...)
	c.Env = append(os.Environ(), h.mark, "HOME="+h.dir, "XDG_CONFIG_HOME="+filepath.Join(h.dir, ".config"))
	return c
}

// An answer is what a call printed.
type answer struct {
	Output   string
	Metadata struct {
		ExitCode   *int   `json:"exit_code"`
		Status     string `json:"status"`
		Job        string `json:"job"`
		SpillPath  string `json:"spill_path"`
		TotalBytes int64  `json:"total_bytes"`
		Incomplete string `json:"incomplete"`
		Killed     bool   `json:"killed"`
		DurationMS int64  `json:"duration_ms"`
		KillMethod string `json:"kill_method"`
	}
	Error *struct{ Code, Message string }
}

func (h *host) call(args ...string) (answer, *os.ProcessState) {
	h.t.Helper()
	c := h.command(args...)
	out, err := c.Output()
	var a answer
	if bad := json.Unmarshal(out, &a); bad != nil {
		h.t.Fatalf("%v: %v, %v: %q", args, err, bad, out)
	}
	return a, c.ProcessState
}

// measured is call, and the most memory that agentkit itself was seen to have,
// in KiB.
func (h *host) measured(args ...string) (a answer, most int) {
	h.t.Helper()
	c := h.command(args...)
	var out bytes.Buffer
	c.Stdout = &out
	if err := c.Start(); err != nil {
		h.t.Fatal(err)
	}
	held := highWater(c.Process.Pid)
	_ = c.Wait()
	most = int(held() >> 10)
	if err := json.Unmarshal(out.Bytes(), &a); err != nil {
		h.t.Fatalf("%v: %v: %q", args, err, out.Bytes())
	}
	return a, most
}

// survivors are the processes that carry the mark, without the zombies.
func (h *host) survivors() []int {
	var list []int
	names, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range names {
		environ, err := os.ReadFile(name)
		if err == nil && bytes.Contains(environ, []byte(h.mark)) {
			pid, _ := strconv.Atoi(strings.Split(name, "/")[2])
			list = append(list, pid)
		}
	}
	return list
}

// gone waits until nothing with the mark is left.
func (h *host) gone(what string) {
	h.t.Helper()
	for range 2000 {
		if len(h.survivors()) == 0 {
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	for _, pid := range h.survivors() {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		h.t.Errorf("%s: process %d survived: %q", what, pid, line)
	}
}

// escapes are the ways in which a process leaves its group, session or parent.
func escapes() []string {
	racers := often(sampled(30, 60), 500)
	return []string{
		`sleep 97 & echo hi`,
		`nohup sleep 97 >/dev/null 2>&1 & echo hi`,
		`setsid sleep 97 & echo hi`,
		`(setsid sleep 97 &) ; echo hi`,
		`sleep 97 & disown; echo hi`,
		`trap "" HUP TERM INT; (sleep 97; sleep 97) & echo hi`,
		`python3 -c 'import os,time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.chdir("/"); [os.close(i) for i in range(3)]; time.sleep(97)
    os._exit(0)
os.wait()
print("hi")'`,
		fmt.Sprintf(`python3 -c 'import os,time
n = 0
while n < %d:
    n += 1
    if os.fork() == 0:
        if n %% 3 == 0: os.setsid()
        if n %% 5 == 0 and os.fork() != 0: os._exit(0)
        time.sleep(97); os._exit(0)
print("hi", flush=True)'`, racers),
	}
}

// nothingSurvives: what a command leaves running does not hold the call,
// and is gone when it returns.
func nothingSurvives(t *testing.T, h *host) {
	for range often(1, 20) {
		for _, script := range escapes() {
			begin := time.Now()
			a, _ := h.call("bash", script, "--allow", "bash(python3 *)", "--ask=cmd:"+yes(h))
			took := time.Since(begin)
			if !strings.HasPrefix(a.Output, "hi\n[it left") || !a.Metadata.Killed || took > 80*time.Second {
				t.Errorf("%.60q: %+v after %v", script, a, took)
			}
			t.Logf("%v: %v after the shell's end: %.40q", a.Metadata.KillMethod, took.Round(time.Millisecond)-time.Duration(a.Metadata.DurationMS)*time.Millisecond, script)
			h.gone(script)
		}
	}
}

// yes writes a program that agrees to everything.
func yes(h *host) string {
	name := filepath.Join(h.dir, "yes")
	if err := os.WriteFile(name, []byte("#!/bin/sh\necho '{\"decision\":\"allow\"}'\n"), 0o755); err != nil {
		h.t.Fatal(err)
	}
	return name
}

// timeLimitEndsAll: the same when the time limit ends the command.
func timeLimitEndsAll(t *testing.T, h *host) {
	for _, script := range escapes() {
		a, state := h.call("bash", "--timeout-ms", "900", script+"; sleep 97", "--ask=cmd:"+yes(h))
		if a.Metadata.Status != "timed_out" || state.ExitCode() != 124 || a.Error == nil || a.Error.Code != "timeout" {
			t.Errorf("%.60q: %d %+v", script, state.ExitCode(), a)
		}
		h.gone(script)
	}
}

// started starts a call and returns when its command has printed "ready".
func (h *host) started(args ...string) (c *exec.Cmd, rest func() string) {
	h.t.Helper()
	c = h.command(append([]string{"-o", "events"}, args...)...)
	pipe, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		h.t.Fatal(err)
	}
	lines := bufio.NewReader(pipe)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			h.t.Fatalf("%v: it ended: %v", args, err)
		}
		if strings.Contains(line, `"event":"output"`) && strings.Contains(line, "ready") {
			break
		}
	}
	return c, func() string {
		all, _ := io.ReadAll(lines)
		return string(all)
	}
}

// killedByForce: agentkit killed by SIGKILL leaves no child behind.
func killedByForce(t *testing.T, h *host) {
	for range often(3, 200) {
		c, _ := h.started("bash", "setsid sleep 97 & (trap '' TERM HUP; sleep 97) & echo ready; sleep 97")
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait()
		h.gone("kill -9")
	}
}

// killedAtOnce: at whatever moment of its start agentkit is killed, nothing of
// it stays.
func killedAtOnce(t *testing.T, h *host) {
	adopt(t)
	for i := range often(sampled(20, 40), 400) {
		c := h.command("bash", "sleep 97", "--sandbox", []string{"auto", "off"}[i%2])
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(i%20) * 2 * time.Millisecond)
		_ = c.Process.Kill()
		_ = c.Wait()
	}
	var left []string
	for range 100 {
		for pid := 1; pid > 0; {
			pid, _ = syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		}
		if left = children(); len(left) == 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("what stays: %q", left)
}

// adopt makes the test the parent of what loses its own.
func adopt(t *testing.T) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) })
}

// children lists the test's children, each as its number, name and state.
func children() (list []string) {
	all, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range all {
		stat, _ := os.ReadFile(name) // it may just have ended
		if i := bytes.LastIndexByte(stat, ')'); i > 0 && len(stat) > i+4 && bytes.HasPrefix(stat[i+3:], fmt.Appendf(nil, " %d ", os.Getpid())) {
			list = append(list, string(stat[:i+3]))
		}
	}
	return list
}

// interrupted: a signal to agentkit ends the command with all it started,
// and there still is a result that holds what was printed until then.
func interrupted(t *testing.T, h *host) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		c, rest := h.started("bash", "setsid sleep 97 & echo ready; sleep 97")
		if err := c.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(rest()), "\n")
		_ = c.Wait()
		var a answer
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &a); err != nil {
			t.Fatal(err)
		}
		if a.Error == nil || a.Error.Code != "interrupted" || a.Metadata.Status != "aborted" || !strings.Contains(a.Output, "ready") || c.ProcessState.ExitCode() != 128+int(s) {
			t.Errorf("%v: exit status %d, %+v", s, c.ProcessState.ExitCode(), a)
		}
		h.gone(s.String())
	}
}

// twiceInterrupted: who asks a second time waits no longer for a command that
// does not end, and gets its result all the same.
func twiceInterrupted(t *testing.T, h *host) {
	for _, how := range [][]string{nil, {"--yield-ms", "60000"}} {
		c, rest := h.started(append([]string{"bash", "trap 'touch asked' TERM; trap : INT HUP; rm -f asked; echo ready; while :; do sleep 97; done", "--grace-ms", "60000", "--ask=cmd:" + yes(h)}, how...)...)
		if err := c.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		for range 1000 { // two that come at once are one
			if _, err := os.Stat(filepath.Join(h.dir, "asked")); err == nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if err := c.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		lines := strings.Split(strings.TrimSpace(rest()), "\n")
		_ = c.Wait()
		var a answer
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &a); err != nil {
			t.Fatalf("%v: %v %q", how, err, lines)
		}
		if a.Error == nil || a.Error.Code != "interrupted" || a.Metadata.Status != "aborted" || c.ProcessState.ExitCode() != 130 || time.Since(begin) > 50*time.Second {
			t.Errorf("%v: exit status %d after %v, %+v", how, c.ProcessState.ExitCode(), time.Since(begin), a)
		}
		h.gone("SIGINT twice")
	}
}

// nothingLost: every byte of a long output is in the spill file, and the
// memory of agentkit stays small.
func nothingLost(t *testing.T, h *host) {
	check := func(n int) {
		t.Helper()
		a, memory := h.measured("bash", fmt.Sprintf("seq 1 %d", n))
		want := sha256.New()
		w := bufio.NewWriterSize(want, 1<<16)
		size := int64(0)
		for i := 1; i <= n; i++ {
			k, _ := w.WriteString(strconv.Itoa(i) + "\n")
			size += int64(k)
		}
		_ = w.Flush()
		f, err := os.Open(a.Metadata.SpillPath)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		got := sha256.New()
		if _, err := io.Copy(got, f); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Sum(nil), want.Sum(nil)) || a.Metadata.TotalBytes != size || a.Metadata.Incomplete != "" {
			t.Errorf("seq 1 %d: %d bytes of %d, %q, %s", n, a.Metadata.TotalBytes, size, a.Metadata.Incomplete, hex.EncodeToString(got.Sum(nil)))
		}
		switch {
		case memory > 32<<10:
			t.Errorf("seq 1 %d: %d KiB of memory", n, memory)
		case n > 1_000_000 && memory == 0:
			t.Error("the memory could not be measured")
		case n > 1_000_000:
			t.Logf("%d bytes: %d KiB of memory", size, memory)
		}
	}
	for range often(3, 1000) {
		check(200_000)
	}
	check(sampled(8_000_000, 20_000_000)) // 62,888,896 bytes, or 168,888,897
}

// jobOutlivesStarter: a job that was started by a call which was killed is
// found, read and ended by another one.
func jobOutlivesStarter(t *testing.T, h *host) {
	a, _ := h.call("bash", "--background", "echo one; while [ ! -e go ]; do sleep 0.02; done; echo two; sleep 97")
	c := h.command("output", a.Metadata.Job) // waits, and is killed meanwhile
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond)
	_ = c.Process.Kill()
	_ = c.Wait()
	if err := os.WriteFile(filepath.Join(h.dir, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		if b, _ := h.call("output", a.Metadata.Job, "--wait=false", "--offset", "0"); strings.Contains(b.Output, "one\ntwo\n") {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	b, _ := h.call("output", a.Metadata.Job, "--wait=false", "--offset", "0")
	if !strings.HasPrefix(b.Output, "one\ntwo\n") || b.Metadata.Status != "running" {
		t.Errorf("%+v", b)
	}
	if b, _ := h.call("kill", a.Metadata.Job); b.Metadata.Status != "aborted" {
		t.Errorf("%+v", b)
	}
	h.gone("kill")
}

// nothingToCollect: what ended with a call is collected by it, and does not
// wait for whoever adopts orphans: in a container that may be nobody.
func nothingToCollect(t *testing.T, h *host) {
	adopt(t)
	for range often(10, 100) {
		h.call("bash", "true")
		h.call("bash", "sleep 77 & true")
		h.call("bash", "exit 3", "--sandbox", "auto")
		h.call("bash", "true", "--keep")
		h.call("bash", "true", "--tty")
		h.call("bash", "true", "--yield-ms", "5000")
	}
	for _, c := range children() {
		if strings.HasSuffix(c, "Z") {
			t.Errorf("left to be collected: %s", c)
		}
	}
}

// endedHasAll: an answer that says that a job has ended has, with those before it,
// all that it printed.
func endedHasAll(t *testing.T, h *host) {
	for range often(20, 400) {
		a, _ := h.call("bash", "--background", "for i in 1 2 3 4 5 6 7 8; do echo l$i; sleep 0.004; done; echo last")
		all := ""
		for range 1000 {
			b, _ := h.call("output", a.Metadata.Job, "--wait=false")
			if all += b.Output; b.Metadata.Status != "running" {
				break
			}
		}
		if !strings.Contains(all, "\nlast\n") {
			t.Fatalf("%q", all[max(0, len(all)-200):])
		}
	}
}

// othersRights: without a sandbox an ordinary user has what rights a set-uid
// program gives, as in any terminal.
func othersRights(t *testing.T, h *host) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make a set-uid program")
	}
	raw, err := os.ReadFile("/usr/bin/id")
	if err != nil {
		t.Skip(err)
	}
	program := filepath.Join(h.dir, "id")
	for _, step := range []error{os.WriteFile(program, raw, 0o755), os.Chmod(program, 0o4755|os.ModeSetuid), os.Chown(h.dir, 1000, 1000)} {
		if step != nil {
			t.Fatal(step)
		}
	}
	for _, file := range []string{h.dir, h.agentkit} { // others come so far
		for dir := filepath.Dir(file); dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	c := exec.Command(program, "-u")
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 1000, Gid: 1000}}
	if out, err := c.Output(); strings.TrimSpace(string(out)) != "0" {
		t.Skipf("set-uid programs have no effect here: %q %v", out, err)
	}
	c = h.command("bash", program+" -u; stat -c %U /etc/passwd", "--sandbox", "off", "--allow", "bash("+program+" *)")
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 1000, Gid: 1000}}
	out, err := c.Output()
	var a answer
	if err != nil || json.Unmarshal(out, &a) != nil || a.Output != "0\nroot\n" {
		t.Errorf("%v %s", err, out)
	}
}

// manyJobs: many at once, each with a small supervisor, and one call ends
// them all.
func manyJobs(t *testing.T, h *host) {
	n := often(12, 200)
	var took []time.Duration
	for i := range n {
		begin := time.Now()
		if a, _ := h.call("bash", "--background", fmt.Sprintf("echo job %d; sleep 97", i)); a.Metadata.Job == "" {
			t.Fatalf("%+v", a)
		}
		took = append(took, time.Since(begin))
	}
	// On a busy machine, what a supervisor has forked is still to become its command.
	list := h.supervisors()
	for end := time.Now().Add(20 * time.Second); len(list) != n && time.Now().Before(end); list = h.supervisors() {
		time.Sleep(50 * time.Millisecond)
	}
	supervisors, private := len(list), 0
	for _, pid := range list {
		private += privateKB(pid)
	}
	slices.Sort(took)
	if supervisors != n || private/n > 8<<10 {
		t.Errorf("%d supervisors for %d jobs, %d KiB of private memory each", supervisors, n, private/max(supervisors, 1))
	}
	t.Logf("%d jobs: %d KiB of private memory for each supervisor; starting one took %v (median of whole calls)", n, private/max(supervisors, 1), took[n/2])
	h.call("kill", "all", "--grace-ms", "500")
	h.gone("kill all")
}

// supervisors are the processes of our binary that look after a job.
func (h *host) supervisors() []int {
	var list []int
	names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range names {
		line, err := os.ReadFile(name)
		if err == nil && bytes.HasPrefix(line, []byte(h.agentkit+"\x00__job")) {
			pid, _ := strconv.Atoi(strings.Split(name, "/")[2])
			list = append(list, pid)
		}
	}
	return list
}

// privateKB is the memory that nobody shares with a process, in KiB.
func privateKB(pid int) int {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0
	}
	kb := 0
	for line := range strings.Lines(string(raw)) {
		if f := strings.Fields(line); len(f) == 3 && strings.HasPrefix(f[0], "Private_") {
			n, _ := strconv.Atoi(f[1])
			kb += n
		}
	}
	return kb
}
