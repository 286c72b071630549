//go:build linux && (amd64 || arm64)

package killtree

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"github.com/agentkit-go/agentkit/pkg/fork"
	"golang.org/x/sys/unix"
)

// Forked is a confined command that is about to be forked.
type Forked interface {
	// Plan returns what makes a child the command, the namespaces that it
	// needs, and the descriptor where it tells of a failure.
	Plan() (command *fork.Plan, flags uintptr, tell int)
	// Ready is called when the child is there and waits. It returns when the child
	// can go on.
	Ready() error
	// Follow is called once the child runs; first is the plan of the process
	// before it. It returns when the command has started, or an error as of
	// Options.Start.
	Follow(first *fork.Plan) error
	// Abandon is called instead when there is no child.
	Abandon()
}

// A Place says where the command is forked.
type Place struct {
	Namespaces bool   // in namespaces of its own, for processes and mounts
	Without    string // why there are none for users; "" where they may be had
}

// A Confiner confines commands: those that a stage starts, and those that are forked
// from this process without one.
type Confiner interface {
	Starter
	// Prepare readies a command that is to be forked. ErrMethod leaves it to a stage.
	Prepare(confine []byte, path string, argv []string, attr *syscall.ProcAttr, at Place) (Forked, error)
}

// forked is the backend of a command whose stage is a fork of this process.
type forked struct {
	method string
	group  *cgroup
	init   int      // its PID
	pidfd  int      // the same, but never another process; -1 where there is none
	handle *os.File // of pidfd
	begun  uint64   // when it was started, see Process
	line
}

// linkAt is the least number of the init's end of the link: beyond what a
// command is given.
const linkAt = 64

// startForked fails with ErrMethod where a stage may still do.
func startForked(m string, c *exec.Cmd, o Options) (*forked, error) {
	if !namespaces(m) && len(o.Confine) > 0 && o.Without == "" {
		return nil, fmt.Errorf("%w: the stage finds out how far the command can be confined", ErrMethod)
	}
	if !forkable(c) {
		return nil, fmt.Errorf("%w: the command asks for more than a fork gives", ErrMethod)
	}
	s, err := openStreams(c)
	if err != nil {
		return nil, err
	}
	defer s.close()
	attr := &syscall.ProcAttr{Dir: c.Dir, Env: c.Environ(), Files: s.files, Sys: &syscall.SysProcAttr{Setsid: true}}
	if !namespaces(m) {
		attr.Sys.Pdeathsig = syscall.SIGKILL // the kernel does not end it with the init
	}
	if a := c.SysProcAttr; a != nil {
		attr.Sys.Setctty, attr.Sys.Ctty, attr.Sys.Credential = a.Setctty, a.Ctty, a.Credential
	}
	argv := c.Args
	if len(argv) == 0 {
		argv = []string{c.Path}
	}
	command, err := prepare(m, o, c.Path, argv, attr)
	if err != nil {
		s.drop()
		return nil, err
	}
	b, err := forkInit(m, command, o)
	if err == nil {
		runtime.KeepAlive(c) // its files
		if s.feed != nil {
			go feed(s.feed, c.Stdin, b.gone)
		}
		return b, nil
	}
	s.drop()
	return nil, asStarted(err, c)
}

// forkable reports whether all that c asks for is what a fork can give.
func forkable(c *exec.Cmd) bool {
	for _, w := range []io.Writer{c.Stdout, c.Stderr} {
		if _, ok := w.(*os.File); w != nil && !ok {
			return false
		}
	}
	a := c.SysProcAttr
	return a == nil || a.Cloneflags == 0 && a.Chroot == "" && !a.Ptrace && !a.Noctty && !a.Foreground && !a.UseCgroupFD &&
		a.Unshareflags == 0 && len(a.AmbientCaps) == 0 && a.UidMappings == nil && a.GidMappings == nil && a.PidFD == nil
}

// asStarted is err as exec.Cmd.Start would return it.
func asStarted(err error, c *exec.Cmd) error {
	p, ok := errors.AsType[*fs.PathError](err)
	if !ok || errors.Is(err, ErrMethod) {
		return err
	}
	if _, bad := os.Stat(c.Dir); p.Op == "chdir" || c.Dir != "" && bad != nil && errors.Is(err, fs.ErrNotExist) {
		return &fs.PathError{Op: "chdir", Path: c.Dir, Err: p.Err}
	}
	return &fs.PathError{Op: "fork/exec", Path: c.Path, Err: p.Err}
}

// streams are the descriptors that a command is given.
type streams struct {
	files []uintptr
	own   []*os.File // closed here once the command has them
	feed  *os.File   // where input goes that is no file
}

func openStreams(c *exec.Cmd) (*streams, error) {
	s := &streams{}
	null := func(flag int) error {
		f, err := os.OpenFile(os.DevNull, flag, 0)
		if err == nil {
			s.own, s.files = append(s.own, f), append(s.files, f.Fd())
		}
		return err
	}
	var err error
	switch in := c.Stdin.(type) {
	case nil:
		err = null(os.O_RDONLY)
	case *os.File:
		s.files = append(s.files, in.Fd())
	default:
		var r *os.File
		if r, s.feed, err = os.Pipe(); err == nil {
			s.own, s.files = append(s.own, r), append(s.files, r.Fd())
		}
	}
	for _, w := range []io.Writer{c.Stdout, c.Stderr} {
		f, ok := w.(*os.File)
		switch {
		case err != nil:
		case !ok:
			err = null(os.O_WRONLY)
		default:
			s.files = append(s.files, f.Fd())
		}
	}
	if err != nil {
		s.close()
		s.drop()
		return nil, err
	}
	for _, f := range c.ExtraFiles {
		if f == nil {
			s.files = append(s.files, ^uintptr(0))
			continue
		}
		s.files = append(s.files, f.Fd())
	}
	return s, nil
}

func (s *streams) close() {
	for _, f := range s.own {
		_ = f.Close()
	}
}

// drop lets go of input that nobody will read; none of it was taken yet.
func (s *streams) drop() {
	if s.feed != nil {
		_ = s.feed.Close()
		s.feed = nil
	}
}

// prepare returns the command as something to fork.
func prepare(m string, o Options, path string, argv []string, attr *syscall.ProcAttr) (Forked, error) {
	if len(o.Confine) > 0 {
		if o.Confiner == nil {
			return nil, fmt.Errorf("%w: the stage confines the command", ErrMethod)
		}
		return o.Confiner.Prepare(o.Confine, path, argv, attr, Place{Namespaces: namespaces(m), Without: o.Without})
	}
	pair, err := fork.SocketPair(max(linkAt, len(attr.Files)))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMethod, err) // the limit on open files may be low
	}
	u := &unconfined{path: path, dir: attr.Dir, ours: pair[0], tell: pair[1]}
	p := &u.plan
	p.Session(attr)
	p.Credentials(attr)
	p.Files(attr, u.tell)
	p.Chdir(fork.Dir(attr))
	p.Exec(path, argv, attr.Env)
	return u, nil
}

// tryFork reports why an init for method m cannot be forked, with a command that
// gets as far as one would.
func tryFork(m string, o Options) error {
	pair, err := fork.SocketPair(linkAt)
	if err != nil {
		return err
	}
	if _, err = forkInit(m, &unconfined{ours: pair[0], tell: pair[1]}, o); errors.Is(err, errNoSteps) {
		return nil
	}
	return err
}

// errNoSteps is the failure of a command whose plan has come to its end.
var errNoSteps = errors.New("there is nothing to start")

// unconfined is a command that nothing confines.
type unconfined struct {
	plan       fork.Plan
	path, dir  string
	ours, tell int
}

// Plan implements Forked.
func (u *unconfined) Plan() (*fork.Plan, uintptr, int) { return &u.plan, 0, u.tell }

// Ready implements Forked.
func (u *unconfined) Ready() error { return nil }

// Abandon implements Forked.
func (u *unconfined) Abandon() { _, _ = unix.Close(u.ours), unix.Close(u.tell) }

// Follow implements Forked.
func (u *unconfined) Follow(first *fork.Plan) error {
	_ = unix.Close(u.tell)
	defer unix.Close(u.ours)
	msg := make([]byte, fork.FailureSize)
	n, err := ignoringEINTR(func() (int, error) { return unix.Read(u.ours, msg) })
	switch {
	case err != nil:
		return fmt.Errorf("starting the command: %w", err)
	case n == 0 && u.plan.Crashed():
		return fmt.Errorf("%w: the process ended before it could start the program", ErrMethod)
	case n == 0:
		return nil // it was closed by the start of the program
	}
	step, errno := fork.Explain(msg, first, &u.plan)
	if step == "" {
		return errNoSteps
	}
	if err := fork.Failed(step, errno, u.path, u.dir); err != nil {
		return err
	}
	return fmt.Errorf("%w: %s: %w", ErrMethod, step, errno)
}

func ignoringEINTR(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// forkInit forks the init and the command.
func forkInit(m string, command Forked, o Options) (*forked, error) {
	second, flags, tell := command.Plan()
	b := &forked{method: m, line: line{gone: make(chan struct{})}}
	fail := func(err error) (*forked, error) {
		command.Abandon()
		b.group.remove()
		return nil, fmt.Errorf("%w: %w", ErrMethod, err)
	}
	pair, err := fork.SocketPair(linkAt)
	if err != nil {
		return fail(err)
	}
	if m == Cgroup {
		if b.group, err = newCgroup(o.MaxProcesses, o.MaxMemory); err != nil {
			_, _ = unix.Close(pair[0]), unix.Close(pair[1])
			return fail(fmt.Errorf("setting up %s: %w", m, err))
		}
	}
	if namespaces(m) {
		flags |= unix.CLONE_NEWPID | unix.CLONE_NEWNS
	}
	if m == UserNamespace {
		flags |= unix.CLONE_NEWUSER
	}
	if second.Joins(nil) { // the users are those of the namespace that it joins
		flags &^= unix.CLONE_NEWUSER
	}
	users := flags&unix.CLONE_NEWUSER != 0
	first := b.firstPlan(pair[1], pair[0], users, o)
	second.Joins(first)
	errno := b.fork(first, second, flags, tell)
	_ = unix.Close(pair[1])
	if errno != 0 {
		_ = unix.Close(pair[0])
		return fail(explainFork(m, errno))
	}
	_ = unix.SetNonblock(pair[0], true)
	b.link = os.NewFile(uintptr(pair[0]), "stage")
	if err := b.follow(command, first, users); err != nil {
		b.strike()
		<-b.gone
		_ = b.link.Close()
		return nil, err
	}
	return b, nil
}

// open opens the pidfd, in a way that the runtime can wait for.
func (b *forked) open() {
	fd, err := unix.PidfdOpen(b.init, 0)
	if err != nil {
		return
	}
	_ = unix.SetNonblock(fd, true)
	b.pidfd, b.handle = fd, os.NewFile(uintptr(fd), "init")
}

// await waits for the end of the init. Where the runtime can, it does the waiting:
// a thread that waits in the kernel keeps its processor from other goroutines until
// the runtime notices, which takes milliseconds where there is only one.
func (b *forked) await() {
	if c, err := b.handle.SyscallConn(); err == nil {
		err = c.Read(func(uintptr) bool {
			pid, err := ignoringEINTR(func() (int, error) { return unix.Wait4(b.init, nil, unix.WNOHANG, nil) })
			return pid != 0 || err != nil
		})
		if err == nil {
			return
		}
	}
	_, _ = ignoringEINTR(func() (int, error) { return unix.Wait4(b.init, nil, 0, nil) })
}

// explainFork is the failure of a fork.
func explainFork(m string, errno unix.Errno) error {
	if !namespaces(m) {
		return fmt.Errorf("forking: %w", errno)
	}
	switch errno {
	case unix.EPERM, unix.EACCES:
		return fmt.Errorf("%w: they are forbidden: %w", errNamespaces, errno)
	case unix.ENOSPC, unix.EUSERS:
		return fmt.Errorf("%w: the limit on them is reached (user.max_user_namespaces): %w", errNamespaces, errno)
	case unix.EINVAL:
		return fmt.Errorf("%w: %w", errNamespaces, errno)
	}
	return fmt.Errorf("making the namespaces for %s: %w", m, errno)
}

// fork makes the init from a thread that lives as long as it: the kernel ends
// the init of a namespace when the thread ends that made it.
func (b *forked) fork(first, second *fork.Plan, flags uintptr, tell int) unix.Errno {
	started := make(chan unix.Errno)
	adoptOrphans(b.method)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		var pid int
		var errno unix.Errno
		inits.enter(func() int {
			pid, errno = fork.Init(first, second, flags, tell)
			return pid
		})
		if b.init, b.pidfd = pid, -1; errno == 0 {
			defer inits.leave(pid)
			b.open()
			if !namespaces(b.method) {
				p, _ := find(pid)
				b.begun = p.Start
			}
		}
		started <- errno
		if errno != 0 {
			return
		}
		b.await()
		if b.group != nil {
			// Nothing is in it, unless the init was killed.
			_ = b.group.kill()
			b.group.remove()
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		close(b.gone)
		_ = b.handle.Close()
	}()
	return <-started
}

// follow waits until the command runs.
func (b *forked) follow(command Forked, first *fork.Plan, users bool) error {
	if users {
		if err := fork.MapUsers(b.init); err != nil {
			command.Abandon()
			return fmt.Errorf("%w: %w", ErrMethod, err)
		}
	}
	if err := command.Ready(); err != nil {
		command.Abandon()
		return err
	}
	if _, err := b.link.Write([]byte{0}); err != nil {
		command.Abandon()
		return fmt.Errorf("%w: the stage ended: %w", ErrMethod, err)
	}
	return command.Follow(first)
}

// firstPlan is what the init does: in namespaces it shows the command the
// processes of its own. Only /proc is cut off from the mounts of others.
func (b *forked) firstPlan(link, ours int, users bool, o Options) *fork.Plan {
	p := &fork.Plan{}
	if !namespaces(b.method) {
		// It sees on the link that its parent has ended, and lives on to end
		// the rest.
		p.Await(link, ours, users)
		p.Do("setsid", unix.SYS_SETSID)
		p.Reaper(link, InitName, b.reaper(o))
		return p
	}
	// A parent that ends before this is seen by the next step.
	p.Do("pdeathsig", unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, int(unix.SIGKILL), 0, 0, 0)
	p.Await(link, ours, users)
	p.Do("setsid", unix.SYS_SETSID)
	p.Try("making /proc private", 0, unix.SYS_MOUNT, "", "/proc", "", unix.MS_PRIVATE, "")
	p.Do("mounting /proc", unix.SYS_MOUNT, "proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
	fd := p.Cell()
	for _, set := range pidSettings(o.MaxProcesses) {
		p.Try("opening "+set.file, 2, unix.SYS_OPENAT, unix.AT_FDCWD, set.file, unix.O_WRONLY|unix.O_CLOEXEC, 0).Keeps(fd)
		p.Try("choosing PIDs", 0, unix.SYS_WRITE, fd, set.value, len(set.value))
		p.Close(fd)
	}
	p.Init(link, InitName)
	return p
}

// reaper is what the init becomes where it has to look for what is below it.
func (b *forked) reaper(o Options) *fork.Reaper {
	r := &fork.Reaper{Argv: []string{o.Self, StageArg, reaperArg, b.group.dir()}, Env: stageEnv(o)}
	if b.group != nil {
		r.Cgroup, r.CgroupFd = b.group.path, b.group.fd
	}
	return r
}

func (b *forked) wait(t *Tree) (*State, error) {
	msg := make([]byte, fork.RecordSize)
	for {
		n, err := b.link.Read(msg)
		if errors.Is(err, unix.ECONNRESET) {
			// The init has ended and left a message unread. The kernel says so once, before it
			// gives what the init had sent.
			n, err = b.link.Read(msg)
		}
		if err != nil || n != len(msg) {
			return b.lost(b.method), nil
		}
		r := fork.ReadRecord(msg)
		w := r.Wait()
		if r.Kind == fork.Stopped {
			t.notice(w.StopSignal())
			continue
		}
		b.finished(r.Left)
		return endState(record{n: uint32(w), user: r.User, system: r.System, rss: r.MaxRSS}), nil
	}
}

// signal does itself what one system call of the init cannot: the init would
// become our program for it, which takes a thread that there may be none for.
func (b *forked) signal(n syscall.Signal, all bool) {
	root := b.root()
	if namespaces(b.method) || !all || root.Start == 0 {
		b.line.signal(n, all)
		return
	}
	for _, q := range membersBelow(root) {
		q.send(n)
	}
}

// root is the init while it is there: its number may be another's afterwards.
func (b *forked) root() Process {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-b.gone:
		return Process{}
	default:
		return Process{Pid: b.init, Start: b.begun}
	}
}

// kill leaves it to the init in a namespace, unless that is not able to: its end
// ends all. Elsewhere the init only collects.
func (b *forked) kill() {
	if !namespaces(b.method) {
		if root := b.root(); root.Start != 0 {
			endBelow(root, b.group)
		} else {
			_ = b.tell(fork.KillAll, 0)
		}
		return
	}
	if !b.killed() {
		b.strike()
	}
}

// strike kills the init, and with it the kernel kills everything: in a namespace,
// and elsewhere while there is nothing but the command.
func (b *forked) strike() {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-b.gone:
		return
	default:
	}
	if b.pidfd < 0 {
		_ = unix.Kill(b.init, unix.SIGKILL)
		return
	}
	_ = unix.PidfdSendSignal(b.pidfd, unix.SIGKILL, nil, 0)
}

func (b *forked) pid() int { return b.init }
