package main

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
)

// TestSpillFullDisk keeps the output of one command after the other on a disk
// that has room for one of them: the newest is whole, the older ones go.
func TestSpillFullDisk(t *testing.T) {
	t.Parallel()
	if out, err := exec.Command("unshare", "-m", "sh", "-c", "mount -t tmpfs none /mnt").CombinedOutput(); err != nil {
		t.Skipf("no mounts of its own here: a full disk is NOT tested: %v: %s", err, out)
	}
	w := newWorld(t, build(t))
	script := `set -e
mount -t tmpfs -o size=7000k none "$XDG_STATE_HOME"
for i in 1 2 3; do
	"$1" --sandbox off -o json bash 'seq 700000'
done
cat "$XDG_STATE_HOME"/agentkit/*/default/spill/*.out | wc -c`
	cmd := w.command(t.Context())
	cmd.Args = []string{"unshare", "-m", "sh", "-c", script, "sh", w.binary}
	path, err := exec.LookPath("unshare")
	if err != nil {
		t.Fatal(err)
	}
	cmd.Path = path
	out, err := cmd.CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || len(lines) != 4 {
		t.Fatalf("%v: %.1000s", err, out)
	}
	for _, line := range lines[:3] {
		var r struct {
			Metadata struct {
				Incomplete string
				Total      int64 `json:"total_bytes"`
			}
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.Metadata.Incomplete != "" || r.Metadata.Total != 4788895 {
			t.Errorf("%v: %+v", err, r)
		}
	}
	if lines[3] != "4788895" {
		t.Errorf("%s bytes of output are kept, want those of the last command", lines[3])
	}
}
