package loss

import (
	"strings"
	"testing"
	"time"
)

// TestLongName: a line that is too long for a name is none, and is not tried with each of
// the directories in it.
func TestLongName(t *testing.T) {
	done := make(chan bool)
	go func() {
		d := &dooming{}
		d.namedIn("--- "+strings.Repeat("a/", 1_000_000), []string{t.TempDir()})
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Error("it takes too long")
	}
}
