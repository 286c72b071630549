package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A stream is agentkit serve --stdio and its two ends.
type stream struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   io.Closer
	lines chan served
	hello map[string]any
	dir   string
}

// A served is a line that it writes.
type served struct {
	ID     json.RawMessage
	Event  string
	Value  json.RawMessage
	Result *struct {
		Output   string
		Metadata json.RawMessage
		Error    *struct{ Code, Message string }
	}
	raw string
}

func serving(t *testing.T, args ...string) *stream {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &stream{t: t, dir: filepath.Join(dir, "root"), lines: make(chan served, 4096)}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s.cmd = exec.Command(build(t), append([]string{"--root", s.dir, "--sandbox", "off"}, append(args, "serve", "--stdio")...)...)
	s.cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_STATE_HOME="+filepath.Join(dir, "state"), "XDG_CONFIG_HOME="+filepath.Join(dir, "config"))
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s.out, s.cmd.Stdout, s.cmd.Stderr = read, write, os.Stderr
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = write.Close()
	t.Cleanup(func() {
		_ = s.in.Close()
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		_ = read.Close()
	})
	first := make(chan struct{})
	go func() {
		defer close(s.lines)
		in := bufio.NewReader(read)
		for n := 0; ; n++ {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			if n == 0 {
				_ = json.Unmarshal([]byte(line), &s.hello)
				close(first)
				continue
			}
			l := served{raw: line}
			if err := json.Unmarshal([]byte(line), &l); err != nil {
				l.Event = "broken: " + line
			}
			s.lines <- l
		}
	}()
	select {
	case <-first:
	case <-time.After(time.Minute):
		t.Fatal("no first line")
	}
	return s
}

func (s *stream) send(format string, args ...any) {
	s.t.Helper()
	if _, err := fmt.Fprintf(s.in, format+"\n", args...); err != nil {
		s.t.Fatal(err)
	}
}

// next waits for a line that is wanted; others are passed over.
func (s *stream) next(wanted func(served) bool) served {
	s.t.Helper()
	limit := time.After(time.Minute)
	for {
		select {
		case l, ok := <-s.lines:
			switch {
			case !ok:
				s.t.Fatal("it has ended")
			case wanted(l):
				return l
			}
		case <-limit:
			s.t.Fatal("nothing comes")
		}
	}
}

func isResult(id string) func(served) bool {
	return func(l served) bool { return l.Result != nil && string(l.ID) == id }
}

func isEvent(id, event string) func(served) bool {
	return func(l served) bool { return l.Event == event && string(l.ID) == id }
}

// TestServe: who calls over a stream gets each result under its id, and what happens
// meanwhile; what is no message gets an error, and changes nothing.
func TestServe(t *testing.T) {
	s := serving(t)
	if s.hello["protocol"] != 1.0 || s.hello["root"] != s.dir || !slices.Contains(s.hello["tools"].([]any), any("read")) || s.hello["agentkit"] == "" || s.hello["level"] == "" {
		t.Errorf("the first line is %v", s.hello)
	}
	s.send(`{"protocol":1,"events":["start","ask"]}`)
	s.send(`{"id":{"a": 1},"name":"write","arguments":{"path":"a.txt","content":"one\n"}}`)
	s.next(isEvent(`{"a":1}`, "start"))
	if l := s.next(isResult(`{"a":1}`)); l.Result.Error != nil {
		t.Errorf("%s", l.raw)
	}
	s.send(`{"id":"r","name":"read","arguments":{"path":"a.txt"}}`)
	if l := s.next(isResult(`"r"`)); l.Result.Output != "1\tone\n" {
		t.Errorf("%s", l.raw)
	}
	for _, bad := range []struct{ line, id, code, says string }{
		{`hello`, "null", "bad_input", "invalid character"},
		{`{"id":1,"name":"read"} {}`, "1", "bad_input", "more than one value"},
		{`{"id":12,"name":"read","name":"write","arguments":{"path":"twice.txt","content":"x"}}`, "12", "bad_input", "no message: name: it stands twice"},
		{`{"id":13,"name":"read","NAME":"write","arguments":{"path":"twice.txt","content":"x"}}`, "13", "bad_input", "no message: NAME: it stands twice"},
		{`{"id":14,"name":"read"`, "null", "bad_input", "no message: it ends before it is whole"},
		{`{"id":15,"name":"` + strings.Repeat("r", 100_000) + `"}`, "15", "bad_input", `unknown tool "` + strings.Repeat("r", 80) + `"`},
		{`[]`, "null", "bad_input", "no message: it cannot be of the kind array"},
		{`{"id":10,"name":1}`, "10", "bad_input", "no message: name: it cannot be of the kind number"},
		{`{}`, "null", "bad_input", "neither name"},
		{`{"id":7}`, "7", "bad_input", "neither name"},
		{`{"id":2,"name":"read","cancel":1}`, "2", "bad_input", "several messages"},
		{`{"id":3,"name":"raed"}`, "3", "bad_input", `unknown tool "raed"`},
		{`{"id":4,"name":"read","arguments":{"paht":"x"}}`, "4", "bad_input", "paht"},
		{`{"id":5,"name":"read","arguments":[]}`, "5", "bad_input", "JSON object"},
		{`{"id":11,"name":"read","rules":["x"]}`, "11", "bad_input", "another kind of message"},
		{`{"ping":1,"hears":2}`, "null", "bad_input", "another kind of message"},
		{`{"id":6,"nme":"read"}`, "6", "bad_input", "nme"},
		{`{"answer":"nobody","decision":"yes"}`, "null", "not_found", "nothing is asked"},
		{`{"answer":"nobody","decision":"perhaps"}`, "null", "bad_input", "want yes, no, session or nobody"},
		{`{"id":8,"name":"read","arguments":{"path":"absent"}}`, "8", "not_found", "does not exist"},
		{`{"name":"read","arguments":{"path":"absent"}}`, "null", "not_found", "does not exist"},
		{"{\"id\":9,\"name\":\"" + strings.Repeat("x", 65<<20) + "\"}", "null", "too_large", "64 MiB"},
	} {
		s.send("%s", bad.line)
		l := s.next(isResult(bad.id))
		if l.Result.Error == nil || l.Result.Error.Code != bad.code || !strings.Contains(l.Result.Error.Message, bad.says) {
			t.Errorf("%.100s is answered with %.300s", bad.line, l.raw)
		}
	}
	s.send(`{"ping":7}`)
	if l := s.next(func(l served) bool { return l.ID == nil }); l.raw != "{\"pong\":7}\n" {
		t.Errorf("a ping is answered with %s", l.raw)
	}
	s.send(`{"id":"quiet","name":"bash","arguments":{"command":"echo x"},"events":[],"ask":false}`)
	if l := s.next(func(l served) bool { return string(l.ID) == `"quiet"` }); l.Result == nil {
		t.Errorf("a call that wants no events has one: %s", l.raw)
	}
	s.send(`{"cancel":"nobody"}`)
	s.send(`{"id":"last","name":"read","arguments":{"path":"a.txt"}}`)
	if err := s.in.Close(); err != nil {
		t.Fatal(err)
	}
	s.next(isResult(`"last"`))
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("the end of the input is no failure: %v", err)
	}
	other := serving(t)
	other.send(`{"protocol":2}`)
	if l := other.next(isResult("null")); l.Result.Error.Code != "unsupported" {
		t.Errorf("%s", l.raw)
	}
	if err := other.cmd.Wait(); other.cmd.ProcessState.ExitCode() != 2 {
		t.Errorf("another protocol: %v", err)
	}
}

// TestServeAsks: the peer is asked what needs approval and what a model wants to know;
// a yes for the session holds for the calls that follow; when nobody can answer any
// more, the call says so.
func TestServeAsks(t *testing.T) {
	s := serving(t)
	outside := filepath.Join(filepath.Dir(s.dir), "outside.txt")
	if err := os.WriteFile(outside, []byte("far\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", s.dir)
	call := fmt.Sprintf(`"name":"read","arguments":{"path":%q}`, outside)
	for i, step := range []struct{ answer, code string }{
		{`"decision":"no","reason":"not today"`, "denied"},
		{`"decision":"yes"`, ""},
		{`"decision":"session"`, ""},
		{"", ""},
	} {
		s.send(`{"id":%d,%s}`, i, call)
		id := strconv.Itoa(i)
		if step.answer != "" {
			l := s.next(func(l served) bool { return isEvent(id, "ask")(l) || isResult(id)(l) })
			if l.Event != "ask" || !strings.Contains(string(l.Value), "outside.txt") {
				t.Fatalf("step %d: %s", i, l.raw)
			}
			s.send(`{"answer":%d,%s}`, i, step.answer)
		}
		l := s.next(isResult(id))
		code := ""
		if l.Result.Error != nil {
			code = l.Result.Error.Code
		}
		if code != step.code {
			t.Errorf("step %d: %s", i, l.raw)
		}
	}
	s.send(`{"id":"q","name":"question","arguments":{"questions":[{"question":"Which?","options":[{"label":"Red"}]}]}}`)
	if l := s.next(isEvent(`"q"`, "ask")); !strings.Contains(string(l.Value), `"question":"Which?"`) {
		t.Errorf("%s", l.raw)
	}
	s.send(`{"answer":"q","answers":[{"question_index":0,"selected":["red"]}]}`)
	if l := s.next(isResult(`"q"`)); !strings.Contains(string(l.Result.Metadata), `"selected":["Red"]`) {
		t.Errorf("%s", l.raw)
	}
	s.send(`{"id":"late","name":"question","arguments":{"questions":[{"question":"Which?"}]}}`)
	s.next(isEvent(`"late"`, "ask"))
	if err := s.in.Close(); err != nil {
		t.Fatal(err)
	}
	if l := s.next(isResult(`"late"`)); l.Result.Error == nil || l.Result.Error.Code != "approval_required" {
		t.Errorf("%s", l.raw)
	}
}

// running counts the processes with a word in their command line.
func running(t *testing.T, word string) (count int) {
	t.Helper()
	list, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range list {
		if line, err := os.ReadFile(name); err == nil && slices.Contains(strings.Split(string(line), "\x00"), word) {
			count++
		}
	}
	return count
}

// gone waits until no process has the word any more.
func gone(t *testing.T, word string) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); running(t, word) > 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d processes are left", running(t, word))
		}
	}
}

// TestServeInFlight: many calls run at a time, two hundred with SERVE_CALLS, and cancelling ends what each has
// started; so does a peer that goes away, and a signal.
func TestServeInFlight(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are looked for in /proc")
	}
	many := 40
	if os.Getenv("SERVE_CALLS") != "" {
		many = 200
	}
	s := serving(t)
	word := fmt.Sprintf("6%d.5", os.Getpid())
	start := func(s *stream, count int) {
		for i := range count {
			s.send(`{"id":%d,"name":"bash","arguments":{"argv":["sleep",%q]}}`, i, word)
		}
		for seen := map[string]bool{}; len(seen) < count; {
			seen[string(s.next(func(l served) bool { return l.Event == "start" }).ID)] = true
		}
	}
	start(s, many)
	for end := time.Now().Add(time.Minute); running(t, word) < many; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d of %d run", running(t, word), many)
		}
	}
	s.send(`{"id":3,"name":"read","arguments":{"path":"a"}}`)
	if l := s.next(isResult("3")); l.Result.Error == nil || !strings.Contains(l.Result.Error.Message, "runs already") {
		t.Errorf("an id that is in use: %s", l.raw)
	}
	for i := range many {
		s.send(`{"cancel":%d}`, i)
	}
	for seen := 0; seen < many; seen++ {
		l := s.next(func(l served) bool { return l.Result != nil })
		if l.Result.Error == nil || l.Result.Error.Code != "interrupted" || l.Result.Error.Message != "the caller has cancelled the call" {
			t.Fatalf("%s", l.raw)
		}
	}
	gone(t, word)
	start(s, 3)
	_, _ = s.in.Close(), s.out.Close() // as when the peer was killed
	if err := s.cmd.Wait(); s.cmd.ProcessState.ExitCode() != 141 {
		t.Errorf("a lost peer: %v", err)
	}
	gone(t, word)
	s = serving(t)
	start(s, 3)
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if l := s.next(func(l served) bool { return l.Result != nil }); l.Result.Error == nil || l.Result.Error.Code != "interrupted" {
			t.Errorf("%s", l.raw)
		}
	}
	if err := s.cmd.Wait(); s.cmd.ProcessState.ExitCode() != 130 {
		t.Errorf("a signal: %v", err)
	}
	gone(t, word)
}

// TestServeSteady: calls in a row take no more memory and leave no file open. SERVE_CALLS is how many.
func TestServeSteady(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("memory is looked at in /proc")
	}
	calls := 300
	if n, err := strconv.Atoi(os.Getenv("SERVE_CALLS")); err == nil {
		calls = n
	}
	s := serving(t)
	if err := os.WriteFile(filepath.Join(s.dir, "a.txt"), []byte(strings.Repeat("a line of text\n", 20)), 0o600); err != nil {
		t.Fatal(err)
	}
	s.send(`{"protocol":1,"events":[]}`)
	var took []time.Duration
	memory := func() (kb, files int) {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(status)) {
			if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
				kb, _ = strconv.Atoi(strings.Fields(rest)[0])
			}
		}
		list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.cmd.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		return kb, len(list)
	}
	var before, open int
	for i := range calls {
		began := time.Now()
		s.send(`{"id":%d,"name":"read","arguments":{"path":"a.txt"}}`, i)
		if l := s.next(isResult(strconv.Itoa(i))); l.Result.Error != nil {
			t.Fatalf("%s", l.raw)
		}
		took = append(took, time.Since(began))
		if i == calls/3 {
			before, open = memory()
		}
	}
	after, still := memory()
	slices.Sort(took)
	t.Logf("%d calls: median %v, 99th of 100 %v; %d KB after a third, %d KB at the end; %d files", calls, took[calls/2], took[calls*99/100], before, after, still)
	if after > before+16<<10 || still > open+4 {
		t.Errorf("%d KB and %d files became %d KB and %d files", before, open, after, still)
	}
}
