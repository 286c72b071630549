//go:build !linux || (!amd64 && !arm64)

package sandbox

import (
	"fmt"
	"syscall"
)

// A Process is a command that was started in a sandbox.
type Process struct {
	Pid int
	Enforced
}

// Start starts the program path as syscall.StartProcess does, at the level
// that this system has without a gatekeeper: L1 on macOS, L0 elsewhere. The
// Decider is not asked. Where c.Minimum cannot be reached the error is
// ErrLevel.
func (c *Config) Start(path string, argv []string, attr *syscall.ProcAttr, _ Decider) (*Process, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	log, err := openReportLog(c.Report)
	if err != nil {
		return nil, err
	}
	p := &Process{Enforced: probe()}
	if c.Minimum > p.Level {
		err := fmt.Errorf("%w: %s is asked for; %v", ErrLevel, c.Minimum, p.Missing)
		log.write(line{Failed: err.Error()})
		return nil, err
	}
	p.Network = Open
	if p.Level == L1 {
		p.Network = c.network()
		path, argv = c.wrapped(path, argv)
	}
	log.write(line{Enforced: &p.Enforced})
	p.Pid, _, err = syscall.StartProcess(path, argv, attr)
	return p, err
}
