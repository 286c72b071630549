package confine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/sandbox"
)

// TestRedirect: of what npx may not write the refusal names the variable, and a rule only where that helps.
func TestRedirect(t *testing.T) {
	home := t.TempDir()
	npx := filepath.Join(home, ".npm", "_npx")
	refused := func(path string) (*sandbox.Denial, bool) {
		d := &sandbox.Denial{Kind: sandbox.DeniedWrite, Path: path, Why: "outside", Allow: "edit(" + path + ")"}
		return d, redirect(d, home)
	}
	if d, ok := refused(npx); !ok || d.Allow != "" || !strings.Contains(d.Why, "npm_config_cache") {
		t.Errorf("not there yet: %+v", d)
	}
	if err := os.MkdirAll(npx, 0o755); err != nil {
		t.Fatal(err)
	}
	if d, ok := refused(filepath.Join(npx, "1a2b")); !ok || d.Allow != "edit("+npx+string(filepath.Separator)+"**)" {
		t.Errorf("there: %+v", d)
	}
	for _, path := range []string{home, filepath.Join(home, ".npm"), filepath.Join(home, ".npm", "_npxx"), filepath.Join(home, ".bashrc")} {
		if d, ok := refused(path); ok || d.Allow != "edit("+path+")" || d.Why != "outside" {
			t.Errorf("%+v", d)
		}
	}
}
