//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"

	"github.com/agentkit-go/agentkit/pkg/fork"
	"github.com/agentkit-go/agentkit/pkg/killtree"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"golang.org/x/sys/unix"
)

// fork makes the child.
func (s *start) fork() error {
	if s.Gate || s.level >= L2 {
		makeRoom()
	}
	var err error
	s.pid, err = forkLocked(&s.plan.Plan, s.flags, s.tell)
	_ = unix.Close(s.tell)
	return err
}

func forkLocked(p *fork.Plan, flags uintptr, tell int) (int, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	pid, e := p.Fork(flags, tell)
	if e != 0 {
		return 0, fmt.Errorf("making the process: %w", explainClone(e))
	}
	return pid, nil
}

func explainClone(e unix.Errno) error {
	switch e {
	case unix.EPERM, unix.ENOSYS: // containers answer either
		return fmt.Errorf("user namespaces are forbidden here: %w", e)
	case unix.ENOSPC:
		return fmt.Errorf("the limit on user namespaces is reached (user.max_user_namespaces): %w", e)
	}
	return e
}

// introduced reports whether the child has to wait for what only its parent
// can give it.
func (s *start) introduced() bool {
	return !s.below && (s.level >= L3 || s.attr.Sys != nil && s.attr.Sys.UseCgroupFD)
}

// introduce gives the child its users and its control group, and lets it go on.
func (s *start) introduce() error {
	if !s.introduced() {
		return nil
	}
	if s.flags&unix.CLONE_NEWUSER != 0 {
		if err := fork.MapUsers(s.pid); err != nil {
			return &unreachedError{err.Error()}
		}
	}
	if a := s.attr.Sys; a != nil && a.UseCgroupFD {
		procs := "/proc/self/fd/" + strconv.Itoa(a.CgroupFD) + "/cgroup.procs"
		if err := os.WriteFile(procs, []byte(strconv.Itoa(s.pid)), 0); err != nil {
			return fmt.Errorf("starting the sandbox: %w", err)
		}
	}
	if _, err := unix.Write(s.ours, []byte{1}); err != nil {
		return &unreachedError{"the process ended at once: " + err.Error()}
	}
	return nil
}

// follow waits until the child has set itself up.
func (s *start) follow() error {
	m, err := s.followNetwork()
	switch {
	case err != nil:
		return fmt.Errorf("starting the sandbox: %w", err)
	case m.fd >= 0:
		if s.below {
			s.pid = m.pid
		}
		s.gate = newGatekeeper(s, m.fd)
		return nil
	case len(m.text) == fork.FailureSize:
		return s.failure(m.text)
	case len(m.text) == 1 && s.outer:
		return nil
	}
	return &unreachedError{"the process ended while it was set up"}
}

// open opens the gate, unless it is open.
func (s *start) open() {
	if s.gate != nil && !s.opened {
		s.opened = true
		s.gate.open()
	}
}

// release opens the gate for the child and returns what came of it.
func (s *start) release() error {
	s.open()
	if s.server != nil {
		s.proxy.guarded = s.gate != nil
		if s.proxy.guarded && s.Gate {
			s.proxy.decide, s.proxy.ctx = s.decide, s.gate.ctx
		}
		go s.proxy.serve(s.server)
	}
	if s.session.joined() && s.gate != nil {
		for _, port := range s.Publish {
			go s.session.publish(s.gate.ctx, port)
		}
	}
	m, err := receive(s.ours)
	switch {
	case err == nil && len(m.text) == fork.FailureSize:
		err = s.failure(m.text)
	case err == nil && s.plan.Crashed():
		err = fmt.Errorf("%w: the process ended before it could start the program", killtree.ErrMethod)
	}
	_ = unix.Close(s.ours)
	s.ours = -1
	if err == nil {
		return nil
	}
	s.abandon()
	if u, ok := errors.AsType[*unreachedError](err); ok {
		return fmt.Errorf("starting the sandbox: %s", u.why)
	}
	return err
}

// failure turns what the child wrote into an error.
func (s *start) failure(msg []byte) error {
	name, e := fork.Explain(msg, s.first, &s.plan.Plan)
	if err := fork.Failed(name, e, s.path, s.attr.Dir); err != nil {
		return err
	}
	switch {
	case name == "":
		return &unreachedError{"the plan came to its end"}
	case name == "seccomp" && e == unix.EBUSY:
		return &unreachedError{"another program listens to the system calls of this process"}
	}
	return &unreachedError{name + ": " + e.Error()}
}

// abandon ends the child and collects it.
func (s *start) abandon() {
	if s.ours >= 0 {
		_ = unix.Close(s.ours)
	}
	if s.server != nil {
		_ = s.server.Close()
	}
	s.session.leave()
	if s.below {
		return // who forked its parent ends all
	}
	_ = unix.Kill(s.pid, unix.SIGKILL)
	for {
		if _, err := unix.Wait4(s.pid, nil, 0, nil); !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// A message is what the child sends.
type message struct {
	text []byte // empty at the end
	fd   int    // the descriptor with it, -1 for none
	pid  int    // its sender, where that was asked for
}

// receive reads one message.
func receive(fd int) (message, error) {
	m := message{fd: -1}
	buf, control := make([]byte, fork.FailureSize), make([]byte, unix.CmsgSpace(4)+unix.CmsgSpace(unix.SizeofUcred))
	for {
		n, size, _, _, err := unix.Recvmsg(fd, buf, control, unix.MSG_CMSG_CLOEXEC)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return m, err
		}
		m.text = buf[:n]
		parts, err := unix.ParseSocketControlMessage(control[:size])
		if err != nil {
			return m, err
		}
		for i := range parts {
			if who, err := unix.ParseUnixCredentials(&parts[i]); err == nil {
				m.pid = int(who.Pid)
			}
			if fds, err := unix.ParseUnixRights(&parts[i]); err == nil && len(fds) == 1 {
				m.fd = fds[0]
			}
		}
		return m, nil
	}
}

// enforced says what holds the child.
func (s *start) enforced() Enforced {
	e := Enforced{Level: s.level, Network: s.network(), Hosts: s.Hosts, Missing: s.missing}
	if s.level >= L3 {
		e.Mechanisms = append(e.Mechanisms, "userns", "mountns", "ipcns")
		if s.network() != Open {
			e.Mechanisms = append(e.Mechanisms, "netns")
		}
		if s.below || os.Getpid() == 1 {
			e.Mechanisms = append(e.Mechanisms, "pidns")
		}
		for _, path := range s.Hidden {
			if safefile.Below(s.Root, path) && !belowAny(path, s.Private) && len(e.Covered) < 50 {
				e.Covered = append(e.Covered, path)
			}
		}
	}
	e.Mechanisms = append(e.Mechanisms, "landlock:"+strconv.Itoa(s.abi), "seccomp", "no_new_privs")
	gate := "exec-gate"
	switch {
	case s.outer:
		gate = "outer-gate"
	case !s.Gate || s.decide == nil:
		gate = "socket-gate"
	}
	e.Mechanisms = append(e.Mechanisms, gate)
	return e
}
