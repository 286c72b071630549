package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// damaged are arguments of write that make no sense, and what is said of each.
var damaged = []struct{ name, arguments, says string }{
	{"nothing", ``, ""},
	{"cut off", `{"path":"n.txt","cont`, ""},
	{"a list", `[]`, ""},
	{"a number", `42`, ""},
	{"not UTF-8", "{\"path\":\"\xff\xfe.txt\",\"content\":\"x\"}", "not UTF-8"},
	{"half a surrogate pair", `{"path":"\ud800.txt","content":"x"}`, "surrogate"},
	{"UTF-16", "\xff\xfe{\x00}\x00", ""},
	{"a NUL byte", "{\"path\":\"n.txt\",\"content\":\"x\x00\"}", ""},
	{"nested deeply", `{"path":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, ""},
	{"a name twice", `{"path":"n.txt","path":"m.txt","content":"x"}`, "stands twice"},
	{"the wrong type", `{"path":{"a":1},"content":"x"}`, "want a string"},
	{"an unknown name", `{"path":"n.txt","content":"x","root":"/"}`, `unknown parameter "root"`},
	{"no content", `{"path":"n.txt"}`, "is required"},
	{"single quotes", `{'path':'n.txt','content':'x'}`, ""},
}

// TestBadInput sends what makes no sense to every face that takes JSON: each answers
// with one clear error, and nothing is changed.
func TestBadInput(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(dir, "root")
	if err := os.Mkdir(root, 0o700); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "HOME="+dir, "XDG_STATE_HOME="+filepath.Join(dir, "state"), "XDG_CONFIG_HOME="+filepath.Join(dir, "config"))
	quoted := strings.NewReplacer(`"`, `\"`, `\`, `\\`, "\x00", `\u0000`)
	for _, face := range []struct {
		name  string
		words []string
		in    func(arguments string) string // nil for the arguments as they are
		bare  bool                          // the face says nothing of its own about what write wants
	}{
		{"call TOOL", []string{"call", "write"}, nil, false},
		{"call", []string{"call"}, func(s string) string { return `{"name":"write","arguments":` + s + `}` }, false},
		{"--json -", []string{"write", "--json", "-"}, nil, false},
		{"--json", []string{"write", "--json"}, func(s string) string { return s }, false},
		{"a dialect", []string{"--dialect", "gemini", "call", "replace"}, nil, true},
		{"a message of Anthropic", []string{"call", "--wrap", "anthropic"}, func(s string) string { return `[{"type":"tool_use","id":"t","name":"write","input":` + s + `}]` }, false},
		{"a message of OpenAI", []string{"call", "--wrap", "openai"}, func(s string) string {
			return `{"role":"assistant","tool_calls":[{"id":"t","function":{"name":"write","arguments":"` + quoted.Replace(s) + `"}}]}`
		}, true},
		{"batch", []string{"batch", "--json", "-"}, func(s string) string { return `{"calls":[{"name":"write","arguments":` + s + `}]}` }, false},
		{"script", []string{"script", "--json", "-"}, func(s string) string { return strings.Replace(s, `"path"`, `"paths"`, 1) }, true},
		{"question", []string{"question", "--json", "-"}, nil, true},
		{"serve", []string{"serve", "--stdio"}, func(s string) string { return `{"id":1,"name":"write","arguments":` + s + "}\n" }, false},
	} {
		t.Run(face.name, func(t *testing.T) {
			for _, d := range damaged {
				in := d.arguments
				if face.in != nil {
					in = face.in(in)
				}
				words := append([]string{"--root", root}, face.words...)
				if face.name == "--json" {
					if strings.Contains(in, "\x00") || len(in) > 10000 {
						continue // no argument of a program can be so
					}
					words, in = append(words, in), ""
				}
				c := exec.CommandContext(t.Context(), "agentkit", words...)
				var out, errs bytes.Buffer
				c.Env, c.Stdin, c.Stdout, c.Stderr = env, strings.NewReader(in), &out, &errs
				_ = c.Run()
				says := d.says
				if face.bare {
					says = ""
				}
				if wrong := badAnswer(out.String(), c.ProcessState.ExitCode(), says, face.name == "serve"); wrong != "" || errs.Len() > 0 {
					t.Errorf("%s: %s\nstatus %d: %.500s%.500s", d.name, wrong, c.ProcessState.ExitCode(), out.Bytes(), errs.Bytes())
				}
				if list, err := os.ReadDir(root); err != nil || len(list) > 0 {
					t.Fatalf("%s: %v lies there: %v", d.name, list, err)
				}
			}
		})
	}
}

// TestBadInputMCP sends the same over the Model Context Protocol by HTTP, by a revision of each
// kind: one answer each, an error with what to do next, and nothing is changed.
func TestBadInputMCP(t *testing.T) {
	cmd, root, _ := mcpCommand(t)
	cmd.Args = append(cmd.Args, "--http", "0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	var at struct{ URL, Token string }
	if err := json.NewDecoder(out).Decode(&at); err != nil {
		t.Fatal(err)
	}
	post := func(body string, headers map[string]string) (status int, session, text string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at.URL, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json")
		for name, value := range headers {
			r.Header.Set(name, value)
		}
		resp, err := (&http.Client{Transport: bearer(at.Token)}).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		raw, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, resp.Header.Get("Mcp-Session-Id"), string(raw)
	}
	_, session, _ := post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}`, nil)
	entries := func() string {
		list, err := os.ReadDir(root)
		return fmt.Sprint(list, err)
	}
	before := entries()
	for _, d := range damaged {
		for about, headers := range map[string]map[string]string{
			"": {"Mcp-Session-Id": session},
			`,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`: {
				"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "write",
			},
		} {
			status, _, text := post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write","arguments":`+d.arguments+about+`}}`, headers)
			var said struct {
				Error  *struct{ Message string }
				Result *struct {
					IsError bool
					Content []struct{ Text string }
				}
			}
			err := json.Unmarshal([]byte(text), &said)
			switch {
			case err != nil || status >= 500 || strings.Count(text, "\n") != 1 || (said.Error == nil) == (said.Result == nil):
				t.Errorf("%s: %d %.300s", d.name, status, text)
			case said.Error != nil && !strings.Contains(said.Error.Message, ": send"):
				t.Errorf("%s: no next step in %s", d.name, said.Error.Message)
			case said.Result != nil && (!said.Result.IsError || len(said.Result.Content) != 1 || !strings.Contains(said.Result.Content[0].Text, "\nhint: ") || !strings.Contains(said.Result.Content[0].Text, d.says)):
				t.Errorf("%s: %.500s", d.name, text)
			}
			if now := entries(); now != before {
				t.Fatalf("%s: %s", d.name, now)
			}
		}
	}
}

// badAnswer says what is wrong with the answer to input that makes no sense.
func badAnswer(out string, status int, says string, serve bool) string {
	want := 2
	if serve {
		want = 0
		_, out, _ = strings.Cut(out, "\n") // what it says first
	}
	switch {
	case status != want:
		return "want status " + strconv.Itoa(want)
	case strings.Count(out, "\n") != 1 || !strings.HasSuffix(out, "\n"):
		return "want one line"
	}
	type answer struct {
		Output string
		Error  *struct{ Code, Message, Hint string }
	}
	var one struct {
		answer
		Result  *answer
		Content []struct {
			Content string
			IsError bool `json:"is_error"`
		}
	}
	if first, ok := strings.CutPrefix(out, "["); ok { // a list of messages
		out = strings.TrimSuffix(first, "]\n")
		var m struct{ Content string }
		if err := json.Unmarshal([]byte(out), &m); err != nil || !strings.HasPrefix(m.Content, "error: ") || !strings.Contains(m.Content, "\nhint: ") {
			return fmt.Sprintf("want an error and a hint in a message, got %v", err)
		}
		return ""
	}
	if err := json.Unmarshal([]byte(out), &one); err != nil {
		return err.Error()
	}
	if one.Result != nil {
		one.answer = *one.Result
	}
	switch e := one.Error; {
	case len(one.Content) == 1:
		if c := one.Content[0]; !c.IsError || !strings.HasPrefix(c.Content, "error: ") || !strings.Contains(c.Content, "\nhint: ") || !strings.Contains(c.Content, says) {
			return "want an error and a hint in a message"
		}
	case e == nil || e.Code != "bad_input" || e.Message == "" || e.Hint == "" || !strings.Contains(one.Output, e.Message) || !strings.Contains(e.Message, says):
		return "want bad_input, a message, a hint and an output that has it"
	case strings.Contains(e.Message, "Go ") || strings.Contains(e.Message, "json: "):
		return "the words of Go"
	}
	return ""
}
