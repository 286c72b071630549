package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// farMCP is agentkit mcp --on before another directory, with the home of its own.
func farMCP(t *testing.T, args ...string) (c *exec.Cmd, root string) {
	t.Helper()
	p := newFarHost(t)
	root = filepath.Join(p.dir, "root")
	if err := os.WriteFile(filepath.Join(root, "a.txt"), []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.on = "exec:cd " + root + " && exec env -i HOME=" + p.dir + "/home PATH='" + os.Getenv("PATH") + "' sh"
	c = p.command(append([]string{"mcp"}, args...)...)
	c.Stderr = os.Stderr
	return c, root
}

// TestRemoteMCP: an MCP client works at another place: calls, questions, jobs and long outputs are
// there, and what is not served nobody calls, a script neither.
func TestRemoteMCP(t *testing.T) {
	t.Parallel()
	long(t)
	c, root := farMCP(t, "--exclude", "write,patch")
	var asked []string
	s := connected(t, c, answering(func(p *mcp.ElicitParams) *mcp.ElicitResult {
		asked = append(asked, p.Message)
		return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"decision": "yes, once"}}
	}), "")
	if text := s.InitializeResult().Instructions; !strings.Contains(text, "On exec:cd "+root) || !strings.Contains(text, "tools that work in "+root) {
		t.Errorf("instructions: %s", text)
	}
	if text, _ := said(t, s, "read", map[string]any{"path": "a.txt"}); !strings.Contains(text, "one") {
		t.Errorf("read: %s", text)
	}
	if _, code := said(t, s, "write", map[string]any{"path": "b.txt", "content": "x"}); code == "" {
		t.Error("write was called, which is not served")
	}
	if text, _ := said(t, s, "script", map[string]any{"code": `return tools.write{path="b.txt", content="x"}.output`}); true {
		if _, err := os.Stat(filepath.Join(root, "b.txt")); err == nil {
			t.Errorf("a script has called what is not served: %s", text)
		}
	}
	if text, code := said(t, s, "bash", map[string]any{"command": "touch asked.txt && curl --version >/dev/null; make nothing"}); len(asked) == 0 || !strings.Contains(asked[0], "exec:cd "+root) {
		t.Errorf("asked: %q, said %s %s", asked, code, text)
	}
	if _, code := said(t, s, "bash", map[string]any{"command": "seq 20000"}); code != "" {
		t.Error(code)
	}
	if _, code := said(t, s, "bash", map[string]any{"command": "echo from a job; sleep 60", "background": true}); code != "" {
		t.Error(code)
	}
	list, err := s.ListResources(t.Context(), nil)
	if err != nil || len(list.Resources) != 2 {
		t.Fatalf("%+v %v", list, err)
	}
	for i, want := range []string{"from a job", "\n10000\n10001\n"} {
		for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			r, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: list.Resources[i].URI})
			if err == nil && strings.Contains(r.Contents[0].Text, want) {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("%s: %v", list.Resources[i].URI, err)
			}
		}
	}
	_, _ = said(t, s, "kill", map[string]any{"id": list.Resources[0].Name})
}

// TestRemoteMCPDialect: so it does with the names that a model knows.
func TestRemoteMCPDialect(t *testing.T) {
	t.Parallel()
	long(t)
	c, _ := farMCP(t, "--dialect", "claude", "--readonly")
	s := connected(t, c, answering(nil), "")
	if text, _ := said(t, s, "Read", map[string]any{"file_path": "a.txt"}); !strings.Contains(text, "one") {
		t.Errorf("Read: %s", text)
	}
	if _, code := said(t, s, "Bash", map[string]any{"command": "ls"}); code == "" {
		t.Error("Bash was called, which is not served")
	}
	if _, err := s.ListResources(t.Context(), nil); err != nil {
		t.Error(err)
	}
}
