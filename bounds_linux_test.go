package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agentkit-go/agentkit/pkg/sandbox"
)

// TestMemory: an edit takes at most 8 times the memory of the larger of the two contents,
// beside what the program itself takes, and its result stays small, however many places change.
func TestMemory(t *testing.T) {
	long(t)
	w := newWorld(t, build(t))
	const (
		program = 40 << 20 // bytes: what a call with a small file takes, and some room
		times   = 8
	)
	for name, c := range map[string]struct {
		text, old, now string
		places         int
	}{
		"in one line":   {"a,", ",", ";;", 5_000_000},
		"in every line": {"some words here, and a few more of them\n", ",", ";", 250_000},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(w.root, "large.txt")
			text := "head\n" + strings.Repeat(c.text, c.places) + "\ntail\n"
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := w.command(t.Context(), "edit", "large.txt", c.old, c.now, "--replace-all", "--max-bytes", "2000")
			var out bytes.Buffer
			cmd.Stdout = &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			most := highWater(cmd.Process.Pid)
			if err := cmd.Wait(); err != nil {
				t.Fatalf("%v: %.300s", err, out.Bytes())
			}
			var r struct{ Metadata struct{ Replacements int } }
			if err := json.Unmarshal(out.Bytes(), &r); err != nil || r.Metadata.Replacements != c.places || out.Len() > 10_000 {
				t.Errorf("%v: %d replacements, want %d, in a result of %d bytes", err, r.Metadata.Replacements, c.places, out.Len())
			}
			larger := max(len(text), len(text)+c.places*(len(c.now)-len(c.old)))
			took, want := most(), times*int64(larger)+program
			if took == 0 || took > want {
				t.Errorf("%d MB were taken, want at most %d", took>>20, want>>20)
			}
			t.Logf("%d MB for %d MB", took>>20, larger>>20)
		})
	}
}

// highWater looks, until the process ends, how much memory it has held at most; what it gives
// tells that in bytes, when it has ended. What the system tells of an ended process also counts
// what its parent held when it started it, which may be more.
func highWater(pid int) (most func() int64) {
	ended := make(chan int64, 1)
	go func() {
		var most int64
		for {
			status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
			_, rest, ok := strings.Cut(string(status), "VmHWM:")
			if err != nil || !ok { // it has ended
				ended <- most
				return
			}
			if f := strings.Fields(rest); len(f) > 0 {
				n, _ := strconv.ParseInt(f[0], 10, 64)
				most = max(most, n<<10)
			}
			time.Sleep(2 * time.Millisecond)
		}
	}()
	return func() int64 { return <-ended }
}

// TestAskingIsBrief: a request for approval holds a long command twice at most, for whoever
// approves it and for who repeats the call.
func TestAskingIsBrief(t *testing.T) {
	w := newWorld(t, build(t))
	command := "rm -rf /srv/elsewhere; : " + strings.Repeat("x", 100_000)
	cmd := w.command(t.Context(), "bash", command)
	out, err := cmd.Output()
	if cmd.ProcessState.ExitCode() != 126 {
		t.Fatalf("%v: %.300s", err, out)
	}
	if n := bytes.Count(out, []byte(strings.Repeat("x", 90_000))); n > 2 || len(out) > 210_000 {
		t.Errorf("the request has %d bytes and the command %d times", len(out), n)
	}
}

// TestUpdateCheck: that npm may not look for a newer npm is not said of a command that did well.
func TestUpdateCheck(t *testing.T) {
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("SKIPPED: npm is not here")
	}
	if sandbox.Probe().Level < sandbox.L3 {
		t.Skip("SKIPPED: this machine reaches no sandbox of level 3")
	}
	w := newWorld(t, build(t))
	if err := os.WriteFile(filepath.Join(w.root, "package.json"), []byte(`{"name":"x","version":"1.0.0","scripts":{"hi":"echo hi"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := w.command(t.Context(), "--sandbox", "require", "-o", "text", "bash", "npm run hi")
	cmd.Env = append(cmd.Env, "CI=", "npm_config_cache="+t.TempDir()) // it looks once a day
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "hi") || strings.Contains(string(out), "refused") {
		t.Errorf("%v: %s", err, out)
	}
}
