package sandbox

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestRestoreWhileExchanged: one who puts a link in the place of a directory all the time does
// not have changed what it leads to, and in the end what was there is there again.
func TestRestoreWhileExchanged(t *testing.T) {
	c, dir := guardedConfig(t)
	c.ReadOnly = []string{filepath.Join(c.Root, "sub", "deep", "protected")}
	s, err := c.Snapshot(L2)
	if err != nil {
		t.Fatal(err)
	}
	was, err := os.ReadFile(c.ReadOnly[0])
	other, link := filepath.Join(c.Root, "other", "deep"), filepath.Join(c.Root, "link")
	if err = errorsJoin(err, os.MkdirAll(other, 0o755), os.WriteFile(other+"/protected", []byte("theirs"), 0o644)); err != nil {
		t.Fatal(err)
	}
	stop, done := make(chan bool), make(chan bool)
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.RemoveAll(link)
			_ = os.Symlink("other", link)
			_ = unix.Renameat2(unix.AT_FDCWD, link, unix.AT_FDCWD, filepath.Join(c.Root, "sub"), unix.RENAME_EXCHANGE)
		}
	}()
	failed := map[string]int{}
	for range 3000 {
		if _, err := s.Restore(filepath.Join(dir, "state", "quarantine"), Found{}); err != nil {
			failed[err.Error()]++
		}
	}
	close(stop)
	<-done
	t.Logf("what did not come to an end: %v", failed)
	if _, err := s.Restore(filepath.Join(dir, "state", "quarantine"), Found{}); err != nil {
		t.Fatal(err)
	}
	if now, err := os.ReadFile(other + "/protected"); string(now) != "theirs" {
		t.Errorf("what the link led to: %q, %v", now, err)
	}
	if now, err := os.ReadFile(c.ReadOnly[0]); err != nil || string(now) != string(was) {
		t.Errorf("what was there: %q, %v", now, err)
	}
	if i, err := os.Lstat(c.Root + "/sub"); err != nil || !i.IsDir() {
		t.Errorf("the directory: %v, %v", i, err)
	}
}
