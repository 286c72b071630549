//go:build unix

package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

// TestHoldTogether holds and releases 5,000 snapshots in parallel while others
// look all the time for those of killed processes: none may be taken for one,
// none may fail, and what one leaves is put back.
func TestHoldTogether(t *testing.T) {
	c, dir := guardedConfig(t)
	s, err := c.Snapshot(L2)
	if err != nil {
		t.Fatal(err)
	}
	reports, quarantine := filepath.Join(dir, "reports"), filepath.Join(dir, "quarantine")
	if err := os.Mkdir(reports, 0o700); err != nil {
		t.Fatal(err)
	}
	var next atomic.Int64
	var holders, finders sync.WaitGroup
	done := make(chan struct{})
	for range 4 {
		finders.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if err := Recover(reports, nil); err != nil {
					t.Error("recovering: ", err)
					return
				}
			}
		})
	}
	for range 16 {
		holders.Go(func() {
			for i := next.Add(1); i <= 5000; i = next.Add(1) {
				report := filepath.Join(reports, fmt.Sprint("r", i))
				release, err := s.Hold(report, quarantine)
				if err != nil {
					t.Error("holding: ", err)
					return
				}
				if _, err := os.Stat(report + holdSuffix); err != nil {
					t.Error("what is held was taken away: ", err)
				}
				release()
			}
		})
	}
	holders.Wait()
	close(done)
	finders.Wait()
	if left, err := os.ReadDir(reports); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestHoldKilled leaves what is held as a killed process does: with the lock
// gone and the file there. Whoever looks next puts it back, and only then.
func TestHoldKilled(t *testing.T) {
	c, dir := guardedConfig(t)
	s, err := c.Snapshot(L2)
	if err != nil {
		t.Fatal(err)
	}
	before := listing(t, c.Root)
	dir = filepath.Join(dir, "reports [*") // which a glob would read otherwise
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	report, quarantine := filepath.Join(dir, "r1"), filepath.Join(dir, "quarantine")
	release, err := s.Hold(report, quarantine)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.Root+"/.envrc", []byte("evil"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Recover(dir, nil); err != nil || listing(t, c.Root) == before {
		t.Errorf("put back while its process lives: %v", err)
	}
	raw, err := os.ReadFile(report + holdSuffix)
	if err != nil {
		t.Fatal(err)
	}
	release()
	if err := os.WriteFile(report+holdSuffix, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Recover(dir, nil); err != nil || listing(t, c.Root) != before {
		t.Errorf("not put back: %v\n%s", err, listing(t, c.Root))
	}
	if _, err := os.Stat(report + holdSuffix); !os.IsNotExist(err) {
		t.Errorf("the snapshot is still there: %v", err)
	}
}
