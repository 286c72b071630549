//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"

	"github.com/agentkit-go/agentkit/pkg/fork"
	"golang.org/x/sys/unix"
)

// A Process is a command that was started in a sandbox.
type Process struct {
	Pid int
	Enforced
}

// Start starts the program path as syscall.StartProcess does, but confined by
// the highest level that c allows and this machine reaches. The calling
// process is the gatekeeper: what it decides and sees goes into c.Report. A nil
// Decider lets every program start.
//
// Of attr.Sys it heeds Setsid, Setctty, Setpgid, Pgid, Pdeathsig, Credential
// and UseCgroupFD. Where c.Minimum cannot be reached the error is ErrLevel and
// nothing was started; where c has none the command runs at L0, and
// Process.Missing says why.
func (c *Config) Start(path string, argv []string, attr *syscall.ProcAttr, decide Decider) (*Process, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	log, err := openReportLog(c.Report)
	if err != nil {
		return nil, err
	}
	want := c.Level
	if want == 0 {
		want = L3
	}
	var missing []string
	for level := want; level >= L2 && level >= c.Minimum; level-- {
		s := &start{Config: c, path: path, argv: argv, attr: attr, decide: decide, log: log, level: level, missing: missing}
		p, err := s.run()
		if err != nil && s.session.joined() { // it cannot be joined from here
			own := *c
			own.Share = ""
			return own.Start(path, argv, attr, decide)
		}
		if err == nil {
			log.write(line{Enforced: &p.Enforced})
			if err := s.release(); err != nil {
				return nil, err
			}
			return p, nil
		}
		unreached, ok := errors.AsType[*unreachedError](err)
		if !ok {
			return nil, err
		}
		missing = append(missing, fmt.Sprintf("%s: %s", level, unreached.why))
	}
	if c.Minimum > L0 {
		err := fmt.Errorf("%w: %s is asked for; %v", ErrLevel, c.Minimum, missing)
		log.write(line{Failed: err.Error()})
		return nil, err
	}
	p := &Process{Enforced: Enforced{Network: Open, Missing: missing}}
	log.write(line{Enforced: &p.Enforced})
	p.Pid, _, err = syscall.StartProcess(path, argv, attr)
	return p, err
}

// An unreachedError says why a level cannot be reached here.
type unreachedError struct{ why string }

// Error implements error.
func (e *unreachedError) Error() string { return "the sandbox cannot be set up: " + e.why }

// A start is one attempt at one level.
type start struct {
	*Config
	path   string
	argv   []string
	attr   *syscall.ProcAttr
	decide Decider
	log    *reportLog
	level  Level
	abi    int // of Landlock

	plan  *plan
	first *fork.Plan // of the process before it, where there is one
	flags uintptr
	below bool // a process that killtree forked makes the command: it has the namespaces
	apart bool // and among them one for mounts
	ours  int  // socket to the child
	tell  int  // the child's end of it, above all descriptors that it hands on
	pid   int
	gate  *gatekeeper
	// opened tells that the gate is
	opened bool
	outer  bool // a gatekeeper further out sees what ours would
	trial  bool // nothing is started in the end

	confiner *Confiner   // that wants to know of the report; nil for none
	session  *sessionNet // the network, where the session has one; nil for one of its own
	rules    *shared     // where the command sees the files that we see
	missing  []string    // why no higher level was reached

	proxy   *proxy
	proxyAt string       // its address as the command sees it; "" for none
	server  net.Listener // what it listens on
	// proxyPort is where it really listens
	proxyPort uint16
}

// run makes the child and leaves it before the start of the program, which
// waits for the gate to open.
func (s *start) run() (*Process, error) {
	if err := s.prepare(); err != nil {
		return nil, err
	}
	if err := s.fork(); err != nil {
		_ = unix.Close(s.ours)
		return nil, &unreachedError{err.Error()}
	}
	if err := s.introduce(); err != nil {
		s.abandon()
		return nil, err
	}
	if !s.trial {
		s.closeUp()
	}
	if err := s.follow(); err != nil {
		s.abandon()
		return nil, err
	}
	return &Process{Pid: s.pid, Enforced: s.enforced()}, nil
}

// closeUp has nobody read or trace the gatekeeper. The child has to be made
// before: a copy that is closed to all could not be given its users.
func (s *start) closeUp() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }

// prepare makes everything that is there before the child.
func (s *start) prepare() error {
	s.abi = landlockABI()
	if s.TestLandlock > 0 {
		s.abi = min(s.abi, s.TestLandlock)
	}
	if s.abi == 0 {
		return &unreachedError{"this kernel has no Landlock, or it is switched off"}
	}
	if s.level == L2 && s.abi < 3 {
		return &unreachedError{"Landlock of this kernel does not watch the truncation of files (version " + strconv.Itoa(s.abi) + ", 3 is needed)"}
	}
	s.Config = s.everywhere()
	if s.level < L3 {
		s.Config = s.unmounted()
	}
	s.outer = outerGate()
	pair, err := fork.SocketPair(max(64, len(s.attr.Files)+1))
	if err != nil {
		return fmt.Errorf("starting the sandbox: %w", err)
	}
	s.ours, s.tell = pair[0], pair[1]
	if s.below {
		// Who sends the listener is the command, which is no child of ours.
		if err := unix.SetsockoptInt(s.ours, unix.SOL_SOCKET, unix.SO_PASSCRED, 1); err != nil {
			_, _ = unix.Close(s.ours), unix.Close(s.tell)
			return fmt.Errorf("starting the sandbox: %w", err)
		}
	}
	if s.below && s.level < L3 && !s.apart {
		s.rules, err = newRuleset(s.abi).share(func(r *ruleset) { r.fill(s.Config, false) })
		if err != nil {
			_, _ = unix.Close(s.ours), unix.Close(s.tell)
			return &unreachedError{err.Error()}
		}
	}
	err = s.meet()
	if err == nil {
		err = s.prepareProxy()
	}
	if err != nil {
		s.session.leave()
		_ = s.rules.ready()
		_, _ = unix.Close(s.ours), unix.Close(s.tell)
		return err
	}
	return s.write()
}

// write writes the plan.
func (s *start) write() error {
	p := &plan{}
	s.plan = p
	mounts := s.level >= L3
	filled := make(chan *ruleset, 1)
	if s.rules == nil { // beside the mounts: both ask the file system about many paths
		go func() {
			r := newRuleset(s.abi)
			r.fill(s.Config, mounts)
			filled <- r
		}()
	}
	if s.introduced() {
		p.Await(s.tell, s.ours, mounts)
	}
	p.Session(s.attr)
	p.limit(s.Limits, mounts)
	if mounts {
		s.flags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWIPC
		if err := s.writeNetwork(p); err != nil {
			return err
		}
		p.mounts(s.Config, s.terminal())
	}
	p.dropCapabilities()
	p.Credentials(s.attr)
	p.Do("no_new_privs", unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	if s.rules != nil {
		p.Do("landlock_restrict_self", unix.SYS_LANDLOCK_RESTRICT_SELF, s.rules.fd, 0)
	} else {
		p.landlock(<-filled)
	}
	p.Files(s.attr, s.tell)
	// The current directory too has to be of the new mounts.
	p.Chdir(fork.Dir(s.attr))
	w := watch(s.Gate && s.decide != nil, mounts, len(s.Removable) > 0, s.View != "" || len(s.Settings) > 0, s.empties())
	if mounts && s.View != "" {
		w.calls = append(w.calls, links()...)
	}
	w.apart = s.below && s.apart
	w.signals, w.setUser = s.abi < 6, s.SetUser
	prog := filter(w, !mounts || s.network() == Open, s.network())
	if s.outer {
		p.plainSeccomp(prog, s.tell)
	} else {
		p.seccomp(prog, s.listenFlags(), s.tell)
	}
	if s.trial {
		p.Do("waiting for the end", unix.SYS_READ, s.tell, make([]byte, 1), 1).Retried()
		return nil
	}
	env := s.attr.Env
	if s.proxyAt != "" {
		env = proxied(env, s.proxyAt)
	}
	p.Exec(s.path, s.argv, env)
	return nil
}

// listenFlags returns the flags for the listener that this kernel knows. A
// signal does not take back what the gatekeeper has begun with; Go programs
// send each other one every ten milliseconds.
func (s *start) listenFlags() uintptr {
	_, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER|unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, 0)
	if e == unix.EFAULT { // the flags are known, the filter is not there
		return unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
	}
	return 0
}
