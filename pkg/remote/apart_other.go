//go:build !unix

package remote

import "os/exec"

func apart(*exec.Cmd, bool) {}

func hasTerminal() bool { return false }

func away(*exec.Cmd) {}

func end(c *exec.Cmd) { _ = c.Process.Kill() }
