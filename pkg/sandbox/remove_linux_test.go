//go:build linux && (amd64 || arm64)

package sandbox

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// TestRemovedOnce: what is hidden is kept once. What a command makes of its name since is
// its own, and no number of tries holds up the starts of others, which share the lock.
func TestRemovedOnce(t *testing.T) {
	for _, uid := range users(t) {
		b := newBox(t, uid, L3)
		state := filepath.Dir(b.Report)
		secret := filepath.Join(b.Root, "sub", "deep", "secret")
		b.Hidden, b.Removable = append(b.Hidden, secret), []string{secret}
		b.Pinned, b.Private = []string{secret}, []string{state}
		b.Quarantine, b.Moves = filepath.Join(state, "quarantine"), filepath.Join(state, "moves")
		for _, name := range []string{secret, b.Moves} {
			if err := errorsJoin(os.WriteFile(name, []byte("secret"), 0o600), os.Chown(name, uid, uid)); err != nil {
				t.Fatal(err)
			}
		}
		f, err := safefile.Lock(context.Background(), b.Moves)
		if err != nil {
			t.Fatal(err)
		}
		tree := b.start(t, "/usr/bin/python3", "-c", `
import os, time
def refused():
    try: os.rmdir("sub/deep")
    except OSError as e: return e.strerror
print(*{refused() for _ in range(300)}, "tried", flush=True)
while os.path.lexists("sub/deep/secret"):
    try: os.unlink("sub/deep/secret")
    except OSError: time.sleep(.1)
for _ in range(50):
    open("sub/deep/secret", "w").write("mine"); os.unlink("sub/deep/secret")
os.unlink("sub/deep/protected"); os.rmdir("sub/deep"); os.mkdir("sub/deep"); os.rmdir("sub/deep")
print("again", flush=True)`)
		if got := waits(t, b, "tried"); got != "Directory not empty tried\n" { // while somebody has the lock
			t.Errorf("%d: %q", uid, got)
		}
		_ = f.Close()
		if got := waits(t, b, "again"); got != "Directory not empty tried\nagain\n" {
			t.Errorf("%d: %q", uid, got)
		}
		tree.End(0)
		kept, err := filepath.Glob(filepath.Join(b.Quarantine, "*", "content"))
		if text, errRead := os.ReadFile(append(kept, "")[0]); err != nil || errRead != nil || len(kept) != 1 || string(text) != "secret" {
			t.Errorf("%d: %d files are kept: %q %v", uid, len(kept), text, errRead)
		}
	}
}
