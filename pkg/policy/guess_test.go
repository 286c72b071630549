//go:build unix

package policy

import "testing"

// TestGuess: a program of which nothing is known, given a path outside the
// root, may or may not change it. It is asked about, as a write is that is known;
// but where the sandbox holds it, it may try.
// What is protected stays protected.
func TestGuess(t *testing.T) {
	guess := func(path string) Access {
		a := write(path)
		a.Tool, a.Op, a.Opaque, a.Guess = "bash", Change, "the program may change it", true
		return a
	}
	for _, c := range []struct {
		text, path string
		level      int
		want       Verdict
	}{
		{"version: 1\n", "/etc/app.conf", 0, Ask},
		{"version: 1\n", "/etc/app.conf", 2, Allow},
		{"version: 1\n", "/etc/app.conf", 3, Allow},
		{"version: 1\nprofile: readonly\n", "/etc/app.conf", 3, Deny},
		{"version: 1\nprofile: argv\n", "/etc/app.conf", 3, Deny},
		{"version: 1\nprofile: open\n", "/etc/app.conf", 0, Ask},
		{"version: 1\noutside: {write: deny}\n", "/etc/app.conf", 3, Deny},
		{"version: 1\noutside: {write: deny}\n", "/etc/app.conf", 0, Deny},
		{"version: 1\ndeny: [edit(/etc/**)]\n", "/etc/app.conf", 3, Deny},
		{"version: 1\nask: [edit(/etc/**)]\n", "/etc/app.conf", 3, Ask},
		{"version: 1\nallow: [edit(/etc/**)]\n", "/etc/app.conf", 0, Ask},
		{"version: 1\n", testHome + "/.bashrc", 3, Deny},
		{"version: 1\n", testHome + "/.config/agentkit/policy.yaml", 3, Deny},
	} {
		s := sources()
		s.Files, s.Level = []string{put(t, "p.yaml", c.text)}, c.level
		a := guess(c.path)
		if d := must(Load(s)).Decide(&a); d.Verdict != c.want {
			t.Errorf("%q, level %d, %s: %s (%s), want %s", c.text, c.level, c.path, d.Verdict, d.Why, c.want)
		}
		a.Guess, a.Opaque = false, ""
		if d := must(Load(s)).Decide(&a); c.text == "version: 1\n" && d.Verdict == Allow {
			t.Errorf("%s: a write that is known is %s", c.path, d.Verdict)
		}
	}
}
