package killtree

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

// TestCrowded: a command of root's that multiplies is ended where nothing else bounds it.
func TestCrowded(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("NOT TESTED: for other users than root the kernel counts")
	}
	const most = 60
	for _, script := range []string{
		`f() { [ "$1" -gt 0 ] && { f $(($1-1)) & f $(($1-1)) & wait; }; }; f 12`,
		`i=0; while [ $i -lt 2000 ]; do setsid sleep 100 & i=$((i+1)); done; exit 0`,
	} {
		tree, err := (Options{Self: self(t), Method: Subreaper, MaxProcesses: most}).Start(exec.Command("sh", "-c", script))
		if err != nil {
			t.Fatal(err)
		}
		for begin := time.Now(); !tree.Crowded() && time.Since(begin) < 20*time.Second; {
			time.Sleep(10 * time.Millisecond)
		}
		if !tree.Gone(20*time.Second) || !tree.Crowded() {
			t.Errorf("%s: crowded %v, and %d processes are left", script, tree.Crowded(), len(tree.Members()))
		}
		tree.End(0)
	}
	for m, want := range map[string]bool{Subreaper: true, PIDNamespace: !ownPIDMax(), UserNamespace: !ownPIDMax()} {
		if got := uncounted(m); got != want {
			t.Errorf("uncounted(%s) is %v", m, got)
		}
	}
	tree, err := (Options{Self: self(t), Method: Subreaper, MaxProcesses: most}).Start(exec.Command("sh", "-c", "for i in 1 2 3; do sleep 0.2 & done; wait"))
	if err != nil {
		t.Fatal(err)
	}
	<-tree.Exited()
	if tree.Crowded() || tree.State().ExitCode != 0 {
		t.Errorf("a small one ended with %+v", tree.State())
	}
}
