//go:build unix

package policy

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// imported loads what settings become, at the level where the profile stands
// least in the way.
func imported(t testing.TB, name, settings string) *Policy {
	t.Helper()
	out, err := Import(name, []byte(settings), "", sources().Tools)
	if err != nil {
		t.Fatalf("%v\n%s", err, settings)
	}
	return policyOf(t, out.Text, at(3))
}

func TestImportClaude(t *testing.T) {
	p := imported(t, "settings.json", `{
  // what the project agreed on
  "permissions": {
    "allow": ["Bash(npm run test:*)", "Bash(git diff)", "Read(~/notes/**)", "Edit(docs/**)", "WebFetch(domain:example.com)", "mcp__x__y", "Bash(echo $HOME)"],
    "ask": ["Bash(git push:*)"],
    "deny": ["Read(.env)", "Read(./secrets/**)", "Bash(curl:*)", "WebFetch(domain:evil.org)", "Bash(rm -rf \"/\")",],
  },
}`)
	for _, c := range []struct {
		a    Access
		want Verdict
	}{
		{run("npm run test"), Allow},
		{run("npm run test --watch"), Allow},
		{run("npm run build"), Ask},
		{run("npm run testing"), Ask},
		{run("git diff"), Allow},
		{run("git diff HEAD"), Ask},
		{run("git push origin"), Ask},
		{run("curl http://x"), Deny},
		{run("rm x"), Deny}, // the rule cannot be said, so it holds for all of rm
		{run("make"), Ask},
		{with(run("ls"), func(a *Access) { a.Class = ReadOnly }), Allow},
		{read("src/a.go"), Allow},
		{read("deep/.env"), Deny},
		{read("secrets/x"), Deny},
		{read("/home/dev/notes/a"), Allow},
		{write("docs/a.md"), Allow},
		{write("src/a.go"), Ask},
		{get("https://example.com/x"), Allow},
		{get("https://sub.example.com/x"), Ask},
		{get("https://other.org/"), Ask},
		{get("https://evil.org/"), Deny},
	} {
		wantVerdict(t, p, c.a, c.want)
	}
	for mode, want := range map[string]Verdict{"acceptEdits": Allow, "default": Ask, "plan": Deny, "bypassPermissions": Ask} {
		wantVerdict(t, imported(t, "s.json", `{"permissions":{"defaultMode":"`+mode+`"}}`), write("a"), want)
	}
}

func TestImportOpenCode(t *testing.T) {
	p := imported(t, "opencode.json", `{"permission":{
  "bash": {"*":"ask", "git *":"allow", "git push *":"deny", "git push origin *":"ask", "ls":"allow", "npm*":"allow", "git *--hard":"deny"},
  "edit": {"*":"deny", "src/*":"allow"},
  "read": {"*":"allow", "*.env":"deny", "*.env.example":"allow"},
  "webfetch": "ask", "external_directory": {"*":"deny", "~/shared/*":"allow"}
}}`)
	for _, c := range []struct {
		a    Access
		want Verdict
	}{
		{run("make"), Ask},
		{run("git status"), Deny}, // "git *--hard" cannot be said: it holds for all of git
		{run("npm ci"), Allow},
		{run("ls"), Allow},
		{run("ls -l"), Ask},
		{write("README.md"), Deny},
		{write("src/a/b.go"), Allow},
		{read("x/a.env"), Deny},
		{read("a.env.example"), Allow},
		{read("main.go"), Allow},
		{read("/etc/hostname"), Deny},
		{read("/home/dev/shared/x/y"), Allow},
		{get("https://example.com/"), Ask},
	} {
		wantVerdict(t, p, c.a, c.want)
	}
}

func TestImportCodex(t *testing.T) {
	p := imported(t, "default.rules", `
# what goes
prefix_rule(pattern = ["git", ["status", "log"]], decision = "allow")
prefix_rule(
    pattern = ["git", "push"],
    decision = "prompt",
    justification = "history is shared",
    match = ["git push origin"], not_match = [["git", "pull"]],
)
prefix_rule(pattern=["rm"], decision='forbidden')
prefix_rule(pattern=["echo", "a b*"])
network_rule(host="example.org", protocol="https", decision="allow")
host_executable(name="git", paths=["/usr/bin/git"])
`)
	for _, c := range []struct {
		a    Access
		want Verdict
	}{
		{run("git status -sb"), Allow},
		{run("git log"), Allow},
		{run("git push"), Ask},
		{run("rm x"), Deny},
		{with(run("echo x"), func(a *Access) { a.Argv = []string{"echo", "a b*", "c"} }), Allow},
		{connect("example.org", 443), Allow},
		{connect("example.com", 443), Ask},
	} {
		wantVerdict(t, p, c.a, c.want)
	}
}

// TestImportClaudeSandbox: what the sandbox of commands keeps closed stays so, and what
// cannot be carried over is said.
func TestImportClaudeSandbox(t *testing.T) {
	const settings = `{
  "$schema": "https://json.schemastore.org/claude-code-settings.json",
  "permissions": {"allow": ["Read", "Edit", "Bash(npm run lint:*)"], "defaultMode": "acceptEdits"},
  "sandbox": {
    "enabled": true,
    "filesystem": {"denyRead": ["~/.aws", "/srv/keys/"], "denyWrite": ["./generated"]},
    "network": {"allowedDomains": ["registry.npmjs.org", "*.internal.example"], "deniedDomains": ["paste.example.org"]}
  },
  "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "check.sh"}]}]}
}`
	p := imported(t, "settings.json", settings)
	for _, c := range []struct {
		a    Access
		want Verdict
	}{
		{read("/home/dev/.aws/credentials"), Deny},
		{read("/srv/keys/a"), Deny},
		{read("srv/keys/a"), Deny}, // the project's, as other versions read it
		{read("src/a.go"), Allow},
		{write("generated/a.go"), Deny},
		{write("src/a.go"), Allow},
		{connect("registry.npmjs.org", 443), Ask},
		{connect("paste.example.org", 443), Deny},
		{connect("example.org", 443), Ask},
	} {
		wantVerdict(t, p, c.a, c.want)
	}
	wantNotes(t, "settings.json", settings, "hooks: not carried over", "sandbox.network registry.npmjs.org: commands ask")
}

// wantNotes checks that settings are imported with such notes.
func wantNotes(t *testing.T, name, settings string, notes ...string) {
	t.Helper()
	out, err := Import(name, []byte(settings), "", sources().Tools)
	if err != nil {
		t.Fatal(err)
	}
	for _, note := range notes {
		if !strings.Contains(strings.Join(out.Notes, "\n"), note) || !strings.Contains(out.Text, note) {
			t.Errorf("no note has %q:\n%s", note, out.Text)
		}
	}
}

// TestImportOpenCodeTools: what tools switches off stays off, whatever permission says.
func TestImportOpenCodeTools(t *testing.T) {
	const settings = `{
  "$schema": "https://opencode.ai/config.json",
  "tools": {"write": false, "web*": false, "bash": true, "mymcp_*": false},
  "permission": {"edit": "allow", "webfetch": "allow"},
  "agent": {"plan": {"permission": {"bash": "deny"}}, "build": {"model": "x"}}
}`
	p := imported(t, "opencode.json", settings)
	wantVerdict(t, p, write("a.go"), Deny)
	wantVerdict(t, p, get("https://example.org/"), Deny)
	wantVerdict(t, p, run("make"), Allow)
	wantNotes(t, "opencode.json", settings, "tools mymcp_*: there is no such tool here", "agent plan has permissions of its own")
	wantVerdict(t, imported(t, "opencode.jsonc", `{"tools": {"edit": false}} // no permission`), write("a"), Deny)
}

// TestImportCodexConfig: of each of Codex's settings the policy allows no more than Codex
// does, whatever the others say.
func TestImportCodexConfig(t *testing.T) {
	allowed, most := 0, 0
	for _, mode := range []string{"", "read-only", "workspace-write", "danger-full-access", "new-mode"} {
		for _, approval := range []string{"", `"untrusted"`, `"on-request"`, `"never"`, `{granular = {rules = true}}`} {
			for _, network := range []string{"", "false", "true"} {
				for _, search := range []string{"", "disabled", "cached", "live"} {
					text := "model = \"m\"\n"
					if mode != "" {
						text += fmt.Sprintf("sandbox_mode = %q\n", mode)
					}
					if approval != "" {
						text += "approval_policy = " + approval + "\n"
					}
					if search != "" {
						text += fmt.Sprintf("web_search = %q\n", search)
					}
					if network != "" {
						text += "[sandbox_workspace_write]\nwritable_roots = [\"/srv/cache\"]\nnetwork_access = " + network + "\n"
					}
					p := imported(t, "config.toml", text)
					writes := mode == "workspace-write" || mode == "danger-full-access"
					asks := approval == `"untrusted"` || strings.HasPrefix(approval, "{")
					reaches := mode == "workspace-write" && network == "true"
					for _, c := range []struct {
						a    Access
						most bool
					}{
						{write("a.go"), writes && !asks},
						{run("make"), writes && !asks},
						{write("/srv/cache/x"), mode == "workspace-write" && network != "" && !asks},
						{write("/srv/other/x"), false},
						{connect("example.org", 443), reaches},
						{get("https://example.org/"), reaches},
						{Access{Kind: Net, Tool: "websearch", Host: "example.org"}, search == "live"},
					} {
						if c.most {
							most++
						}
						switch got := p.Decide(&c.a); {
						case got.Verdict == Allow && !c.most:
							t.Errorf("%s%+v is allowed by %s", text, c.a, got.Rule)
						case got.Verdict == Allow:
							allowed++
						}
					}
				}
			}
		}
	}
	if allowed != most {
		t.Errorf("of %d that Codex allows %d are allowed", most, allowed)
	}
}

// TestImportCodexFile: a file as people have it.
func TestImportCodexFile(t *testing.T) {
	const settings = `
model = "gpt-5-codex"
approval_policy = "never"
sandbox_mode = "read-only"
profile = "work"

[profiles.work]
sandbox_mode = "workspace-write"

[profiles.ci]
sandbox_mode = "danger-full-access"

[sandbox_workspace_write]
writable_roots = ["/home/dev/.cache/go-build", "relative"]
exclude_slash_tmp = true

[shell_environment_policy]
inherit = "core"
exclude = ["AWS_*", "*azure*"]

[mcp_servers.docs]
command = "docs-server"

[projects."/home/dev/work"]
trust_level = "trusted"
`
	p := imported(t, "config.toml", settings)
	for _, c := range []struct {
		a    Access
		want Verdict
	}{
		{write("a.go"), Allow},
		{write("/home/dev/.cache/go-build/x"), Allow},
		{write("/home/dev/.cache/other"), Deny},
		{write("/tmp/x"), Ask},
		{connect("example.org", 443), Deny},
		{get("https://example.org/"), Deny},
	} {
		wantVerdict(t, p, c.a, c.want)
	}
	env := p.Environment()
	for name, want := range map[string]bool{"AWS_REGION": true, "MY_AZURE_ID": true, "HOME": false} {
		if got := env.Drops(name); got != want {
			t.Errorf("%s is dropped: %v", name, got)
		}
	}
	wantNotes(t, "config.toml", settings, "approval_policy never", "profiles.ci: not carried over", "writable_roots relative", "shell_environment_policy: commands get all")
	wantNotes(t, "config.toml", "default_permissions = \"mine\"\nsandbox_mode = \"workspace-write\"\n[permissions.mine]\n", "permissions: such profiles are not read")
	wantVerdict(t, imported(t, "config.toml", "default_permissions = \"mine\"\nsandbox_mode = \"workspace-write\""), write("a"), Deny)
}

// TestImportRefuses: what is not understood is no policy.
func TestImportRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"a.json":  `{"x":1}`,
		"b.json":  `{"permissions":`,
		"c.json":  `{"permission":{"bash":"maybe"}}`,
		"d.rules": `prefix_rule(pattern=["a"], decision="perhaps")`,
		"e.rules": `prefix_rule(pattern=[], decision="allow")`,
		"f.rules": `def f(): pass`,
		"g.rules": `prefix_rule(pattern=["a")`,
		"h.rules": `load("x", "y")`,
		"i.txt":   ``,
		"k.toml":  `[package]`,
		"l.toml":  `sandbox_mode = `,
		"m.toml":  `sandbox_mode = 3`,
		"j.rules": `prefix_rule(pattern=["a"], decision="allow`,
	} {
		if out, err := Import(name, []byte(text), "", nil); err == nil {
			t.Errorf("%s becomes\n%s", text, out.Text)
		}
	}
}

// textMatch matches a wildcard over text: * is anything, and a trailing " *"
// may be missing.
func textMatch(pattern, s string) bool {
	if p, ok := strings.CutSuffix(pattern, " *"); ok && textMatch(p, s) {
		return true
	}
	return pattern == s || strings.Contains(pattern, "*") && matchParts(strings.Split(pattern, "*"), s)
}

// TestImportIsNeverBroader: for random settings and commands, what the agent
// would not have allowed is not allowed, and what it refused is refused.
func TestImportIsNeverBroader(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	words := []string{"git", "push", "npm", "run", "test", "-f", "x", "--hard", "rm"}
	pattern := func() string {
		var out []string
		for range 1 + r.IntN(3) {
			w := words[r.IntN(len(words))]
			switch r.IntN(8) {
			case 0:
				w = "*"
			case 1:
				w += "*"
			case 2:
				w = "*" + w
			case 3:
				w = w[:1] + "*" + w[1:]
			}
			out = append(out, w)
		}
		return strings.Join(out, " ")
	}
	command := func() string {
		out := []string{[]string{"git", "npm", "rm", "run"}[r.IntN(4)]}
		for range r.IntN(4) {
			out = append(out, words[r.IntN(len(words))])
		}
		return strings.Join(out, " ")
	}
	verdicts := []string{"deny", "ask", "allow"}
	same, stricter := 0, 0
	for range 250 {
		var open, claude strings.Builder
		lists := map[string][]string{}
		type line struct {
			p string
			v Verdict
		}
		var lines []line
		seen := map[string]bool{}
		for range 1 + r.IntN(5) {
			p, v := pattern(), Verdict(r.IntN(3))
			if seen[p] {
				continue
			}
			seen[p] = true
			lines = append(lines, line{p, v})
			lists[verdicts[v]] = append(lists[verdicts[v]], "Bash("+p+")")
			fmt.Fprintf(&open, "%s%q:%q", map[bool]string{true: "", false: ","}[open.Len() == 0], p, verdicts[v])
		}
		raw, _ := json.Marshal(lists)
		fmt.Fprintf(&claude, `{"permissions":%s}`, raw)
		po := imported(t, "opencode.json", `{"permission":{"bash":{`+open.String()+`}}}`)
		pc := imported(t, "settings.json", claude.String())
		for range 12 {
			c := command()
			lastWins, strictest := Allow, Allow
			matched := false
			for _, l := range lines {
				if textMatch(l.p, c) {
					lastWins = l.v
					matched = true
					strictest = min(strictest, l.v)
				}
			}
			if !matched {
				strictest = Ask
			}
			a := run(c)
			for _, one := range []struct {
				p    *Policy
				want Verdict
				name string
			}{{po, lastWins, "opencode " + open.String()}, {pc, strictest, "claude " + claude.String()}} {
				got := one.p.Decide(&a)
				switch {
				case got.Verdict > one.want:
					t.Fatalf("%s: %q: %s by %s, where the agent says %s", one.name, c, got.Verdict, got.Rule, one.want)
				case got.Verdict == one.want:
					same++
				default:
					stricter++
				}
			}
		}
	}
	t.Logf("%d as the agent, %d more strictly", same, stricter)
	if same < 2*stricter {
		t.Error("most of it is lost")
	}
}

func FuzzImport(f *testing.F) {
	f.Add("a.json", `{"permissions":{"allow":["Bash(a:*)","Read(//x/**)"],"deny":["Edit(/a)"]}}`)
	f.Add("a.json", `{"permission":{"bash":{"*":"ask","a b*":"allow"},"read":"deny"}}`)
	f.Add("a.rules", `prefix_rule(pattern=["a",["b"]], decision="allow", justification="x")`)
	f.Add("a.toml", "sandbox_mode = 'workspace-write'\n[sandbox_workspace_write]\nwritable_roots=['/a b', '~/c']\n[shell_environment_policy]\nexclude=['A*', '-']")
	f.Add("a.json", `{"permissions":{},"sandbox":{"filesystem":{"denyRead":["/a","*"]},"network":{"allowedDomains":["*.x"],"deniedDomains":["*"]}}}`)
	f.Add("opencode.json", `{"tools":{"*":false,"x":false}}`)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, name, text string) {
		out, err := Import(name, []byte(text), "", nil)
		if err != nil {
			if strings.Contains(err.Error(), "does not load") {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		file := filepath.Join(dir, "policy.yaml")
		if err := os.WriteFile(file, []byte(out.Text), 0o600); err != nil {
			t.Fatal(err)
		}
		s := sources()
		s.Files = []string{file}
		if _, err := Load(s); err != nil {
			t.Errorf("%q: %v\n%s", text, err, out.Text)
		}
	})
}
