//go:build unix

package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCommandPatterns: each row has a command that the pattern means and one
// that it must not.
func TestCommandPatterns(t *testing.T) {
	for _, c := range []struct{ pattern, match, not string }{
		{"git status", "git status", "git status -s"},
		{"git status *", "git status", "git stash"},
		{"git status *", "git status -s -b", "git -C x status"},
		{"git * main", "git push origin main", "git push origin main x"},
		{"git push * --force *", "git push a --force b", "git push a --forced b"},
		{"git push * --force *", "git push --force", "git push"},
		{"go test ./...", "go test ./...", "go test ./pkg"},
		{"npm run test:*", "npm run test:unit", "npm run tes:unit"},
		{"npm run *:unit", "npm run test:unit", "npm run test:unit:x"},
		{"npm run a*b*c", "npm run axbyc", "npm run axcyb"},
		{"make ?", "make all", "make all install"},
		{"make ?", "make all", "make"},
		{"* --version", "go --version", "go --version x"},
		{`echo "a"`, "echo a", "echo b"},
		{`echo \*`, "echo *", "echo x"},
		{`echo '?'`, "echo ?", "echo x"},
		{"[ *", "[ -f", "ls -f"},
		{"/usr/bin/git status", "git status", "git log"},
		{"./build.sh *", "./build.sh x", "./other.sh x"},
		{"*", "anything at all", ""},
	} {
		p := policyOf(t, "", grants("bash("+c.pattern+")"))
		wantVerdict(t, p, run(c.match), Allow)
		if c.not != "" {
			wantVerdict(t, p, run(c.not), Ask)
		}
		p = policyOf(t, "deny: ["+jsonText("bash("+c.pattern+")")+"]", at(3))
		wantVerdict(t, p, run(c.match), Deny)
		if c.not != "" && c.pattern != "git status *" {
			wantVerdict(t, p, run(c.not), Allow)
		}
	}
}

func TestPatternsWithBlanks(t *testing.T) {
	p := policyOf(t, "", grants(`bash(git commit -m "fix: a  b")`))
	a := run("git commit -m")
	a.Argv = append(a.Argv, "fix: a  b")
	wantVerdict(t, p, a, Allow)
	wantVerdict(t, p, run("git commit -m fix: a b"), Ask)
}

func TestBadRules(t *testing.T) {
	for _, text := range []string{
		"", "bash(", "bash()", "bash( )", "(x)", "bash(a", "*(x)", "bash('a)", `bash(a\`, "bash(a ** b)", "bash(a\x01b)", "bsh(ls)", "Bash(ls)",
		"read(~bob/x)", "read([)", "read(a/*/../b)", "read($HOME/x)", "fetch(example.org)", "fetch(https://u@x.org/)", "fetch(https://x.org:99999/)",
		"fetch(https://[::1/)", "network", "bash(A=1 ls)", "bash(" + strings.Repeat("x ", 61) + ")",
	} {
		s := sources()
		s.Allow = []string{text}
		if text == "" {
			continue
		}
		if p, err := Load(s); err == nil || p != nil {
			t.Errorf("%q: loads", text)
		}
	}
}

// TestIdentity: whose program a bare name means.
func TestIdentity(t *testing.T) {
	p := policyOf(t, "", grants("bash(git *)"))
	prog := func(argv0, program string, builtin bool) Access {
		return Access{Kind: Exec, Tool: "bash", Argv: []string{argv0, "log"}, Program: program, Builtin: builtin, Class: Unknown}
	}
	for _, c := range []struct {
		argv0, program string
		builtin        bool
		want           Verdict
	}{
		{"git", "/usr/bin/git", false, Allow},
		{"/usr/bin/git", "/usr/bin/git", false, Allow},
		{"git", "", true, Allow},
		{"git", "", false, Allow}, // nothing of that name: nothing runs
		{"git", "/home/dev/bin/git", false, Ask},
		{"git", testRoot + "/bin/git", false, Ask},
		{"git", "/tmp/x/git", false, Ask},
		{"./git", testRoot + "/git", false, Ask},
		{"./git", "/usr/bin/python3", false, Ask}, // a link of that name
		{"/usr/bin/gitk", "/usr/bin/gitk", false, Ask},
		{"/tmp/git", "", false, Ask},
	} {
		wantVerdict(t, p, prog(c.argv0, c.program, c.builtin), c.want)
	}
	// A deny rule follows the name anywhere.
	p = policyOf(t, "deny: ['bash(git *)']", at(3))
	for _, c := range [][2]string{{"git", "/tmp/git"}, {"./git", testRoot + "/git"}, {"x", "/opt/git"}, {"GIT.EXE", "/opt/GIT.EXE"}, {"/usr/lib/git", ""}} {
		wantVerdict(t, p, prog(c[0], c[1], false), Deny)
	}
	// A root inside a trusted directory is still a root.
	p = policyOf(t, "", grants("bash(tool *)"), func(s *Sources) { s.Root = "/usr/local/lib/work" })
	wantVerdict(t, p, Access{Kind: Exec, Tool: "bash", Argv: []string{"tool"}, Program: "/usr/local/lib/work/tool", Class: Unknown}, Ask)
}

func TestAllowNeverCovers(t *testing.T) {
	p := policyOf(t, "allow: [bash, 'bash(*)', 'bash(git *)', read, edit, 'edit(/**)', '*']")
	git := run("git push")
	wantVerdict(t, p, git, Allow)
	wantVerdict(t, p, with(git, func(a *Access) { a.Opaque = "a flag runs something" }), Ask)
	wantVerdict(t, p, with(git, func(a *Access) { a.Danger = "rewrites history" }), Ask)
	wantVerdict(t, p, with(read("a"), func(a *Access) { a.Opaque = "dynamic" }), Ask)
	wantVerdict(t, p, write("/srv/x"), Allow)
	wantVerdict(t, p, with(write("/srv/x"), func(a *Access) { a.Opaque = "dynamic" }), Deny)
	wantVerdict(t, p, write(".git/config"), Deny)
	p = policyOf(t, "allow: [bash, 'bash(cat *)']")
	wantVerdict(t, p, file(Read, "bash", "/srv/other"), Ask) // its files are their own accesses
	wantVerdict(t, p, file(Write, "bash", "/srv/other"), Ask)
	wantVerdict(t, p, connect("example.org", 443), Ask)
	// Spelled out, or by its class, a dangerous command can be allowed.
	danger := with(git, func(a *Access) { a.Danger = "rewrites or deletes what others have" })
	lossy := with(run("rm -rf dist"), func(a *Access) { a.Danger, a.Loses, a.Class = "deletes without asking", true, Known })
	wantVerdict(t, policyOf(t, "allow: ['bash(rm *)']", at(3)), lossy, Allow)
	wantVerdict(t, policyOf(t, "allow: ['bash(*)', bash, 'bash(r*)']", at(3)), lossy, Ask)
	wantVerdict(t, policyOf(t, "allow: ['bash(git *)']"), with(run("git stash drop"), func(a *Access) { a.Danger = "drops saved work" }), Ask)
	wantVerdict(t, policyOf(t, "allow: ['bash(git stash *)']"), with(run("git stash drop"), func(a *Access) { a.Danger = "drops saved work" }), Allow)
	finds := with(run("find x -delete"), func(a *Access) { a.Danger, a.Loses, a.Class = "deletes every match", true, Known })
	wantVerdict(t, policyOf(t, "allow: ['bash(find *)']"), finds, Ask)
	wantVerdict(t, policyOf(t, "allow: ['bash(find * -delete *)']"), finds, Allow)
	wantVerdict(t, policyOf(t, "", grants("bash(git push)")), danger, Allow)
	wantVerdict(t, policyOf(t, "", grants("bash(git push *)")), danger, Ask)
	wantVerdict(t, policyOf(t, "", grants("bash(dangerous)")), danger, Allow)
	wantVerdict(t, policyOf(t, "", grants("bash(dangerous)")), git, Ask)
}

func TestClasses(t *testing.T) {
	ls := with(run("ls"), func(a *Access) { a.Class = ReadOnly })
	unknown := with(run("frob"), func(a *Access) { a.Class = Unknown })
	wantVerdict(t, policyOf(t, "deny: ['bash(readonly)']"), ls, Deny)
	wantVerdict(t, policyOf(t, "ask: ['bash(readonly)']"), ls, Ask)
	wantVerdict(t, policyOf(t, "deny: ['bash(dangerous)']"), with(ls, func(a *Access) { a.Danger = "x" }), Deny)
	wantVerdict(t, policyOf(t, "deny: ['bash(dangerous)']"), ls, Allow)
	sandboxed := "profile: argv\nallow: ['bash(sandboxed)']"
	wantVerdict(t, policyOf(t, sandboxed), unknown, Deny)
	wantVerdict(t, policyOf(t, sandboxed, at(2)), unknown, Allow)
	wantVerdict(t, policyOf(t, sandboxed+"\nsandbox: off", at(3)), unknown, Deny)
	free := "network: {default: allow}\noutside: {write: ask}"
	wantVerdict(t, policyOf(t, free), unknown, Ask)
	wantVerdict(t, policyOf(t, free, at(3)), unknown, Allow)
	wantVerdict(t, policyOf(t, "profile: argv\nallow: ['bash(readonly)']"), ls, Allow)
	wantVerdict(t, policyOf(t, "profile: argv\nallow: ['bash(readonly)']"), with(ls, func(a *Access) { a.Program = "/tmp/ls" }), Deny)
}

func TestDynamicWords(t *testing.T) {
	p := policyOf(t, "", grants("bash(git show *)", "bash(make ?)"))
	wantVerdict(t, p, run("git show $x"), Allow)
	wantVerdict(t, p, run("git $x"), Ask)
	wantVerdict(t, policyOf(t, "", grants("bash(git *ain)", "bash(make $t)")), run("git $main"), Ask)
	wantVerdict(t, p, run("make $x"), Allow)
	wantVerdict(t, p, run("$x show"), Ask)
	p = policyOf(t, "deny: ['bash(git push * --force *)']", at(3))
	wantVerdict(t, p, run("git $x"), Ask)
	wantVerdict(t, p, run("git push $x"), Ask)
	wantVerdict(t, p, run("git push --force $x"), Deny)
	wantVerdict(t, p, run("git log $x"), Allow)
	wantVerdict(t, p, run("$x"), Ask)
	wantVerdict(t, p, run("$x log y"), Ask)
	wantVerdict(t, policyOf(t, "deny: [bash(git push)]", at(3)), run("$x log y"), Allow)
	d := p.Decide(&[]Access{run("git $x")}[0])
	if !strings.Contains(d.Why, "could match") {
		t.Errorf("why: %s", d.Why)
	}
}

// TestAskThatMayMatch: an ask rule says whether it matches, or only may; one that matches
// is named first.
func TestAskThatMayMatch(t *testing.T) {
	const could, does = "could match this ask rule", "matches ask rule "
	tree := with(file(Write, "bash", "db"), func(a *Access) { a.Tree, a.Op = true, Delete })
	unknown := with(file(Write, "bash", ""), func(a *Access) { a.Path, a.Opaque = "", "the path is not known" })
	for _, c := range []struct {
		rules string
		a     Access
		rule  string
		why   string
	}{
		{"ask: ['edit(**/*.sql)']", tree, "edit(**/*.sql)", could},
		{"ask: ['edit(**/*.sql)']", unknown, "edit(**/*.sql)", could},
		{"ask: ['edit(**/*.sql)']", file(Write, "bash", "db/a.sql"), "edit(**/*.sql)", does},
		{"ask: ['edit(**/*.sql)', 'edit(db/**)']", tree, "edit(db/**)", does},
		{"ask: ['edit(db/**)', 'edit(**/*.sql)']", tree, "edit(db/**)", does},
		{"ask: ['bash(git push *)']", run("git $x"), "bash(git push *)", could},
		{"ask: ['bash(git push *)']", run("git push $x"), "bash(git push *)", does},
		{"ask: ['bash(git push *)', 'bash(git *)']", run("git $x"), "bash(git *)", does},
	} {
		d := policyOf(t, c.rules, at(3)).Decide(&c.a)
		if d.Verdict != Ask || d.Rule != c.rule || !strings.Contains(d.Why, c.why) || d.Doubt {
			t.Errorf("%s, %s: %+v, want %s: %s", c.rules, Subject(&c.a), d, c.rule, c.why)
		}
	}
}

func TestOptionsBeforeSubcommand(t *testing.T) {
	p := policyOf(t, "deny: ['bash(git push *)']", at(3))
	wantVerdict(t, p, run("git -C dir push"), Deny)
	wantVerdict(t, p, run("git -c=a push x"), Deny)
	wantVerdict(t, p, run("git --no-pager push"), Deny)
	wantVerdict(t, p, run("git -C push status"), Allow)
	wantVerdict(t, p, run("git log push"), Allow)
	wantVerdict(t, p, run("git --no-pager log push"), Allow)
	p = policyOf(t, "deny: ['bash(frob push *)']", at(3)) // nothing is known of its options
	wantVerdict(t, p, run("frob -x push"), Ask)
	wantVerdict(t, p, run("frob -x y push"), Ask)
	wantVerdict(t, p, run("frob --x=y push"), Deny)
	wantVerdict(t, p, run("frob x push"), Allow)
}

func TestExcept(t *testing.T) {
	p := policyOf(t, `
deny:
  - rule: bash(git push * --force *)
    except: [bash(git push * --force * my-fork), "git push --force mine"]
    reason: history is shared
  - rule: edit(gen/**)
    except: [edit(gen/keep.go)]
allow:
  - rule: bash(npm *)
    except: ["npm publish *"]
`, at(3))
	wantVerdict(t, p, run("git push --force origin"), Deny)
	wantVerdict(t, p, run("git push --force my-fork"), Allow)
	wantVerdict(t, p, run("git push --force mine"), Allow)
	wantVerdict(t, p, run("git push --force $x"), Deny)
	wantVerdict(t, p, run("git push --force my-fork x"), Deny)
	wantVerdict(t, p, write("gen/a.go"), Deny)
	wantVerdict(t, p, write("gen/keep.go"), Allow)
	wantVerdict(t, p, with(write("gen/keep.go"), func(a *Access) { a.Named = testRoot + "/gen/x.go" }), Deny)
	a := run("git push --force x")
	if d := p.Decide(&a); d.Reason != "history is shared" || d.Line != 3 || d.File == "" {
		t.Errorf("decision: %+v", d)
	}
	p = policyOf(t, "allow: [{rule: bash(npm *), except: [npm publish *]}]")
	wantVerdict(t, p, run("npm test"), Allow)
	wantVerdict(t, p, run("npm publish x"), Ask)
	wantVerdict(t, p, run("npm $x"), Ask)
}

func TestPathPatterns(t *testing.T) {
	for _, c := range []struct{ pattern, match, not string }{
		{"secret.txt", "secret.txt", "a/secret.txt"},
		{"secret.txt", "secret.txt", "secret.txt2"},
		{"src/**", "src/a/b.go", "srcx/a"},
		{"src/", "src/a", "src2/a"},
		{"./src/**", "src/a", "a/src"},
		{"**/*.dat", "x/y/a.dat", "x/y/a.data"},
		{"**/*.dat", "a.dat", "adat"},
		{"**/gen", "x/gen", "x/gent"},
		{"*.md", "README.md", "doc/README.md"},
		{"a/*/c", "a/b/c", "a/b/b/c"},
		{"a/{b,c}/d", "a/c/d", "a/e/d"},
		{"a/[xy]", "a/x", "a/z"},
		{"a/?", "a/b", "a/bb"},
		{`a\*b`, "a*b", "axb"},
		{testRoot + "/x", "x", "y"},
		{"~/notes/**", "/home/dev/notes/a", "/home/dev/note/a"},
		{"../other/**", "/srv/other/a", "/srv/others/a"},
		{"/var/log/**", "/var/log/a", "/var/logs/a"},
	} {
		p := policyOf(t, "deny: ["+jsonText("read("+c.pattern+")")+"]", profile("open"))
		wantVerdict(t, p, read(c.match), Deny)
		wantVerdict(t, p, read(c.not), Allow)
		wantVerdict(t, p, with(read("elsewhere"), func(a *Access) { a.Named = read(c.match).Path }), Deny)
		p = policyOf(t, "profile: argv\nallow: ["+jsonText("read("+c.pattern+")")+"]\noutside: {read: deny}\ndeny: [grep]")
		if strings.HasPrefix(c.match, "/") {
			wantVerdict(t, p, read(c.match), Allow)
			wantVerdict(t, p, read(c.not), Deny)
		}
	}
	// A denied directory denies what lies in it; an allowed one does not.
	p := policyOf(t, "deny: [read(vault)]\nallow: [read(/opt/data)]")
	wantVerdict(t, p, read("vault/x/y"), Deny)
	wantVerdict(t, p, read("/opt/data"), Allow)
	wantVerdict(t, p, read("/opt/data/x"), Ask)
}

func TestToolsOfPathRules(t *testing.T) {
	p := policyOf(t, "deny: [read(a/**), edit(b/**), grep(c/**), write(d/**), kill(job-*), todo]")
	for _, tool := range []string{"read", "grep", "bash", "glob"} {
		wantVerdict(t, p, file(Read, tool, "a/x"), Deny)
	}
	for _, tool := range []string{"edit", "write", "bash", "patch"} {
		wantVerdict(t, p, file(Write, tool, "b/x"), Deny)
	}
	wantVerdict(t, p, file(Read, "bash", "b/x"), Allow)
	wantVerdict(t, p, file(Read, "grep", "c/x"), Deny)
	wantVerdict(t, p, file(Read, "read", "c/x"), Allow)
	wantVerdict(t, p, file(Write, "write", "d/x"), Deny)
	wantVerdict(t, p, file(Write, "edit", "d/x"), Allow)
	wantVerdict(t, p, Access{Kind: Tool, Tool: "kill", Name: "job-7"}, Deny)
	wantVerdict(t, p, Access{Kind: Tool, Tool: "kill", Name: "other"}, Allow)
	wantVerdict(t, p, Access{Kind: Tool, Tool: "todo"}, Deny)
	p = policyOf(t, "deny: ['*']")
	for _, a := range []Access{run("ls"), read("a"), write("a"), get("https://example.org/"), {Kind: Env, Tool: "bash", Name: "A"}, {Kind: Tool, Tool: "todo"}} {
		wantVerdict(t, p, a, Deny)
	}
}

// TestTrees: an access to a directory and all below it.
func TestTrees(t *testing.T) {
	tree := func(k Kind, tool, path string, op Op) Access {
		a := file(k, tool, path)
		a.Tree, a.Op, a.File = true, op, Dir
		return a
	}
	p := policyOf(t, "protect: [deploy/prod/**]\ndeny: ['read(**/*.pem)', read(vault/**)]", at(3))
	wantVerdict(t, p, tree(Write, "bash", "deploy", Delete), Deny)
	wantVerdict(t, p, tree(Write, "bash", "deploy/prod/a", Delete), Deny)
	wantVerdict(t, p, tree(Write, "bash", "deploy/test", Delete), Allow)
	wantVerdict(t, p, tree(Write, "bash", "build", Delete), Allow)
	wantVerdict(t, p, tree(Read, "bash", "src", ""), Ask)
	wantVerdict(t, p, tree(Read, "bash", "vault/x", ""), Deny)
	wantVerdict(t, p, tree(Read, "grep", "src", ""), Allow) // asks again for each file
	wantVerdict(t, p, tree(Write, "bash", "", Delete), Deny)
	wantVerdict(t, p, tree(Write, "bash", ".git", Delete), Deny)
	p = policyOf(t, "", at(3))
	wantVerdict(t, p, tree(Write, "bash", "", Create), Ask) // tar x: it could hold .git/hooks
	wantVerdict(t, p, tree(Write, "bash", ".github", Delete), Ask)
	wantVerdict(t, p, tree(Write, "bash", "/home", Delete), Deny)
	wantVerdict(t, p, tree(Read, "bash", ".", ""), Allow)
}

func TestURLPatterns(t *testing.T) {
	for _, c := range []struct{ pattern, match, not string }{
		{"https://pkg.go.dev/**", "https://pkg.go.dev/net/http?tab=doc#x", "http://pkg.go.dev/net"},
		{"https://pkg.go.dev/**", "https://PKG.go.dev./net", "https://pkg.go.dev.evil.org/net"},
		{"https://pkg.go.dev/**", "https://pkg.go.dev:443/x", "https://pkg.go.dev:8443/x"},
		{"https://pkg.go.dev/**", "https://pkg.go.dev/", "https://u@pkg.go.dev/"},
		{"https://x.org/pub/**", "https://x.org/pub/a", "https://x.org/pub/../private"},
		{"https://x.org/pub/**", "https://x.org/pub/%61", "https://x.org/pub/%2e%2e/private"},
		{"https://x.org/pub/**", "https://x.org/a/../pub/b", "https://x.org/pub%2fx"},
		{"https://*.x.org/**", "https://a.x.org/", "https://x.org.evil/"},
		{"https://*.x.org/**", "https://a.b.x.org/z", "https://ax.org/"},
		{"domain:example.org", "https://example.org/a", "https://notexample.org/"},
		{"domain:example.org", "http://a.b.example.org/a", "https://example.org.evil.com/"},
		{"domain:example.org", "https://example.org/", "https://example.org:8443/"},
		{"domain:bücher.example", "https://xn--bcher-kva.example/", "https://bucher.example/"},
		{"domain:xn--bcher-kva.example", "https://BÜCHER.example/", "https://bücher.examples/"},
		{"https://x.org:8443/**", "https://x.org:8443/a", "https://x.org/a"},
		{"*://x.org/**", "http://x.org/a", "http://y.org/a"},
		{"https://x.org", "https://x.org/any/where", "https://y.org/"},
	} {
		p := policyOf(t, "profile: readonly\nallow: ["+jsonText("fetch("+c.pattern+")")+"]")
		wantVerdict(t, p, get(c.match), Allow)
		wantVerdict(t, p, get(c.not), Ask)
		wantVerdict(t, policyOf(t, "deny: ["+jsonText("fetch("+c.pattern+")")+"]"), get(c.match), Deny)
	}
	p := policyOf(t, "deny: ['fetch(https://x.org/private/**)', 'fetch(domain:evil.org)']\nprofile: open")
	wantVerdict(t, p, get("https://x.org/a/%2e%2e/private/x"), Deny)
	wantVerdict(t, p, get("https://user@sub.evil.org:8443/x"), Deny)
	wantVerdict(t, p, connect("EVIL.org.", 22), Deny)
	wantVerdict(t, p, get("https://x.org/public"), Allow)
}

func TestHosts(t *testing.T) {
	p := policyOf(t, "")
	for _, u := range []string{
		"http://127.0.0.1/", "http://2130706433/", "http://0x7f.1/", "http://0251.0376.0251.0376/", "http://[::1]/", "http://[::ffff:10.0.0.1]/",
		"http://localhost/", "http://a.LOCALHOST./", "http://printer.local/", "http://169.254.169.254/latest/", "http://metadata.google.internal/",
		"http://10.1.2.3/", "http://100.64.0.1/", "http://198.18.0.1/", "http://[64:ff9b::a00:1]/", "http://[2002:7f00:1::]/", "http://[fe80::1]/",
		"http://１２７.０.０.１/", "http://①②⑦.0.0.1/", "http://127。0。0。1/", "http://router/", "http://0/", "http://0.0.0.0/", "http://[::]/", "http://127.1/",
		"file:///etc/passwd", "gopher://x.org/", "ftp://x.org/", "http:///x", "http://a b/", "http://x\x00.org/", "http://%6c%6f/", "http://1.2.3.4.5.6%00.org/",
	} {
		wantVerdict(t, p, get(u), Deny)
	}
	for _, u := range []string{"https://example.org/", "https://172.15.0.1/", "https://127.0.0.1.example.com/", "http://223.255.255.254/", "https://localhost.example.com/", "http://[2606:4700::1111]/"} {
		wantVerdict(t, p, get(u), Allow)
	}
	// Named, a host at home is allowed; the credentials' address never is.
	p = policyOf(t, "allow: ['fetch(http://localhost:3000/**)', 'fetch(http://169.254.169.254/**)', 'fetch(http://*/**)', fetch]")
	wantVerdict(t, p, get("http://localhost:3000/a"), Allow)
	wantVerdict(t, p, get("http://localhost/a"), Deny)
	wantVerdict(t, p, get("http://10.0.0.1/a"), Deny)
	wantVerdict(t, p, get("http://169.254.169.254/a"), Deny)
	a := get("https://example.org/")
	a.Host = "other.org"
	wantVerdict(t, policyOf(t, ""), a, Deny)
}

func TestCommandNetwork(t *testing.T) {
	const rules = "network: {default: deny, allow: [proxy.example.org, '*.cdn.org', 'localhost:5432']}\nallow: ['fetch(domain:x.org)', fetch]"
	p, confined := policyOf(t, rules), policyOf(t, rules, at(2))
	wantVerdict(t, p, connect("proxy.example.org", 443), Allow)
	wantVerdict(t, p, connect("a.proxy.example.org", 443), Deny)
	wantVerdict(t, p, connect("a.cdn.org", 443), Allow)
	wantVerdict(t, p, connect("localhost", 5432), Allow)
	for _, host := range []string{"localhost", "LOCALHOST.", "app.localhost", "127.0.0.1", "127.1", "0x7f.1", "::1", "0.0.0.0"} {
		wantVerdict(t, confined, connect(host, 22), Allow)
		wantVerdict(t, p, connect(host, 22), Deny) // this machine's own servers
	}
	wantVerdict(t, p, connect("localhost.example.org", 22), Deny)
	wantVerdict(t, policyOf(t, "deny: ['net(localhost:22)']"), connect("localhost", 22), Deny)
	wantVerdict(t, p, connect("x.org", 443), Deny) // fetch rules are about the tool
	p = policyOf(t, "network: {default: allow, deny: [evil.org]}")
	wantVerdict(t, p, connect("x.org", 443), Allow)
	wantVerdict(t, p, connect("evil.org", 443), Deny)
	wantVerdict(t, p, with(connect("", 0), func(a *Access) { a.Opaque = "dynamic" }), Ask)
}

// TestPublishing: a host that may be read is not one that may be changed: that takes a
// rule whose words name the program and what it is to do.
func TestPublishing(t *testing.T) {
	push := with(connect("git.example.org", 22), func(a *Access) {
		a.Publishes, a.Argv, a.Program = true, []string{"git", "push", "origin", "main"}, "/usr/bin/git"
	})
	for rules, want := range map[string]Verdict{
		"": Ask,
		"network: {allow: [git.example.org, remotes]}":                    Ask,
		"network: {default: allow}":                                       Ask,
		"network: {default: deny}":                                        Deny,
		"allow: ['bash(git push origin *)']":                              Allow,
		"allow: ['bash(git push *)']":                                     Allow,
		"allow: ['bash(git push other *)']":                               Ask,
		"allow: ['bash(git *)', bash, 'bash(*)', 'bash(? push *)', '*']":  Ask,
		"allow: ['bash(git push *)']\nask: ['net(git.example.org)']":      Ask,
		"allow: ['bash(git push *)']\nnetwork: {deny: [git.example.org]}": Deny,
	} {
		wantVerdict(t, policyOf(t, rules), push, want)
	}
	post := with(connect("example.org", 443), func(a *Access) {
		a.Publishes, a.Argv, a.Program = true, []string{"curl", "-d", "x", "https://example.org"}, "/usr/bin/curl"
	})
	wantVerdict(t, policyOf(t, "allow: ['bash(curl *)']"), post, Allow)
	wantVerdict(t, policyOf(t, "network: {default: allow}", at(2)), with(post, func(a *Access) { a.Host = "localhost" }), Allow)
}

// TestPresets: the registries, and the hosts of the repository's own remotes.
func TestPresets(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		".git/config":                "[remote \"origin\"]\n\turl = git@git.example.org:a/b.git\n[remote \"up\"]\n\turl = https://up.example.org:8443/b\n[remote \"near\"]\n\turl = ../b\n",
		".git/worktrees/w/commondir": "../..\n",
		"w/.git":                     "gitdir: ../.git/worktrees/w\n",
	} {
		must(t, os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o755))
		must(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
	}
	must(t, os.MkdirAll(filepath.Join(root, "sub/dir"), 0o755))
	for _, dir := range []string{"", "sub/dir", "w"} {
		p := policyOf(t, "network: {allow: [packages, remotes]}", func(s *Sources) { s.Root = filepath.ToSlash(filepath.Join(root, dir)) })
		wantVerdict(t, p, connect("git.example.org", 22), Allow)
		wantVerdict(t, p, with(connect("git.example.org", 0), func(a *Access) { a.Scheme = "ssh" }), Allow)
		wantVerdict(t, p, connect("up.example.org", 8443), Allow)
		wantVerdict(t, p, connect("up.example.org", 443), Ask)
		wantVerdict(t, p, connect("registry.npmjs.org", 443), Allow)
		wantVerdict(t, p, connect("github.com", 443), Ask)
		allowed, _ := p.Hosts()
		for _, host := range []string{"git.example.org", "up.example.org:8443", "pypi.org"} {
			if !slices.Contains(allowed, host) {
				t.Errorf("%s: the wall is not told of %s: %q", dir, host, allowed)
			}
		}
	}
}

func TestAssignments(t *testing.T) {
	set := func(name, value string) Access { return Access{Kind: Env, Tool: "bash", Name: name, Value: value} }
	p := policyOf(t, "allow: ['bash(CGO_ENABLED=0)', 'bash(GO*=*)']\ndeny: ['bash(LD_*=*)']")
	wantVerdict(t, p, set("CGO_ENABLED", "0"), Allow)
	wantVerdict(t, p, set("CGO_ENABLED", "1"), Ask)
	wantVerdict(t, p, set("GOFLAGS", "-mod=mod"), Allow)
	wantVerdict(t, p, set("LD_PRELOAD", "/x"), Deny)
	wantVerdict(t, p, set("PATH", "/x"), Ask)
	wantVerdict(t, policyOf(t, "", at(3)), set("PATH", "/x"), Allow)
	wantVerdict(t, policyOf(t, "deny: ['bash(PATH=*)']"), with(set("PATH", ""), func(a *Access) { a.Opaque = "x" }), Deny)
	wantVerdict(t, policyOf(t, "deny: ['bash(PATH=/x)']"), with(set("PATH", ""), func(a *Access) { a.Opaque = "x" }), Ask)
}

func ExamplePolicy_Decide() {
	s := sources()
	s.Allow = []string{"bash(git status *)"}
	p, err := Load(s)
	if err != nil {
		fmt.Println(err)
		return
	}
	d := p.Decide(&Access{Kind: Exec, Tool: "bash", Argv: []string{"git", "status", "-s"}, Program: "/usr/bin/git"})
	fmt.Println(d.Verdict, d.Rule)
	// Output: allow bash(git status *)
}

// A deny or ask rule that spells an option out also doubts its other
// spellings; an allow rule never takes them for it.
func TestOtherSpellings(t *testing.T) {
	for _, c := range []struct {
		rule, text string
		want       Verdict
	}{
		{"git commit * --no-verify *", "git commit --no-veri -m x", Ask},
		{"git commit * --no-verify *", "git commit --no-verify=x", Ask},
		{"git commit * --no-verify *", "git commit --no -m x", Allow},
		{"git commit * --no-verify *", "git commit --no-edit", Allow},
		{"git commit * --no-verify *", "git commit -m --no-verify", Deny},
		{"git commit * -n *", "git commit -anm x", Ask},
		{"git commit * -n *", "git commit -am x", Allow},
		{"git commit * -n *", "git commit -m x", Allow},
		{"git commit * -n *", "git commit -- -an", Allow},
		{"npm publish *", "npm --tag x publish", Deny},
	} {
		wantVerdict(t, policyOf(t, "deny: ["+jsonText("bash("+c.rule+")")+"]", at(3)), run(c.text), c.want)
	}
	wantVerdict(t, policyOf(t, "", grants("bash(git commit --no-verify)")), run("git commit --no-veri"), Ask)
}

// TestDoubtNamesOneRule: where several rules may match a program that is not
// known, the answer names the same one each time.
func TestDoubtNamesOneRule(t *testing.T) {
	p := policyOf(t, "version: 1\ndeny: [bash(zip *), bash(apt *), bash(make *), bash(git *), bash(node *), bash(rm *)]\n")
	a := run("$x y")
	a.Opaque = "the program is not known before it runs"
	for range 50 {
		if d := p.Decide(&a); d.Verdict != Ask || d.Rule != "bash(apt *)" {
			t.Fatalf("%s by %q", d.Verdict, d.Rule)
		}
	}
}

// TestEverything: whatever opens all there is for reading, no secret is looked for there, and it is said.
func TestEverything(t *testing.T) {
	const all = "secrets outside the root whose places are not known: all there is is open"
	for text, want := range map[string][]string{
		"":                                    nil,
		"profile: open":                       {all},
		"outside: {read: allow}":              {all},
		"allow: ['read(/**)']":                {all},
		"allow: ['*']":                        {all},
		"allow: ['read(/other/**)']":          nil,
		"allow: ['read(/**)', 'edit(/o/**)']": {all, "protected files in /o where there are none yet"},
		"profile: open\nask: ['read(/**)']":   {all},
	} {
		if have := policyOf(t, "version: 1\n"+text+"\n", at(3)).Unheld(); !slices.Equal(have, want) {
			t.Errorf("%s: have %q, want %q", text, have, want)
		}
	}
}
