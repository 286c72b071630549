//go:build unix

package policy

import (
	"testing"
)

// TestNoPolicy: what decides must have loaded.
func TestNoPolicy(t *testing.T) {
	var p *Policy
	for _, a := range []Access{read("a"), run("ls"), get("https://x.org/")} {
		wantVerdict(t, p, a, Deny)
	}
	if o := p.DecideAll([]Access{read("a")}); o.Verdict != Deny {
		t.Errorf("a call without a policy: %s", o.Verdict)
	}
}

// TestPrecedence: deny beats ask beats allow, whatever the order and however
// narrow the rule; a grant of this call lifts an ask and no deny.
func TestPrecedence(t *testing.T) {
	git := run("git push origin")
	for _, c := range []struct {
		name, text string
		grant      []string
		want       Verdict
	}{
		{"allowed", "allow: ['bash(git *)']", nil, Allow},
		{"asked about", "allow: ['bash(git push origin)']\nask: ['bash(git *)']", nil, Ask},
		{"asked about, and granted", "ask: ['bash(git *)']", []string{"bash(git push *)"}, Allow},
		{"denied", "allow: ['bash(git push origin)']\nask: ['bash(git push *)']\ndeny: ['bash(git *)']", nil, Deny},
		{"denied, and granted", "deny: ['bash(git *)']", []string{"bash(git push origin)"}, Deny},
	} {
		if got := policyOf(t, c.text, grants(c.grant...)).Decide(&git); got.Verdict != c.want {
			t.Errorf("%s: have %s, want %s (%s)", c.name, got.Verdict, c.want, got.Rule)
		}
	}
}

// TestPlaceOfPrograms: what a program is called by says little about what it
// is.
func TestPlaceOfPrograms(t *testing.T) {
	ls := with(run("ls"), func(a *Access) { a.Class = ReadOnly })
	elsewhere := with(ls, func(a *Access) { a.Program = "/opt/other/ls" })
	wantVerdict(t, policyOf(t, ""), ls, Allow)
	wantVerdict(t, policyOf(t, ""), elsewhere, Ask)
	known := with(run("mkdir x"), func(a *Access) { a.Program = testRoot + "/mkdir" })
	wantVerdict(t, policyOf(t, "", at(2)), run("mkdir x"), Allow)
	wantVerdict(t, policyOf(t, "", at(0)), known, Ask)
	// A shell is a shell under another name, too.
	argv := policyOf(t, "profile: argv\nallow: ['bash(tool *)', 'bash(/usr/bin/bash *)']")
	wantVerdict(t, argv, with(run("tool x"), func(a *Access) { a.Program = "/usr/bin/bash" }), Deny)
	// What is dangerous is so although the program only reads.
	danger := with(ls, func(a *Access) { a.Danger = "it reads a raw disk" })
	wantVerdict(t, policyOf(t, ""), danger, Ask)
}

// TestNeverWritten: the policies and the state are closed to every tool, and to
// every spelling.
func TestNeverWritten(t *testing.T) {
	p := policyOf(t, "profile: open\nallow: ['edit(**)', 'write(**)', 'bash(*)']", at(3), grants("edit(**)"))
	for _, name := range []string{
		"/home/dev/.config/agentkit/policy.yaml", "/home/dev/.config/agentkit/policy.d/x", "/home/dev/.local/state/agentkit/x/audit.jsonl",
		"/home/dev/.config/agentkit", "/home/dev/.local/state/agentkit",
	} {
		for _, tool := range []string{"edit", "write", "patch", "bash"} {
			wantVerdict(t, p, file(Write, tool, name), Deny)
		}
	}
}

// TestSecondNames: a file with another name, perhaps outside the root, is no
// matter of the root alone.
func TestSecondNames(t *testing.T) {
	p := policyOf(t, "")
	linked := func(a Access, n uint64) Access {
		return with(a, func(a *Access) { a.File, a.Links = Regular, n })
	}
	wantVerdict(t, p, linked(write("a"), 1), Allow)
	wantVerdict(t, p, linked(write("a"), 2), Ask)
	wantVerdict(t, p, linked(with(write("a"), func(a *Access) { a.Op = Delete }), 2), Allow) // the other name is still there
	wantVerdict(t, p, linked(read("a"), 2), Ask)
	wantVerdict(t, p, linked(read("node_modules/x/a.js"), 2), Allow)
	wantVerdict(t, p, linked(read("venv/lib/site-packages/x/a.py"), 2), Allow)
	wantVerdict(t, p, linked(write("node_modules/x/a.js"), 2), Ask)
	wantVerdict(t, policyOf(t, "allow: ['edit(a)']"), linked(write("a"), 2), Allow)
	wantVerdict(t, policyOf(t, "allow: ['edit(**)']"), linked(write("a"), 2), Ask)
}

// TestDevices: a network interface is read by the name that all know, not what lies around it.
func TestDevices(t *testing.T) {
	p := policyOf(t, "")
	const dev = "/sys/devices/pci0000:00/0000:00:03.0/virtio2"
	for _, test := range []struct {
		named, path string
		want        Verdict
	}{
		{"/sys/class/net/eth0/mtu", dev + "/net/eth0/mtu", Allow},
		{"/sys/class/net/lo/statistics/rx_bytes", "/sys/devices/virtual/net/lo/statistics/rx_bytes", Allow},
		{"/sys/block/vda/size", dev + "/block/vda/size", Allow},
		{"/sys/class/net/eth0/device/config", dev + "/config", Ask},
		{"/sys/class/tty/tty0/active", "/sys/devices/virtual/tty/tty0/active", Ask},
		{"", dev + "/net/eth0/mtu", Ask},
		{"/home/dev/proj/net/eth0/mtu", dev + "/net/eth0/mtu", Ask},
	} {
		wantVerdict(t, p, with(file(Read, "bash", test.path), func(a *Access) { a.Named = test.named }), test.want)
	}
}
