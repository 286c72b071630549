package killtree

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"sync/atomic"
	"syscall"

	"github.com/agentkit-go/agentkit/pkg/fork"
	"golang.org/x/sys/unix"
)

// init1 is the stage: the parent of last resort of everything in the tree.
type init1 struct {
	order
	link     link
	group    *cgroup // for method cgroup
	head     int
	tell     func(record) // tells of the command
	ended    atomic.Bool  // the command itself
	killing  atomic.Bool
	confiner Confiner
}

// A link is the socket to the process that started us, read and written
// without the runtime's poller, which would cost threads.
type link int

// Read implements io.Reader.
func (l link) Read(b []byte) (int, error) {
	for {
		n, err := unix.Read(int(l), b)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if n == 0 && err == nil {
			return 0, os.ErrClosed
		}
		return max(n, 0), err
	}
}

func (l link) send(r record) {
	for b := r.bytes(); len(b) > 0; {
		n, err := unix.Write(int(l), b)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
		b = b[max(n, 0):]
	}
}

// reaperArg asks for the stage that a forked init becomes; the directory of the
// command's cgroup and a [fork.Task] follow.
const reaperArg = "reap"

func stage(args []string, c Confiner) int {
	if len(args) == 3 && args[0] == reaperArg {
		return takeOver(args[1], args[2])
	}
	if len(args) != 1 {
		return 125
	}
	fd, err := strconv.Atoi(args[0])
	if err != nil || fd < 3 {
		return 125
	}
	unix.CloseOnExec(fd)
	p := &init1{link: link(fd), confiner: c}
	p.tell = p.link.send
	if p.order, err = readOrder(p.link); err != nil || p.fds != fd {
		return 125
	}
	defer func() { p.group.remove() }()
	if p.method == UserNamespace {
		// Capabilities belong to threads, and what the command gets is those of
		// the thread that starts it. Being bound to one costs much time, so it
		// is not done where it is not needed.
		runtime.LockOSThread()
	}
	if err := p.setUp(); err != nil {
		p.link.send(record{kind: toldFailed, n: uint32(errno(err))})
		return 125
	}
	if p.path == "" {
		p.link.send(record{kind: toldStarted})
		return 0
	}
	ignoreSignals()
	if p.head, err = p.fork(); err != nil {
		p.link.send(record{kind: toldRefused, n: uint32(errno(err))})
		return 125
	}
	p.link.send(record{kind: toldStarted})
	if p.method == UserNamespace {
		runtime.UnlockOSThread()
	}
	p.letGo()
	go p.listen()
	p.reap()
	return 0
}

func errno(err error) syscall.Errno {
	if n, ok := errors.AsType[syscall.Errno](err); ok {
		return n
	}
	return syscall.EIO
}

// ignoreSignals has the signals that would end or stop the stage do nothing;
// the runtime catches the others anyway. They are caught rather than ignored,
// because what is ignored stays so in the command; what already was ignored,
// as under nohup, does stay so.
func ignoreSignals() {
	sink := make(chan os.Signal, 1)
	for _, s := range [...]syscall.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGABRT, unix.SIGTERM, unix.SIGTSTP} {
		if !signal.Ignored(s) {
			signal.Notify(sink, s)
		}
	}
}

func (p *init1) setUp() error {
	if namespaces(p.method) {
		return p.enterNamespaces()
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return err
	}
	if p.method != Cgroup {
		return nil
	}
	var err error
	p.group, err = newCgroup(p.most, p.memory)
	return err
}

// enterNamespaces shows the command the processes of its own namespace. Only
// /proc is cut off from the mounts of others.
func (p *init1) enterNamespaces() error {
	if os.Getpid() != 1 {
		return unix.EINVAL
	}
	if err := unix.Mount("", "/proc", "", unix.MS_PRIVATE, ""); err != nil && !errors.Is(err, unix.EINVAL) {
		return err
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return err
	}
	for _, set := range pidSettings(p.most) {
		_ = os.WriteFile(set.file, []byte(set.value), 0)
	}
	if p.method == UserNamespace && !p.keep {
		return unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	}
	return nil
}

// fork starts the command, with the descriptors that we were given.
func (p *init1) fork() (int, error) {
	files := make([]uintptr, p.fds)
	for i := range files {
		files[i] = uintptr(i)
	}
	attr := &syscall.SysProcAttr{Setsid: true, Credential: p.user}
	if p.ctty >= 0 {
		attr.Setctty, attr.Ctty = true, p.ctty
	}
	if !namespaces(p.method) {
		attr.Pdeathsig = syscall.SIGKILL
	}
	if p.group != nil {
		attr.UseCgroupFD, attr.CgroupFD = true, p.group.fd
	}
	how := &syscall.ProcAttr{Dir: p.dir, Env: p.env, Files: files, Sys: attr}
	if len(p.confine) > 0 {
		if p.confiner == nil {
			return 0, unix.ENOSYS
		}
		return p.confiner.Start(p.confine, p.path, p.argv, how)
	}
	pid, _, err := syscall.StartProcess(p.path, p.argv, how)
	return pid, err
}

// letGo closes what only the command is to hold open.
func (p *init1) letGo() {
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	for fd := range p.fds {
		if err != nil || fd > 2 {
			_ = unix.Close(fd)
			continue
		}
		_ = unix.Dup3(null, fd, 0)
	}
	if err == nil {
		_ = unix.Close(null)
	}
	// What we inherited beside is the only thing without this flag.
	for fd := p.fds; fd < 256; fd++ {
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			_ = unix.Close(fd)
		}
	}
}

// listen does what it is told; when nobody is left to tell, it ends all.
func (p *init1) listen() {
	var b [2]byte
	for {
		// Both at once: one kind of link keeps messages apart.
		if _, err := io.ReadFull(p.link, b[:]); err != nil {
			p.killAll()
			return
		}
		p.do(b[0], syscall.Signal(b[1]))
	}
}

func (p *init1) do(what byte, s syscall.Signal) {
	switch what {
	case fork.SignalGroup:
		p.signalGroup(s)
	case fork.SignalAll:
		p.signalAll(s)
	case fork.KillAll:
		p.killAll()
	}
}

// reap collects the dead until nobody is left.
func (p *init1) reap() {
	for {
		options := 0
		if !p.ended.Load() {
			options = unix.WUNTRACED
		}
		var w syscall.WaitStatus
		var u syscall.Rusage
		pid, err := syscall.Wait4(-1, &w, options, &u)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return
		case pid != p.head || p.ended.Load():
		case w.Stopped():
			if !p.killing.Load() {
				p.tell(record{kind: toldStopped, n: uint32(w)})
			}
		default:
			p.ended.Store(true)
			left := p.rest()
			p.tell(record{kind: toldEnded, left: left, n: uint32(w), user: micros(u.Utime), system: micros(u.Stime), rss: int64(u.Maxrss)}) //nolint:unconvert // of another type on other machines
			if !left {
				return
			}
		}
	}
}

// rest collects those that are dead already and reports whether others are.
func (p *init1) rest() bool {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return false
		}
		if pid == 0 {
			return true
		}
	}
}

func micros(t syscall.Timeval) int64 { return int64(t.Sec)*1e6 + int64(t.Usec) } //nolint:unconvert // of another type on other machines

// signalGroup looks for the group's members once its leader is gone, for its
// number may be another's by now.
func (p *init1) signalGroup(s syscall.Signal) {
	if !p.ended.Load() {
		_ = unix.Kill(-p.head, s)
		return
	}
	for _, q := range p.members() {
		if q.Group == p.head {
			q.send(s)
		}
	}
}

func (p *init1) signalAll(s syscall.Signal) {
	if namespaces(p.method) {
		_ = unix.Kill(-1, s)
		return
	}
	for _, q := range p.members() {
		q.send(s)
	}
}

// killAll ends everything; reap sees it end. In a namespace one call reaches
// all at once, and a process that forks at that moment does not escape it.
func (p *init1) killAll() {
	p.killing.Store(true)
	if namespaces(p.method) {
		_ = unix.Kill(-1, unix.SIGKILL)
		return
	}
	endBelow(own(), p.group)
}

// endBelow kills everything that descends from root; who is its parent collects it.
func endBelow(root Process, group *cgroup) {
	if group != nil {
		// What has left the cgroup, which takes a privilege, is still below.
		_ = group.kill()
	}
	freeze(root)
	for range 400 {
		all := membersBelow(root)
		if len(all) == 0 {
			return
		}
		for _, q := range all {
			q.send(unix.SIGKILL)
		}
		pause()
	}
}

// freeze stops everything until nobody is seen to run. Whom it sees it stops
// at once, before it looks at the children: a chain of processes that each
// start the next and end would stay ahead of a look at the whole table. That
// look comes last and twice, because it is not made in one moment, and a
// process that was told to stop may start another before it does.
func freeze(root Process) {
	told := map[Process]bool{}
	for clean, round := 0, 0; clean < 2 && round < 1000; round++ {
		running := stopBelow(root, told)
		if running == 0 {
			for _, q := range membersBelow(root) {
				running += stop(q, told)
			}
			clean++
		}
		if running > 0 {
			clean = 0
			runtime.Gosched()
		}
	}
}

// stopBelow stops what descends from pid and returns how many still ran.
func stopBelow(root Process, told map[Process]bool) (running int) {
	if now, ok := find(root.Pid); !ok || !root.is(now) {
		return 0
	}
	queue := []int{root.Pid}
	for i := 0; i < len(queue) && i < 1<<16; i++ {
		for _, q := range children(queue[i]) {
			running += stop(q, told)
			queue = append(queue, q.Pid)
		}
	}
	return running
}

// stop stops q and returns 1, or 0 when it does not run. One that sleeps in
// the kernel cannot be seen to stop, such as a parent in vfork whose child was
// stopped before its exec; told once, it does not get back to its program.
func stop(q Process, told map[Process]bool) int {
	id := Process{Pid: q.Pid, Start: q.Start}
	switch q.State {
	case 'T', 't', 'Z', 'X':
		return 0
	case 'D':
		if told[id] {
			return 0
		}
	}
	told[id] = true
	q.send(unix.SIGSTOP)
	return 1
}

// pause gives the dying a moment.
func pause() {
	t := unix.Timespec{Nsec: 2e6}
	_ = unix.Nanosleep(&t, nil)
}

// members reads the whole table: the kernel's lists of children may miss one
// while they change.
func (p *init1) members() []Process { return membersBelow(own()) }

// own is this process as a root.
func own() Process { return Process{Pid: os.Getpid()} }

// is reports whether the process that p was found to be still has its number. A
// start time of 0 is that of one that cannot have lost it.
func (p Process) is(now Process) bool { return p.Start == 0 || p.Start == now.Start }

// membersBelow lists what descends from root and lives.
func membersBelow(root Process) []Process {
	all := descent(table(), root.Pid)
	if len(all) == 0 || !root.is(all[0]) {
		return nil
	}
	return living(all[1:])
}
