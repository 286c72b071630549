//go:build unix

package main

import (
	"os/exec"
	"testing"
)

// TestPythonAgent runs the agent of examples/python with its scripted model.
func TestPythonAgent(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 on this machine")
	}
	c := exec.CommandContext(t.Context(), python, "-B", "test_agent.py", "agentkit") // the test binary itself, see TestMain
	c.Dir = "examples/python"
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}
