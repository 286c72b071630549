package tool

import (
	"fmt"
	"testing"
)

// TestCancelled: what a caller at another place has cancelled is said to be that, whatever the
// tool made of it.
func TestCancelled(t *testing.T) {
	cancelled := Errorf(Interrupted, "the caller has cancelled the call").WithHint("call again to start over")
	wrapped := Errorf(IO, "%w", fmt.Errorf("asking: %w", cancelled)).WithHint("see {jobs}")
	if got := AsError(fmt.Errorf("kill: %w", wrapped)); got != cancelled {
		t.Errorf("%s: %v", got.Code, got)
	}
	if plain := Errorf(IO, "it is full"); AsError(plain) != plain {
		t.Error("another error is another one now")
	}
}
