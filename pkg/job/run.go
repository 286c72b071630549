// Package job runs commands: it starts them, takes in everything they print,
// and ends them with all they started.
//
// A run ends when the command has ended, not when the last holder of its
// output has: what a command left in the background does not hold the caller.
// Everything printed until then is taken in.
//
// Run is for a command that ends within the call. A Registry is for those that
// may outlive it: each job has a supervisor, a process of its own, which keeps
// its output in a log, its status in a file, and listens on a socket. There is
// no daemon. Any later process with the same session finds the job, reads,
// feeds, signals, waits and ends it.
package job

import (
	"cmp"
	"context"
	"errors"
	"os/exec"
	"syscall"
	"time"

	"github.com/agentkit-go/agentkit/pkg/killtree"
)

const (
	// drain is how long output may stay open after the command has ended,
	// before what it left running is ended, and how long that is then given.
	drain = 40 * time.Millisecond

	// moment is what those that end together with the command may take.
	moment = 20 * time.Millisecond

	// drainLimit is how long what was printed may take to be taken in once all
	// has ended, should the disk be that slow.
	drainLimit = 30 * time.Second

	// DefaultGrace is the time between asking a tree to end and killing it.
	DefaultGrace = 2 * time.Second
)

// A Command is what to run.
type Command struct {
	Argv    []string      // program and arguments; the program is a path or found on PATH
	Dir     string        // absolute
	Env     []string      // NAME=value, all of it
	Stdin   string        // what it reads; the end of input follows at once
	Timeout time.Duration // 0 for none
	Grace   time.Duration // 0 for DefaultGrace

	Split bool // standard output and error are two pipes, see Output

	TTY        bool   // it gets a terminal; all it prints is standard output
	Rows, Cols uint16 // of the terminal; 0 for 24 and 80

	// Held returns for how long a part of the command has waited for a person
	// until now, which does not count towards Timeout; nil for never.
	Held func() time.Duration `json:"-"`

	// Later is given what still has to be done before this process ends, but need
	// not be waited for now; nil has it done at once.
	Later func(func()) `json:"-"`

	Tree killtree.Options // how it is held together; Self names the program that is its stage
}

// size is how large its terminal is at first.
func (c *Command) size() (rows, cols uint16) { return cmp.Or(c.Rows, 24), cmp.Or(c.Cols, 80) }

// A Status says how a command ended.
type Status struct {
	ExitCode  int           // its own status, or 128+n when signal n ended or stopped it
	Signal    string        // name of the signal that ended it, such as SIGKILL; "" for none
	TimedOut  bool          // the time limit ran out and the tree was ended
	Aborted   bool          // the context was cancelled and the tree was ended
	Stopped   bool          // Signal stopped it, as SIGSTOP does, and the tree was ended
	Leftovers bool          // it left something running, which was ended
	Crowded   bool          // it had more processes than Tree.MaxProcesses, and was ended
	Exhausted bool          // it held more memory than Tree.MaxMemory, and was ended
	Held      bool          // something that could not be ended still held its output, which was given up
	Wall      time.Duration // from start to the end of the command
	User      time.Duration // processor time of it and the children it waited for
	System    time.Duration
	MaxRSS    int64  // peak memory in bytes of the largest process among these; 0 where unknown
	Method    string // how its tree was held together, see killtree
}

// Run runs c to its end. The error says why it could not be started or waited
// for; however it ends, that is in the Status.
func Run(ctx context.Context, c Command, out Output) (Status, error) {
	if len(c.Argv) == 0 {
		return Status{}, errNoProgram
	}
	//nolint:noctx // the tree is ended as a whole below, which a context would undercut
	cmd := exec.Command(c.Argv[0], c.Argv[1:]...)
	r, err := launch(cmd, c, out, false)
	if err != nil {
		return Status{}, err
	}
	var s Status
	s.watch(ctx, r.tree, c)
	s.Wall = time.Since(r.begin)
	s.settle(r)
	if c.Later != nil {
		c.Later(r.tree.Collect)
	} else {
		r.tree.Collect()
	}
	if err := r.tree.Err(); err != nil {
		return s, err
	}
	s.account(r.tree)
	return s, nil
}

var errNoProgram = errors.New("starting a command: no program is named")

// watch returns when the command has ended, by itself or by us.
func (s *Status) watch(ctx context.Context, tree *killtree.Tree, c Command) {
	timeout := make(chan struct{})
	if c.Timeout > 0 {
		over := make(chan struct{})
		defer close(over)
		go c.expire(timeout, over)
	}
	var stopped <-chan syscall.Signal
	if !c.TTY {
		stopped = tree.Stopped() // nobody is there to continue it
	}
	select {
	case <-tree.Exited():
		return
	case <-timeout:
		s.TimedOut = true
	case <-ctx.Done():
		s.Aborted = true
		s.TimedOut = errors.Is(context.Cause(ctx), context.DeadlineExceeded)
	case n := <-stopped:
		s.stop(n)
		tree.End(0)
		return
	}
	end(tree, c.grace(), hurry(ctx))
}

// end ends the tree as killtree.Tree.End does, and kills it at once when now is
// closed.
func end(tree *killtree.Tree, grace time.Duration, now <-chan struct{}) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		tree.End(grace)
	}()
	select {
	case <-done:
		return
	case <-now:
		tree.End(0)
	}
	<-done
}

// hurry returns what is closed when the caller that cancelled ctx does not want to
// wait any longer; nil where it cannot tell.
func hurry(ctx context.Context) <-chan struct{} {
	if h, ok := errors.AsType[interface {
		error
		Hurry() <-chan struct{}
	}](context.Cause(ctx)); ok {
		return h.Hurry()
	}
	return nil
}

// expire closes timeout when the time limit is reached, unless it is over.
func (c Command) expire(timeout chan<- struct{}, over <-chan struct{}) {
	var counted time.Duration
	for left := c.Timeout; left > 0; {
		timer := time.NewTimer(left)
		select {
		case <-timer.C:
		case <-over:
			timer.Stop()
			return
		}
		left = 0
		if c.Held != nil {
			held := c.Held()
			left, counted = held-counted, held
		}
	}
	close(timeout)
}

func (s *Status) stop(n syscall.Signal) {
	s.Stopped, s.Signal, s.ExitCode = true, signalName(n), 128+int(n)
}

func (c Command) grace() time.Duration {
	if c.Grace <= 0 {
		return DefaultGrace
	}
	return c.Grace
}

// left reports whether something of the tree goes on, after a moment for what ends
// with the command; waiting for the output in vain was one.
func (r *running) left(drained bool) bool {
	return r.tree.Alive() && (!drained || !r.tree.Gone(moment))
}

// settle takes in the rest of the output and ends what is left running.
func (s *Status) settle(r *running) {
	drained := r.wait(drain)
	if r.left(drained) {
		s.Leftovers = r.tree.End(drain)
	}
	if !drained && !r.rest() {
		s.Held = true
	}
	r.abandon()
}

func (s *Status) account(tree *killtree.Tree) {
	s.Method, s.Crowded, s.Exhausted = tree.Method(), tree.Crowded(), tree.Exhausted()
	p := tree.State()
	if p == nil {
		return
	}
	s.User, s.System, s.MaxRSS = p.User, p.System, p.MaxRSS
	if s.Stopped {
		return
	}
	s.ExitCode, s.Signal = p.ExitCode, ""
	if p.Signal > 0 {
		s.ExitCode, s.Signal = 128+int(p.Signal), signalName(p.Signal)
	}
}
