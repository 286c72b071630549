//go:build linux && (amd64 || arm64)

package killtree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
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

// TestNoNamespaces: where the kernel makes no namespaces, that is found out once
// and not by starting a stage.
func TestNoNamespaces(t *testing.T) {
	if !changed(t, "echo 0 >/proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all --inh-caps=-all --no-new-privs") {
		return
	}
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []string{PIDNamespace, UserNamespace} {
		if _, err := (Options{Self: path, Method: m}).Start(exec.Command("true")); !errors.Is(err, ErrMethod) || !errors.Is(err, errNamespaces) {
			t.Errorf("%s: %v", m, err)
		}
	}
	tree, err := (Options{Self: path}).Start(exec.Command("true"))
	if err != nil {
		t.Fatal(err)
	}
	if <-tree.Exited(); namespaces(tree.Method()) || tree.State().ExitCode != 0 {
		t.Errorf("%s: %+v", tree.Method(), tree.State())
	}
}
