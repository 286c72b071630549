package policy

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// NotableIn reports whether a walk of root, or of a directory for temporary files outside it, would ask about a path, or what
// lies above it: see [Policy.Notable].
func (p *Policy) NotableIn(root, path string) bool {
	if slices.Contains(p.kept, path) {
		return true
	}
	rel, ok := safefile.Rel(root, path)
	if !ok {
		root = filepath.VolumeName(path) + string(filepath.Separator)
		rel, ok = safefile.Rel(root, path)
	}
	if !ok || rel == "." {
		return false
	}
	if safefile.BelowGit(path) {
		return !p.MayWrite(path, Regular) // what git itself writes there is nobody's
	}
	at, within := root, false
	for name := range strings.SplitSeq(rel, string(filepath.Separator)) {
		at = filepath.Join(at, name)
		hit, opens := p.Notable(at, within)
		if hit {
			return true
		}
		within = within || opens
	}
	return false
}
