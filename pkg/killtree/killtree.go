// Package killtree starts a command so that it and all it starts can be ended
// together.
//
// How far that reaches is the method. The ones above group run the command
// under a small init stage, which is the parent of whatever loses its own,
// collects the dead, and ends everything when the process that started it is
// gone, even by SIGKILL. It is a fork of the caller, see package fork, which
// outside of a namespace becomes the caller's own program when the caller is gone
// and something is left to end; where a fork does not do it is that program, started with StageArg.
// Which methods work depends on the machine and the user, so the best one is
// found by trying, and reported:
//
//   - pidns: the stage is the init of a PID namespace. The kernel ends all when
//     the stage ends; nothing can leave, however it forks. It sees its own
//     /proc; a mount that the command makes elsewhere is seen outside if the
//     place shares its mounts, which is the usual default.
//   - pidns+userns: the same for an ordinary user, who needs a user namespace
//     for it. Programs that change their user, such as sudo, do not work in it,
//     and other users' files look like nobody's; Options.NoUserNamespace does
//     without it.
//   - cgroup: a cgroup v2 of its own below ours, ended by cgroup.kill.
//   - subreaper: everything is stopped until a look at the process table shows
//     nobody that runs, then killed. What belongs to another user stays, and so
//     does what has left the session when the command kills the stage itself.
//   - group: no stage. The process group and session, and those that descend
//     from the command; what left these is not found.
//   - job: Windows' Job Object.
package killtree

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"sync/atomic"
	"syscall"
	"time"
)

// The methods, see the package's documentation.
const (
	PIDNamespace  = "pidns"
	UserNamespace = "pidns+userns"
	Cgroup        = "cgroup"
	Subreaper     = "subreaper"
	Group         = "group"
	JobObject     = "job"
)

// StageArg is the first argument of a program that is started as the stage.
const StageArg = "__init"

// ErrMethod is returned when the method that was asked for does not work here.
var ErrMethod = errors.New("the method to end a tree is not available")

// errNamespaces says that the kernel does not make the namespaces of a method: for
// a stage that is started it would not either, and trying costs milliseconds.
var errNamespaces = errors.New("there are no such namespaces here")

// Options says how to start a tree. The zero value starts it without a stage.
type Options struct {
	// Self is the absolute path of the running program, whose main hands its
	// arguments to [Stage] before anything else. Without it there is no stage.
	Self string
	// Env is the environment of the stage itself. The command's own is in
	// exec.Cmd, and the stage hands it on without using it.
	Env []string
	// Confine says to the Confiner how to confine the command; empty starts it
	// unconfined. Only methods with a stage can do it, the others fail.
	Confine []byte
	// Confiner is what main gives to [Stage], for where this process does
	// without a stage; nil leaves confined commands to the stage.
	Confiner Confiner `json:"-"`
	// Method forces a method; "" is the best one that works.
	Method string
	// Known is the best method that an earlier [Probe] of this program found on this
	// machine: better ones are not tried again. "" when there was none.
	Known string
	// Without says why there are no user namespaces here, where that is known:
	// pidns+userns is left out, and the Confiner told. "" where they may be had.
	Without string
	// NoUserNamespace leaves pidns+userns out of the choice.
	NoUserNamespace bool
	// NoFork has the stage always be the program started again.
	NoFork bool
	// MaxProcesses bounds the processes and threads of the tree where the method
	// can, root's too: cgroup with the pids controller, and a PID namespace since
	// Linux 6.14. Elsewhere a tree of root's that has more processes is ended, see
	// Tree.Crowded. 0 is for no bound.
	MaxProcesses int
	// MaxMemory bounds the memory that the processes of the tree hold together, in bytes: by a
	// cgroup with the memory controller, and on Linux a tree that holds more is ended, see
	// Tree.Exhausted. So is one that holds a quarter of the machine's memory when less than
	// a twentieth is left. 0 is for neither.
	MaxMemory int64
}

// A State says how a command ended.
type State struct {
	ExitCode int            // its own status; -1 when a signal ended it
	Signal   syscall.Signal // the signal that ended it; 0 for none
	User     time.Duration  // processor time of it and the children it waited for
	System   time.Duration
	MaxRSS   int64 // peak memory in bytes of the largest process among these; 0 where unknown
}

// A Tree is a command that runs, and what it started.
type Tree struct {
	method  string
	backend backend
	exited  chan struct{}
	stopped chan syscall.Signal
	crowded atomic.Bool
	starved atomic.Bool
	state   *State // set before exited is closed
	err     error
}

// A backend is how a method does its work. wait returns when the command has
// ended; the rest may be called at any time after start.
type backend interface {
	wait(t *Tree) (*State, error)
	alive(ended bool) bool           // anything of the tree runs; ended: the command itself does not
	signal(s syscall.Signal, a bool) // to all, or to the command's process group
	kill()                           // everything; may be called again
	pid() int                        // the process everything descends from
	collected() <-chan struct{}      // closed when that one is no more; nil where nobody needs to wait
}

// cached is the rank of the best method that has worked in this process. It
// is a fact about the machine: no call can see another one through it. What worked only
// because a better one failed for a reason that passes does not count.
var cached atomic.Int32

// shortages counts how often something worked only because of such a reason: where it is
// always so, as with a limit of 0, it is not tried again for ever.
var shortages atomic.Int32

const maxShortages = 100

// passes reports whether a method may work the next time although it failed with err: the
// machine was short of something.
func passes(err error) bool {
	return slices.ContainsFunc([]syscall.Errno{syscall.EAGAIN, syscall.ENOMEM, syscall.ENOSPC, syscall.EMFILE, syscall.ENFILE}, func(e syscall.Errno) bool { return errors.Is(err, e) })
}

// Method names the best method that is known to work in this process: the
// one that [Probe] or a Start without Options.Method found, and before that
// what works without a stage.
func Method() string {
	if n := int(cached.Load()); n > 0 {
		return candidates()[n-1]
	}
	return unstaged
}

// Probe tries which method is the best one that works here. Only the first
// call costs something: the start of one stage, about two milliseconds.
func Probe(o Options) string {
	if o.Self == "" {
		return unstaged
	}
	if cached.Load() == 0 {
		for i, m := range candidates() {
			if probe(o, m) == nil {
				cached.Store(int32(i + 1))
				break
			}
		}
	}
	return Method()
}

// Start starts c as the head of a tree of its own, in a session of its own,
// by the best method that o allows. c must not have been started, nor be
// waited for by the caller, and its pipes must be files: StdinPipe and its like
// do not work. Of its SysProcAttr the controlling terminal and the credential
// count for the command, the rest for the stage where there is one; a stage
// whose clone flags already make namespaces uses them and leaves the
// capabilities alone.
//
// An error about the command is what exec.Cmd.Start would return; ErrMethod
// says that o.Method does not work.
func (o Options) Start(c *exec.Cmd) (*Tree, error) {
	if c.Err != nil {
		return nil, c.Err
	}
	if o.Method == unstaged || o.Self == "" && o.Method == "" {
		return begin(unstaged, c, o)
	}
	if o.Self == "" {
		return nil, errors.Join(ErrMethod, errors.New(o.Method+" needs the path of the program"))
	}
	if o.Method != "" {
		return begin(o.Method, c, o)
	}
	list, short := candidates(), false
	for i := max(int(cached.Load())-1, slices.Index(list, o.Known), 0); i < len(list); i++ {
		if list[i] == UserNamespace && (o.NoUserNamespace || o.Without != "") {
			continue
		}
		t, err := begin(list[i], c, o)
		if errors.Is(err, ErrMethod) {
			short = short || passes(err)
			if list[i] == UserNamespace && errors.Is(err, errNamespaces) {
				o.Without = err.Error()
				if len(o.Confine) > 0 {
					i = -1 // what was tried before may have been for want of them
				}
			}
			continue
		}
		if err == nil && !o.NoUserNamespace && (!short || shortages.Add(1) > maxShortages) {
			cached.Store(int32(i + 1))
		}
		return t, err
	}
	return begin(unstaged, c, o)
}

func begin(m string, c *exec.Cmd, o Options) (*Tree, error) {
	b, err := launch(m, c, o)
	if err != nil {
		return nil, err
	}
	t := &Tree{method: m, backend: b, exited: make(chan struct{}), stopped: make(chan syscall.Signal, 1)}
	go func() {
		t.state, t.err = b.wait(t)
		close(t.exited)
	}()
	if o.MaxProcesses > 0 && !uncounted(m) {
		o.MaxProcesses = 0
	}
	if o.MaxProcesses > 0 || o.MaxMemory > 0 {
		go t.watch(o.MaxProcesses, o.MaxMemory)
	}
	return t, nil
}

// watch ends a tree that nothing else bounds when it has more than so many processes, or
// holds more memory; 0 is for what is bounded. As long as the whole machine has no more,
// the tree need not be looked at.
func (t *Tree) watch(processes int, memory int64) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		switch {
		case t.State() != nil && !t.Alive():
			return
		case processes > 0 && Tasks() > processes && len(t.Members()) > processes:
			t.crowded.Store(true)
		case memory > 0 && t.holdsMore(memory):
			t.starved.Store(true)
		default:
			continue
		}
		t.End(0)
		return
	}
}

// holdsMore reports whether the tree holds more memory than most, or much where the
// machine has hardly any left.
func (t *Tree) holdsMore(most int64) bool {
	total, available := machineMemory()
	if available < total/20 {
		most = min(most, total/4)
	}
	return total-available > most && t.memory(most) > most
}

// Crowded reports whether the tree was ended because it had more processes than
// Options.MaxProcesses.
func (t *Tree) Crowded() bool { return t.crowded.Load() }

// Exhausted reports whether the tree was ended because it held more memory than it may, see
// Options.MaxMemory.
func (t *Tree) Exhausted() bool { return t.starved.Load() }

// Method returns how the tree is held together.
func (t *Tree) Method() string { return t.method }

// Exited is closed when the command itself has ended, whatever it left.
func (t *Tree) Exited() <-chan struct{} { return t.exited }

// Stopped receives the signal when the command itself is stopped, once for
// each time unless nobody looks. Only methods with a stage see it.
func (t *Tree) Stopped() <-chan syscall.Signal { return t.stopped }

// State returns how the command ended; nil while it runs.
func (t *Tree) State() *State {
	select {
	case <-t.exited:
		return t.state
	default:
		return nil
	}
}

// Err returns why waiting for the command failed; an exit status other than 0
// is no failure. It is nil while the command runs.
func (t *Tree) Err() error {
	select {
	case <-t.exited:
		return t.err
	default:
		return nil
	}
}

// Pid returns the process that everything in the tree descends from: the
// stage, or the command where there is none.
func (t *Tree) Pid() int { return t.backend.pid() }

// InitName is what the process above a command calls itself on Linux.
const InitName = "agentkit-init"

// Members lists the processes of the tree that can be found, without the
// stage and the dead, each before its children. It is a look, not a lock.
func (t *Tree) Members() []Process {
	all := descendants(t.Pid())
	if t.method == unstaged {
		return all
	}
	return slices.DeleteFunc(all, func(p Process) bool { return p.Pid == t.Pid() })
}

// Signal sends s to the command's process group, which is what a terminal
// does. A program that is stopped takes it only when it is continued.
func (t *Tree) Signal(s syscall.Signal) { t.backend.signal(s, false) }

// SignalAll sends s to everything in the tree.
func (t *Tree) SignalAll(s syscall.Signal) { t.backend.signal(s, true) }

// Alive reports whether anything of the tree that can be found still runs.
func (t *Tree) Alive() bool { return t.backend.alive(t.State() != nil) }

// End asks everything in the tree to end, and kills what has not done so
// after grace. It returns when the command has ended and nothing that can be
// found is left, or, should the kernel hold a process for longer, after two
// more seconds. It reports whether anything was there to end.
func (t *Tree) End(grace time.Duration) bool {
	if !t.Alive() {
		return false
	}
	if grace > 0 {
		// A stopped process takes no SIGTERM before it is continued.
		t.SignalAll(syscall.SIGTERM)
		t.SignalAll(sigcont)
		deadline := time.Now().Add(grace)
		for pause := 20 * time.Millisecond; ; pause *= 2 {
			if t.Gone(min(pause, time.Until(deadline))) {
				return true
			}
			if !time.Now().Before(deadline) {
				break
			}
			t.remind()
		}
	}
	t.backend.kill()
	if !t.Gone(2 * time.Second) {
		t.backend.kill()
	}
	return true
}

// Gone waits until nothing of the tree is left, at most for limit, and
// reports whether that is so.
func (t *Tree) Gone(limit time.Duration) bool {
	deadline := time.Now().Add(limit)
	for pause := 100 * time.Microsecond; ; pause = min(2*pause, 10*time.Millisecond) {
		if t.State() != nil && !t.Alive() {
			return true
		}
		left := time.Until(deadline)
		if left <= 0 {
			return false
		}
		time.Sleep(min(pause, left))
	}
}

// Collect waits, for two seconds at most, until the kernel has cleared away the
// process that held the tree together; that takes a moment after all else is
// gone. A caller that ends before, or is killed, leaves it to be collected by the
// machine's first process, and in a container that may never happen.
func (t *Tree) Collect() {
	if t.Alive() {
		return
	}
	gone := t.backend.collected()
	if gone == nil {
		return
	}
	select {
	case <-gone:
	case <-time.After(2 * time.Second):
	}
}

// stateOf is how a process that os/exec waited for has ended.
func stateOf(p *os.ProcessState) *State {
	if p == nil {
		return &State{ExitCode: -1}
	}
	s := &State{ExitCode: p.ExitCode(), User: p.UserTime(), System: p.SystemTime()}
	fill(s, p)
	return s
}

// waitError is the failure in the error of exec.Cmd.Wait, if any.
func waitError(err error) error {
	if _, ok := errors.AsType[*exec.ExitError](err); ok || errors.Is(err, exec.ErrWaitDelay) {
		return nil // it ended; input that it left unread is its own affair
	}
	return err
}
