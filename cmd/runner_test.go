package cmd

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentkit-go/agentkit/pkg/dialect"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// opened is a runner in a new workspace.
func opened(t *testing.T, change func(*app)) (*runner, string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root, state, config := filepath.Join(dir, "root"), filepath.Join(dir, "state"), filepath.Join(dir, "config")
	for _, d := range []string{root, state, config} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{"HOME": config, "XDG_CONFIG_HOME": config, "PATH": os.Getenv("PATH"), "TMPDIR": dir, "SystemRoot": os.Getenv("SystemRoot"), "ComSpec": os.Getenv("ComSpec")}
	a := &app{
		stdin: strings.NewReader(""), stdout: new(strings.Builder), stderr: os.Stderr,
		variables: variables{func(name string) string { return env[name] }, func() []string {
			var list []string
			for k, v := range env {
				list = append(list, k+"="+v)
			}
			return list
		}},
		settings: settings{Root: root, State: state, Sandbox: "off", Profile: "open"},
		listen:   func() {},
	}
	a.found = find(a.getenv)
	if change != nil {
		change(a)
	}
	r, err := a.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.close(context.Background()) })
	return r, root
}

// TestRunnerParallel: calls of all kinds at the same time in one process each get
// their own result and their own events, every decision is on record, and no file
// stays open. With -race it finds what they must not share.
func TestRunnerParallel(t *testing.T) {
	r, root := opened(t, nil)
	const callers, rounds = 16, 4
	for n := range callers {
		if err := os.WriteFile(filepath.Join(root, fmt.Sprintf("f%d.go", n)), fmt.Appendf(nil, "package p\n\nfunc F%d() int { return 0 }\n", n), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var made atomic.Int64
	do := func(n int, name, args, want string) {
		var mu sync.Mutex
		var heard string
		p := tool.Peer{Hear: func(e tool.Event) {
			if s, ok := e.Value.(tool.StartEvent); ok {
				mu.Lock()
				defer mu.Unlock()
				heard += s.Tool + " "
			}
		}}
		made.Add(1)
		result := r.call(t.Context(), p, name, json.RawMessage(args))
		if result.Error != nil || !strings.Contains(result.Output, want) {
			t.Errorf("caller %d: %s %s: %v %q", n, name, args, result.Error, result.Output)
		}
		if heard != name+" " {
			t.Errorf("caller %d of %s heard the start of %q", n, name, heard)
		}
	}
	var all sync.WaitGroup
	for n := range callers {
		all.Go(func() {
			for i := range rounds {
				f := fmt.Sprintf("f%d.go", n)
				do(n, "edit", fmt.Sprintf(`{"path":%q,"old_string":"return %d ","new_string":"return %d "}`, f, i, i+1), "")
				do(n, "read", fmt.Sprintf(`{"path":%q}`, f), fmt.Sprintf("return %d ", i+1))
				do(n, "grep", fmt.Sprintf(`{"pattern":"func F%d\\("}`, n), f)
				do(n, "outline", fmt.Sprintf(`{"path":%q}`, f), fmt.Sprintf("F%d", n))
				do(n, "glob", fmt.Sprintf(`{"pattern":%q}`, f), f)
				do(n, "ls", `{}`, f)
				do(n, "todo", `{}`, "")
				made.Add(3) // the calls in the batch are on record, too
				do(n, "batch", fmt.Sprintf(`{"calls":[{"name":"read","arguments":{"path":%q}},{"name":"glob","arguments":{"pattern":%q}},{"name":"todo","arguments":{}}]}`, f, f), f)
				if runtime.GOOS != "windows" && i%2 == 0 {
					do(n, "bash", fmt.Sprintf(`{"command":"echo caller %d; cat %s"}`, n, f), fmt.Sprintf("caller %d\npackage p", n))
				}
			}
		})
	}
	all.Wait()
	r.rest.Wait()
	if before, after := openFiles(), func() int { r.close(t.Context()); return openFiles() }(); after > before {
		t.Errorf("%d files are open, %d after the runner was closed", before, after)
	}
	checked, err := os.ReadFile(filepath.Join(r.base.Session.Dir(), "audit.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	seq, decisions := 0, int64(0)
	for line := range strings.Lines(string(checked)) {
		var entry struct {
			Seq   int
			Event string
		}
		if err := json.Unmarshal([]byte(line), &entry); err != nil || entry.Seq != seq+1 {
			t.Fatalf("after entry %d: %v: %s", seq, err, line)
		}
		seq++
		if entry.Event == "decision" {
			decisions++
		}
	}
	if decisions != made.Load() {
		t.Errorf("%d calls, %d decisions on record", made.Load(), decisions)
	}
}

// openFiles counts this process's descriptors; 0 where it cannot tell.
func openFiles() int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(list)
}

// TestRunnerGrants: what one call's peer grants for the session counts for the next
// one, of whatever peer; what a person refuses is asked again.
func TestRunnerGrants(t *testing.T) {
	r, root := opened(t, func(a *app) { a.Profile = "" })
	outside := filepath.Join(filepath.Dir(root), "outside.txt")
	if err := os.WriteFile(outside, []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	asked := 0
	peer := func(a tool.Answer) tool.Peer {
		return tool.Peer{Ask: func(_ context.Context, request *tool.Request) (tool.Answer, error) {
			asked++
			if a.Scope == tool.Session {
				a.Rules = request.Details.Request.Narrowest()
			}
			return a, nil
		}}
	}
	read, err := json.Marshal(map[string]string{"path": outside})
	if err != nil {
		t.Fatal(err)
	}
	for i, step := range []struct {
		peer  tool.Peer
		code  tool.Code
		asked int
	}{
		{tool.Peer{}, tool.ApprovalRequired, 0},
		{peer(tool.Answer{}), tool.Denied, 1},
		{peer(tool.Answer{Yes: true, Scope: tool.Once}), "", 2},
		{peer(tool.Answer{Yes: true, Scope: tool.Session}), "", 3},
		{tool.Peer{}, "", 3},
	} {
		result := r.call(t.Context(), step.peer, "read", read)
		var code tool.Code
		if result.Error != nil {
			code = result.Error.Code
		}
		if code != step.code || asked != step.asked {
			t.Errorf("step %d: %v, asked %d times", i, result.Error, asked)
		}
	}
}

// TestRunnerPolicy: a policy that changes while the runner is open counts from the
// next call on, also within one tick of the file system's clock; one that is broken refuses.
func TestRunnerPolicy(t *testing.T) {
	r, root := opened(t, func(a *app) { a.Profile = "" })
	file := filepath.Join(root, ".agentkit", "policy.yaml")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "a.txt"), []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	read := func(want tool.Code) {
		t.Helper()
		result := r.call(t.Context(), tool.Peer{}, "read", json.RawMessage(`{"path":"a.txt"}`))
		var code tool.Code
		if result.Error != nil {
			code = result.Error.Code
		}
		if code != want {
			t.Fatalf("want %q, got %v", want, result.Error)
		}
	}
	read("")
	for range 5 {
		for _, step := range []struct {
			policy string
			want   tool.Code
		}{
			{"version: 1\ndeny: [read(a.txt)]\n", tool.Denied},
			{"version: 1\ndeny: [read(b.txt)]\n", ""},
			{"version: 1\ndeny: [raed(b.txt)]\n", tool.BadInput},
		} {
			if err := os.WriteFile(file, []byte(step.policy), 0o600); err != nil {
				t.Fatal(err)
			}
			read(step.want)
		}
	}
	if err := os.Chtimes(file, time.Now().Add(-time.Hour), time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	read(tool.BadInput)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	read("")
	read("")
}

// TestPanickingFormat: a fault in the text of one result of several is that result, and
// does not end the program.
func TestPanickingFormat(t *testing.T) {
	r, _ := opened(t, nil)
	r.dialect = &dialect.Dialect{Name: "faulty", Tools: []dialect.Tool{{Name: "Look", To: "ls", Show: func(*dialect.View) string { panic("no text") }}}}
	steps := []step{r.step(&dialect.Request{Name: "Look"}), r.step(&dialect.Request{Name: "Look"})}
	for _, result := range r.all(t.Context(), tool.Peer{}, steps) {
		if result.Error == nil || result.Error.Code != tool.Internal || !strings.Contains(result.Error.Message, "no text") {
			t.Errorf("it became %+v", result)
		}
	}
}
