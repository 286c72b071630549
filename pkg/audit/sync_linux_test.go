package audit

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSync reads with strace what an Append with Sync puts on the disk: its
// line each time, and the directory when the file is new.
func TestSync(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("no strace here: whether lines get to the disk is NOT tested")
	}
	dir, out := private(t), filepath.Join(t.TempDir(), "trace")
	cmd := spawn(t, "synced", dir)
	cmd.Args = append([]string{strace, "-f", "-y", "-qq", "-e", "trace=fsync,fdatasync", "-o", out}, cmd.Args...)
	cmd.Path = strace
	if text, err := cmd.CombinedOutput(); err != nil {
		if strings.Contains(string(text), "ptrace") {
			t.Skipf("nothing can be traced here: whether lines get to the disk is NOT tested: %s", text)
		}
		t.Fatalf("%v: %s", err, text)
	}
	trace, err := os.ReadFile(out)
	must(t, err)
	if n := strings.Count(string(trace), "/"+FileName+">"); n != 3 {
		t.Errorf("%d of 3 lines were synced:\n%s", n, trace)
	}
	if n := strings.Count(string(trace), filepath.Base(dir)+">"); n != 1 {
		t.Errorf("the directory was synced %d times, not once:\n%s", n, trace)
	}
}
