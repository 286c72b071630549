package shellparse

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// TestSubmodules: git starts itself in submodules, where their own settings
// count, so that those are looked at too.
func TestSubmodules(t *testing.T) {
	looksIn := []string{"git status", "git diff", "git add .", "git commit -am x", "git describe --dirty", "git ls-files --recurse-submodules", "git grep --recurse-submodules x", "git log -p --submodule=diff", "git submodule status", "cd src && git status -sb"}
	apart := []string{"git log -3", "git branch", "git rev-parse HEAD", "git show --stat", "git blame f", "git ls-files"}
	for _, c := range []struct {
		name    string
		prepare func(b *bench)
		opaque  bool
	}{
		{"plain", func(*bench) {}, false},
		{"listed", func(b *bench) {
			must(t, os.WriteFile(b.root+"/.gitmodules", []byte("[submodule \"x\"]\n\tpath = \"sub\"\n\turl = x\n"), 0o644))
		}, false},
		{"listed, with a program", func(b *bench) {
			must(t, os.WriteFile(b.root+"/.gitmodules", []byte("[submodule \"x\"]\n\tpath = sub\n\turl = x\n"), 0o644))
			b.git(t, "-C", "sub", "config", "core.fsmonitor", "pwn")
		}, true},
		{"in the index, with a program", func(b *bench) {
			b.git(t, "-C", "sub", "config", "filter.x.clean", "pwn")
			b.git(t, "add", "sub")
		}, true},
		{"within another", func(b *bench) {
			must(t, os.WriteFile(b.root+"/.gitmodules", []byte("[submodule \"x\"]\n\tpath = sub\n"), 0o644))
			must(t, os.WriteFile(b.root+"/sub/.gitmodules", []byte("[submodule \"y\"]\n\tpath = deep\n"), 0o644))
			b.git(t, "init", "-q", "sub/deep")
			b.git(t, "-C", "sub/deep", "config", "core.sshcommand", "pwn")
		}, true},
		{"outside", func(b *bench) {
			must(t, os.WriteFile(b.root+"/.gitmodules", []byte("[submodule \"x\"]\n\tpath = ../O\n"), 0o644))
			b.git(t, "init", "-q", b.out)
		}, true},
		{"not checked out", func(b *bench) {
			must(t, os.WriteFile(b.root+"/.gitmodules", []byte("[submodule \"x\"]\n\tpath = none\n"), 0o644))
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.repo(t)
			b.git(t, "init", "-q", "sub")
			must(t, os.WriteFile(b.root+"/sub/f", nil, 0o644))
			b.git(t, "-C", "sub", "add", "f")
			b.git(t, "-C", "sub", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x")
			c.prepare(b)
			for _, s := range looksIn {
				why := strings.Join(analyze(b, s).Opaque, "; ")
				if opaque := strings.Contains(why, "submodule"); opaque != c.opaque {
					t.Errorf("%s: %q, want opaque %t", s, why, c.opaque)
				}
			}
			for _, s := range apart {
				if a := analyze(b, s); len(a.Opaque) > 0 {
					t.Errorf("%s: opaque: %s", s, a.Opaque)
				}
			}
		})
	}
}

// TestHookOfTheIndex: a hook that runs whenever the index is refreshed makes
// git status more than a read-only command.
func TestHookOfTheIndex(t *testing.T) {
	b := newBench(t)
	b.repo(t)
	class := func(s string) string { return string(analyze(b, s).Accesses[0].Class) }
	before := []string{class("git status"), class("git diff"), class("git log")}
	must(t, os.WriteFile(b.root+"/.git/hooks/post-index-change", []byte("#!/bin/sh\n"), 0o755))
	after := []string{class("git status"), class("git diff"), class("git log")}
	if before[0] != after[2] || before[0] == after[0] || before[1] == after[1] {
		t.Errorf("before %q, after %q", before, after)
	}
}

// TestHookOfReferences: a hook that runs whenever a reference changes makes what is known of
// git tag, branch and reset less than all, and nothing of what leaves references alone.
func TestHookOfReferences(t *testing.T) {
	b := newBench(t)
	b.repo(t)
	class := func(s string) policy.Class { return analyze(b, s).Accesses[0].Class }
	changes := []string{"git tag x", "git tag -d x", "git branch z", "git branch -m z zz", "git branch -d zz", "git branch -u z", "git reset", "git reset --soft HEAD~1"}
	leaves := []string{"git branch", "git tag -l", "git status", "git add f", "git config user.name x", "git log"}
	before := map[string]policy.Class{}
	for _, s := range slices.Concat(changes, leaves) {
		if before[s] = class(s); before[s] == policy.Unknown {
			t.Errorf("%s: not known without a hook", s)
		}
	}
	must(t, os.WriteFile(b.root+"/.git/hooks/reference-transaction", []byte("#!/bin/sh\n"), 0o755))
	for _, s := range changes {
		if class(s) != policy.Unknown {
			t.Errorf("%s: %s with a hook", s, class(s))
		}
	}
	for _, s := range leaves {
		if class(s) != before[s] {
			t.Errorf("%s: %s with a hook, %s without", s, class(s), before[s])
		}
	}
}
