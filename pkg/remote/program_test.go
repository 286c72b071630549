package remote

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/tool"
)

// TestPackages: for another system the program of the release's package is carried, the one of this
// version.
func TestPackages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pack := func(name string, files ...string) {
		t.Helper()
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		w := tar.NewWriter(z)
		for _, f := range files {
			if err := w.WriteHeader(&tar.Header{Name: f, Mode: 0o755, Size: int64(len(f)), Typeflag: tar.TypeReg}); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write([]byte(f)); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(w.Close(), z.Close(), os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	pack("agentkit_1.2.3_plan9_arm64.tar.gz", "README.md", "completions/agentkit", "./agentkit")
	pack("agentkit_1.2.4_plan9_arm64.tar.gz", "agentkit")
	pack("agentkit_1.2.3_plan9_386.tar.gz", "README.md", "completions/agentkit")
	if err := os.WriteFile(filepath.Join(dir, "agentkit_1.2.3_plan9_arm.tar.gz"), []byte("no package"), 0o600); err != nil {
		t.Fatal(err)
	}
	target, err := Parse("ssh://there")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ version, dir, system, want, wrong string }{
		{"v1.2.3", dir, "plan9/arm64", "./agentkit", ""},
		{"v1.2.4", dir, "plan9/arm64", "agentkit", ""},
		{"v1.2.5", dir, "plan9/arm64", "", "holds 0 packages"},
		{"", dir, "plan9/arm64", "", "holds 2 packages"},
		{"v1.2.3", "", "plan9/arm64", "", "ssh://there is plan9/arm64, and this program is for"},
		{"v1.2.3", dir + "/none", "plan9/arm64", "", "cannot be read"},
		{"v1.2.3", dir, "plan9/386", "", "holds no agentkit"},
		{"v1.2.3", dir, "plan9/arm", "", "gzip: invalid header"},
		{"v1.2.3", dir, "*/arm64", "", "ssh://there is */arm64"},
		{"v1.2.3", dir, "../x\x1b", "", `ssh://there is ../x\x1b`},
	} {
		var sent bytes.Buffer
		p, err := (&program{name: "x", version: c.version}).on(target, c.dir, c.system)
		if err == nil {
			err = p.carry(&sent, func() {})
		}
		if c.wrong == "" {
			if want := fmt.Sprintf("%x %d\n%s", sha256.Sum256([]byte(c.want)), len(c.want), c.want); err != nil || sent.String() != want || p.name != "x" {
				t.Errorf("%v: %q %v", c, sent.String(), err)
			}
			continue
		}
		if e, ok := errors.AsType[*tool.Error](err); !ok || !strings.Contains(e.Message, c.wrong) || e.Hint == "" || sent.Len() > 0 {
			t.Errorf("%v: %v", c, err)
		}
	}
}
