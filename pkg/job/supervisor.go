package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/agentkit-go/agentkit/pkg/killtree"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/session"
)

// supervisor is the process that a job lives under.
type supervisor struct {
	order
	dir      *safefile.Dir
	release  func()
	held     *os.File // as Spec.Held
	listener net.Listener
	run      *running
	end      chan ending // asks for the end of the job
	free     atomic.Bool // it was tied and is no more
	limit    *time.Timer // the time limit
	confiner Confiner    // nil for none

	mu      sync.Mutex
	info    Info
	log     logWriter
	change  chan struct{} // closed and replaced at every change
	done    chan struct{} // closed when the command's end is known
	clients sync.WaitGroup
	watched int             // clients that want to know of waiting and quiet
	sent    map[string]bool // names of signals that were asked for
	quietAt int64           // bytes that had been printed when it was quiet for a moment; -1 when it is not

	typed   []byte                  // see remembered; mu guards it
	feeding chan struct{}           // holds a token while nobody writes to the command
	called  atomic.Pointer[[]sleep] // the sleeps that the text sent last will end, see wakes
}

// An ending is the wish that the job ends, and what it then is.
type ending struct {
	state State
	grace time.Duration
}

// supervise is the supervisor's main.
func supervise(c Confiner) int {
	killtree.CloseInherited()
	debug.SetGCPercent(50) // it is small and shall stay so
	l := newLine(pipes{in: os.NewFile(uintptr(syscall.Stdin), "stdin"), out: os.NewFile(uintptr(syscall.Stdout), "stdout")})
	s := &supervisor{quietAt: -1, end: make(chan ending, 4), change: make(chan struct{}), done: make(chan struct{}), sent: map[string]bool{}, feeding: make(chan struct{}, 1)}
	// A starter that is gone shows as a failed write, not as our end.
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, brokenPipe, syscall.SIGTERM, os.Interrupt, syscall.SIGHUP)
	go func() {
		for n := range ends {
			if n != brokenPipe {
				s.wish(ending{Aborted, DefaultGrace})
			}
		}
	}()
	if err := l.receive(&s.order); err != nil {
		return 125
	}
	s.confiner, s.Spec.Tree.Confiner = c, c
	if err := s.begin(); err != nil {
		_ = l.send(failure(err))
		s.close()
		return 1
	}
	if err := l.send(reply{Info: &s.info}); err != nil && s.Tied {
		s.wish(ending{Aborted, 0})
	}
	if s.Tied {
		s.clients.Go(func() { s.tied(l) })
	} else {
		_ = l.conn.Close()
	}
	s.Spec.Env, s.Spec.Stdin = nil, ""
	go s.accept()
	s.wait()
	s.close()
	s.run.tree.Collect()
	return 0
}

// begin takes possession of the job's directory and starts the command.
func (s *supervisor) begin() error {
	o := s.Session
	sess, err := session.Open(session.Options{State: o.State, Root: o.Root, ID: o.ID, Limits: o.Limits, NoSync: o.NoSync})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if s.release, err = sess.HoldJob(ctx, s.ID); err != nil {
		return fmt.Errorf("holding job %s: %w", s.ID, err)
	}
	if s.Spec.Held != "" {
		if s.held, err = os.OpenFile(s.Spec.Held, os.O_RDWR, 0); err == nil {
			err = safefile.TryLock(s.held, false)
		}
		if err != nil {
			return fmt.Errorf("holding what is kept for undo: %w", err)
		}
	}
	path := sess.Path("jobs", s.ID)
	if s.dir, err = safefile.OpenDir(path); err != nil {
		return err
	}
	if s.log.log, err = s.dir.OpenFile(logFile, os.O_CREATE|os.O_WRONLY|os.O_APPEND); err != nil {
		return err
	}
	if s.log.index, err = s.dir.OpenFile(indexFile, os.O_CREATE|os.O_WRONLY|os.O_APPEND); err != nil {
		return err
	}
	if err := s.listen(path); err != nil {
		return err
	}
	return s.start()
}

// listen opens the socket. Only we may enter its directory.
func (s *supervisor) listen(path string) error {
	var err error
	if s.listener, err = listenAt(path); err != nil {
		return fmt.Errorf("listening for job %s: %w", s.ID, err)
	}
	return nil
}

func (s *supervisor) start() error {
	c := s.Spec.Command
	s.log.most = s.Limits.Log
	s.log.changed = s.changed
	s.log.announce = s.announce
	locked := func(write func()) {
		s.mu.Lock()
		defer s.mu.Unlock()
		write()
	}
	out := Output{Stdout: stream{w: &s.log, origin: Stdout, locked: locked}, Stderr: stream{w: &s.log, origin: Stderr, locked: locked}}
	cmd := &exec.Cmd{Path: s.Path, Args: c.Argv}
	text := c.Stdin
	c.Stdin = ""
	s.mu.Lock() // nothing is written before info is filled
	defer s.mu.Unlock()
	var err error
	if s.run, err = launch(cmd, c, out, !c.TTY && (s.Spec.OpenStdin || text != "")); err != nil {
		return err
	}
	me, _ := killtree.Find(os.Getpid())
	head, ok := killtree.Find(s.run.tree.Pid())
	if !ok {
		head.Pid = s.run.tree.Pid() // it has ended already, and is nobody's that lives now
	}
	s.info = Info{
		ID: s.ID, Name: s.Spec.Name, Argv: c.Argv, Dir: c.Dir, State: Running, Started: time.Now(), TTY: c.TTY, Report: s.Spec.Report,
		OpenStdin: c.TTY || s.Spec.OpenStdin, Method: s.run.tree.Method(), Supervisor: me, Head: head,
	}
	if c.TTY {
		rows, cols := c.size()
		s.info.Sizes = []Size{{Rows: rows, Cols: cols}}
	}
	if err := s.store(); err != nil {
		s.run.tree.End(0)
		return err
	}
	s.limited()
	s.feeding <- struct{}{}
	if text != "" {
		<-s.feeding
		go s.feed(text)
	}
	return nil
}

// feed writes what the command was given to read.
func (s *supervisor) feed(text string) {
	if s.Spec.TTY {
		_, _ = s.run.terminal.WriteString(text)
	} else {
		_, _ = s.run.input.WriteString(text)
		if !s.info.OpenStdin {
			_ = s.run.input.Close()
		}
	}
	s.feeding <- struct{}{}
}

// store writes the status file. The caller holds mu.
func (s *supervisor) store() error {
	i := s.info
	i.Total, i.LostFrom, i.LostTo = s.log.size, s.log.from, s.log.to
	if s.log.dropped > 0 {
		i.Incomplete = fmt.Sprintf("the log could not take %d more bytes", s.log.dropped)
	}
	s.info.Incomplete = i.Incomplete
	raw, err := json.Marshal(i)
	if err != nil {
		return err
	}
	return s.dir.WriteFile(statusFile, raw, false)
}

// announce makes known that a part of the log goes, before it does. The caller
// holds mu.
func (s *supervisor) announce() { _ = s.store() }

func (s *supervisor) changed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.signalChange()
}

// signalChange wakes the followers. The caller holds mu.
func (s *supervisor) signalChange() {
	close(s.change)
	s.change = make(chan struct{})
}

// close tells the clients and lets go of the job.
func (s *supervisor) close() {
	if s.listener != nil {
		_ = s.listener.Close()
	}
	told := make(chan struct{})
	go func() {
		s.clients.Wait()
		close(told)
	}()
	select {
	case <-told:
	case <-time.After(2 * time.Second):
	}
	if s.dir != nil {
		_ = s.dir.Remove(socketFile)
	}
	if s.release != nil {
		s.release()
	}
}

// snapshot is the job as it is, and a channel that is closed at the next
// change.
func (s *supervisor) snapshot() (Info, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.info
	i.Total, i.LostFrom, i.LostTo = s.log.size, s.log.from, s.log.to
	i.Quiet = s.quietAt == s.log.size && s.watched > 0
	return i, s.change
}

var errNoSuchRequest = errors.New("no such request")
