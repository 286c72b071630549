//go:build !unix

package killtree

import "os/exec"

const method = "process"

func prepare(*exec.Cmd) {}

func alive(t *Tree) bool { return t.State() == nil }

// terminate does nothing: there is no signal that a program could heed.
func terminate(*Tree) {}

func kill(t *Tree) { _ = t.cmd.Process.Kill() }
