// Package killtree starts a command so that it and all it starts can be ended
// together.
//
// The method here is the process group: on Unix the command leads a session
// and a group of its own, and a signal to the group reaches everything that
// did not leave it by setsid. Those that did are not found. On Windows only
// the command itself is ended.
package killtree

import (
	"errors"
	"os"
	"os/exec"
	"time"
)

// Method names the way in which trees are ended on this system: "group" or
// "process".
func Method() string { return method }

// A Tree is a command that runs, and what it started.
type Tree struct {
	cmd    *exec.Cmd
	exited chan struct{}
	err    error
}

// Start starts c as the head of a tree of its own. When the calling process
// dies, the kernel ends c where it can (Linux). The caller must not call
// c.Wait.
func Start(c *exec.Cmd) (*Tree, error) {
	prepare(c)
	if err := c.Start(); err != nil {
		return nil, err
	}
	t := &Tree{cmd: c, exited: make(chan struct{})}
	go func() {
		t.err = c.Wait()
		close(t.exited)
	}()
	return t, nil
}

// Exited is closed when the command itself has ended, whatever it left.
func (t *Tree) Exited() <-chan struct{} { return t.exited }

// State returns how the command ended; nil while it runs.
func (t *Tree) State() *os.ProcessState {
	select {
	case <-t.exited:
		return t.cmd.ProcessState
	default:
		return nil
	}
}

// Err returns why waiting for the command failed; an exit status other than 0
// is no failure. It is nil while the command runs.
func (t *Tree) Err() error {
	select {
	case <-t.exited:
	default:
		return nil
	}
	if _, ok := errors.AsType[*exec.ExitError](t.err); ok || errors.Is(t.err, exec.ErrWaitDelay) {
		return nil // it ended; input that it left unread is its own affair
	}
	return t.err
}

// Alive reports whether anything of the tree that can be found still runs.
func (t *Tree) Alive() bool { return alive(t) }

// End asks everything in the tree to end, and kills what has not done so
// after grace. It returns when the command has ended and nothing that can be
// found is left, or, should the kernel hold a process for longer, after two
// more seconds. It reports whether anything was there to end.
func (t *Tree) End(grace time.Duration) bool {
	if !t.Alive() {
		return false
	}
	if grace > 0 {
		terminate(t)
		if t.gone(grace) {
			return true
		}
	}
	kill(t)
	t.gone(2 * time.Second)
	return true
}

// gone waits until the tree has ended, at most for limit.
func (t *Tree) gone(limit time.Duration) bool {
	deadline := time.Now().Add(limit)
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		if t.State() != nil && !t.Alive() {
			return true
		}
		if !time.Now().Before(deadline) {
			return false
		}
		time.Sleep(pause)
	}
}
