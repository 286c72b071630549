package shellparse

import (
	"slices"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// TestNeedless: find deletes no file where its tests let through directories alone.
func TestNeedless(t *testing.T) {
	b := newBench(t)
	b.repo(t, "a.txt", "src/b.txt")
	for command, deletes := range map[string]bool{
		"find . -type d -empty -delete":                                  false,
		"find src -not -path './.git/*' -type d -print -delete":          false,
		"find . -type f -empty -delete":                                  true,
		"find . -empty -delete":                                          true,
		"find . ! -type d -delete":                                       true,
		"find . -not -type d -delete":                                    true,
		"find . -type d -o -delete":                                      true,
		"find . \\( -type d -o -name b.txt \\) -delete":                  true,
		"find . -type d , -delete":                                       true,
		"find . -type d,f -delete":                                       true,
		"find . -delete -type d":                                         true,
		"find -L . -type d -delete":                                      true,
		"find . -name -type d -delete":                                   true,
		"find . -type \"$(cat a.txt)\" -delete":                          true,
		"find . -type d -empty -delete; find src -name b.txt -delete":    true,
		"find . -type d -name x -delete && find . -type d -exec rm {} +": true,
	} {
		list := Analyze(t.Context(), command, "bash", b.world()).Accesses
		got := slices.ContainsFunc(list, func(a policy.Access) bool { return a.Kind == policy.Write && a.Op == policy.Delete })
		if got != deletes {
			t.Errorf("%s: deletes %v, want %v", command, got, deletes)
		}
	}
}
