package killtree

import (
	"os/exec"
	"slices"
	"testing"
	"time"
)

// TestExhausted: a command whose processes hold too much memory together is ended, and what
// they share counts once.
func TestExhausted(t *testing.T) {
	const (
		most   = 150 << 20
		spends = `$n = 30e6; for (1..8) { if (!fork) { $x = "a" x $n; sleep 60; exit } } sleep 60`
		shares = `$n = 30e6; $x = "a" x $n; for (1..8) { if (!fork) { sleep 1; exit } } 1 while wait > 0`
	)
	if _, err := exec.LookPath("perl"); err != nil {
		t.Skip("SKIPPED: there is no perl")
	}
	for _, m := range slices.Compact([]string{Probe(Options{Self: self(t)}), Subreaper}) {
		start := func(script string) *Tree {
			t.Helper()
			tree, err := (Options{Self: self(t), Method: m, MaxMemory: most}).Start(exec.Command("perl", "-e", script))
			if err != nil {
				t.Logf("NOT TESTED: %s: %v", m, err)
				return nil
			}
			t.Cleanup(func() { tree.End(0) })
			return tree
		}
		tree := start(spends)
		if tree == nil {
			continue
		}
		if !tree.Gone(20*time.Second) || !tree.Exhausted() {
			t.Errorf("%s: exhausted %v, and %d processes are left", m, tree.Exhausted(), len(tree.Members()))
		}
		tree = start(shares)
		<-tree.Exited()
		if tree.Exhausted() || tree.State().ExitCode != 0 {
			t.Errorf("%s: one that shares its memory ended with %+v", m, tree.State())
		}
	}
}

// TestMachineMemory: what the machine says of itself is read.
func TestMachineMemory(t *testing.T) {
	total, available := machineMemory()
	if total < 64<<20 || available <= 0 || available > total {
		t.Errorf("the machine has %d bytes, and %d of them are available", total, available)
	}
	if n := kilobytes([]byte("Rss: 9 kB\nPss_Anon:       12 kB\nSwapPss: 1 kB\n"), "Pss_Anon:", "SwapPss:"); n != 13<<10 {
		t.Errorf("13 kB are %d", n)
	}
}
