package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A fieldFailure is a way in which the permission layer of some agent was
// seen to be passed, as public advisories, issues and our own measurements
// tell. None of its calls may be allowed.
type fieldFailure struct {
	name   string
	policy map[string]any // beside version and sandbox
	tool   string         // "" is bash
	calls  []string       // the tool's main parameter
	setup  string
}

func denies(rules ...string) map[string]any {
	return map[string]any{"profile": "open", "deny": rules}
}

func allows(rules ...string) map[string]any { return map[string]any{"allow": rules} }

func fieldFailures() []fieldFailure {
	return []fieldFailure{
		{name: "M12 a denied rm in 29 spellings (OpenCode stops 11)", policy: denies("bash(rm *)"), calls: []string{
			"rm x", "/bin/rm x", "env rm x", "command rm x", "bash -c 'rm x'", "eval 'rm x'", "X=rm; $X x", "$(echo rm) x", "FOO=1 rm x",
			"echo x | xargs rm", `r\m x`, `"rm" x`, "'r'm x", "timeout 5 rm x", "sh <<< 'rm x'", "> y rm x", "nice rm x", "nohup rm x", "(rm x)", "{ rm x; }",
			"true && rm x", "false || rm x", "true; rm x", "true | rm x", "true & rm x", "`echo rm` x", "if true; then rm x; fi", "find . -exec rm {} +", "sudo rm x",
		}},
		{name: "M13 commands that a safe list let through (Crush)", policy: map[string]any{}, calls: []string{
			"ls -la\nrm -rf ~", "env rm -rf x", "echo x > ~/.bashrc", "kill -9 -1", "git branch -D main", "find . -delete",
		}},
		{name: "M13 commands that a safe list took for reading (Crush)", policy: map[string]any{"profile": "readonly"}, calls: []string{
			"timeout 5 rm x", "ls & rm x", "git diff --output=x", "echo <(rm x)", "ls; rm x", "ls || rm x", "git log --output=x",
		}},
		{name: "M14 a forbidden program behind a wrapper or a path (Codex execpolicy)", policy: denies("bash(rm *)"), calls: []string{"env rm x", "/bin/rm x", "bash -lc 'rm x'"}},
		{name: "more than 50 commands in a line (Claude Code, fixed 2.1.90)", policy: denies("bash(curl *)"), calls: []string{fifty() + "curl http://x"}},
		{name: "allow matched on the first command only (Claude Code #41559, gemini-cli #11510)", policy: allows("bash(git status *)", "bash(echo *)"), calls: []string{"git status; pwn", "git status && pwn", "git status | pwn", "git status\npwn", "echo x >(pwn)", "eval pwn"}},
		{name: "groups and substitutions hide an operation (Claude Code #70369)", policy: allows("bash(cat *)"), calls: []string{"{ pwn; }", "cat <(pwn)", "cat $(pwn)"}},
		{name: "CVE-2025-64755 sed writes and executes", policy: allows("bash(sed *)"), calls: []string{"sed 'w ../out' f", "sed '1e pwn' f", "sed 's/a/pwn/e' f", "sed -n '/x/w /etc/x' f"}},
		{name: "CVE-2025-66032 read-only programs that run others", policy: allows("bash(sort *)", "bash(man *)", "bash(git *)", "bash(rg *)"), calls: []string{
			"sort --compress-program=pwn f", "sort --compress-prog=pwn f", "man --html=pwn ls", "git ls-remote --upload-pack=pwn .", "rg --pre pwn x", "rg --hostname-bin=pwn x",
		}},
		{name: "CVE-2025-55284 names resolved to carry data out", policy: map[string]any{}, calls: []string{"ping -c1 x.example.com", "nslookup x.example.com", "dig x.example.com", "host x.example.com"}},
		{name: "CVE-2025-59536 and CVE-2026-21852 settings and hooks of the repository", tool: "write", calls: []string{".claude/settings.json", ".vscode/settings.json", ".git/hooks/pre-commit", ".mcp.json"}},
		{name: "CVE-2026-25724 a deny rule on the path as named", policy: denies("read(/etc/**)"), tool: "read", calls: []string{"link"}, setup: "ln -s /etc/passwd @W@/link"},
		{name: "CVE-2026-25725 a protected file that is not there yet", tool: "write", calls: []string{".agentkit/policy.yaml", ".envrc", ".git/config"}},
		{name: "CVE-2026-39861 a link that leads a write out", tool: "write", calls: []string{"out/x", "dangling"}, setup: "ln -s /var/lib @W@/out; ln -s /var/lib/new @W@/dangling"},
		{name: "CVE-2026-22708 built-ins change the environment of what is allowed", policy: allows("bash(git *)", "bash(ls *)", "bash(export *)", "bash(declare *)"), calls: []string{"export PATH=/tmp/x:$PATH; ls", "declare -x PAGER=pwn; git log", "export GIT_EXTERNAL_DIFF=pwn; git diff", "typeset -x LD_PRELOAD=/tmp/x.so; ls"}},
		{name: "CVE-2025-59944 case variants of protected names", tool: "write", calls: []string{".GIT/config", ".Git/hooks/pre-commit", ".MCP.json", ".VSCode/settings.json"}},
		{name: "CVE-2025-53773 and CVE-2025-54135 an agent edits the settings of agents", tool: "write", calls: []string{".vscode/settings.json", ".cursor/mcp.json"}},
		{name: "CVE-2026-29783 expansions that execute in read-only commands", policy: allows("bash(echo *)", "bash(cat *)"), calls: []string{"echo ${x@P}", "echo ${a:=$(pwn)}", "echo ${!x}${!x@P}", "cat ${a:-`pwn`}"}},
		{name: "copilot-cli #2309 a tilde that the path check does not expand", policy: map[string]any{}, calls: []string{"cat ~/.ssh/id_rsa", "cat ~root/.bashrc"}},
		{name: "codex #20113 and #20277 assignments and backslashes", policy: allows("bash(cat *)", "bash(find *)"), calls: []string{"PATH=/tmp/bad:$PATH cat <<EOF\nx\nEOF", `find . -e\xec pwn {} +`, `find . -de\lete`}},
		{name: "CVE-2025-59532 a working directory that the model chooses"}, // no calls: see TestFieldFailures
		{name: "OpenCode #32628 and #42979 redirects and other programs leave the root", policy: map[string]any{}, calls: []string{"echo x > /etc/x", "head /etc/shadow", "tee /etc/x < f", "dd if=f of=/etc/x", "cat < /etc/shadow", "git -C /etc status", "tar cf /etc/x.tar ."}},
		{name: "OpenCode #39931 a double dash empties the patterns", policy: denies("bash(pwn *)"), calls: []string{"-- pwn", "command -- pwn", "env -- pwn"}},
		{name: "Roo-Code #11095 an approved prefix and a redirect", policy: allows("bash(echo *)"), calls: []string{"echo x > /etc/x", "echo x >> ../x", "echo x &> ../x"}},
		{name: "cline #4084 what a decoder prints is run", policy: allows("bash(echo *)", "bash(base64 *)"), calls: []string{"eval $(echo cHdu | base64 -d)", "echo cHdu | base64 -d | sh"}},
		{name: "CVE-2025-11491 substitutions, globs, newlines, quotes (DesktopCommander)", policy: denies("bash(pwn *)"), calls: []string{"$(pwn)", "/tmp/../bin/pwn", "p[w]n", "x\npwn", "'pwn'", "cat <(pwn)"}},
		{name: "CVE-2026-28363 an abbreviated long option", policy: allows("bash(sort *)", "bash(tar *)"), calls: []string{"sort --comp=pwn f", "tar --checkpoint=1 --checkpoint-act=exec=pwn -cf x f", "tar --to-com=pwn -xf x"}},
		{name: "CVE-2026-28460 a continuation inside a token", policy: allows("bash(echo *)"), calls: []string{"echo $\\\n(pwn)", "echo $\\\n{x:-`pwn`}"}},
		{name: "OpenClaw GHSA-796m env -S and a live here-document", policy: allows("bash(env *)", "bash(cat *)"), calls: []string{"env -S 'pwn x'", "env -vS'pwn x'", "cat <<EOF\n$(pwn)\nEOF"}},
		{name: "Codewhale #5161 one ampersand and parentheses", policy: allows("bash(ls *)"), calls: []string{"ls & pwn", "(pwn)", "ls &pwn"}},
		{name: "tree-sitter-bash #206 and kin: a parser recovers and drops a command", policy: denies("bash(pwn *)"), calls: []string{"time pwn", "coproc pwn", "echo \"${x:-`pwn`}\"", "echo ${x#$(pwn)}", "cat <<-E\n\t$(pwn)\n\tE", "pw\\\nn"}},
		{name: "CVE-2025-53109 and CVE-2025-53110 prefixes and links (MCP filesystem)", tool: "read", calls: []string{"../W-evil/x", "link"}, setup: "mkdir -p @W@-evil; echo s >@W@-evil/x; ln -s @O@/secret @W@/link"},
		{name: "CVE-2025-68143 and CVE-2026-27735 git init and add beyond the root", policy: allows("bash(git *)"), calls: []string{"git init /etc/x", "git -C / add .", "git clone . /etc/x", "git worktree add /etc/x"}},
	}
}

func fifty() string {
	var s string
	for range 60 {
		s += "true; "
	}
	return s
}

// plainRune keeps what needs no quoting in the name of a directory.
func plainRune(r rune) rune {
	if strings.ContainsRune("()&,;#", r) {
		return -1
	}
	return r
}

// TestFieldFailures: each way round another agent's permissions is closed.
func TestFieldFailures(t *testing.T) {
	for _, f := range fieldFailures() {
		t.Run(strings.Map(plainRune, f.name), func(t *testing.T) {
			s := newStage(t)
			s.prepare(t, "git init -q .; echo x >f; "+f.setup)
			policy := map[string]any{"version": 1, "sandbox": "off"}
			maps.Copy(policy, f.policy)
			raw, err := json.Marshal(policy)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(s.dir, "policy.json")
			if err := os.WriteFile(file, raw, 0o600); err != nil {
				t.Fatal(err)
			}
			root := s.places.Replace("@W@")
			t.Chdir(root)
			for _, call := range f.calls {
				tool, args := "bash", map[string]any{"command": call}
				switch f.tool {
				case "read":
					tool, args = "read", map[string]any{"path": call}
				case "write":
					tool, args = "write", map[string]any{"path": call, "content": "x"}
				}
				if got, text := decide(t, root, file, tool, args); got == "allow" {
					t.Errorf("allowed: %s %q\n%s", tool, call, text)
				}
			}
			if f.calls == nil {
				got, _ := decide(t, root, file, "bash", map[string]any{"command": "true", "workdir": "/etc"})
				if got == "allow" {
					t.Error("a working directory outside the root is allowed")
				}
			}
		})
	}
}
