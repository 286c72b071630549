package shellparse

import (
	"testing"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// TestStarts: the gate's decision about programs that start inside a call
// that was allowed.
func TestStarts(t *testing.T) {
	b := newBench(t)
	p := strict(t, b, `
profile: workspace
ask: ["bash(git push *)", "bash(terraform *)"]
deny: ["bash(rm * --recursive *)", "bash(curl *)", "bash(npm publish *)", "read(**/*.pem)", "edit(deploy/**)", "bash(/usr/bin/nc *)", "bash(kill -9 *)"]
protect: [locked/**]
`)
	call := func(text string) []policy.Access { return analyze(b, text).Accesses }
	for _, c := range []struct {
		call    string // what was allowed
		program string
		argv    []string
		want    policy.Verdict
		rule    string
	}{
		{"make", "/usr/bin/ls", []string{"ls"}, policy.Allow, ""},
		{"make", "/usr/bin/gcc", []string{"gcc", "-c", "x.c"}, policy.Allow, ""},
		{"make", "/usr/bin/curl", []string{"curl", "http://x"}, policy.Deny, "bash(curl *)"},
		{"make", "/usr/bin/curl", []string{"innocent", "http://x"}, policy.Deny, "bash(curl *)"},
		{"make", b.bin + "/anything", []string{"curl", "http://x"}, policy.Deny, "bash(curl *)"},
		{"make", "/usr/bin/rm", []string{"rm", "-fr", "x"}, policy.Deny, "bash(rm * --recursive *)"},
		{"make", "/usr/bin/busybox", []string{"rm", "-r", "x"}, policy.Deny, "bash(rm * --recursive *)"},
		{"make", "/usr/bin/busybox", []string{"busybox", "rm", "-R", "x"}, policy.Deny, "bash(rm * --recursive *)"},
		{"make", "/usr/bin/rm", []string{"rm", "-f", "x"}, policy.Allow, ""}, // a file of the root
		{"make", "/usr/bin/rm", []string{"rm", "-f", b.out + "/secret"}, policy.Ask, ""},
		{"rm -f " + b.out + "/secret", "/usr/bin/rm", []string{"rm", "-f", b.out + "/secret"}, policy.Allow, ""},
		{`rm -f "$(cat list)"`, "/usr/bin/rm", []string{"rm", "-f", b.out + "/secret"}, policy.Allow, ""},
		{"make", "/usr/bin/git", []string{"git", "push", "origin"}, policy.Ask, "bash(git push *)"},
		{"git push origin", "/usr/bin/git", []string{"git", "push", "origin"}, policy.Allow, ""},
		{"git push origin", "/usr/bin/git", []string{"git", "push", "evil"}, policy.Ask, "bash(git push *)"},
		{"git push origin", "/usr/lib/git-core/git-remote-https", []string{"git-remote-https", "origin", "https://x"}, policy.Allow, ""},
		{"npm run release", "/usr/bin/npm", []string{"npm", "publ"}, policy.Deny, "bash(npm publish *)"},
		{"make", "/usr/bin/sh", []string{"sh", "-c", "cc -c a.c"}, policy.Allow, ""},
		{"make", "/usr/bin/sh", []string{"sh", "-c", "kill -KILL 1"}, policy.Deny, "bash(kill -9 *)"}, // a built-in: no start of its own
		{"make", "/usr/bin/sh", []string{"sh", "-c", "$x y; $(z)"}, policy.Allow, ""},                 // what it starts is seen then
		{"make", "/usr/bin/cat", []string{"cat", "src/a.pem"}, policy.Deny, "read(**/*.pem)"},
		{"make", "/usr/bin/tee", []string{"tee", "deploy/x"}, policy.Deny, "edit(deploy/**)"},
		{"make", "/usr/bin/tee", []string{"tee", "locked/x"}, policy.Deny, "edit(locked/**)"},
		{"make", "/usr/bin/grep", []string{"grep", "-r", "x", "."}, policy.Allow, ""},
		{"make", "/usr/bin/shutdown", []string{"shutdown", "now"}, policy.Ask, ""},
		{"make", "/usr/bin/sudo", []string{"sudo", "ls"}, policy.Ask, ""},
		{"make", "/usr/bin/nc", []string{"netcat", "x", "1"}, policy.Deny, "bash(/usr/bin/nc *)"},
		{"make", "/usr/bin/ls", nil, policy.Allow, ""},
	} {
		w := b.world()
		got := p.DecideStart(Started(c.program, c.argv, w), call(c.call))
		if got.Verdict != c.want || c.rule != "" && got.Rule != c.rule {
			t.Errorf("in %q, %s %q: %s by %q (%s), want %s by %q", c.call, c.program, c.argv, got.Verdict, got.Rule, got.Why, c.want, c.rule)
		}
	}
	if d := (*policy.Policy)(nil).DecideStart(Started("/bin/ls", nil, b.world()), nil); d.Verdict != policy.Deny {
		t.Errorf("without a policy: %s", d.Verdict)
	}
	if d := p.DecideStart(nil, nil); d.Verdict != policy.Deny {
		t.Errorf("of nothing: %s", d.Verdict)
	}
}

// TestStartInArgvProfile: what a listed program starts is not what the list is
// about, a shell included.
func TestStartInArgvProfile(t *testing.T) {
	b := newBench(t)
	p := strict(t, b, "profile: argv\nallow: ['bash(make *)']\ndeny: ['bash(curl *)']\n")
	for program, want := range map[string]policy.Verdict{"/usr/bin/sh": policy.Allow, "/usr/bin/gcc": policy.Allow, "/usr/bin/curl": policy.Deny} {
		if d := p.DecideStart(Started(program, []string{program, "x"}, b.world()), analyze(b, "make").Accesses); d.Verdict != want {
			t.Errorf("%s: %s (%s)", program, d.Verdict, d.Rule)
		}
	}
}

// BenchmarkStart is what a start costs at the gate.
func BenchmarkStart(b *testing.B) {
	bench := newBench(b)
	p := strict(b, bench, "deny: ['bash(rm * --recursive *)', 'bash(git push * --force *)', 'read(**/*.pem)']\n")
	approved := analyze(bench, "make -j4").Accesses
	for _, argv := range [][]string{{"ls", "-la"}, {"gcc", "-O2", "-c", "src/a.c", "-o", "a.o", "-Iinclude"}, {"git", "log", "--oneline"}, {"sh", "-c", "cd src && cc -c a.c"}, {"python3", "-m", "pytest"}} {
		b.Run(argv[0], func(b *testing.B) {
			w := bench.world()
			for b.Loop() {
				if p.DecideStart(Started("/usr/bin/"+argv[0], argv, w), approved).Verdict == policy.Deny {
					b.Fatal("denied")
				}
			}
		})
	}
}
