package killtree

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/agentkit-go/agentkit/pkg/fork"
	"golang.org/x/sys/unix"
)

// candidates lists the methods with a stage, the best first.
func candidates() []string { return []string{PIDNamespace, UserNamespace, Cgroup, Subreaper} }

// namespaces reports whether the kernel ends the tree when the stage ends.
func namespaces(m string) bool { return m == PIDNamespace || m == UserNamespace }

// staged is the backend with a stage.
type staged struct {
	method string
	stage  *exec.Cmd
	line
}

// possible is why method m fails for sure, which nothing has to be started for to
// find out.
func possible(m string, attr *syscall.SysProcAttr) error {
	switch {
	case m == PIDNamespace && os.Geteuid() != 0 && (attr == nil || attr.Cloneflags&syscall.CLONE_NEWUSER == 0):
		return fmt.Errorf("%w: %s needs to be root", ErrMethod, m)
	case m == Cgroup:
		if err := mayCgroup(); err != nil {
			return fmt.Errorf("%w: setting up %s: %w", ErrMethod, m, err)
		}
	}
	return nil
}

func launch(m string, c *exec.Cmd, o Options) (backend, error) {
	if m == Group {
		if len(o.Confine) > 0 {
			return nil, fmt.Errorf("%w: %s has no stage to confine the command", ErrMethod, m)
		}
		return startGroup(c)
	}
	if err := possible(m, c.SysProcAttr); err != nil {
		return nil, err
	}
	if !o.NoFork {
		b, err := startForked(m, c, o)
		if !errors.Is(err, ErrMethod) || errors.Is(err, errNamespaces) {
			return b, err
		}
	}
	return startStaged(m, c, o)
}

// probe makes an init, or where that is not to be had a stage, that has nothing to
// start.
func probe(o Options, m string) error {
	if err := possible(m, nil); err != nil {
		return err
	}
	if !o.NoFork {
		if err := tryFork(m, o); err == nil || errors.Is(err, errNamespaces) {
			return err
		}
	}
	b, err := startStaged(m, &exec.Cmd{Env: []string{}}, o)
	if err != nil {
		return err
	}
	<-b.gone
	_ = b.link.Close()
	return nil
}

func startStaged(m string, c *exec.Cmd, o Options) (*staged, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("starting the stage: %w", err)
	}
	_ = unix.SetNonblock(pair[0], true)
	ours, theirs := os.NewFile(uintptr(pair[0]), "stage"), os.NewFile(uintptr(pair[1]), "stage")
	s := &staged{method: m, line: line{link: ours, gone: make(chan struct{})}}
	input, to, err := s.prepare(c, o, theirs)
	if err == nil {
		err = s.start()
	}
	_ = theirs.Close()
	if input != nil {
		_ = input.Close()
	}
	if err == nil {
		err = s.handOver(orderOf(m, c, o), c)
	}
	if err != nil {
		_ = ours.Close()
		if to != nil {
			_ = to.Close()
		}
		return nil, err
	}
	if to != nil {
		go feed(to, c.Stdin, s.gone)
	}
	return s, nil
}

// prepare describes the stage's process. Input that is no file gets a pipe,
// which is fed only when the command runs, so that a method that fails has
// not eaten any of it.
func (s *staged) prepare(c *exec.Cmd, o Options, link *os.File) (input, feed *os.File, err error) {
	attr := &syscall.SysProcAttr{}
	if c.SysProcAttr != nil {
		own := *c.SysProcAttr
		own.Setctty, own.Ctty, own.Credential, own.Foreground = false, 0, nil, false
		attr = &own
	}
	attr.Setsid, attr.Setpgid = true, false
	if namespaces(s.method) {
		// Elsewhere the stage must live on to end the rest: it sees our end
		// on the link.
		attr.Pdeathsig = syscall.SIGKILL
		attr.Cloneflags |= syscall.CLONE_NEWPID | syscall.CLONE_NEWNS
	}
	if s.method == UserNamespace && attr.Cloneflags&syscall.CLONE_NEWUSER == 0 {
		uid, gid := os.Geteuid(), os.Getegid()
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN}
	}
	s.stage = &exec.Cmd{
		Path: o.Self, Args: []string{o.Self, StageArg, strconv.Itoa(3 + len(c.ExtraFiles))}, Env: stageEnv(o), Dir: "/",
		Stdin: c.Stdin, Stdout: c.Stdout, Stderr: c.Stderr, ExtraFiles: append(slices.Clip(c.ExtraFiles), link), SysProcAttr: attr, WaitDelay: c.WaitDelay,
	}
	if _, ok := c.Stdin.(*os.File); c.Stdin == nil || ok {
		return nil, nil, nil
	}
	if input, feed, err = os.Pipe(); err == nil {
		s.stage.Stdin = input
	}
	return input, feed, err
}

// stageEnv is the environment of a stage. It is never nil, which would be ours.
func stageEnv(o Options) []string { return append(slices.Clip(o.Env), "GOMAXPROCS=1") }

// start starts the stage from a thread that lives as long as it: the kernel
// ends the stage when that thread ends.
func (s *staged) start() error {
	started := make(chan error)
	adoptOrphans(s.method)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		var err error
		inits.enter(func() int {
			if err = s.stage.Start(); err != nil {
				return 0
			}
			return s.pid()
		})
		started <- err
		if err == nil {
			defer inits.leave(s.pid())
			_ = s.stage.Wait()
			close(s.gone)
		}
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("%w: starting the stage for %s: %w", ErrMethod, s.method, err)
	}
	return nil
}

// handOver gives the order and waits until the command runs.
func (s *staged) handOver(r order, c *exec.Cmd) error {
	if _, err := s.link.Write(r.bytes()); err != nil {
		s.abandon()
		return fmt.Errorf("%w: handing the command to the stage for %s: %w", ErrMethod, s.method, err)
	}
	answer, err := readRecord(s.link)
	switch {
	case err != nil:
		s.abandon()
		return fmt.Errorf("%w: the stage for %s ended: %w", ErrMethod, s.method, err)
	case answer.kind == toldStarted:
		return nil
	}
	<-s.gone
	errno := syscall.Errno(answer.n)
	if answer.kind == toldFailed {
		return fmt.Errorf("%w: setting up %s: %w", ErrMethod, s.method, errno)
	}
	if _, err := os.Stat(c.Dir); c.Dir != "" && err != nil && errno == syscall.ENOENT {
		return &fs.PathError{Op: "chdir", Path: c.Dir, Err: errno}
	}
	return &fs.PathError{Op: "fork/exec", Path: c.Path, Err: errno}
}

func (s *staged) abandon() {
	_ = s.stage.Process.Kill()
	<-s.gone
}

// feed copies the command's input until one of the two has enough. A pipe
// that nobody reads is let go when the tree is gone.
func feed(to *os.File, from io.Reader, gone <-chan struct{}) {
	done := make(chan struct{})
	go func() {
		_, _ = io.Copy(to, from)
		_ = to.Close()
		close(done)
	}()
	select {
	case <-done:
	case <-gone:
		_ = to.Close()
	}
}

func (s *staged) wait(t *Tree) (*State, error) {
	for {
		r, err := readRecord(s.link)
		if err != nil {
			<-s.gone
			if s.method == Cgroup {
				reclaim(s.pid())
			}
			return s.lost(s.method), nil
		}
		if r.kind == toldStopped {
			t.notice(syscall.WaitStatus(r.n).StopSignal())
		}
		if r.kind == toldEnded {
			s.finished(r.left)
			return endState(r), nil
		}
	}
}

func endState(r record) *State {
	w := syscall.WaitStatus(r.n)
	st := &State{ExitCode: w.ExitStatus(), User: time.Duration(r.user) * time.Microsecond, System: time.Duration(r.system) * time.Microsecond, MaxRSS: r.rss << 10}
	if w.Signaled() {
		st.Signal = w.Signal()
	}
	return st
}

// kill leaves it to the stage, which then can still say how the command
// ended, unless the stage is not able to: in a namespace its end ends all.
func (s *staged) kill() {
	if !namespaces(s.method) {
		_ = s.tell(fork.KillAll, 0)
		return
	}
	if !s.killed() {
		_ = s.stage.Process.Kill() // unless it has ended meanwhile
	}
}

func (s *staged) pid() int { return s.stage.Process.Pid }
