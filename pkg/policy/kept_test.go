package policy_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

func TestKeep(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: links need a privilege")
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(names ...string) (list []string) {
		for _, name := range names {
			list = append(list, filepath.Join(top, name))
		}
		return list
	}
	for _, dir := range []string{"root/dots", "root/.agentkit", "root/conf", "user", "home"} {
		if err := os.MkdirAll(at(dir)[0], 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{
		"user/policy.yaml": "../root/dots/policy.yaml", "user/notes": "../root", "home/whole": "../root", "home/part": "../root/dots", "root/.agentkit/policy.toml": "../conf/p.toml",
	} {
		if err := os.Symlink(to, at(name)[0]); err != nil {
			t.Fatal(err)
		}
	}
	settings := func(dir string) []string { return at(dir+"/config.yaml", dir+"/trust.json") }
	for name, c := range map[string]struct {
		sources       policy.Sources
		kept, not     []string
		changed, free []string
	}{
		"a file": {
			sources: policy.Sources{Files: at("root/team.yaml")},
			kept:    at("root/team.yaml"), not: at("root"),
			changed: at("root/team.yaml"), free: at("root/other.yaml"),
		},
		"a link in the user's directory": {
			sources: policy.Sources{User: at("user")[0], Settings: settings("user")},
			kept:    at("user", "root/dots/policy.yaml"), not: at("root", "user/config.yaml"),
			changed: at("root/dots/policy.yaml"), free: at("root/dots/other", "root/dots/policy.yml"),
		},
		"the user's directory is a link into the root": {
			sources: policy.Sources{User: at("home/part")[0], Settings: settings("home/part")},
			kept:    at("home/part", "root/dots"),
			changed: at("root/dots/config.yaml", "root/dots/x"), free: at("root/x"),
		},
		"the user's directory is the root": {
			sources: policy.Sources{User: at("home/whole")[0], Settings: settings("home/whole")},
			kept:    at("home/whole", "root/policy.yaml", "root/policy.json", "root/config.yaml", "root/trust.json"), not: at("root"),
			changed: at("root/config.yaml"), free: at("root/x", "root/dots/policy.yaml"),
		},
		"the project's links": {
			sources: policy.Sources{Project: at("root/.agentkit")[0]},
			kept:    at("root/.agentkit/policy.toml", "root/conf/p.toml"), not: at("root/.agentkit"),
			changed: at("root/conf/p.toml"), free: at("root/conf/q.toml"),
		},
		"a directory that is not there": {
			sources: policy.Sources{User: at("none")[0], Settings: settings("none")},
			kept:    at("none"), free: at("root/x"),
		},
	} {
		s := c.sources
		s.Root, s.Level = at("root")[0], 3
		s.Keep()
		for _, path := range c.kept {
			if !slices.Contains(s.Kept, path) {
				t.Errorf("%s: %s is missing in %v", name, path, s.Kept)
			}
		}
		for _, path := range c.not {
			if slices.Contains(s.Kept, path) {
				t.Errorf("%s: %s is in %v", name, path, s.Kept)
			}
		}
		p, err := policy.Load(&policy.Sources{Root: s.Root, Level: 3, Kept: s.Kept})
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range c.changed {
			if p.MayWrite(path, policy.Regular) || p.MayWrite(path, policy.Missing) || !p.Placed(path) || !p.Keeps(filepath.Dir(path)) {
				t.Errorf("%s: %s can be changed", name, path)
			}
		}
		for _, path := range c.free {
			if !p.MayWrite(path, policy.Missing) {
				t.Errorf("%s: %s cannot be made", name, path)
			}
		}
		for _, path := range c.kept {
			if !slices.Contains(p.Anchored(policy.Write), path) {
				t.Errorf("%s: the wall does not hear of %s", name, path)
			}
		}
	}
}
