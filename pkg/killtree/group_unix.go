//go:build unix

package killtree

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

const (
	unstaged = Group
	sigcont  = syscall.SIGCONT
)

// group is the backend without a stage.
type group struct {
	cmd   *exec.Cmd
	ended chan struct{}
}

func startGroup(c *exec.Cmd) (backend, error) {
	if c.SysProcAttr == nil {
		c.SysProcAttr = &syscall.SysProcAttr{}
	}
	c.SysProcAttr.Setsid = true
	adopt(c.SysProcAttr)
	g := &group{cmd: c, ended: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The kernel ends the command when the thread that started it ends;
		// locked, it lives until then.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := c.Start()
		started <- err
		if err == nil {
			<-g.ended
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return g, nil
}

func (g *group) wait(*Tree) (*State, error) {
	err := g.cmd.Wait()
	close(g.ended)
	return stateOf(g.cmd.ProcessState), waitError(err)
}

func (g *group) pid() int { return g.cmd.Process.Pid }

func (g *group) collected() <-chan struct{} { return nil }

// alive asks for the whole group: the pid of its leader stays taken as long
// as the group has a member, so it cannot be someone else's by now.
func (g *group) alive(ended bool) bool {
	if !ended {
		return true
	}
	bury(g.pid())
	return syscall.Kill(-g.pid(), 0) != syscall.ESRCH || len(g.found()) > 0
}

// found lists what is in the command's session or descends from it.
func (g *group) found() []Process {
	select {
	case <-g.ended:
		return around(g.pid(), false)
	default:
		return around(g.pid(), true)
	}
}

// around lists what is in the session or group that head led, and where head itself
// is there what descends from it.
func around(head int, there bool) []Process {
	all := table()
	var out []Process
	for _, p := range all {
		if p.Session == head || p.Group == head {
			out = append(out, p)
		}
	}
	if _, ok := find(head); ok && there {
		out = append(out, descent(all, head)...)
	}
	return living(out)
}

// endHeld kills what no stage ends, and then the holder.
func endHeld(method string, holder, head Process) {
	if method == Group {
		for _, p := range around(head.Pid, head.Alive()) {
			p.send(syscall.SIGKILL)
		}
	}
	holder.send(syscall.SIGKILL)
}

func (g *group) signal(s syscall.Signal, all bool) {
	if all {
		for _, p := range g.found() {
			p.send(s)
		}
	}
	_ = syscall.Kill(-g.pid(), s)
}

func (g *group) kill() { g.signal(syscall.SIGKILL, true) }

// fill adds what only Unix knows. Linux counts memory in KiB, others in bytes.
func fill(s *State, p *os.ProcessState) {
	if w, ok := p.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		s.Signal = w.Signal()
	}
	u, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return
	}
	s.MaxRSS = int64(u.Maxrss) //nolint:unconvert // other systems count in an int32
	if runtime.GOOS != "darwin" && runtime.GOOS != "ios" {
		s.MaxRSS <<= 10
	}
}
