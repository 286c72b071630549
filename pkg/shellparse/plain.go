package shellparse

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// PlainArgv gives the words of a command line that is one program with its
// arguments, and means the same without a shell: nothing in it is expanded,
// redirected or joined with anything else.
func PlainArgv(command string) ([]string, bool) {
	s, ok := onlyStatement(command)
	if !ok || len(s.Redirs) > 0 {
		return nil, false
	}
	return plainWords(s)
}

// LeadingArgv gives the words of the program that a command line begins with, where
// nothing in them is expanded and all else of the line waits until it has succeeded:
// PROGRAM WORD… && more. Its output may go to /dev/null.
func LeadingArgv(command string) ([]string, bool) {
	s, ok := onlyStatement(command)
	for ok {
		c, chain := s.Cmd.(*syntax.BinaryCmd)
		if !chain {
			break
		}
		ok = c.Op == syntax.AndStmt && len(s.Redirs) == 0 && foreground(c.X)
		s = c.X
	}
	if !ok || slices.ContainsFunc(s.Redirs, func(r *syntax.Redirect) bool { return !opensNothing(r) }) {
		return nil, false
	}
	return plainWords(s)
}

// opensNothing reports whether a redirection opens no file but /dev/null.
func opensNothing(r *syntax.Redirect) bool {
	return r.Word != nil && r.Hdoc == nil && (r.Word.Lit() == "/dev/null" || r.Op == syntax.DplOut && (r.Word.Lit() == "1" || r.Word.Lit() == "2"))
}

// onlyStatement parses a command line that is one statement in the foreground.
func onlyStatement(command string) (*syntax.Stmt, bool) {
	if len(command) > maxPatchCommand {
		return nil, false
	}
	f, err := parse(syntax.LangBash, command)
	if err != nil || len(f.Stmts) != 1 || !foreground(f.Stmts[0]) {
		return nil, false
	}
	return f.Stmts[0], true
}

// plainWords are the words of a statement that is one program with its arguments.
func plainWords(s *syntax.Stmt) ([]string, bool) {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 {
		return nil, false
	}
	var words []string
	for _, w := range call.Args {
		var word strings.Builder
		for i, part := range w.Parts {
			text, ok := fixedPart(part)
			if !ok || i == 0 && isLit(part) && text[0] == '=' { // a program's path in zsh
				return nil, false
			}
			word.WriteString(text)
		}
		words = append(words, word.String())
	}
	return words, len(words) > 0 && words[0] != ""
}

// fixedPart is the text of a word that no shell makes anything else of.
func fixedPart(part syntax.WordPart) (string, bool) {
	switch x := part.(type) {
	case *syntax.Lit:
		return x.Value, x.Value != "" && !strings.ContainsAny(x.Value, `\*?[{~`)
	case *syntax.SglQuoted:
		return x.Value, !x.Dollar
	case *syntax.DblQuoted:
		if x.Dollar || len(x.Parts) > 1 {
			return "", false
		}
		if len(x.Parts) == 0 {
			return "", true
		}
		lit, ok := x.Parts[0].(*syntax.Lit)
		if !ok || strings.ContainsAny(lit.Value, "\\!") {
			return "", false
		}
		return lit.Value, true
	}
	return "", false
}
