package main

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/sandbox"
)

// withMounts runs a script of sh with mounts of its own, whose $1 is the binary, in a new world.
func withMounts(t *testing.T, script string) ([]byte, error) {
	t.Helper()
	return unshared(t, "-m", script)
}

// unshared is withMounts with other namespaces, named by an option of unshare.
func unshared(t *testing.T, namespaces, script string) ([]byte, error) {
	t.Helper()
	if out, err := exec.Command("unshare", namespaces, "sh", "-c", "mount -t tmpfs none /mnt").CombinedOutput(); err != nil {
		t.Skipf("no mounts of its own here: NOT tested: %v: %s", err, out)
	}
	w := newWorld(t, build(t))
	cmd := w.command(t.Context())
	cmd.Args = []string{"unshare", namespaces, "sh", "-c", script, "sh", w.binary}
	path, err := exec.LookPath("unshare")
	if err != nil {
		t.Fatal(err)
	}
	cmd.Path = path
	return cmd.CombinedOutput()
}

// TestSpillFullDisk keeps the output of one command after the other on a disk
// that has room for one of them: the newest is whole, the older ones go.
func TestSpillFullDisk(t *testing.T) {
	t.Parallel()
	script := `set -e
mount -t tmpfs -o size=7000k none "$XDG_STATE_HOME"
for i in 1 2 3; do
	"$1" --sandbox off -o json bash 'seq 700000'
done
cat "$XDG_STATE_HOME"/agentkit/*/default/spill/*.out | wc -c`
	out, err := withMounts(t, script)
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

// TestSettingsFullDisk has git change its settings in the sandbox on a disk that has no room for
// the longer file: the old one stays as it was.
func TestSettingsFullDisk(t *testing.T) {
	t.Parallel()
	if sandbox.Probe().Level < sandbox.L3 {
		t.Skip("this machine reaches no sandbox of level 3")
	}
	script := `set -e
mkdir small
mount -t tmpfs -o size=64k none small
cd small
git init -q --template= .
{ printf '#'; head -c 3700 /dev/zero | tr '\0' x; printf '\n[alias]\n\tst = status\n'; } >>.git/config
cp .git/config ../before
cat >longer.sh <<'EOF'
{ printf '[user]\n\temail = '; head -c 1500 /dev/zero | tr '\0' z; echo; cat .git/config; } >.git/config.lock
dd if=/dev/zero of=fill bs=4096 2>/dev/null || true
mv .git/config.lock .git/config
EOF
"$1" --root "$PWD" -o text bash 'git config --unset user.name; sh longer.sh' || true
cmp .git/config ../before && echo same`
	out, err := withMounts(t, script)
	if err != nil || !strings.HasSuffix(string(out), "same\n") || !strings.Contains(string(out), "No space left on device") {
		t.Fatalf("%v: %.1000s", err, out)
	}
}

// TestPutBackFullDisk has a command change the settings of a repository and fill the disk, so that what
// was there cannot be put back: it comes back with the call that makes room, or before the next one.
func TestPutBackFullDisk(t *testing.T) {
	t.Parallel()
	long(t)
	if sandbox.Probe().Level < sandbox.L3 {
		t.Skip("this machine reaches no sandbox of level 3")
	}
	script := `set -e
mkdir small
mount -t tmpfs -o size=96k none small
cd small
git init -q --template= .
git init -q --template= nested
{ printf '#'; head -c 3700 /dev/zero | tr '\0' x; printf '\n[alias]\n\tst = status\n'; } >>nested/.git/config
cp nested/.git/config ../before
cat >fill.py <<'EOF'
open('/'.join(['nested', '.git', 'config']), 'w').close()
try:
    with open('fill', 'wb') as f:
        while True:
            f.write(b'x' * 4096)
            f.flush()
except OSError as e:
    print(e)
EOF
"$1" --root "$PWD" -o json bash 'python3 fill.py' | grep -q 'what is missing is put back before the next call' && echo said
"$1" --root "$PWD" -o text bash 'rm fill' >/dev/null 2>&1
cmp nested/.git/config ../before && echo with
"$1" --root "$PWD" -o text bash 'python3 fill.py' >/dev/null 2>&1
rm fill
"$1" --root "$PWD" -o text bash true >/dev/null 2>&1
cmp nested/.git/config ../before && echo before`
	out, err := withMounts(t, script)
	if want := "said\nwith\nbefore\n"; err != nil || string(out) != want {
		t.Fatalf("%v: %.1000s", err, out)
	}
}

// TestFullDiskHints has a call meet a full disk: what is said to be done makes room on that one.
func TestFullDiskHints(t *testing.T) {
	t.Parallel()
	script := `
mkdir small
mount -t tmpfs -o size=64k none small
(cd small && head -c 200000 /dev/zero | tr '\0' x | "$1" --root "$PWD" -o json write big.txt -)
mount -t tmpfs -o size=1m none "$XDG_STATE_HOME"
mkdir -p "$XDG_STATE_HOME/agentkit"
chmod 700 "$XDG_STATE_HOME/agentkit"
git init -q --template= .
"$1" -o json bash true >/dev/null
dd if=/dev/zero of="$XDG_STATE_HOME/fill" bs=1k 2>/dev/null
"$1" -o json bash true`
	out, _ := withMounts(t, script)
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 2 {
		t.Fatalf("%.2000s", out)
	}
	for i, gc := range []bool{false, true} {
		var r struct {
			Error struct{ Message, Hint string }
		}
		if err := json.Unmarshal([]byte(lines[i]), &r); err != nil || !strings.Contains(r.Error.Message, "no space left on device") || strings.Contains(r.Error.Hint, "gc --free") != gc || strings.Contains(r.Error.Hint, "memory") {
			t.Errorf("%v: %.2000s", err, lines[i])
		}
	}
}
