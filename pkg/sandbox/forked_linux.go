//go:build linux && (amd64 || arm64)

package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"syscall"

	"github.com/agentkit-go/agentkit/pkg/fork"
	"github.com/agentkit-go/agentkit/pkg/killtree"
	"golang.org/x/sys/unix"
)

// A forked is a command that a process forked by killtree will make: namespaces
// and users are that process's, and it is not our child.
type forked struct{ *start }

// Prepare readies what confines a command that killtree forks, at the level that
// is asked for and nothing less, but L2 where there are no user namespaces.
func (f *Confiner) Prepare(confine []byte, path string, argv []string, attr *syscall.ProcAttr, at killtree.Place) (killtree.Forked, error) {
	c := f.config
	if c == nil {
		var err error
		if c, err = readConfine(confine); err == nil {
			err = c.check()
		}
		if err != nil {
			return nil, err
		}
	}
	s := &start{Config: c, path: path, argv: argv, attr: attr, decide: c.decider(f.build), level: cmp.Or(c.Level, L3), below: true, apart: at.Namespaces}
	if s.level == L3 && at.Without != "" {
		s.level = L2
		s.missing = append(s.missing, fmt.Sprintf("%s: %s", L3, at.Without))
	}
	if s.level < max(c.Minimum, L2) {
		return nil, fmt.Errorf("%w: %s is asked for", killtree.ErrMethod, max(c.Minimum, s.level))
	}
	var err error
	if f.config != nil {
		s.log, s.confiner = &reportLog{memory: true}, f
	} else if s.log, err = openReportLog(c.Report); err != nil {
		return nil, err
	}
	if err := s.prepare(); err != nil {
		s.log.close()
		return nil, notSo(err)
	}
	if runtime.GOMAXPROCS(0) == 1 {
		makeRoom()
	}
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

// Ready implements killtree.Forked.
func (f forked) Ready() error {
	if err := f.rules.ready(); err != nil {
		return fmt.Errorf("%w: %w", killtree.ErrMethod, err)
	}
	return nil
}

// Follow implements killtree.Forked.
func (f forked) Follow(first *fork.Plan) error {
	f.first = first
	_ = unix.Close(f.tell)
	if f.level < L3 {
		f.closeUp()
	}
	if err := f.follow(); err != nil {
		f.abandon()
		f.log.close()
		return notSo(err)
	}
	f.open() // first of all: the command waits at it
	if f.confiner != nil && f.confiner.Stands != nil {
		f.confiner.Stands()
	}
	e := f.enforced()
	f.log.write(line{Enforced: &e})
	err := f.release()
	if err == nil && f.confiner != nil {
		f.confiner.log = f.log
	}
	makeRoom() // now that nothing waits for us
	return err
}

// Abandon implements killtree.Forked.
func (f forked) Abandon() {
	_ = unix.Close(f.tell)
	_ = f.rules.ready()
	f.abandon()
	f.log.close()
}
