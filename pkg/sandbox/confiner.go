package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"syscall"

	"github.com/agentkit-go/agentkit/pkg/killtree"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

var _ killtree.Confiner = (*Confiner)(nil)

// lazily returns a Decider that is built when it is first needed.
func lazily(policy json.RawMessage, build func(json.RawMessage) (Decider, error)) Decider {
	get := sync.OnceValues(func() (Decider, error) { return build(policy) })
	return func(ctx context.Context, e *Exec) Answer {
		decide, err := get()
		if err != nil {
			return Unreadable(err)
		}
		return decide(ctx, e)
	}
}

// Unreadable is the answer of a Decider that could not be made.
func Unreadable(err error) Answer { return Answer{Why: "the policy cannot be read: " + err.Error()} }

// Confine returns c as the first argument of the methods of a [Confiner].
func (c *Config) Confine() ([]byte, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	return safefile.EncodeJSON(c)
}

// A Confiner starts commands confined as the bytes of [Config.Confine] say.
// It is what killtree needs for them: the process that uses it is their
// gatekeeper and has to live as long as they.
type Confiner struct {
	build  func(policy json.RawMessage) (Decider, error)
	find   Finder
	config *Config
	log    *reportLog // of the command, where this process is its gatekeeper
	quiet  quiet

	// Stands is called once the sandbox stands, where this process is the gatekeeper; nil
	// for nothing.
	Stands func()
}

// For returns f for one command that c confines. Where this process is its
// gatekeeper, the bytes need not be read again, and c.Report is not written:
// see [Confiner.Report].
func (f *Confiner) For(c *Config) *Confiner {
	own := *c
	return &Confiner{build: f.build, find: f.find, config: &own}
}

// Report returns what happened in the sandbox so far; nil where another process is
// the gatekeeper, and writes the file Config.Report.
func (f *Confiner) Report() *Report {
	if f == nil || f.log == nil {
		return nil
	}
	return f.log.report()
}

// NewConfiner returns a Confiner. build makes the Decider from Config.Policy when
// the first program is started that the command itself is not; an error of it
// denies them all. find is for Settle.
func NewConfiner(build func(policy json.RawMessage) (Decider, error), find Finder) *Confiner {
	return &Confiner{build: build, find: find}
}

// Start starts a command as syscall.StartProcess does.
func (f *Confiner) Start(confine []byte, path string, argv []string, attr *syscall.ProcAttr) (pid int, err error) {
	c, err := readConfine(confine)
	if err != nil {
		return 0, err
	}
	p, err := c.Start(path, argv, attr, c.decider(f.build))
	if err != nil {
		return 0, err
	}
	return p.Pid, nil
}

func readConfine(confine []byte) (*Config, error) {
	c := &Config{}
	if err := safefile.DecodeJSON(confine, c); err != nil {
		return nil, fmt.Errorf("reading the sandbox's configuration: %w", err)
	}
	return c, nil
}

// decider returns what decides for c; nil when nothing is to be.
func (c *Config) decider(build func(json.RawMessage) (Decider, error)) Decider {
	if !c.Gate || build == nil {
		return nil
	}
	return lazily(c.Policy, build)
}
