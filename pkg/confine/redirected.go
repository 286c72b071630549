package confine

import (
	"os"
	"path/filepath"

	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
)

// installs are directories of the home where installers put programs, so that commands do not write there, and the
// variables that lead them elsewhere.
var installs = [...]struct{ dir, variable string }{
	{".npm/_npx", "npm_config_cache"},
	{"go/bin", "GOBIN"},
	{".cargo/bin", "CARGO_INSTALL_ROOT"},
	{".local/bin", "PIPX_BIN_DIR or UV_TOOL_BIN_DIR"},
	{".local/share/pipx", "PIPX_HOME"},
	{".local/share/uv/tools", "UV_TOOL_DIR"},
}

// redirect says of a refused write in such a directory which variable helps, and offers the rule for all that is in it,
// since what an installer makes there has another name each time. A directory that is not there yet no rule opens. It is false
// for every other refusal.
func redirect(d *sandbox.Denial, home string) bool {
	for _, in := range installs {
		dir := filepath.Join(home, filepath.FromSlash(in.dir))
		if d.Kind != sandbox.DeniedWrite || d.Allow == "" || home == "" || !safefile.Below(dir, d.Path) {
			continue
		}
		d.Why += "; set " + in.variable + " to a directory that may be written, of the root or a temporary one"
		d.Allow = "edit(" + filepath.Join(dir, "**") + ")"
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			d.Allow = ""
		}
		return true
	}
	return false
}
