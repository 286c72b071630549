//go:build unix

package policy

import (
	"slices"
	"strings"
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
		{"network: {allow: ['*.Example.org', 'a.test:8443', '192.0.2.7', '[2001:db8::1]:80']}", []string{"*.example.org", "192.0.2.7", "[2001:db8::1]:80", "a.test:8443"}, metadataNames()},
		{"network: {allow: ['domain:example.org']}", []string{"*.example.org", "example.org"}, metadataNames()},
		{"network: {allow: ['*.example.org'], deny: [bad.example.org]}", []string{"*.example.org"}, append([]string{"bad.example.org"}, metadataNames()...)},
		{"network: {allow: [a.test, '*.b.test'], deny: ['a.test:80']}", []string{"*.b.test", "a.test:22", "a.test:443", "a.test:9418"}, append([]string{"a.test:80"}, metadataNames()...)},
		{"network: {allow: ['*.com']}", []string{"*.com"}, metadataNames()},
		{"network: {allow: ['x.b.test', '*.c.test'], ask: ['*.b.test']}", []string{"*.c.test"}, append([]string{"*.b.test"}, metadataNames()...)},
		{"network: {default: allow}", []string{"*"}, metadataNames()},
		{"network: {allow: ['*'], deny: [evil.test]}", []string{"*"}, append([]string{"evil.test"}, metadataNames()...)},
		{"network: {allow: [a.test, b.test], deny: ['*.test']}", nil, []string{"*.test"}},
		{"network: {allow: ['*.example.org', a.test], ask: ['ads*.example.org']}", []string{"a.test"}, nil},
		{"network: {allow: ['ad*.example.org', 169.254.169.254]}", nil, nil},
		{"ask: [bash]\nnetwork: {allow: [a.test]}", nil, nil},
		{"allow: ['fetch(https://a.test/**)']", nil, nil},
		{"deny: ['fetch(domain:evil.test)']\nnetwork: {allow: ['*']}", []string{"*"}, append([]string{"evil.test", "*.evil.test"}, metadataNames()...)},
		{"ask: ['fetch(https://evil.test)']\nnetwork: {default: allow}", []string{"*"}, append([]string{"evil.test"}, metadataNames()...)},
		{"ask: ['fetch(https://some.test/a/**)']\nnetwork: {default: allow}", []string{"*"}, metadataNames()}, // the rest of the host is not meant
		{"allow: ['fetch(domain:a.test)']\nnetwork: {default: allow}", []string{"*"}, metadataNames()},
		{"deny: ['fetch(domain:93.184.216.34)']\nnetwork: {allow: [a.test], deny: ['198.51.*', '192.0.2.7:443']}", []string{"a.test"}, []string{"192.0.2.7:443", "198.51.*", "93.184.216.34"}},
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
		if strings.Contains(c.text, "198.51") {
			slices.Sort(refused)
		}
		if !slices.Equal(allowed, c.allowed) || !slices.Equal(refused, c.refused) {
			t.Errorf("%s\n\tallows %q and refuses %q", c.text, allowed, refused)
		}
	}
	for text, want := range map[string]bool{
		"": false, "network: {default: allow}": true, "network: {allow: ['*']}": true, "network: {allow: ['*.com', example.com]}": false,
		"network: {default: allow, deny: [evil.test]}": false, "network: {default: allow, ask: [a.test]}": false, "ask: [bash]\nnetwork: {default: allow}": false,
		"deny: ['fetch(domain:evil.test)']\nnetwork: {default: allow}": false, "allow: ['fetch(domain:a.test)']\nnetwork: {default: allow}": true,
	} {
		s := sources()
		s.Files, s.Level = []string{put(t, "p.yaml", "version: 1\n"+text+"\n")}, 3
		if p := must(Load(s)); p.OpenNetwork() != want {
			t.Errorf("%q opens the network: %v", text, !want)
		}
	}
	if a, r := (*Policy)(nil).Hosts(); a != nil || r != nil {
		t.Error(a, r)
	}
}
