package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestStartup shows that no package of ours does anything before main: what
// runs there is paid by every call, whatever it is for.
func TestStartup(t *testing.T) {
	cmd := exec.Command(build(t), "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	inits := 0
	for line := range strings.Lines(stderr.String()) {
		if !strings.HasPrefix(line, "init ") {
			continue
		}
		inits++
		if strings.HasPrefix(line, "init github.com/agentkit-go/agentkit") {
			t.Errorf("a package of ours has code that runs at start-up: %s", strings.TrimSpace(line))
		}
	}
	if inits == 0 {
		t.Fatalf("the runtime traced no initialisation at all:\n%s", stderr.String())
	}
}
