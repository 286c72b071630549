//go:build !unix

package job

import (
	"errors"
	"os/exec"
)

const endOfInput = "\x1a"

// openTerminal refuses: there is no pseudo-terminal on this system.
func (r *running) openTerminal(*exec.Cmd, Command) error { return errors.ErrUnsupported }

func (r *running) resize(uint16, uint16) error { return errors.ErrUnsupported }
