//go:build unix

package policy

import (
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/programs"
)

// covered is what the text of a rule says to a person who reads it, told anew and
// without the policy's own matching: whether an access is meant by it.
func covered(text string, a *Access) bool {
	tool, pattern, _ := strings.Cut(strings.TrimSuffix(text, ")"), "(")
	switch tool {
	case "read", "edit":
		if kind := map[string]Kind{"read": Read, "edit": Write}[tool]; a.Kind != kind || a.Opaque != "" {
			return false
		}
		at := strings.ReplaceAll(pattern, `\`, "")
		if rest, ok := strings.CutPrefix(at, "~/"); ok {
			at = testHome + "/" + rest
		}
		if !path.IsAbs(at) {
			at = testRoot + "/" + at
		}
		if dir, ok := strings.CutSuffix(at, "/**"); ok {
			return a.Path == dir || strings.HasPrefix(a.Path, dir+"/")
		}
		return a.Path == at && (!a.Tree || a.Kind == Read)
	case "net":
		host, port, _ := strings.Cut(pattern, ":")
		usual := slices.Contains([]int{0, 22, 80, 443, 9418}, a.Port)
		return a.Kind == Net && a.Tool == "bash" && !a.Publishes &&
			(pattern == "packages" && usual && slices.Contains(programs.PackageHosts(), a.Host) || a.Host == host && (port == "" && usual || port != "" && strings.HasSuffix(a.Address(), ":"+port)))
	case "fetch":
		name, host, _ := strings.Cut(pattern, ":")
		return a.Kind == Net && a.Tool == "fetch" && (a.URL == pattern || name == "domain" && strings.Contains(a.URL, host))
	case "bash":
		argv := strings.Fields(pattern)
		if a.Kind == Env {
			return len(argv) == 1 && argv[0] == a.Name+"="+a.Value
		}
		if a.Kind != Exec && !(a.Kind == Net && a.Publishes) || a.Opaque != "" {
			return false
		}
		have := slices.Clone(a.Argv)
		if strings.HasPrefix(argv[0], "./") {
			argv[0], have[0] = testRoot+argv[0][1:], a.Program
		} else if strings.HasPrefix(a.Program, testRoot) {
			return false
		}
		if n := len(argv) - 1; argv[n] == "*" {
			return len(have) >= n && slices.Equal(argv[:n], have[:n])
		}
		return slices.Equal(argv, have)
	}
	return a.Kind == Tool && a.Tool == tool
}

// grantPool is a neighbourhood of accesses: what a yes about one of them might let
// through of the others.
func grantPool() []Access {
	out := accessPool()
	for _, c := range []string{
		"npm run check", "npm run check -x", "npm run publish", "npx tsc", "npx tsc -p x", "npx tsx a.ts", "python3 a.py", "python3 a.py -v", "python3 b.py", "python3 -c x", "python3 -m pytest a",
		"python3 -m pip a", "./tool", "./tool list", "./tool rm x", "./other list", "bash a.sh", "bash -c x", "frob", "frob run", "frob run x", "frob --x", "sudo frob", "docker run x", "docker run x y",
		"go run .", "go run ./x", "go test ./a", "go vet", "git fetch", "git push origin a", "git push -f", "gh pr view 1", "gh pr merge 1", "curl http://x.org:8000/a",
	} {
		a := run(c)
		out = append(out, a, with(a, func(a *Access) { a.Danger = "x" }), with(a, func(a *Access) { a.Opaque = "x" }), with(a, func(a *Access) { a.Class = Known }))
		for _, u := range []string{"https://github.com/x/y", "http://x.org:8000/a"} {
			out = append(out, Access{Kind: Net, Tool: "bash", URL: u, Scheme: u[:strings.Index(u, ":")], Publishes: true, Argv: a.Argv, Program: a.Program})
		}
	}
	for _, dir := range []string{"/srv/other", "/srv/other/sub", "/home/dev/project", "/home/dev/project/a/b", "/home/dev", "/home", "/srv", "/", "/var/data", "/home/dev/project/.git", "sub", "sub/deep", ".github/workflows"} {
		for _, name := range []string{"", "x", "y.pem", ".env"} {
			for _, k := range []Kind{Read, Write} {
				a := file(k, "bash", path.Join(dir, name))
				out = append(out, a, with(a, func(a *Access) { a.Tree = true }), with(a, func(a *Access) { a.File = Dir }), with(a, func(a *Access) { a.Named = "/srv/link" }), with(a, func(a *Access) {
					if a.Op != "" {
						a.Op = Delete
					}
				}))
			}
		}
	}
	for _, h := range []string{"github.com", "api.github.com", "proxy.golang.org", "registry.npmjs.org", "x.org", "sub.x.org", "10.0.0.1"} {
		for _, port := range []int{0, 22, 443, 8000} {
			out = append(out, with(connect(h, port), func(a *Access) { a.Parent = 1 }))
		}
	}
	return append(out, Access{Kind: Env, Tool: "bash", Name: "GOFLAGS", Value: "-x"}, Access{Kind: Env, Tool: "bash", Name: "LD_PRELOAD", Value: "x"})
}

// TestYesIsNoWider: whatever passes after a yes, and did not before, is meant by the
// text of a rule that was shown; and the call that was asked about does pass.
func TestYesIsNoWider(t *testing.T) {
	r, dir, pool := rand.New(rand.NewPCG(11, 12)), t.TempDir(), grantPool()
	yeses, passed := 0, 0
	for range 200 {
		rules, head, level := randomRules(r, r.IntN(5)), heads[r.IntN(len(heads))], r.IntN(4)
		text, s := yamlOf(rules, head), *sources()
		p := loadText(t, dir, level, s, text, "{}")
		before := verdicts(p, pool)
		for range 12 {
			call := []Access{pool[r.IntN(len(pool))]}
			if r.IntN(3) == 0 {
				call = append(call, pool[r.IntN(len(pool))])
			}
			if o := p.DecideAll(call); o.Verdict != Ask {
				continue
			}
			for _, suggestion := range p.Suggestions(call) {
				yeses++
				s.Allow = suggestion.Rules
				q := loadText(t, dir, level, s, text, "{}")
				if o := q.DecideAll(call); o.Verdict != Allow {
					t.Fatalf("%q: %s still %s\n%s", suggestion.Rules, Subject(&call[o.By]), o.Verdict, text)
				}
				for i, v := range verdicts(q, pool) {
					if v != Allow || before[i] == Allow {
						continue
					}
					passed++
					if !slices.ContainsFunc(suggestion.Rules, func(rule string) bool { return covered(rule, &pool[i]) }) {
						t.Fatalf("a yes to %q also lets %s %s pass (%+v)\n%s", suggestion.Rules, pool[i].Kind, Subject(&pool[i]), pool[i], text)
					}
				}
			}
		}
	}
	if yeses < 600 || passed < 5000 {
		t.Errorf("only %d yeses, %d accesses that pass", yeses, passed)
	}
}
