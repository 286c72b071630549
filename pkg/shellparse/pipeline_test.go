package shellparse

import (
	"context"
	"slices"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// TestPipedNames checks that what xargs gets counts as names below a directory only
// where find has printed it and nothing else had a part in it.
func TestPipedNames(t *testing.T) {
	world := newBench(t).world()
	for command, known := range map[string]bool{
		"find . | xargs cat":                                      true,
		"find . -name '*.go' 2>/dev/null | xargs cat":             true,
		"find . | grep x 2>/dev/null | sort | xargs cat":          true,
		"find() { echo /etc/shadow; }; find . | xargs cat":        false,
		"function find { echo /etc/shadow; }; find . | xargs cat": false,
		"if x; then find() { y; }; fi; find . | xargs cat":        false,
		"sort() { echo /etc/shadow; }; find . | sort | xargs cat": false,
		"find . | sort 2>/dev/null <<< /etc/shadow | xargs cat":   false,
		"find . | sort 2>/dev/null <list | xargs cat":             false,
		"find './a /etc/shadow b' |& xargs cat":                   false,
		"find './a /etc/shadow b' 2>&1 | xargs cat":               false,
		"find './a /etc/shadow b' 2>/dev/stdout | xargs cat":      false,
		"find . 2>/dev/null 2>&1 | xargs cat":                     false,
		"find . |& grep x | xargs cat":                            false,
		"find . | grep x |& xargs cat":                            false,
	} {
		a := Analyze(context.Background(), command, "bash", world)
		unknown := slices.ContainsFunc(a.Accesses, func(x policy.Access) bool { return x.Kind == policy.Read && x.Opaque != "" })
		if unknown == known {
			t.Errorf("%s: what cat reads is known: %v", command, !unknown)
		}
	}
}
