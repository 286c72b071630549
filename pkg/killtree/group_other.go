//go:build unix && !linux

package killtree

import (
	"os/exec"
	"syscall"
)

// adopt does nothing: only Linux ties a child's life to its parent's.
func adopt(*syscall.SysProcAttr) {}

// bury does nothing: init collects the dead.
func bury(int) {}

func candidates() []string { return nil }

func probe(Options, string) error { return ErrMethod }

func launch(m string, c *exec.Cmd, o Options) (backend, error) {
	if m != Group || len(o.Confine) > 0 {
		return nil, ErrMethod
	}
	return startGroup(c)
}

// stage does nothing: there is none on this system.
func stage([]string, Confiner) int { return 125 }
