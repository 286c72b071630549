//go:build linux && (amd64 || arm64)

package killtree

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"syscall"
	"testing"
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
