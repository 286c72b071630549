package shellparse

import (
	"errors"
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

// TestSettingStands: git config that gives a setting the value it has changes nothing, so nothing is said to be
// planted; whatever may write another value, line or file is.
func TestSettingStands(t *testing.T) {
	b := newBench(t)
	b.repo(t)
	b.git(t, "config", "core.hooksPath", ".githooks")
	b.git(t, "config", "my.two", "x")
	b.git(t, "config", "--add", "my.two", "y")
	b.git(t, "init", "-q", "nested")
	more := "[include]\n\tpath = ../other\n[core]\n\tfsmonitor\n\tEditor = \"vi\"\n"
	f, err := os.OpenFile(b.root+"/.git/config", os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteString(more)
	must(t, errors.Join(err, f.Close()))
	must(t, os.WriteFile(b.root+"/other", []byte("[core]\n\tpager = less\n"), 0o644))
	plants := func(s string) bool {
		return slices.ContainsFunc(analyze(b, s).Accesses, func(a policy.Access) bool {
			return a.Kind == policy.Write && (a.Op != policy.Settings || a.Danger != "") && strings.Contains(a.Path, "config")
		})
	}
	for _, s := range []string{
		"git config core.hooksPath .githooks", "git config --local core.hooksPath .githooks", "git config set core.hooksPath .githooks",
		"git -C . config core.hooksPath .githooks", "cd nested/.. && git config core.hooksPath .githooks", "git config --worktree -l", "git config --worktree --get core.hooksPath",
	} {
		if plants(s) {
			t.Errorf("%s: plants something", s)
		}
	}
	for _, s := range []string{
		"git config core.hooksPath .githook", "git config core.hookspath .githooks", "git config --add core.hooksPath .githooks", "git config --unset core.hooksPath .githooks",
		"git config --replace-all core.hooksPath .githooks", "git config --type=path core.hooksPath .githooks", "git config core.hooksPath .githooks .", "git config my.two x", "git config my.two y",
		"git config core.pager less", "git config core.fsmonitor true", "git config core.editor vi", "git config --global core.hooksPath .githooks", "git config --worktree core.hooksPath .githooks",
		"git config -f x/config core.hooksPath .githooks", "GIT_CONFIG=config git config core.hooksPath .githooks", "GIT_DIR=nested/.git git config core.hooksPath .githooks",
		"export GIT_DIR=nested/.git; git config core.hooksPath .githooks", "git --git-dir=nested/.git config core.hooksPath .githooks", "cd nested; git config core.hooksPath .githooks",
		"git -C nested config core.hooksPath .githooks", "cp other .git/config; git config core.hooksPath .githooks", "rm -rf .git; git init -q; git config core.hooksPath .githooks",
	} {
		if !plants(s) {
			t.Errorf("%s: plants nothing", s)
		}
	}
}

// TestIndexOfWorktree: a git in a linked worktree changes the index in the repository, since .git is a file there.
func TestIndexOfWorktree(t *testing.T) {
	b := newBench(t)
	b.repo(t)
	b.git(t, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x")
	b.git(t, "worktree", "add", "-q", "wt")
	for _, s := range []string{"cd wt && git add f", "git -C wt commit -m x"} {
		ok := slices.ContainsFunc(analyze(b, s).Accesses, func(a policy.Access) bool {
			return a.Kind == policy.Write && a.Path == b.root+"/.git/worktrees/wt/index" && a.Opaque == ""
		})
		if !ok {
			t.Errorf("%s: %+v", s, analyze(b, s).Accesses)
		}
	}
}
