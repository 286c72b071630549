//go:build linux && (amd64 || arm64)

package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestGrantedExactly: what a call was given is that, and not what a link leads to that somebody
// has put in its way since.
func TestGrantedExactly(t *testing.T) {
	for _, uid := range users(t) {
		for _, level := range []Level{L2, L3} {
			if Probe().Level < level {
				t.Logf("SKIPPED: this machine does not reach %s", level)
				continue
			}
			for _, exact := range []bool{false, true} {
				t.Run(fmt.Sprint(uid, level, exact), func(t *testing.T) {
					b := newBox(t, uid, level)
					base := filepath.Dir(b.Root)
					own := func(name, text string) string {
						path := filepath.Join(base, name)
						if err := errorsJoin(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600), os.Chown(path, uid, uid)); err != nil {
							t.Fatal(err)
						}
						return path
					}
					written, read := own("elsewhere/written", "old\n"), own("elsewhere/read", "secret\n")
					if err := os.Symlink("elsewhere", filepath.Join(base, "way")); err != nil {
						t.Fatal(err)
					}
					given := []string{filepath.Join(base, "way", "written"), filepath.Join(base, "way", "read")}
					b.ReadWrite = append(b.ReadWrite, given[0])
					b.Readable = append([]string{"/usr", "/bin", "/lib", "/lib64", "/etc"}, given[1])
					if exact {
						b.Granted = slices.Clone(given)
					}
					b.bash(t, `echo new >>../way/written; cat ../way/read; true`)
					text, err := os.ReadFile(written)
					if err != nil {
						t.Fatal(err)
					}
					if wrote := string(text) != "old\n"; wrote == exact {
						t.Errorf("written: %v\n%s", wrote, b.stderr)
					}
					if saw := strings.Contains(b.stdout, "secret"); saw == exact {
						t.Errorf("%s read: %v\n%s", read, saw, b.stderr)
					}
				})
			}
		}
	}
}
