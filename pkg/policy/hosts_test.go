//go:build unix

package policy

import (
	"slices"
	"testing"
)

// TestPolicyHosts: what the network rules let commands reach, whatever their text
// names, is no more than Decide would allow.
func TestPolicyHosts(t *testing.T) {
	for _, c := range []struct {
		text             string
		allowed, refused []string
	}{
		{"network: {allow: [proxy.example.org]}", []string{"proxy.example.org"}, nil},
		{"network: {allow: ['*.Example.org', 'a.test:8443', '192.0.2.7', '[2001:db8::1]:80']}", []string{"*.example.org", "192.0.2.7", "[2001:db8::1]:80", "a.test:8443"}, nil},
		{"network: {allow: ['domain:example.org']}", []string{"*.example.org", "example.org"}, nil},
		{"network: {allow: ['*.example.org'], deny: [bad.example.org]}", []string{"*.example.org"}, []string{"bad.example.org"}},
		{"network: {allow: [a.test, b.test], deny: ['*.test']}", nil, []string{"*.test"}},
		{"network: {allow: ['*.example.org', a.test], ask: ['ads*.example.org']}", []string{"a.test"}, nil},
		{"network: {allow: ['ad*.example.org', 169.254.169.254]}", nil, nil},
		{"ask: [bash]\nnetwork: {allow: [a.test]}", nil, nil},
		{"allow: ['fetch(https://a.test/**)']", nil, nil},
		{"", nil, nil},
	} {
		s := sources()
		s.Files, s.Level = []string{put(t, "p.yaml", "version: 1\n"+c.text+"\n")}, 3
		p, err := Load(s)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		allowed, refused := p.Hosts()
		if !slices.Equal(allowed, c.allowed) || !slices.Equal(refused, c.refused) {
			t.Errorf("%s\n\tallows %q and refuses %q", c.text, allowed, refused)
		}
	}
	if a, r := (*Policy)(nil).Hosts(); a != nil || r != nil {
		t.Error(a, r)
	}
}
