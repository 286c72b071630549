//go:build unix

package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestDevServer runs examples/dev-server confined as far as this machine can, and not
// at all.
func TestDevServer(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"python3", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s on this machine", tool)
		}
	}
	for _, sandbox := range []string{"auto", "off"} {
		t.Run(sandbox, func(t *testing.T) {
			free, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it listens at once
			if err != nil {
				t.Fatal(err)
			}
			port := free.Addr().(*net.TCPAddr).Port
			_ = free.Close()
			dir := t.TempDir()
			c := exec.CommandContext(t.Context(), "sh", "examples/dev-server/run.sh")
			c.Env = append(os.Environ(), "PORT="+strconv.Itoa(port), "AGENTKIT_SANDBOX="+sandbox, "XDG_STATE_HOME="+filepath.Join(dir, "state"), "XDG_CONFIG_HOME="+filepath.Join(dir, "config"),
				"PATH="+filepath.Dir(build(t))+string(os.PathListSeparator)+os.Getenv("PATH"))
			out, err := c.CombinedOutput()
			text := string(out)
			before, after := strings.Index(text, "\n<h1>It runs</h1>\n"), strings.Index(text, "\n<h1>It changed</h1>\n")
			if err != nil || before < 0 || after < before || !strings.Contains(text, "has ended") {
				t.Errorf("%v\n%s", err, text)
			}
		})
	}
}
