//go:build linux && (amd64 || arm64)

package killtree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/agentkit-go/agentkit/pkg/fork"
)

// TestAsStarted: what fails before the command was let go is no failure of the
// command, even where it looks like one: then another method is tried.
func TestAsStarted(t *testing.T) {
	c := exec.Command("true")
	gone := &fs.PathError{Op: "write", Path: "stage", Err: syscall.EPIPE}
	if err := asStarted(fmt.Errorf("%w: the stage ended: %w", ErrMethod, gone), c); !errors.Is(err, ErrMethod) {
		t.Errorf("%v", err)
	}
	var p *fs.PathError
	if err := asStarted(&fs.PathError{Op: "fork/exec", Path: "x", Err: syscall.ENOENT}, c); !errors.As(err, &p) || p.Path != c.Path || errors.Is(err, ErrMethod) {
		t.Errorf("%v", err)
	}
}

// TestNoNamespaces: where the kernel makes no namespaces, that is found out once
// and not by starting a stage.
func TestNoNamespaces(t *testing.T) {
	if !changed(t, "echo 0 >/proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all --inh-caps=-all --no-new-privs") {
		return
	}
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []string{PIDNamespace, UserNamespace} {
		if _, err := (Options{Self: path, Method: m}).Start(exec.Command("true")); !errors.Is(err, ErrMethod) || !errors.Is(err, errNamespaces) {
			t.Errorf("%s: %v", m, err)
		}
	}
	tree, err := (Options{Self: path}).Start(exec.Command("true"))
	if err != nil {
		t.Fatal(err)
	}
	if <-tree.Exited(); namespaces(tree.Method()) || tree.State().ExitCode != 0 {
		t.Errorf("%s: %+v", tree.Method(), tree.State())
	}
}

// TestReplaced: an init that becomes our program to end everything becomes the one
// that forked it, though another stands in its place by now.
func TestReplaced(t *testing.T) {
	for _, m := range []string{Cgroup, Subreaper} {
		t.Run(m, func(t *testing.T) {
			if tree, err := (Options{Self: self(t), Method: m}).Start(exec.Command("true")); err != nil {
				t.Skip(err)
			} else {
				<-tree.Exited()
			}
			mark, program := newMark(t), self(t)
			if os.Geteuid() != 0 {
				t.Skip("the test's own program is not a copy")
			}
			c, line := supervised(t, Options{Self: program, Method: m}, []string{"PATH=/usr/bin:/bin", mark}, "sh", "-c", "setsid sleep 1000 & trap : TERM; echo up; sleep 1000; sleep 1000")
			if err := os.Remove(program); err != nil {
				t.Error(err)
			}
			if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
				t.Error(err)
			}
			n := 0
			for i := 0; i < 500 && n < 4; i++ {
				time.Sleep(10 * time.Millisecond)
				n = len(marked(mark))
			}
			if line != "up\n" || n < 4 {
				t.Errorf("%q, %d processes", line, n)
			}
			_ = c.Process.Kill()
			_ = c.Wait()
			if left := survivors(mark); len(left) > 0 {
				t.Errorf("%v survive", left)
				for _, pid := range left {
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			}
		})
	}
}

// A told is a Confiner that keeps what it was told.
type told struct{ without string }

func (c *told) Start([]byte, string, []string, *syscall.ProcAttr) (int, error) {
	return 0, errors.New("the stage is not meant to")
}

func (c *told) Prepare(_ []byte, _ string, _ []string, _ *syscall.ProcAttr, at Place) (Forked, error) {
	c.without = at.Without
	return nil, errors.New("enough")
}

// TestKnown: what is known about the machine is not tried again, and who confines
// the command is told why there are no namespaces.
func TestKnown(t *testing.T) {
	best := cached.Load() // what has worked here counts for the tests that follow
	t.Cleanup(func() { cached.Store(best) })
	o := Options{Self: self(t), Known: Subreaper}
	tree, err := o.Start(exec.Command("true"))
	if err != nil {
		t.Fatal(err)
	}
	if <-tree.Exited(); tree.Method() != Subreaper {
		t.Errorf("%s though %s is known to be the best", tree.Method(), o.Known)
	}
	c := &told{}
	o.Known, o.Confine, o.Confiner, o.Without = Subreaper, []byte("{}"), c, "they are not wanted"
	if _, err := o.Start(exec.Command("true")); err == nil || err.Error() != "enough" || c.without != o.Without {
		t.Errorf("%v, and it was told %q", err, c.without)
	}
}

// A broken is a Confiner whose plan ends the child.
type broken struct{ plan func(p *fork.Plan) }

// Start implements Starter: it is what the stage uses, without confining anything.
func (broken) Start(_ []byte, path string, argv []string, attr *syscall.ProcAttr) (int, error) {
	pid, _, err := syscall.StartProcess(path, argv, attr)
	return pid, err
}

// Prepare implements Confiner.
func (c broken) Prepare(_ []byte, path string, argv []string, attr *syscall.ProcAttr, _ Place) (Forked, error) {
	pair, err := fork.SocketPair(linkAt)
	if err != nil {
		return nil, err
	}
	u := &unconfined{path: path, ours: pair[0], tell: pair[1]}
	u.plan.Files(attr, u.tell)
	c.plan(&u.plan)
	u.plan.Exec(path, argv, attr.Env)
	return u, nil
}

// TestFallBack: a child that does not get as far as the program, because a call fails
// or because it crashes, leaves the command to a stage.
func TestFallBack(t *testing.T) {
	plans := map[string]func(p *fork.Plan){
		"nothing":   func(*fork.Plan) {},
		"a failure": func(p *fork.Plan) { p.Do("no such call", 99999) },
		"a crash":   func(p *fork.Plan) { p.Poke(p.Cell(), nil) },
	}
	for name, plan := range plans {
		t.Run(name, func(t *testing.T) {
			forMethods(t, func(t *testing.T, o Options) {
				if o.NoFork {
					return
				}
				o.Confine, o.Confiner, o.Without = []byte("{}"), broken{plan}, "they are not wanted"
				out, err := os.CreateTemp(t.TempDir(), "out")
				if err != nil {
					t.Fatal(err)
				}
				defer out.Close()
				c := exec.Command("sh", "-c", "echo it ran; exit 3")
				c.Stdout = out
				tree, err := o.Start(c)
				if err != nil {
					t.Fatal(err)
				}
				if _, ok := tree.backend.(*forked); ok != (name == "nothing") {
					t.Errorf("forked: %v", ok)
				}
				<-tree.Exited()
				if text, err := os.ReadFile(out.Name()); err != nil || string(text) != "it ran\n" || tree.State().ExitCode != 3 {
					t.Errorf("%q %v %+v", text, err, tree.State())
				}
				tree.Collect()
			})
		})
	}
}

// TestInitIsClosed: the init is a copy of the process that forked it, and shows its
// memory to nobody, not even to the same user. TestAsOthers runs it.
func TestInitIsClosed(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may look at everything; TestAsOthers runs this as another user")
	}
	forMethods(t, func(t *testing.T, o Options) {
		if o.NoFork {
			return
		}
		tree, err := o.Start(exec.Command("sleep", "1000"))
		if err != nil {
			t.Fatal(err)
		}
		defer tree.End(0)
		for range 2000 { // it closes itself once the command is made
			_, err = os.ReadFile(fmt.Sprintf("/proc/%d/environ", tree.Pid()))
			if errors.Is(err, fs.ErrPermission) {
				return
			}
			time.Sleep(time.Millisecond)
		}
		t.Errorf("anybody can look into it: %v", err)
	})
}

// stageConfiner is the Confiner of the test's own stages.
func stageConfiner() Confiner { return broken{} }
