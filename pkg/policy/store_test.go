//go:build unix

package policy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
)

func TestAddRule(t *testing.T) {
	const rule = "bash(git push *)"
	for _, c := range []struct{ name, before, after string }{
		{"a.yaml", "", "version: 1\nallow:\n  - bash(git push *)\n"},
		{"a.yaml", "# mine\nallow:\n  - read(a) # why\n\n# more\ndeny: [read(b)]\n", "# mine\nallow:\n  - read(a) # why\n  - bash(git push *)\n\n# more\ndeny: [read(b)]\n"},
		{"a.yaml", "allow:\n- read(a)\n- rule: read(b)\n  reason: |\n    long\n    text\nask: []\n", "allow:\n- read(a)\n- rule: read(b)\n  reason: |\n    long\n    text\n- bash(git push *)\nask: []\n"},
		{"a.yaml", "allow: [read(a)]\n", "allow: [read(a), \"bash(git push *)\"]\n"},
		{"a.yaml", "allow: []\nask: [x(y)", ""},
		{"a.yaml", "allow: []\n", "allow: [\"bash(git push *)\"]\n"},
		{"a.yaml", "allow: [ 'a]' ]\n", ""},
		{"a.yaml", "allow: [\n  read(a), # one ]\n  read(b) # two\n]\n", "allow: [\n  read(a), # one ]\n  read(b),\n  \"bash(git push *)\" # two\n]\n"},
		{"a.yaml", "allow:\ndeny: [read(b)]", "allow:\n  - bash(git push *)\ndeny: [read(b)]"},
		{"a.yaml", "deny: [read(b)]", "deny: [read(b)]\nallow:\n  - bash(git push *)\n"},
		{"a.yaml", "allow:\n  - read(a)", "allow:\n  - read(a)\n  - bash(git push *)"},
		{"a.yaml", "allow:\r\n  - read(a)\r\n", "allow:\r\n  - read(a)\n  - bash(git push *)\r\n"},
		{"a.yaml", "\ufeffallow: [read(a)]\n", "\ufeffallow: [read(a), \"bash(git push *)\"]\n"},
		{"a.toml", "", "version = 1\nallow = [\n  \"bash(git push *)\",\n]\n"},
		{"a.toml", "allow = [\"read(a)\"] # x\n[env]\n", "allow = [\"read(a)\", \"bash(git push *)\"] # x\n[env]\n"},
		{"a.toml", "allow = [\n  \"read(a)\", # one\n]\n", "allow = [\n  \"read(a)\",\n  \"bash(git push *)\", # one\n]\n"},
		{"a.toml", "# top\n[env]\npass = [\"A\"]\n", "# top\nallow = [\n  \"bash(git push *)\",\n]\n[env]\npass = [\"A\"]\n"},
		{"a.toml", "[[allow]]\nrule = \"read(a)\"\n", "[[allow]]\nrule = \"read(a)\"\n\n[[allow]]\nrule = \"bash(git push *)\"\n"},
		{"a.json", "", "{\n  \"version\": 1,\n  \"allow\": [\n    \"bash(git push *)\"\n  ]\n}\n"},
		{"a.json", "{\"allow\": [\"read(a)\"]}", "{\"allow\": [\"read(a)\", \"bash(git push *)\"]}"},
		{"a.json", "{\n  \"allow\": [\n    \"read(a]\\\")\"\n  ]\n}", "{\n  \"allow\": [\n    \"read(a]\\\")\",\n    \"bash(git push *)\"\n  ]\n}"},
		{"a.json", "{}", "{\n  \"allow\": [\n    \"bash(git push *)\"\n  ]\n}"},
		{"a.json", "{\"version\": 1}", "{\n  \"allow\": [\n    \"bash(git push *)\"\n  ],\"version\": 1}"},
		{"a.yaml", "allow: [\"bash(git push *)\"]\n", "allow: [\"bash(git push *)\"]\n"},
		{"a.yaml", "deny: [bash(x)]\ntests:\n  - {bash: git push x, want: ask}\n", ""}, // the file's own test forbids it
	} {
		file := filepath.Join(t.TempDir(), c.name)
		if c.before != "" {
			must(0, os.WriteFile(file, []byte(c.before), 0o644))
		}
		err := AddRule(context.Background(), sources(), file, Allow, rule)
		got, _ := os.ReadFile(file)
		if c.after == "" {
			if err == nil || string(got) != c.before {
				t.Errorf("%q: want a refusal and the file as it was, have %v, %q", c.before, err, got)
			}
			continue
		}
		if err != nil || string(got) != c.after {
			t.Errorf("%q:\nhave %q\nwant %q (%v)", c.before, got, c.after, err)
		}
		if info := must(os.Stat(file)); c.before != c.after && info.Mode().Perm() != 0o600 {
			t.Errorf("%q: mode %v", c.before, info.Mode())
		}
	}
	for _, bad := range []string{"bsh(ls)", "bash(", "read([)"} {
		file := filepath.Join(t.TempDir(), "a.yaml")
		if err := AddRule(context.Background(), sources(), file, Allow, bad); err == nil {
			t.Errorf("%s was added", bad)
		}
	}
	odd := `bash(git commit -m 'fix: # "x"' *)`
	for _, name := range []string{"a.yaml", "a.toml", "a.json"} {
		file := filepath.Join(t.TempDir(), name)
		must(0, AddRule(context.Background(), sources(), file, Deny, odd))
		must(0, AddRule(context.Background(), sources(), file, Deny, "read(*)"))
		must(0, AddRule(context.Background(), sources(), file, Deny, "*"))
		s := sources()
		s.Files = []string{file}
		if p := must(Load(s)); len(p.all) != 3 || p.all[0].text != odd {
			t.Errorf("%s: %v", name, p.all)
		}
	}
}

// TestAddRuleTogether: writers at the same time lose nothing.
func TestAddRuleTogether(t *testing.T) {
	file, done := filepath.Join(t.TempDir(), "a.yaml"), make(chan error)
	for i := range 16 {
		go func() {
			done <- AddRule(context.Background(), sources(), file, Allow, "bash(tool"+string(rune('a'+i))+" *)")
		}()
	}
	for range 16 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	s := sources()
	s.Files = []string{file}
	if p := must(Load(s)); len(p.all) != 16 {
		t.Errorf("%d rules are left", len(p.all))
	}
}

func TestApprovals(t *testing.T) {
	now := time.Unix(1000, 0)
	s := &Approvals{Dir: t.TempDir() + "/a", Now: func() time.Time { return now }}
	p := policyOf(t, "")
	args := json.RawMessage(`{"command":"git push","timeout_ms":10}`)
	o := p.DecideAll([]Access{run("git push")})
	consume := func(want Answer, args string) {
		t.Helper()
		if got, _, err := s.Consume(context.Background(), p, "bash", json.RawMessage(args), "s1", &o); err != nil || got != want {
			t.Errorf("have %s, %v; want %s", got, err, want)
		}
	}
	a := must(s.Request(context.Background(), p, "bash", args, "s1", &o))
	if again := must(s.Request(context.Background(), p, "bash", json.RawMessage(`{"timeout_ms": 10, "command": "git push"}`), "s1", &o)); again.ID != a.ID {
		t.Error("the same call has two requests")
	}
	consume(Pending, string(args))
	must(s.Approve(context.Background(), a.ID))
	consume(Pending, `{"command":"git push --force","timeout_ms":10}`)
	if got, _, _ := s.Consume(context.Background(), policyOf(t, "", grants("read(x)")), "bash", args, "s1", &o); got != Pending {
		t.Error("approved under another policy")
	}
	if got, _, _ := s.Consume(context.Background(), p, "script", args, "s1", &o); got != Pending {
		t.Error("approved for another tool")
	}
	if got, _, _ := s.Consume(context.Background(), p, "bash", args, "s2", &o); got != Pending {
		t.Error("approved for another session")
	}
	elsewhere := p.DecideAll([]Access{run("git push"), read("/srv/other.git")})
	if got, _, _ := s.Consume(context.Background(), p, "bash", args, "s1", &elsewhere); got != Pending {
		t.Error("approved for what was not asked about")
	}
	consume(Approved, `{"timeout_ms":10,"command":"git push"}`)
	consume(Pending, string(args)) // once

	a = must(s.Request(context.Background(), p, "bash", args, "s1", &o))
	must(s.Refuse(context.Background(), a.ID, "not today"))
	if _, err := s.Approve(context.Background(), a.ID); err == nil {
		t.Error("approved after a refusal")
	}
	if got, reason, err := s.Consume(context.Background(), p, "bash", args, "s1", &o); got != Refused || reason != "not today" || err != nil {
		t.Errorf("have %s %q %v", got, reason, err)
	}

	a = must(s.Request(context.Background(), p, "bash", args, "s1", &o))
	now = now.Add(DefaultApprovalTTL)
	if _, err := s.Approve(context.Background(), a.ID); !errors.Is(err, ErrNoApproval) {
		t.Errorf("approved after its time: %v", err)
	}
	a = must(s.Request(context.Background(), p, "bash", args, "s1", &o))
	must(s.Approve(context.Background(), a.ID))
	now = now.Add(DefaultApprovalTTL)
	consume(Pending, string(args))
	if all := must(s.List(context.Background())); len(all) != 0 {
		t.Errorf("left: %v", all)
	}
	if _, err := s.Request(context.Background(), p, "bash", json.RawMessage(`{"command":"a","command":"b"}`), "", &o); err == nil {
		t.Error("a key that stands twice means two things")
	}
	must(0, os.WriteFile(s.file("junk"), []byte("{"), 0o600))
	if _, err := s.List(context.Background()); err != nil {
		t.Errorf("a broken file: %v", err)
	}
}

// TestApprovalsOfRoots: what asks without end in one root keeps nobody from asking, there or in another; the oldest request that nobody
// has answered gives way.
func TestApprovalsOfRoots(t *testing.T) {
	s := &Approvals{Dir: t.TempDir()}
	ask := func(root string, n int) error {
		src := sources()
		src.Root = root
		p := must(Load(src))
		o := p.DecideAll([]Access{run("git push")})
		_, err := s.Request(t.Context(), p, "bash", json.RawMessage(fmt.Sprintf(`{"command":"git push %d"}`, n)), "", &o)
		return err
	}
	root := t.TempDir()
	for n := range maxOfRoot + 3 {
		if err := ask(root, n); err != nil {
			t.Fatal(err)
		}
		if n == 0 { // an answer does not
			must(s.Approve(t.Context(), must(s.List(t.Context()))[0].ID))
		}
	}
	var waiting []string
	for _, a := range must(s.List(t.Context())) {
		waiting = append(waiting, string(a.Arguments))
	}
	want := []string{`{"command":"git push 0"}`}
	for n := 4; n < maxOfRoot+3; n++ {
		want = append(want, fmt.Sprintf(`{"command":"git push %d"}`, n))
	}
	if !slices.Equal(waiting, want) {
		t.Errorf("%d requests wait in one root: %q", len(waiting), waiting)
	}
	if err := ask(t.TempDir(), 0); err != nil {
		t.Error(err)
	}
}

// TestApprovalsOnce: of many processes that make the approved call, one runs.
func TestApprovalsOnce(t *testing.T) {
	if dir := os.Getenv("AGENTKIT_TEST_CONSUME"); dir != "" {
		p := must(Load(sources()))
		o := p.DecideAll([]Access{run("x")})
		answer, _, err := (&Approvals{Dir: dir}).Consume(context.Background(), p, "bash", json.RawMessage(`{"command":"x"}`), "", &o)
		_, _ = os.Stdout.WriteString("answer=" + string(answer) + "\n")
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	s := &Approvals{Dir: t.TempDir()}
	p := must(Load(sources()))
	o := p.DecideAll([]Access{run("x")})
	a := must(s.Request(context.Background(), p, "bash", json.RawMessage(`{"command":"x"}`), "", &o))
	must(s.Approve(context.Background(), a.ID))
	var procs []*exec.Cmd
	var outs []*strings.Builder
	for range 8 {
		out := &strings.Builder{}
		cmd := exec.CommandContext(t.Context(), must(os.Executable()), "-test.run=^TestApprovalsOnce$")
		cmd.Env, cmd.Stdout = append(os.Environ(), "AGENTKIT_TEST_CONSUME="+s.Dir), out
		must(0, cmd.Start())
		procs, outs = append(procs, cmd), append(outs, out)
	}
	passed := 0
	for i, cmd := range procs {
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %s", err, outs[i])
		}
		passed += strings.Count(outs[i].String(), "answer=approved")
	}
	if passed != 1 {
		t.Errorf("%d processes passed", passed)
	}
}

func TestSuggest(t *testing.T) {
	p := policyOf(t, "")
	suggest := func(want string, accesses ...Access) {
		t.Helper()
		got := strings.Join(p.Suggest(accesses), " | ")
		if got != want {
			t.Errorf("%s: have %s, want %s", Subject(&accesses[0]), got, want)
		}
	}
	suggest("bash(git push origin main) | bash(git push *)", run("git push origin main"))
	suggest("bash(npm run build) | bash(npm run build *)", run("npm run build"))
	suggest("bash(docker compose up -d) | bash(docker compose up *)", run("docker compose up -d"))
	suggest("bash(git -C x push)", run("git -C x push"))
	suggest("bash(frob a)", run("frob a"))
	quoted := run("git commit -m")
	quoted.Argv = append(quoted.Argv, "it's * a")
	suggest(`bash(git commit -m 'it'\''s * a') | bash(git commit *)`, quoted)
	for _, c := range []string{"bash -c ls", "python3.12 x.py", "sudo ls", "env A=1 ls", "npx x", "go run .", "git $x", "/tmp/x", "./run.sh", "eval x", "xargs rm", "docker run x"} {
		suggest("", run(c))
	}
	suggest("", with(run("git push"), func(a *Access) { a.Danger = "x" }))
	suggest("", with(run("git push"), func(a *Access) { a.Opaque = "x" }))
	suggest("", run("git push"), run("bash -c x")) // a part would not do
	suggest("bash(git push) | bash(make) | bash(git push *)", run("git push"), run("make"))
	suggest("read(/opt/a)", read("/opt/a"))
	suggest("read(~/notes)", read("/home/dev/notes"))
	suggest("read(.env)", read(".env"))
	suggest(`read(/opt/\[x\]/\*) | read(/opt/\[x\]/**)`, read("/opt/[x]/*"))
	suggest("edit(/opt/a)", write("/opt/a"))
	suggest("read(/opt/d/**)", with(read("/opt/d"), func(a *Access) { a.Tree = true }))
	suggest("", read("a")) // allowed already
	p = policyOf(t, "profile: readonly")
	suggest("fetch(https://x.org/a/b) | fetch(domain:x.org)", get("https://x.org/a/b"))
	suggest("fetch(http://x.org:8080/) | fetch(domain:x.org:8080)", get("http://x.org:8080/"))
	for _, c := range []struct{ url, width string }{{"https://x.org/a", "exact"}, {"https://x.org/a?b=1", "path"}, {"https://x.org/?", "path"}} { // a rule names no query
		if list := p.Suggestions([]Access{get(c.url)}); len(list) != 2 || list[0].Width != c.width {
			t.Errorf("%s: %v, want %s first", c.url, list, c.width)
		}
	}
	suggest("net(x.org)", connect("x.org", 22))
	suggest("net(x.org:5432)", connect("x.org", 5432))

	p = policyOf(t, "ask: ['bash(git push *)']")
	o := p.DecideAll([]Access{run("git push a"), read("/opt/a"), read("b")})
	r := p.Request("id1", "s1", &o)
	if r.ID != "id1" || r.SessionID != "s1" || r.Permission != "bash" || strings.Join(r.Patterns, " ") != "git push a /opt/a" || r.Rule != "bash(git push *)" || len(r.Always) != 0 {
		t.Errorf("request: %+v", r)
	}
	o = p.DecideAll([]Access{run("make x"), read("/opt/a")})
	if r := p.Request("id2", "", &o); strings.Join(r.Always, " | ") != "bash(make x) | read(/opt/a) | bash(make x *)" {
		t.Errorf("always: %v", r.Always)
	}
	if data := must(json.Marshal(r)); !strings.Contains(string(data), `"always":[`) || !strings.Contains(string(data), `"metadata":{`) {
		t.Errorf("json: %s", data)
	}
}

// TestSuggestionsWork: every suggestion, granted, lets its call pass.
func TestSuggestionsWork(t *testing.T) {
	p, tried := policyOf(t, ""), 0
	for _, a := range accessPool() {
		for _, rule := range p.Suggest([]Access{a}) {
			tried++
			if d := p.Decide(&a); d.Verdict == Deny {
				continue // a rule does not lift every deny, and nobody asks about one
			}
			wantVerdict(t, policyOf(t, "", grants(rule)), a, Allow)
		}
	}
	if tried < 10 {
		t.Errorf("only %d suggestions", tried)
	}
}

// A name that begins or ends with a blank can be allowed by itself, and no other one with it. One
// with a line end cannot: no pattern has any.
func TestSuggestBlanks(t *testing.T) {
	p := policyOf(t, "")
	for name, want := range map[string]string{
		"/opt/other/ f ": "read(/opt/other/ f[ ])", "/opt/other/f": "read(/opt/other/f)", "/opt/other/a b": "read(/opt/other/a b)",
		"/opt/other/x\u00a0": "read(/opt/other/x[\u00a0])", "/opt/other/ ": "read(/opt/other/[ ])", "/opt/other/[x] ": `read(/opt/other/\[x\][ ])`,
		"/opt/other/a\nb": "read(/opt/other/**)",
	} {
		a := read(name)
		list := p.Suggestions([]Access{a})
		if len(list) == 0 || list[0].Rules[0] != want {
			t.Errorf("%q: %+v, want %s", name, list, want)
			continue
		}
		q := policyOf(t, "", grants(want))
		wantVerdict(t, q, a, Allow)
		if strings.HasSuffix(want, "])") {
			wantVerdict(t, q, read(strings.TrimSpace(name)+"x"), Ask)
			wantVerdict(t, q, read(strings.TrimRightFunc(name, unicode.IsSpace)), Ask)
		}
	}
}

func TestExplain(t *testing.T) {
	p := policyOf(t, "deny:\n  - rule: bash(rm *)\n    reason: use the undo tool\nallow: ['bash(timeout *)']")
	o := p.DecideAll([]Access{run("timeout 5 rm x"), with(run("rm x"), func(a *Access) { a.Parent = 1 }), with(file(Write, "bash", "x"), func(a *Access) { a.Parent = 2 }), with(read("y"), func(a *Access) { a.Parent = 99 })})
	e := p.Explain("bash", "timeout 5 rm x\x1b[2J", &o)
	if len(e.Steps) != 2 || len(e.Steps[0].Steps) != 1 || len(e.Steps[0].Steps[0].Steps) != 1 || !e.Steps[0].Steps[0].Decides {
		t.Errorf("tree: %+v", e.Steps)
	}
	text := strings.ReplaceAll(e.String(), p.Files()[0].Path, "FILE")
	want := `deny  bash: timeout 5 rm x\x1b[2J (sandbox level 0)
  allow exec timeout 5 rm x
        bash(timeout *) at FILE:4 (command line): matches allow rule bash(timeout *)
    deny  exec rm x  <- decides
          bash(rm *) at FILE:2 (command line): matches deny rule bash(rm *)
          reason: use the undo tool
      allow write /srv/work/x
            profile workspace: writing inside the root (built-in): no rule matches
  allow read /srv/work/y
        profile workspace: reading inside the root (built-in): no rule matches
`
	if text != want {
		t.Errorf("have:\n%s\nwant:\n%s", text, want)
	}
	data := string(must(json.Marshal(p.Report(&o))))
	if !strings.Contains(data, `{"kind":"exec","subject":"rm x","decision":"deny","rule":"bash(rm *)"`) || !strings.HasPrefix(data, `{"decision":"deny","accesses":[`) || !strings.HasSuffix(data, `"level":0,"sandbox":"L0","unheld":["files","network","programs"]}`) {
		t.Errorf("json: %s", data)
	}
}

func TestLint(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"allow: ['bash(git push x)']\ndeny: ['bash(git push *)']", "1 shadowed"},
		{"allow: ['bash(git push x)']\ndeny: ['bash(git push y *)']", ""},
		{"ask: [read(src/a)]\ndeny: ['read(src/**)']", "1 shadowed"},
		{"allow: ['edit(src/**)']\ndeny: ['edit(**/*.go)']", ""},
		{"allow: ['edit(src/x/*.go)']\ndeny: ['edit(**/*.go)']", "1 shadowed"},
		{"allow: ['fetch(https://a.x.org/b)']\ndeny: ['fetch(domain:x.org)']", "1 shadowed"},
		{"allow: ['fetch(domain:x.org)']\ndeny: ['fetch(https://a.x.org/**)']", ""},
		{"allow: [read(a), read(a)]", "1 duplicate"},
		{"allow: [read(.env), read(.env)]", "1 duplicate"},
		{"allow: ['bash(git log *)', 'bash(git log -p *)']", "1 duplicate"},
		{"allow: ['bash(git log -p *)', 'bash(git log *)']", "1 duplicate"},
		{"deny: ['bash(git *)', 'bash(git log *)']", "1 duplicate"},
		{"deny: ['bash(git log *)', 'bash(git *)']", "1 duplicate"},
		{"deny: ['bash(rm *)', 'bash(rm -rf *)', 'bash(rm -fr *)']", "1 duplicate 1 duplicate"},
		{"deny: ['bash(rm -rf *)', 'bash(rm -fr *)', 'bash(rm *)']", "1 duplicate 1 duplicate"},
		{"allow: ['bash(rm -rf *)', 'bash(rm *)']", "1 duplicate"},
		{"allow: ['edit(src/*.go)', 'edit(**/*)']", "1 duplicate"},
		{"deny: ['edit(src/*.go)', 'edit(**/*)']", "1 duplicate"},
		{"deny: ['bash(* -x)', 'bash(* -x)']", "1 duplicate"},
		{"deny: [{rule: 'bash(rm -rf *)', reason: too much}, 'bash(rm *)']", ""}, // the reason is told
		{"deny: ['bash(rm *)', {rule: 'bash(rm -rf *)', reason: too much}]", "1 duplicate"},
		{"deny: ['bash(rm -rf *)', {rule: 'bash(rm *)', except: ['bash(rm -rf build)']}]", ""},
		{"ask: ['bash(npm run build)', 'bash(npm run *)']", "1 duplicate"},
		{"allow: ['bash(npm run build)', 'bash(npm run *)']", "1 duplicate"},

		// what only a rule that names it allows
		{"allow: ['bash(git *)', 'bash(git push origin *)']", ""},
		{"allow: ['bash(git push *)', 'bash(git push --force *)']", ""},
		{"allow: ['bash(frob *)', 'bash(frob x *)']", "1 duplicate"},
		{"allow: ['edit(**)', edit(.github/workflows/a.yml)]", ""},
		{"allow: ['read(**)', 'read(**/*.pem)']", ""},
		{"allow: [read, read(~/notes/a)]", ""},
		{"allow: [read, read(notes/a)]", "1 duplicate"},
		{"allow: [fetch, 'fetch(domain:x.example.org)']", ""},
		{"allow: [bash]", "1 broad"},
		{"allow: ['bash(*)']", "1 broad"},
		{"allow: ['bash(sudo *)']", "1 broad"},
		{"allow: ['bash(sudo apt update)']", ""},
		{"allow: ['bash(python3 *)']", "1 broad"},
		{"allow: ['bash(bash -c *)']", "1 broad"},
		{"allow: ['bash(python3 x.py)']", ""},
		{"allow: ['bash(go run *)']", "1 broad"},
		{"allow: ['edit(/**)']", "1 broad"},
		{"allow: ['edit(~/**)']", "1 broad"},
		{"allow: ['fetch(https://*/**)']", "1 broad"},
		{"allow: ['*']", "1 broad"},
		{"allow: [edit(.git/config)]", "1 unreachable"},
		{"allow: [edit(.git/hooks/**)]", "1 unreachable"},
		{"allow: ['edit(src//a)']", "1 unreachable"},
		{`allow: ['edit(src\a)']`, "1 unreachable"},
		{"allow: ['bash(\"git push\")']", "1 unreachable"},
		{"allow: ['bash(/usr/bin/no-such-program *)']", "1 unreachable"},
		{"deny: [write]", "1 narrow"},
		{"ask: ['patch']", "1 narrow"},
		{"deny: ['write(src/**)']", "1 narrow"},
		{"deny: ['write(src/**)', 'edit(src/**)']", ""},
		{"deny: ['write(src/**)', 'edit(doc/**)']", "1 narrow"},
		{"deny: [write, edit]", ""},
		{"deny: [write]\nask: [edit]", "1 narrow"},
		{"deny: [edit]", ""},
		{"allow: [write]", ""},
		{"deny: [{rule: bash(git push *), except: [bash(git pull *)]}]", "1 except"},
		{"deny: [{rule: bash(git push *), except: [bash(git push * x)]}]", ""},
		{"deny: [{rule: bash(git push *), except: [bash(git *)]}]", "1 except"},
		{"deny: [{rule: 'read(a/**)', except: [read(b/c)]}]", "1 except"},
		{"deny: [{rule: 'read(a/**)', except: [read(a/c)]}]", ""},
	} {
		p := policyOf(t, c.text)
		var got []string
		for _, f := range Lint(p) {
			got = append(got, "1 "+f.Kind)
			if f.File == "" || f.Line != strings.Count(c.text[:strings.Index(c.text, f.Rule[:min(4, len(f.Rule))])], "\n")+1 && c.want != "1 duplicate" {
				t.Errorf("%s: place %s:%d", c.text, f.File, f.Line)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: have %v, want %q", c.text, Lint(p), c.want)
		}
	}
	p := layers(t, "", "", "allow: ['bash(make *)']", false)
	if f := Lint(p); len(f) != 1 || f[0].Kind != "asleep" || f[0].Layer != Project {
		t.Errorf("asleep: %+v", f)
	}
}

// TestLintOtherSyntax: what is written as in a shell, or for another agent, is named with
// what to write instead; what a program may get as a word is not.
func TestLintOtherSyntax(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "no-such-name"), 0o700); err != nil {
		t.Fatal(err)
	}
	here := func(s *Sources) { s.Root = root }
	for _, c := range []struct{ rule, want string }{
		{"bash(curl * | sh)", "| is only a word there; write a rule for each part that is meant: bash(curl *), bash(sh)"},
		{"bash(npm test |& tail)", "bash(npm test), bash(tail)"},
		{"bash(cd web && rm *)", "&& is only a word there; write a rule for each part that is meant: bash(cd web), bash(rm *)"},
		{"bash(cd web; rm *)", "; is only a word there; write a rule for each part that is meant: bash(cd web), bash(rm *)"},
		{"bash(make || true)", "bash(make), bash(true)"},
		{"bash(sleep 9 &)", "& is only a word there; write bash(sleep 9)"},
		{"bash(echo * > f)", "> is only a word there; write a rule for each part that is meant: bash(echo *), edit(f)"},
		{"bash(echo * >>f)", "bash(echo *), edit(f)"},
		{"bash(sort < f)", "bash(sort), read(f)"},
		{"bash(npm test 2>&1)", "2> is only a word there; write bash(npm test)"},
		{"bash(npm test > /dev/null 2>&1)", "; write bash(npm test)"},
		{"bash(npm:*)", "no program has a name with a colon; a lone * stands for any further words: write bash(npm *)"},
		{"bash(git push:*)", "no subcommand of git has a name with a colon; a lone * stands for any further words: write bash(git push *)"},
		{"edit(/no-such-name/**)", "/ is the machine's root, where there is no no-such-name: edit(no-such-name/**) is what lies in the workspace"},
		{"read(/no-such-name/a)", "read(no-such-name/a)"},

		{"bash(grep 'a | b' *)", ""},
		{"bash(rg a|b *)", ""},
		{`bash(git log ">" *)`, ""},
		{"bash(find * -exec rm {} ;)", ""},
		{`bash(find * -exec rm {} \; *)`, ""},
		{"bash([ * > * ])", ""},
		{"bash(expr 1 | 2)", ""},
		{"bash(git commit -m <text>)", ""},
		{"bash(npm run test:*)", ""}, // scripts are called so
		{"bash(mvn dependency:*)", ""},
		{"bash(rails db:*)", ""},
		{"bash(X=a|b)", ""},
		{"edit(/etc/**)", ""},
		{"edit(/e*/**)", ""},
		{"edit(no-such-name/**)", ""},
	} {
		for _, list := range []string{"deny", "allow"} {
			text := list + ":\n  - |-\n    " + c.rule
			found := Lint(policyOf(t, text, here))
			found = slices.DeleteFunc(found, func(f Finding) bool { return c.want == "" && f.Kind == "broad" })
			if c.want == "" && len(found) > 0 || c.want != "" && (len(found) != 1 || found[0].Kind != "unreachable" || !strings.Contains(found[0].Message, c.want)) {
				t.Errorf("%s: %s: have %+v, want %q", list, c.rule, found, c.want)
			}
		}
	}
	// the policy of a user is for many roots
	for name, want := range map[string]int{"no-such-name": 1, "nor-this-one": 0} {
		p := layers(t, "", "deny: [edit(/"+name+"/**)]", "", false)
		p.root = root
		if found := Lint(p); len(found) != want {
			t.Errorf("%s: %+v", name, found)
		}
		p = layers(t, "", "", "deny: [edit(/"+name+"/**)]", false)
		if found := Lint(p); len(found) != 1 {
			t.Errorf("%s: %+v", name, found)
		}
	}
	for _, rule := range []string{"py*", "?", "'*sh' *"} {
		if found := Lint(policyOf(t, "allow:\n  - bash("+rule+")")); len(found) > 0 {
			t.Errorf("%s does not allow every command: %+v", rule, found)
		}
	}
}

// TestLintNarrowHost: what is denied to commands alone is named with the rule that holds for
// the tool fetch, too; with that rule nothing is said, and it does hold.
func TestLintNarrowHost(t *testing.T) {
	for _, c := range []struct{ policy, rule, instead, host string }{
		{"network: {deny: [ads.example.org]}", "net(ads.example.org)", "fetch(domain:ads.example.org)", "ads.example.org"},
		{"deny: [net(ads.example.org)]", "net(ads.example.org)", "fetch(domain:ads.example.org)", "ads.example.org"},
		{"network: {deny: ['*.example.org']}", "net(*.example.org)", "fetch(domain:*.example.org)", "a.example.org"},
		{"network: {deny: ['ads.example.org:*']}", "net(ads.example.org:*)", "fetch(domain:ads.example.org:*)", "ads.example.org"},
		{"network: {deny: ['ads.example.org:443']}", "net(ads.example.org:443)", "fetch(domain:ads.example.org:443)", "ads.example.org"},
		{"network: {deny: ['*']}", "net(*)", "fetch", "a.example.org"},
	} {
		found := Lint(policyOf(t, c.policy))
		if len(found) != 1 || found[0].Kind != "narrow" || found[0].Rule != c.rule || !strings.Contains(found[0].Message, "add the deny rule "+c.instead) {
			t.Errorf("%s: %+v", c.policy, found)
		}
		both := c.policy + "\ndeny: ['" + c.instead + "']"
		if strings.HasPrefix(c.policy, "deny") {
			both = strings.TrimSuffix(c.policy, "]") + ", '" + c.instead + "']"
		}
		p := policyOf(t, both)
		if found := Lint(p); len(found) != 0 {
			t.Errorf("%s: %+v", both, found)
		}
		wantVerdict(t, p, get("https://"+c.host+"/x"), Deny)
		wantVerdict(t, p, connect(c.host, 443), Deny)
	}
	for _, text := range []string{
		"network: {deny: [packages]}",
		"network: {allow: [ads.example.org]}",
		"network: {default: deny}",
		"network: {deny: [ads.example.org]}\ndeny: [fetch]",
		"network: {deny: [ads.example.org]}\ndeny: ['fetch(domain:example.org)']",
		"network: {deny: [169.254.169.254]}", // fetch never reaches it
	} {
		if found := Lint(policyOf(t, text)); len(found) != 0 {
			t.Errorf("%s: %+v", text, found)
		}
	}
}

func TestInitFile(t *testing.T) {
	for _, f := range []RepoFacts{
		{},
		{Go: true, Rust: true, Make: true},
		{Node: "npm", Scripts: []string{"build", "lint:fix", "x; rm"}, Python: "uv", Make: true, Targets: []string{"all", "$(evil)"}},
		{Python: "pytest"},
		{Node: "npm", Scripts: []string{"deploy", "release:minor", "test"}, Make: true, Targets: []string{"deploy"}},
		{Node: "npm"},
		{Make: true, Targets: []string{"test", "pre-release"}},
	} {
		text := InitFile(f)
		p := policyOf(t, text)
		wantVerdict(t, p, run("git commit -m x"), Allow)
		wantVerdict(t, p, run("git push --force origin main"), Deny)
		wantVerdict(t, p, run("git push origin"), Ask)
		if f.Go {
			wantVerdict(t, p, run("go test ./..."), Allow)
		}
		if strings.Contains(text, "deploy)") || strings.Contains(text, "release") || strings.Contains(text, "npm test") != slices.Contains(f.Scripts, "test") || strings.Contains(text, "make test") != slices.Contains(f.Targets, "test") {
			t.Errorf("it allows what is not there, or what others see:\n%s", text)
		}
		if strings.Contains(text, "evil") || strings.Contains(text, "rm)") {
			t.Error("somebody else's name stands in a rule as it is")
		}
		for _, finding := range Lint(p) {
			if finding.Kind != "broad" {
				t.Errorf("%+v", finding)
			}
		}
	}
}

func TestCheckFile(t *testing.T) {
	if err := CheckFile(put(t, "a.yaml", "tests: [{read: a, want: deny}]"), User, sources()); err == nil {
		t.Error("an untrue test passes")
	}
	if err := CheckFile(put(t, "a.yaml", "tests: [{read: a, want: allow}, {edit: ~/.ssh/x, want: deny}]"), User, sources()); err != nil {
		t.Error(err)
	}
	s := sources()
	s.Analyze = nil
	if err := CheckFile(put(t, "a.yaml", "tests: [{bash: ls, want: ask}]"), User, s); err == nil {
		t.Error("a test that cannot be checked passes")
	}
}

// TestApprovalSurvivesAnotherPath: a request is bound to the rules, not to what
// the PATH of one terminal makes of the place.
func TestApprovalSurvivesAnotherPath(t *testing.T) {
	args := []byte(`{"command":"make"}`)
	hash := func(change ...func(*Sources)) string {
		return must(policyOf(t, "", change...).CallHash("bash", args, &Outcome{}))
	}
	here := hash()
	for name, change := range map[string]func(*Sources){
		"PATH":   func(s *Sources) { s.Trusted = append(TrustedDirs(), "/opt/venv/bin") },
		"TMPDIR": func(s *Sources) { s.Temp = []string{"/tmp", "/scratch"} },
	} {
		if hash(change) != here {
			t.Errorf("another %s is another request", name)
		}
		if a, b := policyOf(t, ""), policyOf(t, "", change); a.Hash() == b.Hash() {
			t.Errorf("another %s does not show in the policy's hash", name)
		}
	}
	for name, change := range map[string]func(*Sources){"a grant": grants("bash(make)"), "a profile": profile("open"), "a level": at(3), "a root": func(s *Sources) { s.Root = "/srv/other" }} {
		if hash(change) == here {
			t.Errorf("%s does not make another request", name)
		}
	}
}
