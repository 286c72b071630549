package wall

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// The directories that are looked into for names of secrets, in parts of their names below
// the home: what lies deeper are mostly caches and installations, and too many files to look
// at before each command.
const (
	homeDepth     = 2
	homeDepthMost = 3 // of .local, whose share and state hold what is a dot entry elsewhere
)

// homeSecrets hides what the policy keeps from commands by its name, or by a pattern, in the
// home's dot entries, and in what those that are links lead to.
func (w *Wall) homeSecrets(home string, linked []string) {
	w.namesBelow(home, "", func(parts []string) bool {
		most := homeDepth
		if parts[0] == ".local" {
			most = homeDepthMost
		}
		return parts[0][0] != '.' || len(parts) > most
	})
	for _, dir := range linked {
		w.namesBelow(dir, "", func(parts []string) bool { return len(parts) >= homeDepth })
	}
}

// installedSecrets is homeSecrets for what is installed outside of the system's directories.
// A .pem there is a certificate that programs need.
func (w *Wall) installedSecrets() {
	for _, dir := range w.o.Policy.Installations() {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			w.namesBelow(real, ".pem", func(parts []string) bool { return len(parts) > 2 || len(parts) > 1 && dir != "/opt" })
		}
	}
}

// namesBelow is homeSecrets for one directory; deep says of the parts of a name below it
// that the directory is not looked into. What ends in but is left open; "" for nothing.
func (w *Wall) namesBelow(top, but string, deep func(parts []string) bool) {
	p := w.o.Policy
	passed := func(dir string) bool {
		rel, ok := safefile.Rel(top, dir)
		return !ok || dir == w.o.Root || dir == p.Enclosing() || deep(strings.Split(filepath.ToSlash(rel), "/"))
	}
	notable := func(path string, within bool) (bool, bool) {
		hit, opens := p.Notable(path, within)
		return hit && (but == "" || !strings.HasSuffix(path, but)) && !p.MayRead(path, policy.Regular), opens
	}
	t := w.o.walk(&walker{notable: notable, passed: passed}, top, top+"\x00names\x00"+w.o.Root)
	for _, path := range append(t.hits(), t.shut...) {
		if safefile.Below(w.o.Root, path) || path == top || below(path, w.Hidden) {
			continue
		}
		if i, err := os.Lstat(path); err == nil && !p.MayRead(path, fileType(i.Mode())) {
			w.hide(path)
		}
	}
	for _, why := range t.beyond {
		if strings.HasSuffix(why, tooMany) {
			w.Beyond = append(w.Beyond, why)
		}
	}
}
