//go:build unix

package policy

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// pool is what random rules and accesses are made from: few words, so that
// they meet often.
var rulePool = []string{
	"bash", "bash(git *)", "bash(git push *)", "bash(git push * --force *)", "bash(* push)", "bash(readonly)", "bash(dangerous)", "bash(sandboxed)", "bash(make ?)",
	"bash(/usr/bin/git log)", "bash(PATH=*)", "read", "read(src/**)", "read(**/*.go)", "read(.env)", "read(/opt/**)", "edit", "edit(src/*)", "edit(.github/**)", "edit(.npmrc)",
	"edit(/**)", "grep(src/**)", "fetch", "fetch(domain:example.org)", "fetch(https://example.org/a/**)", "net(example.org)", "websearch", "kill", "*",
}

func accessPool() []Access {
	var out []Access
	for _, c := range []string{"git push", "git push --force x", "git log", "git $x", "$x", "make all", "ls", "/tmp/git push", "git -C a push"} {
		a := run(c)
		out = append(out, a, with(a, func(a *Access) { a.Class = ReadOnly }), with(a, func(a *Access) { a.Class = Unknown }),
			with(a, func(a *Access) { a.Opaque = "x" }), with(a, func(a *Access) { a.Danger = "x" }))
	}
	for _, name := range []string{"src/a.go", "src/b/c.go", ".env", "a", ".github/workflows/x", ".npmrc", ".git/config", "/opt/x", "/tmp/q/x", "/home/dev/.ssh/id_rsa", ".", "/etc/passwd"} {
		for _, k := range []Kind{Read, Write} {
			a := file(k, "bash", name)
			out = append(out, a, with(a, func(a *Access) { a.Tree = true }), with(a, func(a *Access) { a.Opaque = "x" }), with(a, func(a *Access) { a.Tool = "grep" }), with(a, func(a *Access) { a.Named = testRoot + "/src/a.go" }))
		}
	}
	out = append(out, get("https://example.org/a/b"), get("https://sub.example.org/"), get("http://localhost/"), connect("example.org", 443), connect("x.org", 22),
		Access{Kind: Env, Tool: "bash", Name: "PATH", Value: "x"}, Access{Kind: Tool, Tool: "kill", Name: "1"}, Access{Kind: Read, Tool: "bash", Opaque: "x"}, Access{Kind: Net, Tool: "bash", Opaque: "x"})
	return out
}

type randomRule struct {
	list Verdict
	text string
}

func randomRules(r *rand.Rand, n int) (rules []randomRule) {
	for range n {
		rules = append(rules, randomRule{Verdict(r.IntN(3)), rulePool[r.IntN(len(rulePool))]})
	}
	return rules
}

func yamlOf(rules []randomRule, head string) string {
	var b strings.Builder
	b.WriteString(head)
	for _, v := range []Verdict{Allow, Deny, Ask} {
		b.WriteString(v.String() + ":\n")
		for _, r := range rules {
			if r.list == v {
				b.WriteString("  - " + jsonText(r.text) + "\n")
			}
		}
	}
	return b.String()
}

var heads = []string{"", "profile: open\n", "profile: readonly\n", "profile: argv\n", "network: {default: allow}\n", "outside: {read: allow, write: ask}\n"}

func loadText(t *testing.T, dir string, level int, s Sources, user, project string) *Policy {
	t.Helper()
	s.User, s.Project, s.Level = dir+"/u", dir+"/p", level
	for name, text := range map[string]string{s.User: user, s.Project: project} {
		must(0, os.MkdirAll(name, 0o700))
		must(0, os.WriteFile(name+"/policy.yaml", []byte(text), 0o600))
	}
	return must(Load(&s))
}

func verdicts(p *Policy, pool []Access) []Verdict {
	out := make([]Verdict, len(pool))
	for i := range pool {
		out[i] = p.Decide(&pool[i]).Verdict
	}
	return out
}

// TestOrderIsFree: shuffling the rules of a file never changes a decision.
func TestOrderIsFree(t *testing.T) {
	r, dir, pool := rand.New(rand.NewPCG(1, 2)), t.TempDir(), accessPool()
	for range 60 {
		rules, head, level := randomRules(r, 1+r.IntN(8)), heads[r.IntN(len(heads))], r.IntN(4)
		before := verdicts(loadText(t, dir, level, *sources(), yamlOf(rules, head), "{}"), pool)
		r.Shuffle(len(rules), func(i, j int) { rules[i], rules[j] = rules[j], rules[i] })
		after := verdicts(loadText(t, dir, level, *sources(), yamlOf(rules, head), "{}"), pool)
		for i := range pool {
			if before[i] != after[i] {
				t.Fatalf("%s %s: %s became %s when shuffled:\n%s", pool[i].Kind, Subject(&pool[i]), before[i], after[i], yamlOf(rules, head))
			}
		}
	}
}

// TestTightening: a deny or ask rule more, or a project file that nobody
// trusts, never loosens a decision; no lower file loosens a deny that a rule
// or a chosen profile of a higher one gave.
func TestTightening(t *testing.T) {
	r, dir, pool := rand.New(rand.NewPCG(3, 4)), t.TempDir(), accessPool()
	for range 80 {
		rules, head, level := randomRules(r, r.IntN(8)), heads[r.IntN(len(heads))], r.IntN(4)
		base := verdicts(loadText(t, dir, level, *sources(), yamlOf(rules, head), "{}"), pool)
		check := func(what string, now []Verdict) {
			t.Helper()
			for i := range pool {
				if now[i] > base[i] {
					t.Fatalf("%s loosens %s %s from %s to %s:\n%s", what, pool[i].Kind, Subject(&pool[i]), base[i], now[i], yamlOf(rules, head))
				}
			}
		}
		extra := randomRules(r, 1)
		extra[0].list = Verdict(r.IntN(2))
		check(extra[0].list.String()+" "+extra[0].text, verdicts(loadText(t, dir, level, *sources(), yamlOf(append(rules, extra...), head), "{}"), pool))
		project := yamlOf(randomRules(r, 8), heads[r.IntN(len(heads))])
		check("an untrusted project:\n"+project, verdicts(loadText(t, dir, level, *sources(), yamlOf(rules, head), project), pool))
	}
}

func TestDenyStays(t *testing.T) {
	r, dir, pool := rand.New(rand.NewPCG(5, 6)), t.TempDir(), accessPool()
	for range 60 {
		s := sources()
		s.Machine = dir + "/m"
		must(0, os.MkdirAll(s.Machine, 0o700))
		machine := yamlOf(randomRules(r, 6), heads[r.IntN(4)])
		must(0, os.WriteFile(s.Machine+"/policy.yaml", []byte(machine), 0o600))
		p := loadText(t, dir, 2, *s, "{}", "{}")
		s.Allow = []string{rulePool[r.IntN(len(rulePool))], "*", "edit(/**)", "read(/**)", "bash(*)"}
		s.Profile = "open"
		lower := yamlOf(randomRules(r, 8), heads[r.IntN(len(heads))])
		q := loadText(t, dir, 2, *s, lower, "{}")
		for i := range pool {
			before := p.Decide(&pool[i])
			after := q.Decide(&pool[i])
			chosen := before.Layer == Machine || before.Layer == BuiltIn && !before.Default && before.Rule == "policy"
			if before.Verdict == Deny && chosen && after.Verdict != Deny {
				t.Fatalf("%s %s: machine denies (%s), below it is %s (%s):\n%s\n%s", pool[i].Kind, Subject(&pool[i]), before.Rule, after.Verdict, after.Rule, machine, lower)
			}
		}
	}
}

// TestStrictestWins: a call is as its strictest access.
func TestStrictestWins(t *testing.T) {
	p, pool, r := policyOf(t, "deny: ['bash(git push *)']\nask: [read(src/**)]"), accessPool(), rand.New(rand.NewPCG(7, 8))
	for range 200 {
		var call []Access
		for range 1 + r.IntN(5) {
			call = append(call, pool[r.IntN(len(pool))])
		}
		o, least := p.DecideAll(call), Allow
		for i := range call {
			least = min(least, p.Decide(&call[i]).Verdict)
		}
		if d := o.Deciding(); o.Verdict != least || d.Verdict != least || len(o.Decisions) != len(call) {
			t.Fatalf("have %s, want %s", o.Verdict, least)
		}
	}
	if o := p.DecideAll(nil); o.Verdict != Allow || o.By != -1 {
		t.Errorf("nothing touched: %+v", o)
	}
}

func FuzzRule(f *testing.F) {
	for _, s := range append(rulePool, "bash(a \"b\" 'c d' \\* x*y)", "read({a,b}/**/[x-z]?)", "fetch(*://*.x.org:*/**)", "net([::1]:80)") {
		f.Add(s, "git push --force", "/srv/work/src/a.go")
	}
	w := newWorld(sources())
	p := must(Load(sources()))
	f.Fuzz(func(_ *testing.T, text, command, path string) {
		for _, list := range []Verdict{Deny, Allow} {
			r, err := w.compile(ruleSpec{list: list, text: text, except: []string{text}})
			if err != nil {
				continue
			}
			q := &Policy{world: w, all: []*rule{r}, settings: p.settings, writes: p.writes, reads: p.reads}
			q.index()
			for _, a := range []Access{{Kind: Exec, Tool: "bash", Argv: strings.Fields(command)}, {Kind: Read, Tool: "read", Path: path, Tree: true}, get(command), {Kind: Net, Tool: "bash", Host: path}} {
				q.Decide(&a)
				p.Suggest([]Access{a})
				Subject(&a)
			}
			Lint(q)
		}
	})
}

func FuzzFile(f *testing.F) {
	for _, s := range []string{yamlSample, tomlSample, jsonSample, "allow: [*", "[[a]]\n[a]", "{\"a\":[[]]}", "allow:\n- {rule: x}"} {
		for _, name := range []string{"a.yaml", "a.toml", "a.json", "a"} {
			f.Add(name, s)
		}
	}
	w := newWorld(sources())
	f.Fuzz(func(_ *testing.T, name, text string) {
		n, err := parse(name, []byte(text))
		if err != nil {
			return
		}
		spec := &fileSpec{name: name, layer: User, trusted: true}
		if problems := w.readFile(spec, n); len(problems) > 0 {
			return
		}
		if next, err := withRule(name, []byte(text), Allow, "bash(git log *)"); err == nil && next != nil {
			_ = w.checkAdded(sources(), name, next, Allow, "bash(git log *)")
		}
	})
}
