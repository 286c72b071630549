// Package job runs commands: it starts them, takes in everything they print,
// and ends them with all they started.
//
// A run ends when the command has ended, not when the last holder of its
// output has: what a command left in the background does not hold the caller.
// Everything printed until then is taken in.
package job

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/agentkit-go/agentkit/pkg/killtree"
)

const (
	// drain is how long output may stay open after the command has ended,
	// before what it left running is ended.
	drain = 100 * time.Millisecond

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
}

// Output says where a command's output goes. Each part may be nil. Writes do
// not overlap, and an error of one stops only that writer.
type Output struct {
	Both   io.Writer // standard output and error in the order of arrival
	Stdout io.Writer
	Stderr io.Writer
}

// A Status says how a command ended.
type Status struct {
	ExitCode  int           // its own status, or 128+n when signal n ended it
	Signal    string        // name of the signal that ended it, such as SIGKILL; "" for none
	TimedOut  bool          // the time limit ran out and the tree was ended
	Aborted   bool          // the context was cancelled and the tree was ended
	Leftovers bool          // it left something running, which was ended
	Held      bool          // something that could not be ended still held its output, which was given up
	Wall      time.Duration // from start to the end of the command
	User      time.Duration // processor time of it and the children it waited for
	System    time.Duration
	MaxRSS    int64 // peak memory in bytes of the largest process among these; 0 where unknown
}

// Run runs c to its end. The error says why it could not be started or waited
// for; however it ends, that is in the Status.
func Run(ctx context.Context, c Command, out Output) (Status, error) {
	if len(c.Argv) == 0 {
		return Status{}, errors.New("starting a command: no program is named")
	}
	//nolint:noctx // the tree is ended as a whole below, which a context would undercut
	cmd := exec.Command(c.Argv[0], c.Argv[1:]...)
	cmd.Dir, cmd.Env = c.Dir, c.Env
	r, err := connect(cmd, c.Stdin, out)
	if err != nil {
		return Status{}, err
	}
	begin := time.Now()
	tree, err := killtree.Start(cmd)
	r.started()
	if err != nil {
		r.abandon()
		return Status{}, err
	}
	var s Status
	s.watch(ctx, tree, c)
	s.Wall = time.Since(begin)
	s.settle(tree, r)
	if err := tree.Err(); err != nil {
		return s, err
	}
	s.account(tree.State())
	return s, nil
}

// watch returns when the command has ended, by itself or by us.
func (s *Status) watch(ctx context.Context, tree *killtree.Tree, c Command) {
	var timeout <-chan time.Time
	if c.Timeout > 0 {
		timer := time.NewTimer(c.Timeout)
		defer timer.Stop()
		timeout = timer.C
	}
	select {
	case <-tree.Exited():
		return
	case <-timeout:
		s.TimedOut = true
	case <-ctx.Done():
		s.Aborted = true
		s.TimedOut = errors.Is(context.Cause(ctx), context.DeadlineExceeded)
	}
	grace := c.Grace
	if grace <= 0 {
		grace = DefaultGrace
	}
	tree.End(grace)
}

// settle takes in the rest of the output and ends what is left running.
func (s *Status) settle(tree *killtree.Tree, r *readers) {
	drained := r.wait(drain)
	if tree.Alive() {
		s.Leftovers = tree.End(drain)
	}
	if !drained && !r.wait(drain) {
		s.Held = true
	}
	r.abandon()
}

func (s *Status) account(p *os.ProcessState) {
	if p == nil {
		return
	}
	s.User, s.System = p.UserTime(), p.SystemTime()
	s.MaxRSS = maxRSS(p)
	s.ExitCode, s.Signal = p.ExitCode(), ""
	if n, name := endedBy(p); n > 0 {
		s.ExitCode, s.Signal = 128+n, name
	}
}

// readers are the pipes from a command.
type readers struct {
	mine, theirs []*os.File
	done         sync.WaitGroup
	finished     chan struct{}
}

// connect gives cmd its streams.
func connect(cmd *exec.Cmd, stdin string, out Output) (*readers, error) {
	r := &readers{finished: make(chan struct{})}
	var mu sync.Mutex
	outR, outW, err := r.pipe()
	if err != nil {
		return nil, err
	}
	errR, errW, err := r.pipe()
	if err != nil {
		r.started()
		r.abandon()
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = outW, errW
	if stdin != "" {
		cmd.Stdin = strings.NewReader(stdin)
	}
	// Whoever holds the command's input open after it has ended must not
	// hold the caller.
	cmd.WaitDelay = drain
	r.done.Go(func() { pump(outR, &mu, out.Stdout, out.Both) })
	r.done.Go(func() { pump(errR, &mu, out.Stderr, out.Both) })
	go func() {
		r.done.Wait()
		close(r.finished)
	}()
	return r, nil
}

func (r *readers) pipe() (read, write *os.File, err error) {
	read, write, err = os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	r.mine, r.theirs = append(r.mine, read), append(r.theirs, write)
	enlarge(write)
	return read, write, nil
}

// started closes the ends that belong to the command.
func (r *readers) started() {
	for _, f := range r.theirs {
		_ = f.Close()
	}
}

// wait reports whether everything was read to the end within limit.
func (r *readers) wait(limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-r.finished:
		return true
	case <-timer.C:
		return false
	}
}

// abandon stops reading.
func (r *readers) abandon() {
	for _, f := range r.mine {
		_ = f.Close()
	}
	<-r.finished
}

// pump copies from to each of the writers until its end.
func pump(from io.Reader, mu *sync.Mutex, to ...io.Writer) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			mu.Lock()
			for i, w := range to {
				if w == nil {
					continue
				}
				if _, err := w.Write(buf[:n]); err != nil {
					to[i] = nil
				}
			}
			mu.Unlock()
		}
		if err != nil {
			return
		}
	}
}
