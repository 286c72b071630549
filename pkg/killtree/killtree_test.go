//go:build unix

package killtree

import (
	"bufio"
	"errors"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// start runs a script with sh; the script prints pids, one a line.
func start(t *testing.T, script string) (*Tree, *bufio.Reader) {
	t.Helper()
	return run(t, "sh", "-c", script)
}

func pid(t *testing.T, r *bufio.Reader) int {
	t.Helper()
	line, err := r.ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// dead waits until pid is no more, or only a zombie.
func dead(t *testing.T, pid int) {
	t.Helper()
	for range 200 {
		out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
		if err != nil || strings.HasPrefix(strings.TrimSpace(string(out)), "Z") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d is still there", pid)
}

func TestEndReachesChildren(t *testing.T) {
	tree, out := start(t, `sleep 60 & echo $!; sleep 60 & echo $!; wait`)
	a, b := pid(t, out), pid(t, out)
	if !tree.End(time.Second) {
		t.Error("nothing to end")
	}
	dead(t, a)
	dead(t, b)
	if s := tree.State(); s == nil || s.Signal != syscall.SIGTERM {
		t.Errorf("state is %v", s)
	}
}

func TestEndReachesWhatTheCommandLeft(t *testing.T) {
	tree, out := start(t, `sleep 60 >/dev/null & echo $!`)
	left := pid(t, out)
	<-tree.Exited()
	if !tree.Alive() {
		t.Fatal("the child is not seen")
	}
	tree.End(time.Second)
	dead(t, left)
	if tree.Alive() {
		t.Error("the tree still counts as alive")
	}
}

func TestKillAfterGrace(t *testing.T) {
	tree, out := start(t, `trap '' TERM; echo $$; while :; do sleep 1; done`)
	stubborn := pid(t, out)
	begin := time.Now()
	tree.End(150 * time.Millisecond)
	dead(t, stubborn)
	if took := time.Since(begin); took < 150*time.Millisecond {
		t.Errorf("killed after %v, before the grace was over", took)
	}
}

func TestEndReachesTheStopped(t *testing.T) {
	tree, out := start(t, `echo $$; kill -STOP $$`)
	stopped := pid(t, out)
	tree.End(time.Second)
	dead(t, stopped)
}

func TestNothingToEnd(t *testing.T) {
	tree, _ := start(t, `exit 3`)
	<-tree.Exited()
	if err := tree.Err(); err != nil {
		t.Error(err)
	}
	if tree.State().ExitCode != 3 {
		t.Error(tree.State())
	}
	if tree.End(time.Second) {
		t.Error("there was something to end")
	}
}
