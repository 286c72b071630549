package policy_test

import (
	"testing"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// TestRunUnasked: no command may change what version control systems, agents and choosers of
// versions run by themselves.
func TestRunUnasked(t *testing.T) {
	root := t.TempDir()
	p, err := policy.Load(&policy.Sources{Root: root, Home: "/home/me", Level: 3})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		".hg/hgrc", "sub/.hg/hgrc", ".hg/hgrc-not-shared", ".hg/sharedpath", ".sl/config", ".jj/repo/config.toml", ".qwen/settings.json", ".kiro/settings/mcp.json", ".kiro/hooks/x", ".amazonq/mcp.json",
		".amp/settings.json", "sub/.factory/mcp.json", ".junie/mcp/mcp.json", ".trae/mcp.json", ".theia/tasks.json", ".cirrus.yml", ".semaphore/semaphore.yml", ".tekton/push.yaml", ".builds/test.yml",
		"crush.json", ".crush.json", ".github/hooks/x.json", ".lfsconfig", ".tool-versions", "mise.local.toml", ".mise.local.toml", ".config/mise/config.toml",
	} {
		if p.MayWrite(root+"/"+name, policy.Missing) || p.MayWrite(root+"/"+name, policy.Regular) {
			t.Errorf("a command may write %s", name)
		}
	}
	for _, name := range []string{".hg/store/x", ".hg/dirstate", ".jj/repo/store/x", ".kiro/specs/x.md", "config.toml", "builds/test.yml", "factory/x", "semaphore.go"} {
		if !p.MayWrite(root+"/"+name, policy.Missing) {
			t.Errorf("a command may not write %s", name)
		}
	}
}

// TestStartFiles: what tools run or trust when they start is not for commands to make, and names like those are.
func TestStartFiles(t *testing.T) {
	p, err := policy.Load(&policy.Sources{Root: "/r", Home: "/r/home", Level: 3})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{
		"mise/config.toml": true, "a/.rtx.toml": true, "prek.toml": true, ".nvim.lua": true, ".gvimrc": true, ".hgrc": true, ".bash_completion": true, ".xsessionrc": true,
		"home/.gradle/init.gradle": true, "home/.gradle/init.d/a.gradle": true,
		"mise/a.toml": false, "config.toml": false, "init.lua": false, ".gradle/caches/x": false, "home/.gradle/caches/x": false,
	} {
		if p.Named("/r/"+name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}
