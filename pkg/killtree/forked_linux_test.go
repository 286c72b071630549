//go:build linux && (amd64 || arm64)

package killtree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
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
	if os.Getenv("KILLTREE_LIMITED") == "" {
		c := exec.Command("unshare", "-Ur", "sh", "-c", `echo 0 >/proc/sys/user/max_user_namespaces &&
			exec setpriv --bounding-set=-all --inh-caps=-all --no-new-privs "$0" -test.run='^TestNoNamespaces$' -test.v`, self(t))
		c.Env = append(os.Environ(), "KILLTREE_LIMITED=1")
		out, err := c.CombinedOutput()
		if err != nil && !strings.Contains(string(out), "=== RUN") {
			t.Skipf("no namespaces to take away: %v %s", err, out)
		}
		if err != nil || !strings.Contains(string(out), "--- PASS") {
			t.Errorf("%v\n%s", err, out)
		}
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
