//go:build unix

package remote

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestCarriedIsCut: where the connection is lost while the program is carried, nothing of it stays,
// and what shells that were killed have left goes when another one is carried.
func TestCarriedIsCut(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"sh", "bash", "busybox sh"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			words := strings.Fields(shell)
			if _, err := exec.LookPath(words[0]); err != nil {
				t.Skipf("SKIPPED: %s is not here: %s is not tried", words[0], shell)
			}
			home := t.TempDir()
			far := filepath.Join(home, "far")
			sh := exec.CommandContext(t.Context(), words[0], append(words[1:], "-c", script("word", &program{name: "x"}))...) //nolint:gosec // a shell
			sh.Env = []string{"PATH=" + os.Getenv("PATH"), "AGENTKIT_STATE=" + home}
			in, err := sh.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := sh.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := sh.Start(); err != nil {
				t.Fatal(err)
			}
			_, _ = in.Write(append([]byte("hash 1048576\n"), make([]byte, 1000)...))
			parts := func() []string {
				list, _ := filepath.Glob(filepath.Join(far, ".new-*"))
				return list
			}
			for range 3000 {
				if len(parts()) > 0 {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			if len(parts()) != 1 {
				t.Fatal("nothing was begun")
			}
			_ = errors.Join(out.Close(), in.Close())
			_ = sh.Wait()
			if list := parts(); len(list) > 0 {
				t.Errorf("left: %q", list)
			}

			old, young := filepath.Join(far, ".new-1"), filepath.Join(far, ".new-2")
			for _, name := range []string{old, young} {
				if err := os.WriteFile(name, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Chtimes(old, time.Now(), time.Now().Add(-50*time.Hour)); err != nil {
				t.Fatal(err)
			}
			const sent = "#!/bin/sh\n"
			sh = exec.CommandContext(t.Context(), words[0], append(words[1:], "-c", script("word", &program{name: "x"}))...) //nolint:gosec // a shell
			sh.Env = []string{"PATH=" + os.Getenv("PATH"), "AGENTKIT_STATE=" + home}
			sh.Stdin = strings.NewReader(fmt.Sprintf("%x %d\n%s", sha256.Sum256([]byte(sent)), len(sent), sent))
			if out, err := sh.Output(); err != nil || !bytes.HasSuffix(out, []byte("ready\n")) {
				t.Errorf("%v %q", err, out)
			}
			if list := parts(); len(list) != 1 || list[0] != young {
				t.Errorf("left: %q", list)
			}
		})
	}
}

// TestCarriedIsChecked: what comes over the pipe is kept and started only when it is what
// was sent.
func TestCarriedIsChecked(t *testing.T) {
	t.Parallel()
	const sent = "#!/bin/sh\necho \"$0\" \"$@\"\n"
	for _, c := range []struct{ name, came, want string }{
		{"what was sent", sent, " serve --stdio --carried\n"},
		{"one byte is another", strings.Replace(sent, "echo", "ecHo", 1), "word fails what came is not what was sent\n"},
		{"a byte is missing", sent[1:], "word fails what came is not what was sent\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			sh := exec.CommandContext(t.Context(), "sh", "-c", script("word", &program{name: "x"}))
			sh.Env = []string{"PATH=" + os.Getenv("PATH"), "AGENTKIT_STATE=" + home}
			sh.Stdin = strings.NewReader(fmt.Sprintf("%x %d\n%s", sha256.Sum256([]byte(sent)), len(sent), c.came))
			out, _ := sh.Output()
			if !bytes.HasSuffix(out, []byte(c.want)) {
				t.Errorf("%q", out)
			}
			kept, err := filepath.Glob(filepath.Join(home, "far", "*"))
			if fine := c.came == sent; err != nil || fine != (len(kept) == 1) {
				t.Errorf("kept: %q %v", kept, err)
			}
		})
	}
}
