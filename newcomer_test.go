//go:build unix

package main

import (
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/sandbox"
)

// TestNewcomer does what the README's ten commands say, in a repository and a home that
// have never seen agentkit, and checks after each what the person has then: a policy that
// counts, a change, the file as it was, a server that answers and ends, a record, and an
// MCP server that its client's configuration starts.
func TestNewcomer(t *testing.T) {
	t.Parallel()
	long(t)
	if sandbox.Probe().Level < sandbox.L2 {
		t.Skip("commands cannot be confined here, so that a server asks for a yes first")
	}
	for _, program := range []string{"python3", "curl", "git"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("no %s on this machine", program)
		}
	}
	n := newNewcomer(t)
	checks := map[string]func(out string){
		"policy trust": func(string) {
			n.decides(t, "git push --force origin main", "deny", ".agentkit/policy.yaml")
			n.decides(t, "go test ./...", "allow", "")
		},
		"policy explain": func(out string) { contains(t, out, "deny", "git push", "policy.yaml") },
		"edit":           func(string) { contains(t, n.file(t, "README.md"), "Tiny statistics") },
		"undo": func(string) {
			if got := n.file(t, "README.md"); got != n.before {
				t.Errorf("after undo README.md is\n%s", got)
			}
		},
		"bash --tty": func(out string) { contains(t, out, "running as job") },
		"bash 'curl": func(out string) { contains(t, out, n.before) },
		"kill":       func(out string) { contains(t, out, "has ended") },
		"log":        func(out string) { contains(t, out, "README.md", "http.server") },
		"mcp":        func(string) { n.client(t) },
	}
	for _, command := range n.commands {
		out, err := n.command("sh", "-c", command).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
		for name, check := range checks {
			if strings.HasPrefix(command, "agentkit "+name) {
				check(string(out))
				delete(checks, name)
			}
		}
	}
	for name := range checks {
		t.Errorf("none of the README's commands begins with agentkit %s", name)
	}
}

// A newcomer is somebody who has a repository and the README.
type newcomer struct {
	root, before string
	commands     []string
	env          []string
}

func newNewcomer(t *testing.T) *newcomer {
	t.Helper()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)\n## Ten commands\n.*?\n```sh\n(.*?)```\n").FindSubmatch(readme)
	if block == nil {
		t.Fatal("the README has no ten commands")
	}
	free, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it listens at once
	if err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(free.Addr().(*net.TCPAddr).Port)
	_ = free.Close()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	n := &newcomer{root: filepath.Join(top, "src", "stats")}
	n.commands = strings.Split(strings.TrimSpace(strings.ReplaceAll(string(block[1]), "8000", port)), "\n")
	if len(n.commands) > 10 {
		t.Fatalf("the README's ten commands are %d", len(n.commands))
	}
	if err := os.CopyFS(n.root, os.DirFS("testdata/examples/project")); err != nil {
		t.Fatal(err)
	}
	n.env = []string{"HOME=" + top, "LC_ALL=C.UTF-8", "AGENTKIT_OUTPUT=text", "PATH=" + filepath.Dir(build(t)) + string(os.PathListSeparator) + os.Getenv("PATH")}
	if out, err := n.command("git", "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	n.before = n.file(t, "README.md")
	t.Cleanup(func() { _ = n.command("agentkit", "kill", "all").Run() })
	return n
}

// command is a program in the repository, with nothing of this process's environment.
func (n *newcomer) command(name string, args ...string) *exec.Cmd {
	c := exec.Command("/usr/bin/env", append([]string{name}, args...)...) // which looks in PATH as it is in env
	c.Dir, c.Env = n.root, n.env
	return c
}

func (n *newcomer) file(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(n.root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// decides checks what a command would get, and which policy says so; "" leaves that open.
func (n *newcomer) decides(t *testing.T, command, want, file string) {
	t.Helper()
	out, err := n.command("agentkit", "-o", "json", "policy", "check", "bash", command).Output()
	var got struct {
		Metadata struct {
			Decision string
			Accesses []struct{ Decision, File string }
		}
	}
	if err != nil || json.Unmarshal(out, &got) != nil || got.Metadata.Decision != want {
		t.Fatalf("%s: want %s: %v\n%s", command, want, err, out)
	}
	for _, a := range got.Metadata.Accesses {
		if a.Decision == want && strings.HasSuffix(a.File, file) {
			return
		}
	}
	t.Errorf("%s: no rule of %s decides\n%s", command, file, out)
}

// client starts the server that .mcp.json names, and lets it read a file.
func (n *newcomer) client(t *testing.T) {
	t.Helper()
	var config struct {
		Servers map[string]struct {
			Command string
			Args    []string
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal([]byte(n.file(t, ".mcp.json")), &config); err != nil {
		t.Fatal(err)
	}
	server := config.Servers["agentkit"]
	s := connected(t, n.command(server.Command, server.Args...), answering(nil), "2025-06-18")
	if text, code := said(t, s, "read", map[string]any{"path": "README.md"}); code != "" || !strings.Contains(text, "Small statistics") {
		t.Errorf("the configured server reads: %s %s", text, code)
	}
}

func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(strings.ReplaceAll(text, "\r\n", "\n"), part) {
			t.Errorf("want %q in\n%s", part, text)
		}
	}
}
