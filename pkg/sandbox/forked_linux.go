//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/agentkit-go/agentkit/pkg/fork"
	"github.com/agentkit-go/agentkit/pkg/killtree"
	"golang.org/x/sys/unix"
)

// A forked is a command that a process forked by killtree will make: namespaces
// and users are that process's, and it is not our child.
type forked struct{ *start }

// Prepare readies what confines a command that killtree forks, at L3 and
// nothing less.
func (f *Confiner) Prepare(confine []byte, path string, argv []string, attr *syscall.ProcAttr) (killtree.Forked, error) {
	c, err := readConfine(confine)
	if err != nil {
		return nil, err
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	if c.Level != 0 && c.Level != L3 {
		return nil, fmt.Errorf("%w: %s needs no namespaces", killtree.ErrMethod, c.Level)
	}
	log, err := openJournal(c.Report)
	if err != nil {
		return nil, err
	}
	s := &start{Config: c, path: path, argv: argv, attr: attr, decide: c.decider(f.build), log: log, level: L3, below: true}
	if err := s.prepare(); err != nil {
		log.close()
		return nil, notSo(err)
	}
	makeRoom()
	return forked{s}, nil
}

// notSo marks what another way to start the command may do without.
func notSo(err error) error {
	if u, ok := errors.AsType[*unreachedError](err); ok {
		return fmt.Errorf("%w: %s", killtree.ErrMethod, u.why)
	}
	return err
}

// Plan implements killtree.Forked.
func (f forked) Plan() (command *fork.Plan, flags uintptr, tell int) {
	return &f.plan.Plan, f.flags, f.tell
}

// Follow implements killtree.Forked.
func (f forked) Follow(first *fork.Plan) error {
	f.first = first
	_ = unix.Close(f.tell)
	if err := f.follow(); err != nil {
		f.abandon()
		f.log.close()
		return notSo(err)
	}
	e := f.enforced()
	f.log.write(line{Enforced: &e})
	return f.release()
}

// Abandon implements killtree.Forked.
func (f forked) Abandon() {
	_ = unix.Close(f.tell)
	f.abandon()
	f.log.close()
}
