//go:build unix

package policy

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const yamlSample = `# a comment
version: 1
profile: workspace
allow:
  - bash(go test *)
  - rule: edit(/opt/data/**)
    reason: shared
deny:
  - read(vault/**)
protect: [deploy/**]
network: {default: ask, allow: [proxy.example.org]}
outside: {read: deny, write: ask}
env: {pass: [GOPROXY], drop: ["*_TOKEN"]}
sandbox: auto
limits: {timeout_ms: 1000, output_bytes: 2000, processes: 3000, file_bytes: 4000, memory_bytes: 5000, total_memory_bytes: 6000}
tests:
  - {bash: "go test x", want: allow}
  - {edit: deploy/x, want: deny}
  - {bash: {command: "make x"}, level: 3, want: allow}
`

const tomlSample = `# a comment
version = 1
profile = "workspace"
protect = ["deploy/**"]
sandbox = "auto"
allow = [
  "bash(go test *)", # why
  {rule = "edit(/opt/data/**)", reason = "shared"},
]
network.default = "ask"
network.allow = ["proxy.example.org"]

[[deny]]
rule = "read(vault/**)"

[outside]
read = "deny"
write = "ask"

[env]
pass = ["GOPROXY"]
drop = ["*_TOKEN"]

[limits]
timeout_ms = 1_000
output_bytes = 2000
processes = 3000
file_bytes = 4000
memory_bytes = 5000
total_memory_bytes = 6000

[[tests]]
bash = "go test x"
want = "allow"
`

const jsonSample = `{
  "version": 1, "profile": "workspace",
  "allow": [
    "bash(go test *)",
    {"rule": "edit(/opt/data/**)", "reason": "shared"}
  ],
  "deny": ["read(vault/**)"],
  "protect": ["deploy/**"],
  "network": {"default": "ask", "allow": ["proxy.example.org"]},
  "outside": {"read": "deny", "write": "ask"},
  "env": {"pass": ["GOPROXY"], "drop": ["*_TOKEN"]},
  "sandbox": "auto",
  "limits": {"timeout_ms": 1000, "output_bytes": 2000, "processes": 3000, "file_bytes": 4000, "memory_bytes": 5000, "total_memory_bytes": 6000},
  "tests": [{"bash": "go test x", "want": "allow"}]
}`

// TestFormats: three formats, one meaning, and each rule knows its line.
func TestFormats(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		lines [4]int // go test, /opt/data, vault, deploy
	}{
		"p.yaml": {yamlSample, [4]int{5, 6, 9, 10}},
		"p.toml": {tomlSample, [4]int{7, 8, 14, 4}},
		"p.json": {jsonSample, [4]int{4, 5, 7, 8}},
		"policy": {jsonSample, [4]int{4, 5, 7, 8}},
	} {
		s := sources()
		s.Files = []string{put(t, name, c.text)}
		p, err := Load(s)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i, a := range []Access{run("go test ./x"), write("/opt/data/x"), read("vault/x"), write("deploy/x")} {
			d := p.Decide(&a)
			if want := []Verdict{Allow, Allow, Deny, Deny}[i]; d.Verdict != want || d.Line != c.lines[i] || d.File != s.Files[0] || d.Layer != CommandLine {
				t.Errorf("%s: %s: have %s line %d, want %s line %d", name, Subject(&a), d.Verdict, d.Line, want, c.lines[i])
			}
		}
		wantVerdict(t, p, connect("x.org", 443), Ask)
		wantVerdict(t, p, connect("proxy.example.org", 443), Allow)
		wantVerdict(t, p, read("/opt/x"), Deny)
		wantVerdict(t, p, write("/opt/x"), Ask)
		if l := p.Limits(); l != (Limits{1000, 2000, 3000, 4000, 5000, 6000}) {
			t.Errorf("%s: limits %+v", name, l)
		}
		if e := p.Environment(); !e.Passes("GOPROXY") || !e.Drops("GITHUB_TOKEN") || e.Passes("X") || e.Drops("X") {
			t.Errorf("%s: environment %+v", name, e)
		}
	}
}

// TestProblems: whatever is wrong refuses the file and says where.
func TestProblems(t *testing.T) {
	deep := strings.Repeat("[", 60) + strings.Repeat("]", 60)
	for _, c := range []struct{ name, text, want string }{
		{"a.yaml", "version: 1\nalow: []\n", "a.yaml:2: unknown key alow; did you mean allow?"},
		{"a.yaml", "allow:\n  - bash(ls)\n  - bsh(ls)\n", "a.yaml:3: rule bsh(ls): unknown tool bsh; did you mean bash?"},
		{"a.yaml", "allow:\n  - rule: read(a)\n    excepts: [x]\n", "a.yaml:3: unknown key excepts; did you mean except?"},
		{"a.yaml", "deny: [read(a)]\ndeny: [read(b)]\n", "a.yaml:2: the key deny stands twice"},
		{"a.yaml", "allow: &a [read(a)]\ndeny: *a\n", "a.yaml:1: anchors"},
		{"a.yaml", "a: &a {}\n<<: *a\n", "anchors"},
		{"a.yaml", "allow:\n  - *\n", "a.yaml:"},
		{"a.yaml", "allow: !!str x\n", "tags are not allowed"},
		{"a.yaml", "version: 2\n", "a.yaml:1: only version 1"},
		{"a.yaml", "profile: opne\n", "a.yaml:1: unknown value opne, want workspace, readonly, open, argv, container; did you mean open?"},
		{"a.yaml", "allow: read(a)\n", "a.yaml:1: want a list of rules, have text"},
		{"a.yaml", "allow:\n  - 12\n", "a.yaml:2: want TOOL(PATTERN), have a number"},
		{"a.yaml", "allow:\n  - {reason: x}\n", "the entry has no rule"},
		{"a.yaml", "a: 1\n---\nb: 2\n", "one document"},
		{"a.yaml", "allow: [\n", "a.yaml:"},
		{"a.yaml", "- a\n", "want a map of settings, have a list"},
		{"a.yaml", "limits: {timeout_ms: -1}\n", "above zero"},
		{"a.yaml", "network: {default: maybe}\n", "unknown value maybe"},
		{"a.yaml", "network: {allow: ['a b']}\n", "rule net(a b)"},
		{"a.yaml", "env: {drop: ['a-b']}\n", "a variable's name"},
		{"a.yaml", "tests:\n  - {bash: ls, wnat: allow}\n", "did you mean want?"}, //nolint:misspell // a word mistyped on purpose
		{"a.yaml", "tests:\n  - {bash: ls}\n", "a.yaml:2: want {TOOL"},
		{"a.yaml", "deny: ['bash(rm *)']\ntests:\n  - {bash: rm x, want: allow}\n", "a.yaml:3: test: want allow, have deny"},
		{"a.yaml", "allow: ['bash(make *)']\ntests:\n  - {bash: make x, want: deny}\n", "want deny, have allow"},
		{"a.yaml", "x: " + deep, "nested too deeply"},
		{"a.yaml", "\xff\xfe", "not UTF-8"},
		{"a.yaml", "# " + strings.Repeat("x", maxFile), "larger than"},
		{"a.toml", "version = 1\nalow = []\n", "a.toml:2: unknown key alow"},
		{"a.toml", "version = 1\nversion = 1\n", "a.toml:2: the key version stands twice"},
		{"a.toml", "[env]\n[env]\n", "a.toml:2: the table env stands twice"},
		{"a.toml", "allow = [\n  \"read(a)\",\n  \"raed(a)\",\n]\n", "a.toml:3: rule raed(a)"},
		{"a.toml", "allow = [\n", "a.toml:"},
		{"a.toml", "limits.timeout_ms = 1979-05-27\n", "dates are not used"},
		{"a.toml", "x = " + deep, "nested too deeply"},
		{"a.json", "{\n \"alow\": []}", "a.json:2: unknown key alow"},
		{"a.json", "{\n \"deny\": [],\n \"deny\": []}", "a.json:3: the key deny stands twice"},
		{"a.json", "{\n \"deny\": [,]}", "a.json:2:"},
		{"a.json", "{} {}", "a.json:1"},
		{"a.json", `{"x": ` + deep + `}`, "nested too deeply"},
	} {
		s := sources()
		s.Files = []string{put(t, c.name, c.text)}
		p, err := Load(s)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60q: have %v, want %s", c.text, err, c.want)
		}
		if _, ok := errors.AsType[Problems](err); !ok && err != nil {
			t.Errorf("%.60q: the error is a %T", c.text, err)
		}
		wantVerdict(t, p, read("a"), Deny)
	}
}

func TestFilesOnDisk(t *testing.T) {
	load := func(change func(*Sources, string)) error {
		s, dir := sources(), t.TempDir()
		s.User = dir
		change(s, dir)
		_, err := Load(s)
		return err
	}
	put := func(name, text string, mode os.FileMode) {
		if err := errors.Join(os.WriteFile(name, []byte(text), 0o600), os.Chmod(name, mode)); err != nil {
			t.Fatal(err)
		}
	}
	if err := load(func(*Sources, string) {}); err != nil {
		t.Errorf("no file: %v", err)
	}
	if err := load(func(s *Sources, dir string) { s.Files = []string{dir + "/none.yaml"} }); err == nil {
		t.Error("a --policy file that does not exist must refuse")
	}
	if err := load(func(_ *Sources, dir string) { put(dir+"/policy.yaml", "deny: [read]", 0o602) }); err == nil || !strings.Contains(err.Error(), "everybody may write") {
		t.Errorf("a file that everybody may write: %v", err)
	}
	if err := load(func(_ *Sources, dir string) {
		put(dir+"/policy.yaml", "{}", 0o600)
		put(dir+"/policy.json", "{}", 0o600)
	}); err == nil || !strings.Contains(err.Error(), "keep one") {
		t.Errorf("two files: %v", err)
	}
	if err := load(func(_ *Sources, dir string) { must(0, os.Mkdir(dir+"/policy.yaml", 0o700)) }); err == nil {
		t.Error("a directory is no policy")
	}
	if err := load(func(_ *Sources, dir string) { must(0, os.Symlink("/nowhere", dir+"/policy.yaml")) }); err == nil {
		t.Error("a dangling link must refuse: the policy that was meant is not there")
	}
	if p, err := Load(&Sources{}); err == nil || p != nil {
		t.Error("a policy without a root")
	}
}

// layers writes a file for each layer and loads them.
func layers(t *testing.T, machine, user, project string, trusted bool, change ...func(*Sources)) *Policy {
	t.Helper()
	s, dir := sources(), t.TempDir()
	s.Machine, s.User, s.Project = dir+"/m", dir+"/u", dir+"/p"
	for name, text := range map[string]string{s.Machine: machine, s.User: user, s.Project: project} {
		if text != "" {
			must(0, os.Mkdir(name, 0o700))
			must(0, os.WriteFile(name+"/policy.yaml", []byte(text), 0o600))
		}
	}
	s.Trust = &TrustStore{Path: dir + "/trust.json"}
	for _, f := range change {
		f(s)
	}
	if trusted {
		for _, f := range must(Load(s)).Files() {
			if f.Layer == Project {
				must(0, s.Trust.Add(context.Background(), f.Path, f.SHA256, time.Now()))
			}
		}
	}
	return must(Load(s))
}

func TestLayers(t *testing.T) {
	push := run("git push")
	who := func(p *Policy, a Access, v Verdict, l Layer) {
		t.Helper()
		if d := p.Decide(&a); d.Verdict != v || d.Layer != l {
			t.Errorf("%s: have %s by %s, want %s by %s", Subject(&a), d.Verdict, d.Layer, v, l)
		}
	}
	rule := "['bash(git push)']"
	// A deny holds whoever allows below.
	for _, p := range []*Policy{
		layers(t, "deny: "+rule, "allow: "+rule, "allow: "+rule, true, grants("bash(git push)")),
		layers(t, "deny: "+rule, "deny: "+rule, "", true),
	} {
		who(p, push, Deny, Machine)
	}
	who(layers(t, "allow: "+rule, "deny: "+rule, "", false, grants("bash(git push)")), push, Deny, User)
	who(layers(t, "allow: "+rule, "allow: "+rule, "deny: "+rule, false, grants("bash(git push)")), push, Deny, Project)
	// Ask is lifted for one call, by its caller, not by a file.
	who(layers(t, "ask: "+rule, "allow: "+rule, "", false), push, Ask, Machine)
	who(layers(t, "ask: "+rule, "", "", false, grants("bash(git push)")), push, Allow, CommandLine)
	// A project's allow counts once it is trusted, its deny at once.
	who(layers(t, "", "", "allow: "+rule, false), push, Ask, BuiltIn)
	who(layers(t, "", "", "allow: "+rule, true), push, Allow, Project)
	who(layers(t, "", "allow: "+rule, "ask: "+rule, false), push, Ask, Project)
	// --policy stands instead of the user's and the project's.
	only := layers(t, "", "deny: "+rule, "deny: "+rule, false, func(s *Sources) { s.Files = []string{put(t, "x.yaml", "allow: "+rule)} })
	who(only, push, Allow, CommandLine)
	who(layers(t, "deny: "+rule, "", "", false, func(s *Sources) { s.Files = []string{put(t, "x.yaml", "allow: "+rule)} }), push, Deny, Machine)
	file := layers(t, "", "", "", false, func(s *Sources) { s.Files = []string{put(t, "x.yaml", "allow: "+rule+"\nask: "+rule)} })
	who(file, push, Ask, CommandLine)
}

func TestLayeredSettings(t *testing.T) {
	out := write("/opt/x")
	wantVerdict(t, layers(t, "profile: readonly", "profile: open\nallow: [edit(a)]", "", false, grants("edit(a)")), write("a"), Deny)
	wantVerdict(t, layers(t, "profile: readonly\nallow: [edit(a)]", "", "", false), write("a"), Allow)
	wantVerdict(t, layers(t, "profile: readonly\nallow: [edit(a)]", "", "", false, profile("open")), write("b"), Deny)
	wantVerdict(t, layers(t, "", "profile: open", "", false), out, Ask)
	wantVerdict(t, layers(t, "", "profile: open", "profile: readonly", false), write("a"), Deny)
	wantVerdict(t, layers(t, "", "", "profile: open", false), out, Deny)
	wantVerdict(t, layers(t, "", "", "profile: open", true), out, Ask)
	wantVerdict(t, layers(t, "", "allow: [edit(/opt/**)]", "", false), out, Allow)
	wantVerdict(t, layers(t, "outside: {write: deny}", "allow: [edit(/opt/**)]", "", false, grants("edit(/opt/x)")), out, Deny)
	wantVerdict(t, layers(t, "", "outside: {write: deny}", "allow: [edit(/opt/**)]", true), out, Deny)
	wantVerdict(t, layers(t, "", "outside: {write: deny}", "", true, grants("edit(/opt/x)")), out, Allow)
	wantVerdict(t, layers(t, "", "", "network: {default: allow, allow: [x.org]}", false), connect("x.org", 443), Ask)
	wantVerdict(t, layers(t, "", "", "network: {default: deny}", false), connect("x.org", 443), Deny)
	wantVerdict(t, layers(t, "", "", "network: {default: allow}", true), connect("x.org", 443), Allow)
	p := layers(t, "limits: {timeout_ms: 1000}", "limits: {timeout_ms: 5000}\nenv: {drop: [A_KEY]}\nsandbox: require", "limits: {timeout_ms: 500}\nenv: {pass: [A_KEY, B_KEY]}\nsandbox: off", false)
	if p.Limits().TimeoutMS != 500 || p.Sandbox() != "require" || p.Environment().Passes("A_KEY") || p.Environment().Passes("B_KEY") {
		t.Errorf("limits %v, sandbox %s, environment %+v", p.Limits(), p.Sandbox(), p.Environment())
	}
	if p := layers(t, "", "", "sandbox: off", false, at(3)); p.Level() != 3 {
		t.Error("an untrusted project switched the sandbox off")
	}
}

func TestTrust(t *testing.T) {
	dir := t.TempDir()
	store := &TrustStore{Path: dir + "/x/trust.json"}
	hash := strings.Repeat("a", 64)
	now := time.Unix(1, 0)
	must(0, store.Add(context.Background(), "/p/policy.yaml", hash, now))
	if ok := must(store.Trusted("/p/policy.yaml", hash)); !ok {
		t.Error("not trusted")
	}
	for _, c := range [][2]string{{"/q/policy.yaml", hash}, {"/p/policy.yaml", strings.Repeat("b", 64)}} {
		if must(store.Trusted(c[0], c[1])) {
			t.Errorf("%v is trusted", c)
		}
	}
	info := must(os.Stat(store.Path))
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	must(0, store.Remove(context.Background(), "/p/policy.yaml"))
	if must(store.Trusted("/p/policy.yaml", hash)) {
		t.Error("still trusted")
	}
	must(0, os.WriteFile(store.Path, []byte("{broken"), 0o600))
	s := sources()
	s.Trust, s.Project = store, dir
	must(0, os.WriteFile(dir+"/policy.yaml", []byte("deny: [read]"), 0o600))
	if _, err := Load(s); err == nil {
		t.Error("a broken trust store must refuse")
	}
	if entries := must(filepath.Glob(dir + "/x/.*tmp")); len(entries) > 0 {
		t.Errorf("left over: %v", entries)
	}
}

func TestHash(t *testing.T) {
	base := policyOf(t, "").Hash()
	seen := map[string]bool{base: true}
	if policyOf(t, "").Hash() != base {
		t.Error("the hash is not stable")
	}
	for i, p := range []*Policy{
		policyOf(t, "deny: [read(a)]"), policyOf(t, "", grants("read(a)")), policyOf(t, "", profile("open")), policyOf(t, "", at(3)),
		policyOf(t, "", func(s *Sources) { s.Root = "/other" }), policyOf(t, "", func(s *Sources) { s.Temp = nil }),
	} {
		if seen[p.Hash()] {
			t.Errorf("%d: the hash does not see the difference", i)
		}
		seen[p.Hash()] = true
	}
}
