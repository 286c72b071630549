package killtree

import (
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// TestInitKilled: when the process above a command is killed, nothing of the command
// is left, whatever the method, and what runs beside it is.
func TestInitKilled(t *testing.T) {
	forMethods(t, func(t *testing.T, o Options) {
		start := func(mark string) *Tree {
			c := exec.Command("sh", "-c", `setsid sleep 1000 & (setsid sh -c "sleep 1000; true" &); trap : TERM HUP; sleep 1000; sleep 1000`)
			c.Env = []string{"PATH=/usr/bin:/bin", mark}
			tree, err := o.Start(c)
			if err != nil {
				t.Fatal(err)
			}
			for i := 0; i < 500 && len(marked(mark)) < 5; i++ {
				time.Sleep(10 * time.Millisecond)
			}
			return tree
		}
		mark, other := newMark(t), newMark(t)+".other"
		tree, beside := start(mark), start(other)
		if len(marked(mark)) < 5 {
			t.Errorf("%d processes", len(marked(mark)))
		}
		_ = syscall.Kill(tree.Pid(), syscall.SIGKILL)
		select {
		case <-tree.Exited():
		case <-time.After(time.Minute):
			t.Fatal("the tree has no end")
		}
		if left := survivors(mark); len(left) > 0 {
			t.Errorf("%v survive", left)
			for _, pid := range left {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		if s := tree.State(); s.Signal != syscall.SIGKILL {
			t.Errorf("%+v", s)
		}
		if n := len(marked(other)); n < 5 {
			t.Errorf("%d processes are left of the tree beside it", n)
		}
		beside.End(0)
	})
}
