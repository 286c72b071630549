package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/sandbox"
)

// TestDocsUnattended runs what docs/unattended.md shows: each policy is written, and
// each call that stands below it succeeds, or ends with the status that is named.
func TestDocsUnattended(t *testing.T) {
	page, err := os.ReadFile("docs/unattended.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, args := range [][]string{{"init", "-q"}, {"remote", "add", "origin", "https://git.example.org/a"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	policy := filepath.Join(dir, "policy.yaml")
	calls, policies := 0, 0
	var text bytes.Buffer
	for line := range strings.Lines(string(page) + "\nend\n") {
		shown, block := strings.CutPrefix(line, "    ")
		if !block && strings.TrimSpace(line) != "" || strings.HasPrefix(shown, "agentkit ") {
			if text.Len() > 0 {
				if err := os.WriteFile(policy, text.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
				policies++
				text.Reset()
			}
		}
		switch {
		case !block:
		case strings.TrimSpace(shown) == "policy.yaml":
			text.WriteString("# of the page\n")
		case text.Len() > 0:
			text.WriteString(shown)
		case strings.HasPrefix(shown, "agentkit "):
			call, want, _ := strings.Cut(strings.TrimSpace(shown), "    # status ")
			if strings.Contains(call, "agentkit bash 'echo") && sandbox.Probe().Level < sandbox.L2 {
				t.Logf("SKIPPED: no sandbox here for %s", call)
				continue
			}
			calls++
			// What the page calls its own is another's when root runs this and then a user.
			call = strings.ReplaceAll(call, "/tmp/agentkit-unattended", filepath.Join(t.TempDir(), "state"))
			cmd := exec.Command("sh", "-c", strings.Replace(call, "agentkit ", "agentkit --policy policy.yaml ", 1))
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_STATE_HOME="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir())
			out, _ := cmd.CombinedOutput()
			status := 0
			if want != "" {
				status = 126
			}
			if got := cmd.ProcessState.ExitCode(); got != status {
				t.Errorf("%s\nstatus %d: %s", call, got, out)
			}
			if strings.Contains(call, "policy check") && !strings.Contains(string(out), `"decision":"allow"`) {
				t.Errorf("%s\n%s", call, out)
			}
		}
	}
	if calls < 8 || policies < 3 {
		t.Errorf("%d calls and %d policies are shown", calls, policies)
	}
	tried, err := os.ReadFile(".ci/containers")
	if err != nil {
		t.Fatal(err)
	}
	for _, option := range []string{"--cap-drop all", "--cap-add SETFCAP", "--security-opt seccomp=unconfined", "--user "} {
		if !strings.Contains(string(page), option) || !strings.Contains(string(tried), option) {
			t.Errorf("%s is not both on the page and tried by .ci/containers", option)
		}
	}
}
