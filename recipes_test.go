package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestRecipes checks every policy of docs/recipes.md by the tests that stand in it, and
// that these notice when its rules are gone.
func TestRecipes(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("docs/recipes.md")
	if err != nil {
		t.Fatal(err)
	}
	top := t.TempDir()
	dir := filepath.Join(top, "root")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	tested := func(policy string) (string, error) {
		if err := os.WriteFile(filepath.Join(dir, "policy.yaml"), []byte(policy), 0o600); err != nil {
			t.Fatal(err)
		}
		c := exec.CommandContext(t.Context(), "agentkit", "--root", dir, "--sandbox", "off", "-o", "text", "policy", "test", "policy.yaml")
		c.Dir = dir
		c.Env = append(os.Environ(), "HOME="+top, "XDG_STATE_HOME="+filepath.Join(top, "state"), "XDG_CONFIG_HOME="+filepath.Join(top, "config"))
		out, err := c.CombinedOutput()
		return string(out), err
	}
	policies := regexp.MustCompile("(?s)\n```yaml\n(.*?)```\n").FindAllStringSubmatch(string(raw), -1)
	if len(policies) < 7 {
		t.Fatalf("%d policies", len(policies))
	}
	for _, m := range policies {
		if out, err := tested(m[1]); err != nil {
			t.Errorf("%v\n%s%s", err, m[1], out)
		}
		_, tests, ok := strings.Cut(m[1], "\ntests:\n")
		if !ok {
			t.Errorf("there are no tests in\n%s", m[1])
		}
		if out, err := tested("version: 1\ntests:\n" + tests); err == nil {
			t.Errorf("the tests do without the rules of\n%s%s", m[1], out)
		}
	}
}
