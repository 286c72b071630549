package shellparse

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/agentkit-go/agentkit/pkg/programs"
)

// findRoots gives the start points of a find whose output others read, patterns
// of the names that it prints, and whether its items can be told apart.
func (w *walker) findRoots(args []*syntax.Word) (under []string, names string, safe bool) {
	expression := false
	words := w.quietWords(args)
	for _, x := range words {
		if x.Dynamic || x.Pattern != "" {
			return nil, "", false
		}
		if strings.HasPrefix(x.Text, "-") || x.Text == "(" || x.Text == "!" {
			expression = true
		}
		switch {
		case x.Text == "-printf" || x.Text == "-exec" || x.Text == "-execdir" || x.Text == "-ls":
			return nil, "", false
		case !expression:
			under = append(under, x.Text)
		}
	}
	if len(under) == 0 {
		under = []string{"."}
	}
	if !w.dirty { // else a name that was made just now could be taken for several
		names = programs.FoundNames(words)
	}
	return under, names, len(under) <= 8
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
