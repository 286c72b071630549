package policy

import (
	"net/netip"
	"testing"
)

func TestHost(t *testing.T) {
	for host, want := range map[string]struct {
		name  string
		reach Reach
	}{
		"Example.ORG.":       {"example.org", AtPublic},
		"①②⑦.⓪.⓪.①":          {"127.0.0.1", AtLoopback},
		"0x7f.1":             {"127.0.0.1", AtLoopback},
		"[::ffff:127.0.0.1]": {"127.0.0.1", AtLoopback},
		"localhost":          {"localhost", AtLoopback},
		"printer.local":      {"printer.local", AtHome},
		"intranet":           {"intranet", AtHome},
		"10.1.2.3":           {"10.1.2.3", AtHome},
		"2852039166":         {"169.254.169.254", AtMetadata},
		"bücher.example":     {"xn--bcher-kva.example", AtPublic},
	} {
		name, reach, ok := Host(host)
		if !ok || name != want.name || reach != want.reach {
			t.Errorf("Host(%q) = %q, %d, %t", host, name, reach, ok)
		}
	}
	if _, _, ok := Host("exa mple.org"); ok {
		t.Error("a host with a blank")
	}
}

func TestAddress(t *testing.T) {
	for text, want := range map[string]Reach{
		"93.184.215.14": AtPublic, "2606:2800:21f::1": AtPublic, "64:ff9b::5db8:d70e": AtPublic, "::ffff:93.184.215.14": AtPublic,
		"127.0.0.1": AtLoopback, "::1": AtLoopback, "0.0.0.0": AtLoopback, "::": AtLoopback, "::ffff:127.0.0.2": AtLoopback, "64:ff9b::7f00:1": AtLoopback,
		"10.0.0.1": AtHome, "100.64.0.1": AtHome, "198.18.0.1": AtHome, "fe80::1": AtHome, "fe80::1%eth0": AtHome, "fc00::1": AtHome,
		"64:ff9b::a00:1": AtHome, "64:ff9b:1::a00:1": AtHome, "2002:7f00:1::": AtHome, "2606:4700::5efe:7f00:1": AtHome, "2606:4700::200:5efe:a00:1": AtHome, "5f00::1": AtHome, "5f01::1": AtPublic, "2606:4700::5eff:7f00:1": AtPublic, "2001:0:4136::1": AtHome, "::7f00:1": AtHome, "224.0.0.1": AtHome, "255.255.255.255": AtHome,
		"169.254.169.254": AtMetadata, "64:ff9b::a9fe:a9fe": AtMetadata, "fd00:ec2::254": AtMetadata, "100.100.100.200": AtMetadata,
	} {
		if got := Address(netip.MustParseAddr(text)); got != want {
			t.Errorf("Address(%s) = %d, want %d", text, got, want)
		}
	}
}
