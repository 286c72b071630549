package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A webServer is agentkit serve --http.
type webServer struct {
	t          *testing.T
	cmd        *exec.Cmd
	dir        string
	url, token string
}

func servingHTTP(t *testing.T, args ...string) *webServer {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &webServer{t: t, dir: filepath.Join(dir, "root")}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s.cmd = exec.Command(build(t), append([]string{"--root", s.dir, "--sandbox", "off", "serve", "--http", "127.0.0.1:0"}, args...)...)
	s.cmd.Env = append(os.Environ(), "HOME="+dir, "TMPDIR="+s.dir, "XDG_STATE_HOME="+filepath.Join(dir, "state"), "XDG_CONFIG_HOME="+filepath.Join(dir, "config"))
	s.cmd.Stderr = os.Stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	})
	var hello struct{ Agentkit, URL, Token string }
	if err := json.NewDecoder(out).Decode(&hello); err != nil || hello.Agentkit == "" || len(hello.Token) < 16 {
		t.Fatalf("the first line: %+v, %v", hello, err)
	}
	s.url, s.token = hello.URL, hello.Token
	return s
}

// request is one with the token, and JSON.
func (s *webServer) request(method, path, body string, header ...string) *http.Request {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return req
}

// An answered call is what POST /v1/call says.
type answered struct {
	Success *bool
	ID      json.RawMessage
	Result  struct{ Output string }
	Error   struct{ Code, Message, Hint string }
	Tools   []struct{ Name, Description string }
}

func (s *webServer) call(body string) (a answered, status int) {
	s.t.Helper()
	return s.do("POST", "/v1/call", body)
}

// do sends a request, and reads its answer.
func (s *webServer) do(method, path, body string, header ...string) (a answered, status int) {
	s.t.Helper()
	resp, err := http.DefaultClient.Do(s.request(method, path, body, header...))
	if err != nil {
		s.t.Fatal(err)
	}
	raw, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		s.t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &a); err != nil || resp.Header.Get("Content-Type") != "application/json" {
		s.t.Fatalf("%s: %v", raw, err)
	}
	return a, resp.StatusCode
}

// A webEvent is one of a stream.
type webEvent struct {
	name string
	ID   string
	answered
	Value struct {
		Text    string
		Request struct{ Patterns []string }
	}
}

// stream makes a call whose events come.
func (s *webServer) stream(body string) (next func(name string) webEvent, leave func() error) {
	s.t.Helper()
	resp, err := http.DefaultClient.Do(s.request("POST", "/v1/call", body, "Accept", "text/event-stream"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = resp.Body.Close() })
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		raw, _ := io.ReadAll(resp.Body)
		s.t.Fatalf("%d %s", resp.StatusCode, raw)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	return func(name string) webEvent {
		s.t.Helper()
		var e webEvent
		for lines.Scan() {
			line := lines.Text()
			if rest, ok := strings.CutPrefix(line, "event: "); ok {
				e = webEvent{name: rest}
			} else if rest, ok := strings.CutPrefix(line, "data: "); ok {
				if err := json.Unmarshal([]byte(rest), &e); err != nil {
					s.t.Fatalf("%s: %v", line, err)
				}
				_ = json.Unmarshal([]byte(rest), &e.answered)
				if e.name == name {
					return e
				}
				if e.name == "result" {
					s.t.Fatalf("no %s before %s", name, line)
				}
			}
		}
		s.t.Fatalf("no %s: %v", name, lines.Err())
		return e
	}, resp.Body.Close
}

// TestServeHTTP: a tool is called by its name and input and answers with success and a
// result, or with success false and an error; tools are listed; what is no call is
// refused and changes nothing, and the server goes on.
func TestServeHTTP(t *testing.T) {
	s := servingHTTP(t)
	if err := os.WriteFile(filepath.Join(s.dir, "package.json"), []byte("{\"name\":\"x\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		body   string
		status int
		code   string // of the error; "" for success
		says   string
	}{
		{`{"name":"read","input":{"path":"package.json"}}`, 200, "", `{"name":"x"}`},
		{`{"name":"read","arguments":{"path":"package.json"},"id":[1]}`, 200, "", `{"name":"x"}`},
		{`{"name":"write","input":{"path":"test.txt","content":"hello\n"}}`, 200, "", ""},
		{`{"name":"ls","input":{"path":"."}}`, 200, "", "test.txt"},
		{`{"name":"bash","input":{"command":"echo hi"}}`, 200, "", "hi\n"},
		{`{"name":"read","input":{"path":"../../../../../../../../etc/passwd"}}`, 200, "approval_required", "outside"},
		{`{"name":"bash","input":{"command":"rm -rf /"}}`, 200, "denied", "denies write /"},
		{`{"name":"raed","input":{}}`, 200, "bad_input", `unknown tool "raed"`},
		{`{"name":"read","input":{"paht":"x"}}`, 200, "bad_input", "paht"},
		{`{"name":"read","input":7}`, 200, "bad_input", "JSON object"},
		{`{"name":"read"}`, 200, "bad_input", "path"},
		{`{"name":"read","input":{},"arguments":{}}`, 400, "bad_input", "the same"},
		{`{"name":"ls","root":"/"}`, 400, "bad_input", "root"},
		{`{"name":"ls","ask":true}`, 400, "bad_input", "event-stream"},
		{`{}`, 400, "bad_input", "name is missing"},
		{`{"name":7}`, 400, "bad_input", "name"},
		{``, 400, "bad_input", "no call"},
		{`[]`, 400, "bad_input", "no call: it cannot be of the kind array"},
		{`{"name":"ls"} {}`, 400, "bad_input", "more than one"},
		{"\xff\x00", 400, "bad_input", "invalid"},
	} {
		a, status := s.call(c.body)
		if status != c.status || a.Success == nil || *a.Success != (c.code == "") || a.Error.Code != c.code || !strings.Contains(a.Result.Output+a.Error.Message, c.says) {
			t.Errorf("%s: %d %+v", c.body, status, a)
		}
		if strings.Contains(c.body, "[1]") != (string(a.ID) == "[1]") {
			t.Errorf("%s: the id is %s", c.body, a.ID)
		}
	}
	if text, err := os.ReadFile(filepath.Join(s.dir, "test.txt")); err != nil || string(text) != "hello\n" {
		t.Errorf("%q, %v", text, err)
	}
	for _, c := range []struct {
		method, path, kind, says string
		status                   int
	}{
		{"GET", "/v1/tools", "", "", 200},
		{"GET", "/v1/tools?format=anthropic", "", "", 200},
		{"GET", "/v1/tools?format=cobol", "", "want one of", 400},
		{"GET", "/v1/call", "", "takes no GET", 405},
		{"POST", "/v1/nothing", "", "nothing is at", 404},
		{"POST", "/v1/call", "text/plain", "not said to be JSON", 415},
		{"POST", "/v1/answer", "", "no call", 400},
	} {
		a, status := s.do(c.method, c.path, `{"name":"ls"}`, "Content-Type", c.kind)
		if c.kind == "" && c.method == "POST" && c.path == "/v1/answer" {
			a, status = s.do(c.method, c.path, `{"name":"ls"}`)
		}
		if status != c.status || !strings.Contains(a.Error.Message, c.says) || (status == 200) != (len(a.Tools) > 10) {
			t.Errorf("%s %s: %d %+v", c.method, c.path, status, a.Error)
		}
	}
	if a, status := s.do("POST", "/v1/call", `{"name":"ls","idempotency_key":"a"}`, "Idempotency-Key", "b"); status != 400 || !strings.Contains(a.Error.Message, "send one of them") {
		t.Errorf("two keys: %d %+v", status, a)
	}
	if a, status := s.do("POST", "/v1/call", `{"name":"ls"}`, "Authorization", "Bearer 0123456789abcdefghij"); status != 401 || a.Error.Code != "denied" {
		t.Errorf("without the token: %d %+v", status, a)
	}
}

// TestServeHTTPAsks: of calls at the same time each hears its own events, and each
// answer reaches the call that asked.
func TestServeHTTPAsks(t *testing.T) {
	s := servingHTTP(t)
	const calls = 4
	type asked struct {
		next func(string) webEvent
		id   string
	}
	var list []asked
	for n := range calls {
		name := filepath.Join(filepath.Dir(s.dir), fmt.Sprintf("far%d.txt", n))
		if err := os.WriteFile(name, fmt.Appendf(nil, "text %d\n", n), 0o600); err != nil {
			t.Fatal(err)
		}
		next, _ := s.stream(fmt.Sprintf(`{"name":"read","arguments":{"path":%q},"ask":true}`, name))
		e := next("ask")
		if len(e.Value.Request.Patterns) == 0 || !strings.Contains(e.Value.Request.Patterns[0], fmt.Sprintf("far%d", n)) {
			t.Fatalf("call %d is asked %+v", n, e)
		}
		list = append(list, asked{next, e.ID})
	}
	for n := calls - 1; n >= 0; n-- { // the last one first
		decision := []string{"yes", "no"}[n%2]
		if a, status := s.do("POST", "/v1/answer", fmt.Sprintf(`{"answer":%q,"decision":%q}`, list[n].id, decision)); status != 200 {
			t.Fatalf("%d %+v", status, a)
		}
		e := list[n].next("result")
		if decision == "yes" && e.Result.Output != fmt.Sprintf("1\ttext %d\n", n) || decision == "no" && e.Error.Code != "denied" {
			t.Errorf("call %d, answered %s: %+v", n, decision, e)
		}
		if _, status := s.do("POST", "/v1/answer", fmt.Sprintf(`{"answer":%q,"decision":"yes"}`, list[n].id)); status != 404 {
			t.Errorf("a second answer: %d", status)
		}
	}
	next, _ := s.stream(fmt.Sprintf(`{"name":"read","arguments":{"path":%q}}`, filepath.Join(filepath.Dir(s.dir), "far0.txt")))
	if e := next("result"); e.Error.Code != "approval_required" {
		t.Errorf("who does not want to be asked: %+v", e)
	}
}

// TestServeHTTPEnds: a call ends when its caller goes away, when its time is over, and
// when a signal comes, which lets its result out.
func TestServeHTTPEnds(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are looked for in /proc")
	}
	brief := servingHTTP(t, "--max-time", "1s")
	word := fmt.Sprintf("7%d.5", os.Getpid())
	sleeps := fmt.Sprintf(`{"name":"bash","arguments":{"command":"echo here; sleep %s"}}`, word)
	if a, _ := brief.call(sleeps); a.Error.Code != "timeout" || !strings.Contains(a.Error.Message, "longer than 1s") {
		t.Errorf("%+v", a)
	}
	gone(t, word)
	s := servingHTTP(t)
	next, leave := s.stream(sleeps)
	next("output")
	_ = leave()
	gone(t, word)
	ctx, goes := context.WithCancel(t.Context())
	here := filepath.Join(s.dir, "here")
	left := s.request("POST", "/v1/call", fmt.Sprintf(`{"name":"bash","arguments":{"command":"touch here; sleep %s"},"idempotency_key":"k"}`, word)).WithContext(ctx)
	ended := make(chan struct{})
	go func() {
		if resp, err := http.DefaultClient.Do(left); err == nil {
			_ = resp.Body.Close()
		}
		close(ended)
	}()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(here); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("it does not begin")
		}
	}
	goes()
	<-ended
	gone(t, word)
	a, _ := s.call(fmt.Sprintf(`{"name":"bash","arguments":{"command":"touch here; sleep %s"},"idempotency_key":"k"}`, word))
	if a.Error.Code != "interrupted" || a.Error.Message != "the caller has gone" || !strings.Contains(a.Error.Hint, "another one") {
		t.Errorf("the same call again: %+v", a.Error)
	}
	next, _ = s.stream(sleeps)
	next("output")
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if e := next("result"); e.Error.Code != "interrupted" {
		t.Errorf("%+v", e)
	}
	done := make(chan struct{})
	go func() {
		_ = s.cmd.Wait() // its status tells
		close(done)
	}()
	select {
	case <-done:
		if code := s.cmd.ProcessState.ExitCode(); code != 128+int(syscall.SIGTERM) {
			t.Errorf("status %d", code)
		}
	case <-time.After(time.Minute):
		t.Error("it does not end")
	}
	gone(t, word)
}
