package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/pelletier/go-toml/v2"
)

// mcpCommand is agentkit mcp over a root of its own, beside which a file lies that a call
// has to ask about.
func mcpCommand(t *testing.T, args ...string) (c *exec.Cmd, root, outside string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root, outside = filepath.Join(dir, "root"), filepath.Join(dir, "outside.txt")
	if err := os.MkdirAll(root, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{outside: "far\n", filepath.Join(root, "a.txt"): "one\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c = exec.Command(build(t), append([]string{"--root", root, "--sandbox", "off"}, append(args, "mcp")...)...)
	c.Env = append(os.Environ(), "HOME="+dir, "XDG_STATE_HOME="+filepath.Join(dir, "state"), "XDG_CONFIG_HOME="+filepath.Join(dir, "config"), "TMPDIR="+root)
	c.Stderr = os.Stderr
	return c, root, outside
}

// answering is a client whose user answers forms; nil for one that shows none.
func answering(reply func(*mcp.ElicitParams) *mcp.ElicitResult) *mcp.Client {
	o := &mcp.ClientOptions{}
	if reply != nil {
		o.ElicitationHandler = func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) { return reply(r.Params), nil }
	}
	return mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o)
}

func connected(t *testing.T, c *exec.Cmd, client *mcp.Client, version string) *mcp.ClientSession {
	t.Helper()
	s, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: c, TerminateDuration: time.Minute}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// said is a result's text, and its error's code.
func said(t *testing.T, s *mcp.ClientSession, name string, args map[string]any) (text, code string) {
	t.Helper()
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return err.Error(), "protocol"
	}
	for _, c := range r.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			text += t.Text
		}
	}
	var data struct{ Error struct{ Code string } }
	raw, _ := json.Marshal(r.StructuredContent)
	_ = json.Unmarshal(raw, &data)
	if r.IsError && data.Error.Code == "" {
		data.Error.Code = "error"
	}
	return text, data.Error.Code
}

// TestMCP: a client asks its user what needs approval and what a model wants to know, by
// the newest revision and by one with a handshake. A yes for the session holds, and a
// client's roots open nothing.
func TestMCP(t *testing.T) {
	for _, version := range []string{"2026-07-28", "2025-06-18"} {
		t.Run(version, func(t *testing.T) {
			cmd, _, outside := mcpCommand(t)
			decision, seen := "", []string{}
			client := answering(func(p *mcp.ElicitParams) *mcp.ElicitResult {
				seen = append(seen, p.Message)
				if decision == "" {
					return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"q1": "Red"}}
				}
				return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"decision": decision, "reason": "not today"}}
			})
			client.AddRoots(&mcp.Root{URI: "file:///", Name: "everything"}) //nolint:staticcheck // clients still have them
			s := connected(t, cmd, client, version)
			if text, code := said(t, s, "read", map[string]any{"path": "a.txt"}); text != "1\tone\n" || code != "" || len(seen) > 0 {
				t.Errorf("%s %s %q", text, code, seen)
			}
			for i, c := range []struct{ decision, code, text string }{{"no", "denied", "not today"}, {"once", "", "far"}, {"session", "", "far"}, {"no", "", "far"}} {
				decision = c.decision
				if text, code := said(t, s, "read", map[string]any{"path": outside}); code != c.code || !strings.Contains(text, c.text) {
					t.Errorf("%d: %s %s", i, text, code)
				}
			}
			if len(seen) != 3 || !strings.Contains(seen[0], "read needs approval") || !strings.Contains(seen[0], "outside.txt") {
				t.Errorf("asked %d times: %q", len(seen), seen)
			}
			decision = ""
			if text, code := said(t, s, "question", map[string]any{"questions": []any{map[string]any{"question": "Which?", "options": []any{map[string]any{"label": "Red"}}}}}); !strings.Contains(text, "Red") || code != "" {
				t.Errorf("%s %s", text, code)
			}
		})
	}
	cmd, _, outside := mcpCommand(t)
	s := connected(t, cmd, answering(nil), "")
	if text, code := said(t, s, "read", map[string]any{"path": outside}); code != "approval_required" || !strings.Contains(text, "agentkit policy approve") {
		t.Errorf("nobody is there to ask: %s %s", text, code)
	}
}

// TestMCPTexts: what jobs print and outputs that were too long are texts of the session,
// and of no other.
func TestMCPTexts(t *testing.T) {
	cmd, root, _ := mcpCommand(t)
	s := connected(t, cmd, answering(nil), "")
	if text, code := said(t, s, "bash", map[string]any{"command": "seq 20000"}); code != "" || !strings.Contains(text, "lines") {
		t.Fatalf("%s %s", text, code)
	}
	if text, code := said(t, s, "bash", map[string]any{"command": "echo from the job", "background": true}); code != "" {
		t.Fatal(text)
	}
	list, err := s.ListResources(t.Context(), nil)
	if err != nil || len(list.Resources) != 2 {
		t.Fatalf("%v %v", list, err)
	}
	for i, want := range []string{"from the job", "10000\n10001\n10002\n"} {
		uri := list.Resources[i].URI
		for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			r, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
			if err == nil && strings.Contains(r.Contents[0].Text, want) {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("%s: %v", uri, err)
			}
		}
	}
	for _, uri := range []string{"agentkit://output/../audit.jsonl", "agentkit://output/%2e%2e%2faudit.jsonl", "agentkit://output/", "agentkit://job/none", "file://" + root + "/a.txt", "agentkit://output/.lock"} {
		if r, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err == nil {
			t.Errorf("%s was read: %v", uri, r.Contents[0])
		}
	}
	other := exec.Command(cmd.Path, append([]string{"--session", "other"}, cmd.Args[1:]...)...)
	other.Env = cmd.Env
	second := connected(t, other, answering(nil), "2024-11-05")
	if got, err := second.ListResources(t.Context(), nil); err != nil || len(got.Resources) > 0 {
		t.Errorf("of another session: %v %v", got, err)
	}
	for _, r := range list.Resources {
		if _, err := second.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: r.URI}); err == nil {
			t.Errorf("%s was read by another session", r.URI)
		}
	}
}

// TestMCPChoice: what is not served can be called neither by a client nor by a tool that
// calls others; a dialect has its own names and texts.
func TestMCPChoice(t *testing.T) {
	names := func(s *mcp.ClientSession) (list []string) {
		tools, err := s.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range tools.Tools {
			list = append(list, tool.Name)
			if tool.Annotations == nil || tool.InputSchema == nil {
				t.Errorf("%s is declared without %v", tool.Name, tool)
			}
		}
		return list
	}
	with := func(dialect string, flags ...string) *mcp.ClientSession {
		var global []string
		if dialect != "" {
			global = []string{"--dialect", dialect}
		}
		cmd, _, _ := mcpCommand(t, global...)
		cmd.Args = append(cmd.Args, flags...)
		return connected(t, cmd, answering(nil), "2025-11-25")
	}
	s := with("", "--only", "read,batch")
	if got := names(s); !slices.Equal(got, []string{"read", "batch"}) {
		t.Errorf("%q", got)
	}
	write := map[string]any{"path": "b.txt", "content": "x"}
	if text, code := said(t, s, "write", write); code != "protocol" || !strings.Contains(text, "no tool write") {
		t.Errorf("%s %s", text, code)
	}
	if text, _ := said(t, s, "batch", map[string]any{"calls": []any{map[string]any{"name": "write", "arguments": write}, map[string]any{"name": "read", "arguments": map[string]any{"path": "a.txt"}}}}); !strings.Contains(text, `unknown tool "write"`) {
		t.Errorf("%s", text)
	}
	s = with("", "--readonly", "--exclude", "grep")
	if got := names(s); slices.Contains(got, "grep") || slices.Contains(got, "write") || slices.Contains(got, "bash") || slices.Contains(got, "batch") || !slices.Contains(got, "read") {
		t.Errorf("%q", got)
	}
	s = with("claude", "--exclude", "Bash")
	if got := names(s); slices.Contains(got, "Bash") || !slices.Contains(got, "Read") {
		t.Errorf("%q", got)
	}
	if text, code := said(t, s, "Read", map[string]any{"file_path": "a.txt"}); !strings.Contains(text, "1→one") || code != "" {
		t.Errorf("%q %s", text, code)
	}
	if text, code := said(t, s, "Bash", map[string]any{"command": "true"}); code != "protocol" {
		t.Errorf("%s %s", text, code)
	}
}

// TestMCPEnds: cancelling a request ends the command that it has started; so does a client
// that goes away, and a signal, after which the status says which.
func TestMCPEnds(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are looked for in /proc")
	}
	word := fmt.Sprintf("7%d.5", os.Getpid())
	for i, end := range []func(context.CancelFunc, *exec.Cmd){
		func(cancel context.CancelFunc, _ *exec.Cmd) { cancel() },
		func(_ context.CancelFunc, c *exec.Cmd) { _ = c.Process.Signal(syscall.SIGTERM) },
	} {
		cmd, _, _ := mcpCommand(t)
		s := connected(t, cmd, answering(nil), "")
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan bool, 1)
		go func() {
			r, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "bash", Arguments: map[string]any{"argv": []string{"sleep", word}}})
			done <- err == nil && !r.IsError
		}()
		for end := time.Now().Add(30 * time.Second); running(t, word) == 0; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("the command was not started")
			}
		}
		end(cancel, cmd)
		gone(t, word)
		if <-done {
			t.Error("a call that was ended is answered as if it had ended by itself")
		}
		cancel()
		_ = s.Close()
		if code := cmd.ProcessState.ExitCode(); i == 1 && code != 143 {
			t.Errorf("after a signal it ended with %d", code)
		}
	}
	cmd, _, _ := mcpCommand(t)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	const aware = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	_, _ = fmt.Fprintf(in, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"bash","arguments":{"argv":["sleep",%q]},%s}}`+"\n", word, aware)
	_ = in.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("when the input ends: %v", err)
	}
	gone(t, word)
}

// TestMCPOverHTTP: a client with the token is served, and nobody else.
func TestMCPOverHTTP(t *testing.T) {
	cmd, _, _ := mcpCommand(t)
	cmd.Args = append(cmd.Args, "--http", "0", "--origin", "https://good.example")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var at struct{ URL, Token string }
	if err := json.Unmarshal([]byte(line), &at); err != nil || len(at.Token) < 26 {
		t.Fatalf("%s: %v", line, err)
	}
	for _, version := range []string{"2026-07-28", "2025-03-26"} {
		transport := &mcp.StreamableClientTransport{Endpoint: at.URL, HTTPClient: &http.Client{Transport: bearer(at.Token)}}
		s, err := answering(nil).Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
		if err != nil {
			t.Fatal(err)
		}
		if text, code := said(t, s, "read", map[string]any{"path": "a.txt"}); text != "1\tone\n" || code != "" {
			t.Errorf("%s %s", text, code)
		}
		_ = s.Close()
	}
	for range 256 { // clients that wait for changes keep nobody out
		body := `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, at.URL, strings.NewReader(body))
		for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "subscriptions/listen"} {
			r.Header.Set(name, value)
		}
		resp, err := (&http.Client{Transport: bearer(at.Token)}).Do(r)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatal(resp, err)
		}
		defer resp.Body.Close()
	}
	for i, c := range []struct {
		token, origin string
		want          int
	}{{"", "", 401}, {"wrong", "", 401}, {at.Token, "https://evil.example", 403}, {at.Token, "https://good.example", 400}} {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, at.URL, strings.NewReader(`{`))
		r.Header.Set("Authorization", "Bearer "+c.token)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json")
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != c.want {
			t.Errorf("%d: %d", i, resp.StatusCode)
		}
	}
	if runtime.GOOS == "windows" {
		return // there are no signals to end it by
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 143 {
		t.Errorf("it ended with %v", cmd.ProcessState)
	}
}

// bearer sends a token with each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// TestMCPPiped: what is piped in is answered, though the input ends at once. A machine that
// takes more than a second for it may try again.
func TestMCPPiped(t *testing.T) {
	const lines = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"Read","arguments":{"file_path":"a.txt"}}}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"Bash","arguments":{"command":"true"}}}`
	want := []string{
		`"id":1,"result":{"capabilities":{"resources":{},"tools":{}},`,
		`"id":2,"result":{"content":[{"text":"     1→one\n","type":"text"}]}`,
		`"id":3,"error":{"code":-32602,"message":"there is no tool Bash; tools/list names those that there are"}`,
	}
	said := ""
	for range 10 {
		cmd, _, _ := mcpCommand(t, "--dialect", "claude")
		cmd.Args = append(cmd.Args, "--only", "Read")
		cmd.Stdin = strings.NewReader(lines)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		said = string(out)
		if !slices.ContainsFunc(want, func(w string) bool { return !strings.Contains(said, w) }) {
			return
		}
	}
	t.Errorf("%s", said)
}

// TestMCPConfig: what is printed for a client is a piece of its configuration that starts
// this very server.
func TestMCPConfig(t *testing.T) {
	for client, path := range map[string]string{
		"claude-code": "mcpServers", "codex": "mcp_servers", "cursor": "mcpServers", "vscode": "servers",
		"zed": "context_servers", "opencode": "mcp", "gemini-cli": "mcpServers",
	} {
		out, err := exec.Command(build(t), "--profile", "readonly", "mcp", "--only=read", "--config", client).Output()
		if err != nil {
			t.Fatal(err)
		}
		var all map[string]any
		if client == "codex" {
			err = toml.Unmarshal(out, &all)
		} else {
			err = json.Unmarshal(out, &all)
		}
		servers, _ := all[path].(map[string]any)
		server, _ := servers["agentkit"].(map[string]any)
		if err != nil || server == nil {
			t.Errorf("%s: %v\n%s", client, err, out)
			continue
		}
		words := fmt.Sprint(server["command"], server["args"])
		if list, ok := server["command"].([]any); ok {
			words = fmt.Sprint(list...)
		}
		for _, want := range []string{filepath.Base(build(t)), "--profile", "readonly", "mcp", "--only=read"} {
			if !strings.Contains(words, want) || strings.Contains(words, "--config") {
				t.Errorf("%s: %s lacks %s", client, words, want)
			}
		}
	}
}
