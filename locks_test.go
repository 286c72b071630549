//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// TestInterruptLocked sends signals to calls that wait for a lock which another
// process holds: each ends at once, and says what ended it.
func TestInterruptLocked(t *testing.T) {
	t.Parallel()
	binary := build(t)
	const policy = "version: 1\nask: ['bash(touch *)']\n"
	for name, c := range map[string]struct {
		lock string // below the directory of home, state, config and root
		args []string
	}{
		"approval":  {"state/agentkit/approvals/lock", []string{"bash", "touch made"}},
		"approvals": {"state/agentkit/approvals/lock", []string{"policy", "approvals"}},
		"approve":   {"state/agentkit/approvals/lock", []string{"policy", "approve", "abc"}},
		"rule":      {"config/agentkit/policy.yaml.lock", []string{"policy", "allow", "bash(make *)"}},
		"trust":     {"config/agentkit/trust.json.lock", []string{"policy", "trust"}},
		"refuse":    {"state/agentkit/approvals/lock", []string{"policy", "refuse", "abc", "no"}},
	} {
		for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
			t.Run(name+"/"+sig.String(), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, binary)
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
				defer cancel()
				for _, dir := range []string{".agentkit", "../config/agentkit"} {
					if err := os.MkdirAll(filepath.Join(w.root, dir), 0o700); err != nil {
						t.Fatal(err)
					}
				}
				for _, file := range []string{".agentkit/policy.yaml", "../config/agentkit/policy.yaml"} {
					if err := os.WriteFile(filepath.Join(w.root, file), []byte(policy), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				held, err := safefile.Lock(ctx, filepath.Join(filepath.Dir(w.root), filepath.FromSlash(c.lock)))
				if err != nil {
					t.Fatal(err)
				}
				defer held.Close()
				w.waits(ctx, t, sig, c.args...)
			})
		}
	}
}

// waits runs a call that must not end before the signal, and at once after it.
func (w *world) waits(ctx context.Context, t *testing.T, sig syscall.Signal, args ...string) {
	t.Helper()
	cmd := w.command(ctx, append([]string{"-o", "json"}, args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	select {
	case <-ended:
		t.Fatalf("it did not wait for the lock: %s%s", stdout.String(), stderr.String())
	case <-time.After(500 * time.Millisecond):
	}
	if err := cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(time.Minute):
		_ = cmd.Process.Kill()
		<-ended
		t.Fatal("it waited on")
	}
	if got, want := cmd.ProcessState.ExitCode(), 128+int(sig); got != want {
		t.Errorf("status %d, want %d", got, want)
	}
	var r struct {
		Error struct{ Code, Message, Hint string }
	}
	if err := json.Unmarshal(stdout.Bytes(), &r); err != nil {
		t.Fatalf("%v: %q", err, stdout.String())
	}
	if r.Error.Code != string(tool.Interrupted) || !strings.Contains(r.Error.Message, "interrupted by SIG") || r.Error.Hint == "" {
		t.Errorf("the error is %+v", r.Error)
	}
}
