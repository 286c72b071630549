package sandbox

import (
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

func TestExplain(t *testing.T) {
	c := &Config{Root: "/w/root", ReadWrite: []string{"/tmp"}, ReadOnly: []string{"/w/root/.git/hooks", "/w/root/.git/config", "/home/u/.ssh/config"}, Hidden: []string{"/home/u/.ssh"}}
	c.Pinned = []string{"/w/root/keys/x.pem", "/w/root/.git/config"}
	for line, want := range map[string]string{
		"mv: cannot move 'keys' to 'k2': Device or resource busy":                                                 "write /w/root/keys ",
		"OSError: [Errno 18] Invalid cross-device link: 'keys/a' -> 'b'":                                          "",
		"fatal: renaming 'src/a' failed: Invalid cross-device link":                                               "",
		"OSError: [Errno 18] Invalid cross-device link: '/tmp/a' -> 'b'":                                          "",
		"touch: cannot touch '/etc/x': Read-only file system":                                                     "write /etc/x edit(/etc/x)",
		"bash: line 1: /etc/motd: Permission denied":                                                              "write /etc/motd edit(/etc/motd)",
		"open /usr/lib/a.go: read-only file system":                                                               "write /usr/lib/a.go edit(/usr/lib/a.go)",
		"OSError: [Errno 30] Read-only file system: '/opt/a b'":                                                   "write /opt/a b edit(/opt/a b)",
		"PermissionError: [Errno 13] Permission denied: '/opt/x'":                                                 "write /opt/x edit(/opt/x)",
		"Error: EROFS: read-only file system, open '/home/u/.cache/y'":                                            "write /home/u/.cache/y edit(/home/u/.cache/y)",
		"npm ERR! code EACCES: permission denied, mkdir '/usr/lib/node_modules'":                                  "write /usr/lib/node_modules edit(/usr/lib/node_modules)",
		"mv: cannot move 'a' to '/srv/a': Read-only file system":                                                  "write /srv/a edit(/srv/a)",
		"error: could not write config file .git/config: Device or resource busy":                                 "write /w/root/.git/config ",
		"cat: /home/u/.ssh/id_rsa: Permission denied":                                                             "read /home/u/.ssh/id_rsa ",
		"cat: /home/u/.ssh/config: Permission denied":                                                             "read /home/u/.ssh/config ",
		"Error: EACCES: permission denied, open '/home/u/.ssh/config'":                                            "read /home/u/.ssh/config ",
		"touch: cannot touch '/home/u/.ssh/config': Permission denied":                                            "write /home/u/.ssh/config ",
		"fatal: cannot create directory at '.git/hooks/x': Read-only file system":                                 "write /w/root/.git/hooks/x ",
		"curl: (6) Could not resolve host: example.org":                                                           "host example.org net(example.org)",
		"ssh: Could not resolve hostname git.example.org: Temporary failure in name resolution":                   "host git.example.org net(git.example.org)",
		"npm ERR! request to https://r.example.org failed, reason: getaddrinfo EAI_AGAIN r.example.org":           "host r.example.org net(r.example.org)",
		`go: download: Get "https://proxy.example.org/x": dial tcp: lookup proxy.example.org: no such host`:       "host proxy.example.org net(proxy.example.org)",
		"./script: Permission denied":                                                                             "",
		"cat: /tmp/x: Permission denied":                                                                          "",
		"bash: /dev/sda: Permission denied":                                                                       "",
		"/usr/bin/bash: line 1: ./script: Permission denied":                                                      "",
		"/usr/bin/python3: can't open file '/w/root/x.py': [Errno 13] Permission denied":                          "",
		"/usr/bin/bash: line 1: /etc/motd: Permission denied":                                                     "write /etc/motd edit(/etc/motd)",
		"/opt/x: Permission denied":                                                                               "write /opt/x edit(/opt/x)",
		"everything is fine":                                                                                      "",
		"Permission denied":                                                                                       "",
		"error: failed to open: /home/u/.cargo/.crates.toml\n\nCaused by:\n  Read-only file system (os error 30)": "write /home/u/.cargo/.crates.toml edit(/home/u/.cargo/.crates.toml)",
		"error: failed to open: /tmp/x\n\nCaused by:\n  Permission denied (os error 13)":                          "",
		"npm error enoent ENOENT: no such file or directory, mkdir '/home/u/.npm/_npx'":                           "write /home/u/.npm/_npx edit(/home/u/.npm/_npx)",
		"npm error code EACCES\nnpm error syscall mkdir\nnpm error path /home/u/.npm/_npx\nnpm error errno -13":   "write /home/u/.npm/_npx edit(/home/u/.npm/_npx)",
		"npm error code E404\nnpm error path /home/u/.npm/_npx":                                                   "",
		"Error: ENOENT: no such file or directory, mkdir '/w/root/a/b'":                                           "",
		"curl: (6) Could not resolve host: localhost":                                                             "",
		"tar: /home/u/.ssh: Cannot open: Permission denied":                                                       "read /home/u/.ssh ",
		"tar: ./.git/hooks/x: Cannot unlink: Read-only file system":                                               "write /w/root/.git/hooks/x ",
		"{" + strings.Repeat(`"a":"b",`, 200) + `"missing":"operation not permitted","shell":"/usr/bin/bash"}`:    "", // data, not a message
	} {
		got := c.Explain("before\n"+line+"\nafter\n", "/w/root")
		switch {
		case want == "" && len(got) > 0:
			t.Errorf("%s\n\tis explained as %+v", line, got)
		case want == "":
		case len(got) != 1:
			t.Errorf("%s\n\tis explained as %+v", line, got)
		default:
			s := got[0].Kind + " " + got[0].Path + " " + got[0].Allow
			if s != want {
				t.Errorf("%s\n\tis explained as %q, want %q", line, s, want)
			}
		}
	}
	c = &Config{Root: "/w/root", Readable: []string{"/usr"}}
	for line, want := range map[string]string{
		"cat: /srv/x: Permission denied":                             "read /srv/x read(/srv/x)",
		"touch: cannot touch '/srv/x': Permission denied":            "write /srv/x edit(/srv/x)",
		"mkdir: cannot create directory ‘/srv/x’: Permission denied": "write /srv/x edit(/srv/x)",
		"rm: cannot remove '/srv/x': Permission denied":              "write /srv/x edit(/srv/x)",
		"cp: cannot create regular file '/srv/x': Permission denied": "write /srv/x edit(/srv/x)",
		"PermissionError: [Errno 13] Permission denied: '/srv/x'":    "read /srv/x read(/srv/x)",
		"Error: EACCES: permission denied, unlink '/srv/x'":          "write /srv/x edit(/srv/x)",
	} {
		if got := c.Explain(line, "/w/root"); len(got) != 1 || got[0].Kind+" "+got[0].Path+" "+got[0].Allow != want {
			t.Errorf("%s is explained as %+v, want %q", line, got, want)
		}
	}
	c = &Config{Level: L2, Root: "/home/u", ReadWrite: []string{"/tmp"}, Private: []string{"/home/u/.local/state/agentkit"}}
	for path, there := range map[string]bool{"/home/u/new": true, "/home/u/.local/x": true, "/home/u/src/new": false, "/tmp/x": false} {
		got := c.Explain("touch: cannot touch '"+path+"': Permission denied", "/home/u")
		if (len(got) == 1 && got[0].Path == path && strings.Contains(got[0].Why, "--state")) != there {
			t.Errorf("%s is explained as %+v", path, got)
		}
		c.Level = L3
		if got := c.Explain("touch: cannot touch '"+path+"': Permission denied", "/home/u"); len(got) > 0 {
			t.Errorf("where there are mounts %s is explained as %+v", path, got)
		}
		c.Level = L2
	}
	if got := (&Config{Root: "/w", Network: Open}).Explain("curl: (6) Could not resolve host: example.org", "/w"); len(got) > 0 {
		t.Errorf("where the network is open: %+v", got)
	}
}

func FuzzExplain(f *testing.F) {
	f.Add("touch: cannot touch '/etc/x': Read-only file system")
	f.Add("`'‘’: EROFS:")
	f.Fuzz(func(t *testing.T, s string) {
		c := &Config{Root: "/w", Hidden: []string{"/h"}}
		for _, d := range c.Explain(s, "/w") {
			if d.Path == "" || d.Why == "" || d.Kind == DeniedWrite && d.Allow != "" && safefile.Below("/w", d.Path) {
				t.Errorf("%q: %+v", s, d)
			}
		}
	})
}

// TestExplainParted: where parts of the root are mounts, a rename between them is explained.
func TestExplainParted(t *testing.T) {
	for line, want := range map[string]bool{
		"fatal: renaming 'src/a' failed: Invalid cross-device link":      true,
		"OSError: [Errno 18] Invalid cross-device link: '/tmp/a' -> 'b'": false,
	} {
		for _, sealed := range []bool{true, false} {
			c := &Config{Root: "/w/root", Sealed: sealed, ReadWrite: []string{"/w/root/src", "/tmp"}}
			if got := c.Explain(line+"\n", "/w/root"); (len(got) == 1 && strings.Contains(got[0].Why, "mounts of their own")) != (want && sealed) {
				t.Errorf("sealed %v: %s is explained as %+v", sealed, line, got)
			}
		}
	}
}
