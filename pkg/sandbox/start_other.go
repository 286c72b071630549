//go:build !darwin && (!linux || (!amd64 && !arm64))

package sandbox

import (
	"fmt"
	"runtime"
	"syscall"
)

// A Process is a command that was started in a sandbox.
type Process struct {
	Pid int
	Enforced
}

// Start starts the program path as syscall.StartProcess does, at L0: there is
// no sandbox on this system. Where c.Minimum is more the error is ErrLevel.
func (c *Config) Start(path string, argv []string, attr *syscall.ProcAttr, _ Decider) (*Process, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	log, err := openJournal(c.Report)
	if err != nil {
		return nil, err
	}
	p := &Process{Enforced: probe()}
	if c.Minimum > L0 {
		err := fmt.Errorf("%w: %s is asked for; %v", ErrLevel, c.Minimum, p.Missing)
		log.write(line{Failed: err.Error()})
		return nil, err
	}
	p.Network = Open
	log.write(line{Enforced: &p.Enforced})
	p.Pid, _, err = syscall.StartProcess(path, argv, attr)
	return p, err
}

func probe() Enforced {
	return Enforced{Missing: []string{"L1: agentkit has no sandbox for " + runtime.GOOS + "/" + runtime.GOARCH}}
}
