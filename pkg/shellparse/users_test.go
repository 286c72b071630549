package shellparse

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// TestUsers: who an address names, and by what password, is part of no access to its host,
// whether the command has the address or the repository; and no rule for the host covers it.
func TestUsers(t *testing.T) {
	b := newBench(t)
	b.repo(t, "f")
	config, err := os.ReadFile(b.root + "/.git/config")
	must(t, err)
	p, err := policy.Load(&policy.Sources{Root: b.root, Allow: []string{"net(h.example)"}})
	must(t, err)
	for _, c := range []struct{ call, remote, url string }{
		{"git fetch", "https://bob:hunter2@h.example/x.git", "https://h.example/x.git"},
		{"git push origin main", "https://hunter2@h.example/x.git", "https://h.example/x.git"},
		{"git pull", "ssh://bob:hunter2@h.example:2222/x.git", "ssh://h.example:2222/x.git"},
		{"git fetch", "ssh://bob:hunter2@h%2eexample/x.git", "ssh://"},
		{"git fetch", "https://bob:hun/ter2@h.example/x.git", "https://"},
		{"git fetch", "https://h.example/@hunter2/x.git", "https://h.example/@hunter2/x.git"},
		{"git fetch bob@h.example:x.git", "", ""},
		{"git ls-remote https://bob:hunter2@h.example/x.git", "", "https://h.example/x.git"},
		{"curl https://bob:hunter2@h.example/?a=b@c", "", "https://h.example/?a=b@c"},
		{"curl bob:hunter2@h.example", "", "http://h.example"},
	} {
		text := string(config)
		if c.remote != "" {
			text += fmt.Sprintf("[remote \"origin\"]\n\turl = %s\n", c.remote)
		}
		must(t, os.WriteFile(b.root+"/.git/config", []byte(text), 0o644))
		hosts, words := 0, strings.Fields(c.call)
		for _, a := range analyze(b, c.call).Accesses {
			if a.Kind != policy.Net {
				continue
			}
			hosts++
			kept := c.remote == c.url
			if shown := policy.Subject(&a) + strings.TrimPrefix(a.Source, words[len(words)-1]); a.URL != c.url || !kept && strings.Contains(shown, "hunter2") {
				t.Errorf("%s, %s: %q, %q", c.call, c.remote, a.URL, shown)
			}
			if c.url != "" && a.User == kept {
				t.Errorf("%s, %s: it names a user: %t", c.call, c.remote, a.User)
			}
			if d := p.Decide(&a); a.User && d.Verdict == policy.Allow {
				t.Errorf("%s, %s: %+v", c.call, c.remote, d)
			}
		}
		if hosts == 0 {
			t.Errorf("%s, %s: no host", c.call, c.remote)
		}
	}
}
