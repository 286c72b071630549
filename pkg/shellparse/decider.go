package shellparse

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// Decider returns the words of the one command that surely has decided the exit
// status of src, whatever that was; nil where it may be another one, as after && and
// ||, or is none. A word that is not literal is "".
func Decider(src string) []string {
	if len(src) > maxParsed {
		return nil
	}
	f, err := parse(syntax.LangBash, src)
	if err != nil || len(f.Stmts) == 0 || endsElsewhere(f) {
		return nil
	}
	list := f.Stmts
	for {
		last := list[len(list)-1]
		if last.Negated || last.Background {
			return nil
		}
		cmd := last.Cmd
		for {
			pipe, ok := cmd.(*syntax.BinaryCmd)
			if !ok {
				break
			}
			if pipe.Op != syntax.Pipe && pipe.Op != syntax.PipeAll || pipe.Y.Negated {
				return nil
			}
			cmd = pipe.Y.Cmd
		}
		switch cmd := cmd.(type) {
		case *syntax.Block:
			list = cmd.Stmts
		case *syntax.Subshell:
			list = cmd.Stmts
		case *syntax.CallExpr:
			var words []string
			for _, w := range cmd.Args {
				words = append(words, w.Lit())
			}
			return words
		default:
			return nil
		}
		if len(list) == 0 {
			return nil
		}
	}
}

// endsElsewhere reports whether something in f can end it before its last command,
// change its status, or have its name mean something else: set -e, exec, traps, functions.
func endsElsewhere(f *syntax.File) bool {
	found := false
	syntax.Walk(f, func(n syntax.Node) bool {
		if _, ok := n.(*syntax.FuncDecl); ok {
			found = true // of the same name, perhaps
		}
		if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 {
			found = found || slices.Contains([]string{"set", "shopt", "trap", "exit", "exec", "return", "eval", ".", "source", "builtin", "command"}, call.Args[0].Lit())
		}
		return !found
	})
	return found
}
