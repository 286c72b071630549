package sandbox

import (
	"fmt"
	"os"
	"syscall"
)

// seatbelt is macOS's own program to confine another.
const seatbelt = "/usr/bin/sandbox-exec"

// A Process is a command that was started in a sandbox.
type Process struct {
	Pid int
	Enforced
}

// Start starts the program path as syscall.StartProcess does, but at L1 where
// c allows it: through sandbox-exec. There is no gatekeeper, so the Decider is
// not asked. Where c.Minimum cannot be reached the error is ErrLevel.
func (c *Config) Start(path string, argv []string, attr *syscall.ProcAttr, _ Decider) (*Process, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	log, err := openJournal(c.Report)
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
		argv = append([]string{seatbelt, "-p", c.Seatbelt(), path}, argv[min(1, len(argv)):]...)
		path = seatbelt
	}
	log.write(line{Enforced: &p.Enforced})
	p.Pid, _, err = syscall.StartProcess(path, argv, attr)
	return p, err
}

func probe() Enforced {
	const gate = "L2: macOS lets no program watch another's program starts"
	if _, err := os.Stat(seatbelt); err != nil {
		return Enforced{Missing: []string{gate, "L1: " + err.Error()}}
	}
	return Enforced{Level: L1, Mechanisms: []string{"sandbox-exec"}, Missing: []string{gate}}
}
