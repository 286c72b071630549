package shellparse

import (
	"mvdan.cc/sh/v3/syntax"

	"github.com/agentkit-go/agentkit/pkg/programs"
)

// findRoots gives the start points of a find whose output others read, the names that it
// prints, as in programs.Word, whether a zero byte ends each, and whether its items can be told apart.
func (w *walker) findRoots(args []*syntax.Word) (under []string, names string, nul, safe bool) {
	under, names, nul, ok := programs.Found(w.quietWords(args))
	return under, names, nul, ok && len(under) <= 8
}

// quietWords gives the words of a command that are plain.
func (w *walker) quietWords(args []*syntax.Word) []word {
	var out []word
	for _, a := range args {
		for _, p := range a.Parts {
			if !inert(p) {
				return []word{{Dynamic: true}}
			}
		}
		out = append(out, w.fields(a)...)
	}
	return out
}
