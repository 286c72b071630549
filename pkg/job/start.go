package job

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/agentkit-go/agentkit/pkg/killtree"
	"github.com/agentkit-go/agentkit/pkg/session"
)

// SupervisorArg is the first argument of a program that is started as a job's
// supervisor.
const SupervisorArg = "__job"

// A Confiner is what a supervisor needs for confined commands.
type Confiner interface {
	killtree.Confiner
	// Settle does what is left to do after the end of a command; report is its
	// Spec.Report.
	Settle(report string) error
}

// Stage is the first thing that main does: where args, the arguments without
// the program's name, ask for a supervisor or for the stage of killtree, it
// becomes that, returns its exit status when its work is done, and handled is
// true. c starts confined commands; nil refuses them.
func Stage(args []string, c Confiner) (code int, handled bool) {
	if len(args) > 0 && args[0] == SupervisorArg {
		return supervise(c), true
	}
	return killtree.Stage(args, c)
}

// order is what a supervisor is told. It goes through a pipe and never touches
// the disk: the environment may hold secrets.
type order struct {
	ID      string
	Spec    Spec
	Path    string // the program of Spec.Argv, found
	Tied    bool   // the job ends when the starter is gone, until it says opDetach
	Session sessionOptions
	Limits  Limits
}

// sessionOptions is session.Options without the clock.
type sessionOptions struct {
	State, Root, ID string
	Limits          session.Limits
	NoSync          bool
}

// Start starts a job, which from then on needs nobody. It fails with a
// LimitError, or as os/exec does where the command cannot be started.
func (r *Registry) Start(ctx context.Context, spec Spec) (*Job, error) {
	j, l, err := r.start(ctx, spec, false)
	if err != nil {
		return nil, err
	}
	return j, l.conn.Close()
}

// start starts a supervisor and waits until the command runs. The line is the
// one that a tied job depends on.
func (r *Registry) start(ctx context.Context, spec Spec, tied bool) (*Job, *line, error) {
	if len(spec.Argv) == 0 {
		return nil, nil, errNoProgram
	}
	if r.Self == "" {
		return nil, nil, ErrNoSelf
	}
	//nolint:noctx // only for its search of the program; it is never started
	found := exec.Command(spec.Argv[0], spec.Argv[1:]...)
	if found.Err != nil {
		return nil, nil, found.Err
	}
	// One at a time, or many would pass the limit together.
	unlock, err := r.Session.Lock(ctx, "jobs")
	if err != nil {
		return nil, nil, fmt.Errorf("starting a job: %w", err)
	}
	defer unlock()
	if err := r.room(); err != nil {
		return nil, nil, err
	}
	if spec.Tree.Self == "" {
		spec.Tree.Self, spec.Tree.Env = r.Self, r.Env
	}
	o := order{
		ID: session.NewID("j"), Spec: spec, Path: found.Path, Tied: tied, Limits: r.Limits.filled(),
		Session: sessionOptions{State: r.Options.State, Root: r.Options.Root, ID: r.Options.ID, Limits: r.Options.Limits, NoSync: r.Options.NoSync},
	}
	l, err := r.spawn(ctx, o)
	if err != nil {
		_ = r.Session.RemoveAll("jobs/" + o.ID)
		return nil, nil, err
	}
	if spec.Started != nil {
		spec.Started()
	}
	return &Job{reg: r, id: o.ID}, l, nil
}

// Collect waits, for two seconds at most, until the supervisor that was started
// last has ended and is collected. A caller whose job has ended and that ends itself
// before that leaves it to the machine's first process, which in a container may not
// do it.
func (r *Registry) Collect() {
	gone := r.last.Load()
	if gone == nil {
		return
	}
	select {
	case <-*gone:
	case <-time.After(2 * time.Second):
	}
}

// pipes are a connection made of two pipes.
type pipes struct {
	in  *os.File
	out *os.File
}

// Read implements io.Reader.
func (p pipes) Read(b []byte) (int, error) { return p.in.Read(b) }

// Write implements io.Writer.
func (p pipes) Write(b []byte) (int, error) { return p.out.Write(b) }

// Close implements io.Closer.
func (p pipes) Close() error { return errors.Join(p.in.Close(), p.out.Close()) }

// spawn starts the supervisor's process and gives it its order. It is killed when
// ctx ends before it has said that the command runs.
func (r *Registry) spawn(ctx context.Context, o order) (*line, error) {
	theirIn, ourOut, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("starting a supervisor: %w", err)
	}
	ourIn, theirOut, err := os.Pipe()
	if err != nil {
		_, _ = theirIn.Close(), ourOut.Close()
		return nil, fmt.Errorf("starting a supervisor: %w", err)
	}
	env := r.Env
	if env == nil {
		env = []string{}
	}
	//nolint:noctx // it outlives us
	c := exec.Command(r.Self, SupervisorArg)
	c.Env, c.Dir = append(slices.Clip(env), "GOMAXPROCS=1"), r.Session.Dir()
	c.Stdin, c.Stdout = theirIn, theirOut
	detach(c)
	err = c.Start()
	_, _ = theirIn.Close(), theirOut.Close()
	l := newLine(pipes{in: ourIn, out: ourOut})
	if err != nil {
		_ = l.conn.Close()
		return nil, fmt.Errorf("starting a supervisor: %w", err)
	}
	gone := make(chan struct{})
	r.last.Store(&gone)
	go func() {
		defer close(gone)
		_ = c.Wait() // so that it is no zombie while we live
	}()
	stop := context.AfterFunc(ctx, func() { _, _ = c.Process.Kill(), l.conn.Close() })
	var ready reply
	if err = l.send(o); err == nil {
		err = l.receive(&ready)
	}
	switch stopped := !stop(); {
	case stopped:
		err = context.Cause(ctx)
	case err != nil:
		err = fmt.Errorf("starting a supervisor: it ended at once: %w", err)
	default:
		err = ready.err()
	}
	if err != nil {
		_ = l.conn.Close()
		return nil, err
	}
	return l, nil
}
