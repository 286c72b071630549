package run

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

const (
	// maxTreeEntries is how many directory entries are looked at for what a command
	// that reads a whole tree would come upon.
	maxTreeEntries = 300_000

	// maxForbidden is how many files of these are named; one is enough to ask.
	maxForbidden = 5
)

// patterns are those of the names that an access is about; nil for all names.
func patterns(a *policy.Access) []string {
	if a.Names == "" {
		return nil
	}
	return strings.Fields(a.Names)
}

// matchesAny reports whether a name matches one of the patterns; any name does
// where there are none.
func matchesAny(patterns []string, name string) bool {
	return patterns == nil || slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := filepath.Match(pattern, name)
		return ok || err != nil
	})
}
