package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/cmd"
)

// TestCheckAgrees: policy check says of a call of every tool what the call itself gets, with
// rules about tools as such, too.
func TestCheckAgrees(t *testing.T) {
	arguments := map[string]string{
		"bash":        `{"command":"true"}`,
		"output":      `{"id":"j1"}`,
		"input":       `{"id":"j1","text":"x"}`,
		"kill":        `{"id":"j1"}`,
		"jobs":        `{}`,
		"read":        `{"path":"a.go"}`,
		"write":       `{"path":"b.txt","content":"x"}`,
		"edit":        `{"path":"a.go","old_string":"package a","new_string":"package b"}`,
		"patch":       `{"patch":"*** Begin Patch\n*** Add File: c.txt\n+x\n*** End Patch\n"}`,
		"undo":        `{"list":true}`,
		"apply":       `{"id":"t1"}`,
		"discard":     `{"id":"t1"}`,
		"ls":          `{}`,
		"glob":        `{"pattern":"*"}`,
		"grep":        `{"pattern":"a"}`,
		"outline":     `{"path":["a.go"]}`,
		"diagnostics": `{"path":["a.go"]}`,
		"lsp":         `{"operation":"definition","path":"a.go","line":1,"column":9}`,
		"fetch":       `{"url":"http://example.org/"}`,
		"websearch":   `{"query":"agents"}`,
		"todo":        `{}`,
		"question":    `{"questions":[{"question":"a?","options":[{"label":"b"},{"label":"c"}]}]}`,
		"batch":       `{"calls":[{"name":"todo","arguments":{}}]}`,
		"script":      `{"code":"return 1"}`,
	}
	dir := t.TempDir()
	put := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	root := filepath.Join(dir, "root")
	if err := os.Mkdir(root, 0o700); err != nil {
		t.Fatal(err)
	}
	put("root/a.go", "package a\n")
	type reply struct {
		Metadata struct{ Decision string }
		Error    *struct {
			Code    string
			Message string
		}
	}
	run := func(input string, args ...string) string {
		var out, failed strings.Builder
		args = append([]string{"-o", "json", "--sandbox", "off", "--root", root, "--state", filepath.Join(dir, "state")}, args...)
		cmd.Main(t.Context(), func() {}, args, strings.NewReader(input), &out, &failed)
		return out.String()
	}
	answer := func(args ...string) (r reply) {
		text := run("", args...)
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			t.Fatalf("%q: %v: %s", args, err, text)
		}
		return r
	}
	agree := func(name, args, rule, policy string) {
		call := answer("--policy", policy, name, "--json", args)
		check := answer("--policy", policy, "policy", "check", name, "--json", args)
		text := run(`{"tool":"`+name+`","arguments":`+args+"}\n", "--policy", policy, "policy", "check", "--batch")
		var line struct {
			Decision string
			Error    *struct{ Code string }
		}
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatalf("%s: %v: %s", name, err, text)
		}
		switch code := ""; {
		case call.Error == nil:
			t.Errorf("deny: [%s]: %s runs", rule, name)
		case call.Error.Code == "denied":
			if check.Error != nil || check.Metadata.Decision != "deny" || line.Error != nil || line.Decision != "deny" {
				t.Errorf("deny: [%s]: %s is denied, check says %+v, check --batch %s", rule, name, check, text)
			}
		default: // it fails before the policy is asked, also where it is only checked
			if check.Error != nil {
				code = check.Error.Code
			}
			if code != call.Error.Code || line.Error == nil || line.Error.Code != code {
				t.Errorf("deny: [%s]: %s fails with %+v, check says %+v, check --batch %s", rule, name, *call.Error, check, text)
			}
			if !slices.Contains([]string{"input", "undo", "apply", "lsp"}, name) { // these look for what they are about first, lsp for a server
				t.Errorf("%s: %+v", name, *call.Error)
			}
		}
	}
	everything := put("all.yaml", `deny: ["*"]`)
	for _, one := range cmd.Tools {
		args := arguments[one.Name]
		if args == "" {
			t.Fatalf("a call of %s is missing here", one.Name)
		}
		agree(one.Name, args, "*", everything)
		agree(one.Name, args, one.Name, put("one.yaml", "deny: ["+one.Name+"]"))
	}
	// a command that is really a patch is decided as that
	patch := `{"command":"apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: c.txt\n+x\n*** End Patch\nEOF\n"}`
	agree("bash", patch, "patch", put("one.yaml", "deny: [patch]"))
	agree("bash", patch, "edit(c.txt)", put("one.yaml", "deny: [edit(c.txt)]"))
}
