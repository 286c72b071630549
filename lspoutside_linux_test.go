package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/sandbox"
)

// TestServerOutsidePath: agentkit that is called by a path outside PATH, as clients of mcp do, starts a
// language server as one on PATH does, and leaves no request behind.
func TestServerOutsidePath(t *testing.T) {
	t.Parallel()
	if sandbox.Probe().Level < sandbox.L3 {
		t.Skip("SKIPPED: this machine reaches no sandbox of level 3")
	}
	dir, err := os.MkdirTemp("/var/tmp", "agentkit-server") //nolint:usetesting // what lies in /tmp may be read unasked
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	bin := filepath.Join(dir, "tools/agentkit")
	install(t, bin)
	writeTree(t, dir, map[string]string{"work/a.c": "def greet\n", "home/x": "", "tmp/x": ""})
	run := func(args ...string) string {
		cmd := exec.Command(bin, append(args, "-o", "text")...)
		cmd.Dir, cmd.Env = filepath.Join(dir, "work"), []string{"HOME=" + dir + "/home", "TMPDIR=" + dir + "/tmp", "PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8"}
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	defer run("kill", "all")
	for _, want := range []struct{ out, args string }{
		{"nothing is wrong\n", "diagnostics a.c"},
		{"a.c:1:5: def greet\n", "lsp definition a.c --symbol greet"},
		{"nothing waits\n", "policy approvals"},
	} {
		if out := run(strings.Fields(want.args)...); out != want.out {
			t.Errorf("%s: %s", want.args, out)
		}
	}
}
