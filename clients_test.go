//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	kit "github.com/agentkit-go/agentkit/examples/go"
)

// A taskStep is a step of testdata/clients/task.json: a call in each dialect, and what
// becomes of it.
type taskStep struct {
	What, Says, Asks string
	Yes, Failed      bool
	Calls            map[string]struct {
		Name      string
		Arguments json.RawMessage
	}
}

// A scripted is a model that makes the calls of the task in one dialect and checks what
// it is told; and the person who is asked.
type scripted struct {
	*testing.T
	mu      sync.Mutex
	steps   []taskStep
	dialect string
	told    int
	root    string // the project
	human   string // the program that answers as the person does
	env     []string
}

func newScripted(t *testing.T, dialect string) *scripted {
	t.Helper()
	raw, err := os.ReadFile("testdata/clients/task.json")
	if err != nil {
		t.Fatal(err)
	}
	s := &scripted{T: t, dialect: dialect}
	if err := json.Unmarshal(raw, &s.steps); err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	policy, err := filepath.Abs("testdata/clients/policy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s.root, s.human = filepath.Join(dir, "project"), filepath.Join(dir, "person")
	if err := os.CopyFS(s.root, os.DirFS("examples/fix-a-bug/project")); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"project/release.sh": "#!/bin/sh\ntouch released\n",
		"person": `#!/bin/sh
cat >"$0.asked"; cat "$0.asked" >>"$0.log"
grep -q CHANGES.md "$0.asked" && echo '{"decision":"allow"}' || echo '{"decision":"deny","reason":"not on a Friday"}'
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s.env = append(os.Environ(), "AGENTKIT=", "AGENTKIT_SANDBOX=off", "AGENTKIT_POLICY="+policy, "AGENTKIT_STATE="+filepath.Join(dir, "state"),
		"HOME="+dir, "XDG_CONFIG_HOME="+filepath.Join(dir, "config"), "ANTHROPIC_API_KEY=none")
	return s
}

// answer checks what the model is told of its call.
func (s *scripted) answer(text string, failed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.told >= len(s.steps) {
		s.Errorf("more is told than was asked: %s", text)
		return
	}
	step := s.steps[s.told]
	s.told++
	if !regexp.MustCompile(step.Says).MatchString(text) || failed != step.Failed {
		s.Errorf("%s: failed %t: %s", step.What, failed, text)
	}
}

// person says what a person does about a request.
func (s *scripted) person(request []byte) (yes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	step := s.steps[s.told]
	if step.Asks == "" || !bytes.Contains(request, []byte(step.Asks)) {
		s.Errorf("%s: asked about %s", step.What, request)
	}
	return step.Yes
}

// run runs a client, and checks what it has done to the project.
func (s *scripted) run(stdin string, words ...string) {
	s.Helper()
	if _, err := exec.LookPath(words[0]); err != nil {
		s.Skipf("no %s on this machine", words[0])
	}
	c := exec.CommandContext(s.Context(), words[0], words[1:]...)
	c.Env, c.Stdin = s.env, strings.NewReader(stdin)
	if out, err := c.CombinedOutput(); err != nil {
		s.Fatalf("%q: %v\n%s", words, err, out)
	}
	s.done()
}

func (s *scripted) done() {
	s.Helper()
	files := map[string]bool{"inventory.py": false, "test_inventory.py": false, "CHANGES.md": false}
	for name := range maps.Keys(files) {
		raw, err := os.ReadFile(filepath.Join(s.root, name))
		files[name] = err == nil && regexp.MustCompile(`left < minimum|\["bolts", "hinges"\]|mended reorder`).Match(raw)
	}
	for name, right := range files {
		if !right {
			s.Errorf("%s is not as it should be", name)
		}
	}
	if _, err := os.Stat(filepath.Join(s.root, "released")); err == nil {
		s.Error("it was released, although a person said no")
	}
}

// serve is the Messages API of Anthropic, with the scripted model behind it.
func (s *scripted) serve() {
	mux := http.NewServeMux() // who else calls at this port is not meant
	mux.HandleFunc("POST /v1/messages", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Tools    []struct{ Name string }
			Messages []struct {
				Role    string
				Content json.RawMessage
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || len(in.Tools) == 0 {
			s.Errorf("%v, %d tools", err, len(in.Tools))
		}
		var results []struct {
			ToolUseID string `json:"tool_use_id"`
			IsError   bool   `json:"is_error"`
			Content   json.RawMessage
		}
		if len(in.Messages) > 1 {
			if err := json.Unmarshal(in.Messages[len(in.Messages)-1].Content, &results); err != nil || len(results) != 1 || results[0].ToolUseID != fmt.Sprint("t", s.told) {
				s.Errorf("%v: %s", err, in.Messages[len(in.Messages)-1].Content)
			} else {
				s.answer(string(results[0].Content), results[0].IsError)
			}
		}
		content := map[string]any{"type": "text", "text": "done"}
		reply := map[string]any{"role": "assistant", "type": "message", "stop_reason": "end_turn", "content": []any{content}}
		if s.told < len(s.steps) {
			call := s.steps[s.told].Calls[s.dialect]
			reply["stop_reason"] = "tool_use"
			reply["content"] = []any{map[string]any{"type": "tool_use", "id": fmt.Sprint("t", s.told), "name": call.Name, "input": call.Arguments}}
		}
		_ = json.NewEncoder(w).Encode(reply)
	})
	server := httptest.NewServer(mux)
	s.Cleanup(server.Close)
	s.Cleanup(func() {
		if s.told != len(s.steps) {
			s.Errorf("%d of %d steps were done", s.told, len(s.steps))
		}
	})
	s.env = append(s.env, "ANTHROPIC_BASE_URL="+server.URL)
}

// TestClients lets one scripted model mend a bug through each client of examples/, with
// a refusal by the policy, a person's yes and a person's no on the way. Those that need
// npm's packages are tried by testdata/clients.sh.
func TestClients(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no python3 on this machine")
	}
	t.Run("python", func(t *testing.T) {
		t.Parallel()
		s := newScripted(t, "agentkit")
		s.serve()
		s.run("yes\nnot on a Friday\n", "python3", "-B", "examples/python/claude.py", "agentkit", s.root, "the tests fail")
	})
	t.Run("pydantic-ai", func(t *testing.T) {
		t.Parallel()
		s := newScripted(t, "claude")
		s.run("", "python3", "-B", "testdata/clients/pydantic_drive.py", "testdata/clients", "agentkit", "--root", s.root, "--dialect", "claude")
	})
	t.Run("shell", func(t *testing.T) {
		t.Parallel()
		for _, tool := range []string{"jq", "curl"} {
			if _, err := exec.LookPath(tool); err != nil {
				t.Skipf("no %s on this machine", tool)
			}
		}
		s := newScripted(t, "anthropic")
		s.serve()
		s.env = append(s.env, "AGENTKIT_DIALECT=anthropic", "AGENTKIT_ASK=cmd:"+s.human)
		s.run("", "sh", "examples/shell/agent.sh", s.root, "the tests fail")
	})
	t.Run("make", func(t *testing.T) {
		t.Parallel()
		s := newScripted(t, "agentkit")
		s.run("", "make", "-C", "examples/make", "DIR="+s.root, "ASK=cmd:"+s.human, "mend", "check")
		if log, err := os.ReadFile(s.human + ".log"); err != nil || strings.Count(string(log), `{"request":`) != 2 {
			t.Errorf("the person was asked %s, %v", log, err)
		}
	})
	t.Run("go", func(t *testing.T) {
		t.Parallel()
		s := newScripted(t, "codex")
		c := exec.CommandContext(t.Context(), "agentkit", "--root", s.root, "--dialect", s.dialect, "serve", "--stdio")
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		c.Env = s.env
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		call := kit.Over(in, out, func(value json.RawMessage) (decision, reason string) {
			if s.person(value) {
				return "yes", ""
			}
			return "no", "not on a Friday"
		})
		for _, step := range s.steps {
			r, err := call(step.Calls[s.dialect].Name, step.Calls[s.dialect].Arguments)
			if err != nil {
				t.Fatal(err)
			}
			s.answer(r.Output, r.Error != nil)
		}
		_ = in.Close()
		if _, err := io.Copy(io.Discard, out); err != nil {
			t.Error(err)
		}
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
		s.done()
	})
}
