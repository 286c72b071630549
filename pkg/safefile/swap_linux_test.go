package safefile

import (
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestOpenSwapped opens a file that someone exchanges with a FIFO all the time:
// it is the file, or it is refused, and opening never waits for a writer.
func TestOpenSwapped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d")
	d, err := MakeDir(path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	file, fifo := filepath.Join(path, "file"), filepath.Join(path, "fifo")
	if err := errors.Join(os.WriteFile(file, []byte("x"), 0o600), unix.Mkfifo(fifo, 0o600)); err != nil {
		t.Fatal(err)
	}
	var over atomic.Bool
	swapped := make(chan struct{})
	go func() {
		defer close(swapped)
		for !over.Load() {
			if err := unix.Renameat2(unix.AT_FDCWD, file, unix.AT_FDCWD, fifo, unix.RENAME_EXCHANGE); err != nil {
				t.Error("exchanging: ", err)
				return
			}
		}
	}()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 20_000 {
			f, err := d.OpenFile("file", os.O_RDONLY)
			switch {
			case err == nil:
				_ = f.Close()
			case !errors.Is(err, ErrUnsafe):
				t.Error(err)
			}
		}
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Error("opening waits for a writer")
	}
	over.Store(true)
	<-swapped
}
