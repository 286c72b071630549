package gitsettings

import (
	"strings"
	"testing"
)

const plain = `[core]
	repositoryformatversion = 0
	bare = false
[remote "origin"]
	url = https://github.com/x/y
	fetch = +refs/heads/*:refs/remotes/origin/*
[branch "main"]
	remote = origin
	merge = refs/heads/main
[alias]
	st = "!f() { git status; }; f"
`

// TestChange: what makes git run nothing may be another; all else stays.
func TestChange(t *testing.T) {
	upstream := "[remote \"up\"]\n\turl = git@github.com:z/y.git\n\tfetch = +refs/heads/*:refs/remotes/up/*\n"
	with := func(was, now string) string {
		if !strings.Contains(plain, was) {
			t.Fatal(was)
		}
		return strings.Replace(plain, was, now, 1)
	}
	for name, now := range map[string]string{
		"nothing":                plain,
		"a user":                 plain + "[user]\n\tname = Test (x) O'Neil\n\temail = a@b.c\n",
		"a remote":               plain + upstream,
		"a remote at a host":     plain + "[remote \"b\"]\n\turl = ssh://git@open.example/y\n",
		"by ssh":                 with("https://github.com/x/y", "git@github.com:x/y.git"),
		"with a user":            with("https://github.com/x/y", "https://oauth2:a~b-c@github.com/x/y.git"),
		"with a space":           plain + "[remote \"b\"]\n\turl = https://github.com/x/my%20y?a\n",
		"by ssh, with a scheme":  with("https://github.com/x/y", "ssh://git@github.com/x/y/"),
		"a branch that follows":  plain + "[branch \"feature/a#1\"]\n\tremote = .\n\tmerge = refs/heads/main\n\trebase = true\n",
		"a branch less":          with("[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n", ""),
		"a branch of new remote": plain + upstream + "[branch \"x\"]\n\tremote = up\n\tmerge = refs/heads/x\n",
		"a submodule":            plain + "[submodule \"lib/z\"]\n\tactive = true\n\turl = https://github.com/x/z\n",
		"how to pull":            plain + "[pull]\n\trebase = false\n[push]\n\tautoSetupRemote = true\n[advice]\n\tdetachedHead = false\n",
	} {
		if r := Change(plain, now, "", func(host string) bool { return host == "open.example" }); r != nil {
			t.Errorf("%s: %+v", name, r)
		}
	}
	for name, now := range map[string]string{
		"a hook":                      plain + "[core]\n\thooksPath = x\n",
		"a monitor":                   with("bare = false", "bare = false\n\tfsmonitor = x"),
		"a program":                   plain + "[gpg]\n\tprogram = x\n",
		"an alias":                    plain + "\tx = !x\n",
		"a file more":                 plain + "[include]\n\tpath = x\n",
		"an address written anew":     plain + "[url \"https://evil.example/\"]\n\tinsteadOf = https://github.com/\n",
		"an alias that goes on":       with("\tst = \"!f() { git status; }; f\"\n", "\tst = \"!f() { git status; }; f\" \\\n[user]\n\tname = x\n"),
		"another repository":          with("https://github.com/x/y", "https://github.com/evil/y"),
		"another user's repository":   with("https://github.com/x/y", "evil@github.com:x/y"),
		"a place of a server's":       with("https://github.com/x/y", "https://github.com/x/y?z"),
		"a host behind a user":        with("https://github.com/x/y", "ssh://evil.example%2F@github.com/x/y"),
		"a host that git decodes":     plain + "[remote \"b\"]\n\turl = ssh://evil.example%2F@github.com/y\n",
		"a host behind a question":    plain + "[remote \"b\"]\n\turl = ssh://github.com?@evil.example/y\n",
		"a host with two users":       plain + "[remote \"b\"]\n\turl = https://a@b@github.com/y\n",
		"another repository by ssh":   with("https://github.com/x/y", "git@github.com:evil/y"),
		"another host":                plain + "[remote \"b\"]\n\turl = https://evil.example/y\n",
		"a host that looks like one":  plain + "[remote \"b\"]\n\turl = https://github.com@evil.example/y\n",
		"another port":                plain + "[remote \"b\"]\n\turl = https://github.com:8443/y\n",
		"a path":                      with("https://github.com/x/y", "/tmp/evil.git"),
		"a path below":                with("https://github.com/x/y", "build/evil.git"),
		"a file's address":            with("https://github.com/x/y", "file:///tmp/evil.git"),
		"without encryption":          with("https://github.com/x/y", "http://github.com/x/y"),
		"a transport":                 with("https://github.com/x/y", "ext::sh -c x"),
		"an option":                   with("https://github.com/x/y", "-oProxyCommand=x:y"),
		"a host that is an option":    with("https://github.com/x/y", "ssh://-oProxyCommand=x/y"),
		"a second address":            with("\turl = https://github.com/x/y\n", "\turl = https://github.com/x/y\n\turl = https://github.com/z/y\n"),
		"a remote less":               with("\turl = https://github.com/x/y\n", ""),
		"a program at the far end":    with("\tfetch", "\treceivepack = x\n\tfetch"),
		"references of one's own":     with("+refs/heads/*:refs/remotes/origin/*", "+refs/heads/*:refs/heads/*"),
		"another remote's references": with("+refs/heads/*:refs/remotes/origin/*", "+refs/heads/*:refs/remotes/up/*"),
		"a branch that pulls a path":  with("remote = origin\n", "remote = /tmp/evil\n"),
		"a branch of no remote":       with("remote = origin\n", "remote = up\n"),
		"a setting in quotes":         plain + "[user]\n\tname = \"a\\nb\"\n",
		"a setting on the line":       plain + "[core] fsmonitor = x\n",
		"a line that ends otherwise":  plain + "[user]\n\tname = a\r\n",
		"signing, where it is wanted": plain + "[commit]\n\tgpgsign = true\n",
		"a section of another name":   with("[core]", "[core \"\"]"),
		"a section that ends in dots": with("[core]", "[core.]"),
		"a submodule from elsewhere":  plain + "[submodule \"z\"]\n\turl = https://evil.example/z\n",
		"a submodule from a path":     plain + "[submodule \"z\"]\n\turl = ../z\n",
		"a submodule's command":       plain + "[submodule \"z\"]\n\tupdate = !x\n",
		"a submodule of two":          plain + "[submodule \"z\"]\n\turl = https://github.com/x/z\n\turl = https://github.com/x/a\n",
		"a template":                  plain + "[commit]\n\ttemplate = x\n",
	} {
		if Change(plain, now, "", func(string) bool { return false }) == nil {
			t.Errorf("%s: may be", name)
		}
	}
	if was := plain + "[commit]\n\tgpgsign = true\n"; Change(was, was+"\tgpgsign = false\n", "", nil) == nil || Change(was, plain+"[commit]\n\tgpgsign = false\n", "", nil) == nil {
		t.Error("commits that are to be signed are not")
	}
	if was := "[remote.a]\n\turl = https://github.com/x/y\n[remote \"b\"]\n\turl = https://github.com/x/z\n"; Change(was, "[remote \"a\"]\n\turl = https://github.com/evil/y\n"+was, "", nil) == nil {
		t.Error("a remote in a section with a dot gets another address")
	}
	if was := plain + "[submodule \"z\"]\n\turl = https://github.com/x/z\n"; Change(was, strings.Replace(was, "x/z", "evil/z", 1), "", nil) == nil || Change(was, plain, "", nil) != nil {
		t.Error("a submodule is another repository, or cannot go")
	}
	if was := plain + "[user]\n\tx = a \\\n"; Change(was, was+"name = b\n", "", nil) == nil {
		t.Error("a line that goes on")
	}
	if r := Change(plain, plain+"[remote \"b\"]\n\turl = https://evil.example/y\n", "", func(string) bool { return false }); r == nil || r.Host != "evil.example" {
		t.Errorf("the host is not named: %+v", r)
	}
}

// TestChangeOfTree: the settings of a submodule may name its work tree, or not.
func TestChangeOfTree(t *testing.T) {
	with := strings.Replace(plain, "bare = false", "bare = false\n\tworktree = ../../../lib", 1)
	for _, pair := range [][2]string{{plain, with}, {with, plain}} {
		if r := Change(pair[0], pair[1], "../../../lib", nil); r != nil {
			t.Errorf("%+v", r)
		}
		if Change(pair[0], pair[1], "../../../other", nil) == nil || Change(pair[0], pair[1], "", nil) == nil {
			t.Error("another work tree is let through")
		}
	}
	other := strings.Replace(with, "/lib", "/etc", 1)
	if Change(with, other, "../../../lib", nil) == nil || Change(other, with, "../../../lib", nil) == nil || Change(other, other+"[core]\n\tworktree = ../../../lib\n", "../../../lib", nil) == nil {
		t.Error("another work tree is let through")
	}
}
