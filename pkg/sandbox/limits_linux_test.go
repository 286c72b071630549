//go:build linux && (amd64 || arm64)

package sandbox

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agentkit-go/agentkit/pkg/killtree"
)

// TestRunWild: a command that multiplies is bounded, and so is what it writes; the
// machine goes on, and nothing is left of it. It would stop by itself, too.
func TestRunWild(t *testing.T) {
	const most = 100
	for _, uid := range users(t) {
		for _, level := range levels() {
			b := newBox(t, uid, level)
			b.Limits = Limits{Processes: most, File: 1 << 20, Memory: 256 << 20}
			bound := most
			if uid != 0 && level == L2 {
				bound += killtree.Tasks() + 200 // of the user's other processes, too
			}
			b.bash(t, `python3 -c '
import os, time
made = 0
for _ in range(5000):
    try:
        if os.fork() == 0:
            time.sleep(1000)
        made += 1
    except BlockingIOError:
        break
print(made)'`)
			made, err := strconv.Atoi(strings.TrimSpace(b.stdout))
			if err != nil || made < most/2 || made > bound {
				t.Errorf("%s as %d: it made %q processes, %d are allowed: %s", level, uid, b.stdout, bound, b.stderr)
			}

			b = newBox(t, uid, level)
			b.Limits = Limits{Processes: most, File: 1 << 20}
			tree := b.start(t, "/bin/bash", "-c", `f() { [ "$1" -gt 0 ] && { f $(($1-1)) & f $(($1-1)) & wait; }; }; f 9`)
			time.Sleep(200 * time.Millisecond)
			begin := time.Now()
			if err := exec.Command("true").Run(); err != nil || time.Since(begin) > 2*time.Minute {
				t.Errorf("%s as %d: the machine does not go on: %v after %v", level, uid, err, time.Since(begin))
			}
			if n := len(tree.Members()); n > bound+10 { // and those that start it
				t.Errorf("%s as %d: %d processes", level, uid, n)
			}
			tree.End(0)
			if left := tree.Members(); len(left) != 0 {
				t.Errorf("%s as %d: %v is left", level, uid, left)
			}

			b = newBox(t, uid, level)
			b.Limits = Limits{File: 1 << 20, Memory: 256 << 20}
			b.bash(t, `head -c 2000000 /dev/zero >big; stat -c %s big; python3 -c 'bytearray(1 << 29)'; cat /proc/self/oom_score_adj`)
			if b.stdout != "1048576\n500\n" || !strings.Contains(b.stderr, "MemoryError") {
				t.Errorf("%s as %d: %q %s", level, uid, b.stdout, b.stderr)
			}
			var kinds []string
			for _, d := range b.Explain(b.stderr, b.dir) {
				kinds = append(kinds, d.Kind+" "+d.Path+" "+d.Allow)
			}
			if got := strings.Join(kinds, ", "); got != "limit file_bytes limits: {file_bytes: 2097152}, limit memory_bytes limits: {memory_bytes: 536870912}" {
				t.Errorf("%s as %d: told as %s", level, uid, got)
			}
		}
	}
}
