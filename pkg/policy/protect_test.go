//go:build unix

package policy

import (
	"strings"
	"testing"
)

// TestProfiles is the table of profiles: without a sandbox, and at level 3.
func TestProfiles(t *testing.T) {
	unknown, known := run("frob"), with(run("mkdir x"), func(a *Access) { a.Class = Known })
	for _, c := range []struct {
		name         string
		a            Access
		want0, want3 string // readonly workspace open argv container: a(llow) q(uestion) d(eny)
	}{
		{"read inside", read("a"), "aaaaa", "aaaaa"},
		{"secret inside", read(".env"), "qqaqa", "qqaqa"},
		{"read outside", read("/opt/x"), "qqada", "qqada"},
		{"system file by a command", file(Read, "bash", "/usr/include/stdio.h"), "aaada", "aaada"},
		{"system file by a tool", read("/usr/include/stdio.h"), "qqada", "qqada"},
		{"passwd", file(Read, "bash", "/etc/passwd"), "qqada", "qqada"},
		{"passwd's backup", file(Read, "bash", "/etc/group-"), "qqada", "qqada"},
		{"group", file(Read, "bash", "/etc/group"), "aaada", "aaada"},
		{"hostname", file(Read, "bash", "/etc/hostname"), "aaada", "aaada"},
		{"hostname by a tool", read("/etc/hostname"), "qqada", "qqada"},
		{"what may hold a password", file(Read, "bash", "/etc/fstab"), "qqada", "qqada"},
		{"shadow", file(Read, "bash", "/etc/shadow"), "ddqdd", "ddqdd"},
		{"secret outside", read("/home/dev/.aws/credentials"), "ddqdd", "ddqdd"},
		{"write inside", write("a"), "daaaa", "daaaa"},
		{"protected", write(".vscode/x"), "ddqdd", "ddqdd"},
		{"write outside", write("/opt/x"), "ddqda", "ddqda"},
		{"write outside by a command", file(Write, "bash", "/opt/x"), "dqqda", "dqqda"},
		{"temp", write("/tmp/x/y"), "daada", "daada"},
		{"read-only command", with(run("ls"), func(a *Access) { a.Class = ReadOnly }), "aaada", "aaada"},
		{"known command", known, "daada", "daada"},
		{"unknown command", unknown, "dqqda", "daada"},
		{"opaque command", with(run("ls"), func(a *Access) { a.Opaque = "x" }), "dqqda", "daada"},
		{"dangerous", with(run("rm x"), func(a *Access) { a.Danger = "x" }), "dqqda", "dqqda"},
		{"network", connect("x.org", 443), "dqada", "dqada"},
		{"publishing", with(connect("x.org", 443), func(a *Access) { a.Publishes = true }), "dqqqq", "dqqqq"},
		{"loopback", connect("127.0.0.1", 3000), "dqada", "aaaaa"},
		{"fetch", get("https://x.org/"), "qaaqa", "qaaqa"},
		{"device", file(Write, "bash", "/dev/null"), "aaaaa", "aaaaa"},
		{"policy", write("/home/dev/.config/agentkit/policy.yaml"), "ddddd", "ddddd"},
		{"state", write("/home/dev/.local/state/agentkit/x"), "ddddd", "ddddd"},
		{"unknown path read", Access{Kind: Read, Tool: "bash", Opaque: "x"}, "qqada", "qaada"},
		{"unknown path written", Access{Kind: Write, Tool: "bash", Opaque: "x"}, "dqqda", "daada"},
		{"unknown path of a tool", Access{Kind: Write, Tool: "edit", Opaque: "x"}, "dqqdq", "dqqdq"},
	} {
		for i, name := range []string{"readonly", "workspace", "open", "argv", "container"} {
			for level, want := range map[int]string{0: c.want0, 3: c.want3} {
				v := map[byte]Verdict{'a': Allow, 'q': Ask, 'd': Deny}[want[i]]
				p := policyOf(t, "", profile(name), at(level))
				if d := p.Decide(&c.a); d.Verdict != v {
					t.Errorf("%s, profile %s, level %d: have %s, want %s (%s)", c.name, name, level, d.Verdict, v, d.Rule)
				}
			}
		}
	}
	// Level 2 holds what is not known, too; no sandbox holds nothing.
	wantVerdict(t, policyOf(t, "", at(2)), unknown, Allow)
	wantVerdict(t, policyOf(t, "sandbox: off", at(3)), unknown, Ask)
	wantVerdict(t, policyOf(t, "sandbox: off", at(3)), known, Allow)
	wantVerdict(t, policyOf(t, "sandbox: require\nallow: ['bash(*)']", at(1)), run("mkdir x"), Deny)
	wantVerdict(t, policyOf(t, "sandbox: require", at(2)), run("mkdir x"), Allow)
}

// TestOuter: where something outside confines, nothing is asked, whether the
// profile or the sandbox says so; what somebody chose stays, and a machine's
// policy can insist on our own sandbox.
func TestOuter(t *testing.T) {
	unknown, danger := run("frob"), with(run("rm x"), func(a *Access) { a.Danger = "x" })
	for _, p := range []*Policy{policyOf(t, "profile: container", at(3)), policyOf(t, "sandbox: outer"), policyOf(t, "profile: open\nsandbox: outer"), policyOf(t, "sandbox: off", profile("container"))} {
		for _, a := range []Access{unknown, danger, write("/opt/x"), read("/opt/x"), read(".env"), with(unknown, func(a *Access) { a.Opaque = "x" })} {
			wantVerdict(t, p, a, Allow)
		}
		wantVerdict(t, p, write(".git/hooks/x"), Deny)
		if !p.Outer() || p.Confines() || p.Wall() != "outer" {
			t.Errorf("outer %v, confines %v, wall %s", p.Outer(), p.Confines(), p.Wall())
		}
	}
	wantVerdict(t, policyOf(t, "sandbox: outer\noutside: {read: ask}\ndeny: [edit(/opt/**)]"), write("/opt/x"), Deny)
	wantVerdict(t, policyOf(t, "sandbox: outer\noutside: {read: ask}"), read("/opt/x"), Ask)
	wantVerdict(t, policyOf(t, "sandbox: outer\nprofile: readonly"), write("x"), Deny)
	required := layers(t, "sandbox: require", "profile: container", "", false, at(3))
	wantVerdict(t, required, write("/opt/x"), Deny)
	if required.Wall() != "L3" {
		t.Error("a machine's policy insists on the sandbox, and has", required.Wall())
	}
	if p := layers(t, "", "", "profile: container", false, at(3)); p.Outer() || p.Decide(&danger).Verdict != Ask {
		t.Error("an untrusted project says that something outside confines")
	}
}

// TestOpenAsksLess: the profile open never asks where workspace allows.
func TestOpenAsksLess(t *testing.T) {
	for _, holds := range []bool{false, true} {
		for c := range cells {
			open, workspace := profileSetting(Open, c, holds).verdict, profileSetting(Workspace, c, holds).verdict
			if open < workspace {
				t.Errorf("%s: %s under open, %s under workspace", profileTable[c].name, open, workspace)
			}
		}
	}
}

func TestArgvProfile(t *testing.T) {
	p := policyOf(t, "profile: argv\nallow: ['bash(git *)', 'bash(bash *)', 'bash(python3 x.py)']")
	if !p.NoShell() {
		t.Error("argv must be started without a shell")
	}
	wantVerdict(t, p, run("git log"), Allow)
	wantVerdict(t, p, run("bash -c ls"), Deny)
	wantVerdict(t, p, run("/usr/bin/zsh"), Deny)
	wantVerdict(t, p, run("python3 x.py"), Allow)
	wantVerdict(t, p, run("make"), Deny)
	wantVerdict(t, p, with(run("git log"), func(a *Access) { a.Opaque = "x" }), Deny)
}

// TestProtectedSpellings: one protected file, and the names that reach it on
// one file system or another.
func TestProtectedSpellings(t *testing.T) {
	p := policyOf(t, "allow: [edit, 'edit(/**)', 'edit(.git/config)', '*']", at(3))
	for _, name := range []string{
		".git/config", ".GIT/CONFIG", ".git/hooks/x", ".git./config", ".git /config", ".git/config.", "GIT~1/config", "git~2/hooks/a", ".g\u200cit/config",
		".git/config::$DATA", ".git::$INDEX_ALLOCATION/config", ".gıt/../.git/config", "sub/dir/.git/hooks/pre-commit", ".git/modules/a/b/hooks/x", ".git/worktrees/w/config",
		".git/info/attributes", ".git/info/grafts", ".git/objects/info/alternates", ".GIT/objects/INFO/http-alternates", ".git/modules/a/objects/info/alternates", ".gitmodules", "GITMOD~1", "gi7eba~1", ".agentkit/policy.yaml", "AGENTK~1/x", ".vscode/settings.json", ".VSCODE/x", "sub/.idea/x",
		".envrc", ".mcp.json", ".cursor/rules", ".claude/settings.json", ".codex/x", ".\u212aiLoCode/x", ".claude", ".git",
	} {
		if strings.Contains(name, "ı") {
			continue // dotless i is another letter everywhere
		}
		wantVerdict(t, p, write(name), Deny)
		wantVerdict(t, p, with(write("plain"), func(a *Access) { a.Named = write(name).Path }), Deny)
	}
	for _, name := range []string{"git/config", ".github/x", ".gitkeep", "src/.gitignore", "config", "hooks/x", ".git-blame-ignore-revs", "vscode/x", "my.agentkit/x", "~x", "a~1b"} {
		wantVerdict(t, p, write(name), Allow)
	}
	for _, name := range []string{".github/workflows/ci.yml", ".npmrc", ".gitattributes", ".bashrc", ".GitLab-CI.yml", "Jenkinsfile", ".husky/pre-commit", "x.pth", ".git/index"} {
		wantVerdict(t, p, write(name), Ask)
	}
	wantVerdict(t, p, file(Write, "bash", ".git/index"), Allow) // what git add does
	for _, name := range []string{"/home/dev/.bashrc", "/home/dev/.ssh/authorized_keys", "/home/dev/.gitconfig", "/etc/agentkit/policy.yaml"} {
		wantVerdict(t, p, write(name), Deny)
	}
	// The root may itself lie below a protected name.
	p = policyOf(t, "", func(s *Sources) { s.Root = "/srv/.claude/worktrees/w" })
	wantVerdict(t, p, write("/srv/.claude/worktrees/w/main.go"), Allow)
	wantVerdict(t, p, write("/srv/.claude/worktrees/w/.claude/x"), Deny)
}

func TestSecrets(t *testing.T) {
	p := policyOf(t, "")
	for _, name := range []string{".env", ".ENV.local", "a/prod.env", "id_rsa", "tls/server.key", "x.pem", ".npmrc", ".aws/credentials"} {
		wantVerdict(t, p, read(name), Ask)
		wantVerdict(t, p, file(Read, "bash", name), Ask)
		wantVerdict(t, p, read("/home/dev/"+name), Deny)
	}
	// What an editor or a person keeps of one.
	for _, name := range []string{".env~", "#.env#", "prod.env.bak", "a/id_rsa.old", ".id_rsa.swp", "tls/server.key~", ".npmrc.orig", ".aws~/credentials", ".docker/config.json.bak", ".ssh.bak/x"} {
		wantVerdict(t, p, read(name), Ask)
		wantVerdict(t, p, file(Read, "bash", name), Ask)
	}
	for _, name := range []string{".env.example~", "id_rsa.pub.bak", "main.go~", "a.bak", ".bak", "##", ".swp"} {
		wantVerdict(t, p, read(name), Allow)
	}
	for _, name := range []string{".env.example", ".env.sample", ".env.template", ".env.dist", "id_rsa.pub", "docs/environment.md", "src/env.go", "certs/cacert.pem", "keys.go"} {
		wantVerdict(t, p, read(name), Allow)
	}
	for _, name := range []string{
		"/proc/self/environ", "/proc/1/mem", "/proc/12/task/13/environ", "/etc/shadow", "/home/dev/.bash_history", "/home/dev/.config/gh/hosts.yml",
		"/home/dev/.local/share/keyrings/x", "/home/dev/.claude.json", "/home/dev/.config/sops/age/keys.txt", "/home/dev/.config/Signal/config.json", "/home/dev/.cache/huggingface/token", "/home/dev/.kaggle/kaggle.json", "/home/dev/.mylogin.cnf", "/home/dev/.Xauthority", "/home/dev/.config/pypoetry/auth.toml", "/home/dev/.local/share/uv/credentials/x", "/home/dev/.config/Code/User/globalStorage/state.vscdb", "/home/dev/.local/state/bash/history", "/run/secrets/kubernetes.io/token", "/home/dev/Library/Keychains/login.keychain-db", "/dev/mem",
	} {
		wantVerdict(t, p, file(Read, "bash", name), Deny)
	}
	for _, name := range []string{"/dev/zero", "/dev/random", "/dev/tty", "/dev/sda", "/dev/stdin"} {
		wantVerdict(t, p, read(name), Deny)
	}
	wantVerdict(t, p, with(read("pipe"), func(a *Access) { a.File = FIFO }), Deny)
	for _, name := range []string{"/dev/null", "/dev/stdin", "/dev/fd/3", "/dev/urandom"} {
		wantVerdict(t, p, file(Read, "bash", name), Allow)
	}
	wantVerdict(t, p, file(Write, "bash", "/dev/sda"), Deny)
	wantVerdict(t, p, file(Write, "bash", "/dev/stderr"), Allow)
}

// TestNaming: what is built in and asks is lifted by a rule that means it,
// never by a wildcard that happens to cover it.
func TestNaming(t *testing.T) {
	for rule, want := range map[string]Verdict{
		"read(.env)": Allow, "read(**/.env)": Allow, "read(.env*)": Allow, "read(**)": Ask, "read(**/*)": Ask, "read": Ask, "read(*)": Ask, "*": Ask, "read(" + testRoot + "/.env)": Allow,
	} {
		wantVerdict(t, policyOf(t, "", grants(rule)), read(".env"), want)
	}
	for rule, want := range map[string]Verdict{"edit(.github/workflows/**)": Allow, "edit(.github/**)": Ask, "edit(**)": Ask, "edit(.github/workflows/ci.yml)": Allow} {
		wantVerdict(t, policyOf(t, "", grants(rule)), write(".github/workflows/ci.yml"), want)
	}
	linked := with(write("hl"), func(a *Access) { a.File, a.Links = Regular, 2 })
	wantVerdict(t, policyOf(t, ""), linked, Ask)
	wantVerdict(t, policyOf(t, "", grants("edit(**)")), linked, Ask)
	wantVerdict(t, policyOf(t, "", grants("edit(hl)")), linked, Allow)
	wantVerdict(t, policyOf(t, "deny: [edit(hl)]", grants("edit(hl)")), linked, Deny)
	farm := with(read("node_modules/x/index.js"), func(a *Access) { a.File, a.Links = Regular, 2 })
	wantVerdict(t, policyOf(t, ""), farm, Allow)
}

// TestProtect: the file's own protected set is folded and beats every allow.
func TestProtect(t *testing.T) {
	p := policyOf(t, "protect: [deploy/**, Secrets.txt]\nallow: ['edit(**)', edit(deploy/x)]", grants("edit(deploy/x)"))
	for _, name := range []string{"deploy/x", "DEPLOY/x", "deploy./x", "secrets.TXT", "de\u00adploy/x"} {
		wantVerdict(t, p, write(name), Deny)
		wantVerdict(t, p, file(Write, "bash", name), Deny)
	}
	wantVerdict(t, p, write("deployed/x"), Allow)
	wantVerdict(t, p, read("deploy/x"), Allow)
}

func TestTemp(t *testing.T) {
	for _, c := range []struct{ root, path string }{
		{"/tmp/a/W", "/tmp/a/O/x"}, {"/tmp/W", "/tmp/O/x"}, {"/tmp/a/W", "/tmp/a/W-evil/x"}, {"/srv/w", "/tmp"}, {"/srv/w", "/tmpx/a"},
	} {
		wantVerdict(t, policyOf(t, "", func(s *Sources) { s.Root = c.root }), write(c.path), Deny)
	}
	wantVerdict(t, policyOf(t, "", func(s *Sources) { s.Root = "/tmp/a/W" }), write("/tmp/b/x"), Allow)
	wantVerdict(t, policyOf(t, "", func(s *Sources) { s.Home = "/tmp/h" }), write("/tmp/h/x"), Deny)
}

// TestUntrusted: in a directory that was made for the session, nobody else trusts what a file says.
func TestUntrusted(t *testing.T) {
	made := func(a *Access) { a.Fresh = true }
	for _, level := range []int{0, 2, 3} {
		p := policyOf(t, "", at(level))
		want := Ask
		if level > 0 {
			want = Allow
		}
		for _, name := range []string{"/tmp/h/.gitconfig", "/tmp/h/.npmrc", "/tmp/h/.github/workflows/x.yml", "/tmp/h/a/.bashrc"} {
			a := file(Write, "bash", name)
			wantVerdict(t, p, with(a, made), want)
			wantVerdict(t, p, a, Ask) // as it was there before
			wantVerdict(t, p, with(a, func(a *Access) { a.Fresh, a.Named = true, "/srv/w/.npmrc" }), Ask)
			wantVerdict(t, p, with(a, func(a *Access) { a.Fresh, a.File, a.Links = true, Regular, 2 }), Ask)
			wantVerdict(t, p, with(file(Write, "write", name), made), Ask)
		}
		for _, name := range []string{"/tmp/.yarnrc.yml", "/tmp/.gitconfig", "/tmp/.github/workflows/x.yml", "/tmp/Jenkinsfile", "/srv/w/.gitconfig"} {
			wantVerdict(t, p, with(file(Write, "bash", name), made), Ask) // all below see it
		}
		for _, name := range []string{"/tmp/h/.vscode/x", "/tmp/h/.git/config", "/tmp/h/.git/hooks/x", "/home/dev/.gitconfig"} {
			wantVerdict(t, p, with(file(Write, "bash", name), made), Deny)
		}
	}
	beside := policyOf(t, "", at(3), func(s *Sources) { s.Root = "/tmp/w" })
	wantVerdict(t, beside, with(file(Write, "bash", "/tmp/h/.gitconfig"), made), Allow)
	wantVerdict(t, beside, with(file(Write, "bash", "/tmp/w/.gitconfig"), made), Ask)
}

func TestOddNames(t *testing.T) {
	p := policyOf(t, "")
	for _, name := range []string{"..\\x", "~/x", "~root/x", "file:/x", "https:/x/y"} {
		wantVerdict(t, p, write(name), Deny)
		wantVerdict(t, p, read(name), Ask)
	}
	for _, name := range []string{"%2e%2e/x", "a%2Fb", ".../x", ".. /x", "a\u200bb", "x\u2215y", "$HOME/x", "a\x1bb", "a\xffb"} {
		wantVerdict(t, p, write(name), Ask)
		wantVerdict(t, p, read(name), Ask)
	}
	for _, name := range []string{"...", "..hidden", "a..b/c", "routes/$id.tsx", "a b", "日本語", "100%", "50%off", "@scope/x", "[slug]/page.tsx", "a:b", "é", "🙂.txt", "x~", "-rf", "a+b"} {
		wantVerdict(t, p, write(name), Allow)
		wantVerdict(t, p, read(name), Allow)
	}
}

func TestUnusablePaths(t *testing.T) {
	p := policyOf(t, "", profile("open"))
	for _, path := range []string{"relative", "/srv/work/a\x00b", "/srv/work/" + strings.Repeat("x", 300), "/srv/work/" + strings.Repeat("x/", 2100)} {
		for _, k := range []Kind{Read, Write} {
			wantVerdict(t, p, Access{Kind: k, Tool: "bash", Path: path}, Deny)
			wantVerdict(t, p, Access{Kind: k, Tool: "bash", Path: testRoot + "/a", Named: path}, Deny)
		}
	}
	wantVerdict(t, p, Access{Kind: "odd"}, Deny)
	wantVerdict(t, nil, read("a"), Deny)
	o := (*Policy)(nil).DecideAll([]Access{read("a")})
	if o.Verdict != Deny {
		t.Error("a nil policy must deny")
	}
}

func TestOurDirectories(t *testing.T) {
	p := policyOf(t, "", profile("open"), at(3))
	for _, name := range []string{"/home/dev/.config", "/home/dev/.local", "/home"} {
		wantVerdict(t, p, with(file(Write, "bash", name), func(a *Access) { a.Tree = true }), Deny)
		wantVerdict(t, p, file(Write, "bash", name), Ask)
	}
	p = policyOf(t, "", func(s *Sources) { s.Readable = []string{s.State + "/s/spill"} })
	wantVerdict(t, p, read("/home/dev/.local/state/agentkit/s/spill/1"), Allow)
	wantVerdict(t, p, read("/home/dev/.local/state/agentkit/s/audit"), Deny)
	wantVerdict(t, p, file(Read, "bash", "/home/dev/.local/state/agentkit/s/jobs/1/log"), Deny)
	wantVerdict(t, policyOf(t, "profile: open\nallow: ['read(**)']"), read("/home/dev/.local/state/agentkit/s/audit"), Deny)
	inside := policyOf(t, "", func(s *Sources) {
		s.State = testRoot + "/.state/agentkit"
		s.Readable = []string{s.State + "/s/spill"}
	})
	wantVerdict(t, inside, read(".state/agentkit/s/todo.json"), Deny)
	wantVerdict(t, inside, with(read("x"), func(a *Access) { a.Named = testRoot + "/.State/agentkit/s/todo.json" }), Deny)
	wantVerdict(t, inside, read(".state/agentkit/s/spill/1"), Allow)
	wantVerdict(t, inside, read(".state/other"), Allow)
	wantVerdict(t, p, write("/home/dev/.local/state/agentkit/s/spill/1"), Deny)
}

func TestDecideExec(t *testing.T) {
	p := policyOf(t, "deny: ['bash(rm *)', 'bash(*/evil *)']\nallow: ['bash(git *)']", at(0))
	for _, c := range []struct {
		path string
		argv []string
		want Verdict
	}{
		{"/usr/bin/rm", []string{"rm", "x"}, Deny},
		{"/tmp/copy", []string{"rm", "x"}, Deny},
		{"/bin/rm", []string{"harmless"}, Deny},
		{"/usr/bin/git", []string{"git", "log"}, Allow},
		{"/usr/bin/git", nil, Allow},
		{"/tmp/git", []string{"git", "log"}, Ask},
		{"/usr/bin/cc", []string{"cc"}, Ask},
	} {
		d := p.DecideExec(c.path, c.argv, testRoot, ExecFacts{})
		if d.Verdict != c.want {
			t.Errorf("%s %q: have %s, want %s (%s)", c.path, c.argv, d.Verdict, c.want, d.Rule)
		}
		if d.Default != (strings.HasSuffix(c.path, "cc") || c.path == "/tmp/git") {
			t.Errorf("%s: default %v", c.path, d.Default)
		}
	}
}

func TestHostileNamesAreEscaped(t *testing.T) {
	a := Access{Kind: Exec, Argv: []string{"echo", "a\x1b[2J", "b\u202ec", "d e", "it's", "\xff"}}
	if got, want := Subject(&a), `echo 'a\x1b[2J' b\u202ec 'd e' 'it'\''s' \xff`; got != want {
		t.Errorf("have %s, want %s", got, want)
	}
}
