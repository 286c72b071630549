package run

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/change"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
)

// What a script, a recipe of make or a program takes away by itself does not stand in the text. Where it has
// rm, mv and the like do it, the gate sees them start, and what is nowhere else is kept: not what git has or
// ignores, of which a build removes much.

// unsaved are the names that such a program is about to take away and that are nowhere else.
func (l *late) unsaved(e *sandbox.Exec) (names []change.Doomed) {
	if !slices.Contains(watchable[:], filepath.Base(e.Argv[0])) || !slices.ContainsFunc(taken(e.Argv), func(word string) bool { return l.old(e.Cwd, word) }) {
		return nil
	}
	all := l.names(e)
	l.found.Do(func() {
		d := &dooming{env: l.env}
		l.nowhere, l.nowhereOK = d.unsaved(l.env.Workspace.Root())
	})
	if !l.nowhereOK {
		return all
	}
	for _, n := range all {
		had := len(names)
		for _, path := range l.nowhere {
			if safefile.Below(n.Path, path) {
				names = append(names, change.Doomed{Path: path, Written: n.Written})
			}
		}
		if len(names)-had > manyNames { // one directory is less to do than so many files
			names = append(names[:had], n)
		}
	}
	return names
}

// old reports whether a word names something in the root that was there before the command.
func (l *late) old(dir, word string) bool {
	if word == "" {
		return false
	}
	if !filepath.IsAbs(word) {
		word = filepath.Join(dir, word)
	}
	_, err := os.Lstat(word)
	return err == nil && safefile.Below(l.env.Workspace.Root(), word) && !l.made(word)
}

// taken are the words of a call of one of these programs that may name what it takes away: quickly, for builds start
// thousands of them on what they have made themselves.
func taken(argv []string) (words []string) {
	var operands []string
	inPlace := false
	for i, word := range argv[1:] {
		switch {
		case word == "--":
		case strings.HasPrefix(word, "-"):
			_, value, _ := strings.Cut(word, "=")
			words = append(words, value)
			inPlace = inPlace || strings.HasPrefix(word, "--in") || !strings.HasPrefix(word, "--") && strings.ContainsAny(word, "iot") || i+2 == len(argv)
		default:
			_, value, _ := strings.Cut(word, "=") // of dd
			words, operands = append(words, value), append(operands, word)
		}
	}
	switch filepath.Base(argv[0]) {
	case "sed", "perl", "sort":
		if !inPlace {
			return nil
		}
	case "cp", "mv", "install", "ln": // what lies at the target, or in it under the name of a source
		if len(operands) == 0 {
			return words
		}
		for _, target := range append(words, operands[len(operands)-1]) {
			if target == "" {
				continue
			}
			words = append(words, target)
			for _, source := range operands {
				words = append(words, filepath.Join(target, filepath.Base(source)))
			}
		}
		return words
	}
	return append(words, operands...)
}
