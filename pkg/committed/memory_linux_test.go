package committed

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestBounds: git that reads what commands have prepared takes neither more memory than it may, nor prints more
// than is read of it.
func TestBounds(t *testing.T) {
	top := repo(t, "sha1")
	f := files(t, t.TempDir())
	r := &repository{top: top, git: filepath.Join(top, ".git"), late: &f.late}
	limit := filepath.Join(t.TempDir(), "git")
	if err := os.WriteFile(limit, []byte("#!/bin/sh\nsleep 0.1\nulimit -d\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := r.run(limit, nil); err != nil || strings.TrimSpace(out) != strconv.Itoa(maxMemory>>10) {
		t.Errorf("it may have %q KiB, %v", out, err)
	}
	endless := filepath.Join(t.TempDir(), "git")
	if err := os.WriteFile(endless, []byte("#!/bin/sh\nexec cat /dev/zero\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := r.run(endless, nil); !errors.Is(err, errTooMuch) || len(out) > maxOutput {
		t.Errorf("%d bytes, %v", len(out), err)
	}
}
