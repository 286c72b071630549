package files

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/syntax"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// symbolSpan returns the lines of a symbol, counted from 1, with the comments
// and decorators that belong to it. The name is that of the file, which tells
// the language; data is its text in UTF-8; for symbol see [findSymbol]. It is
// an error when the lines hold part of another symbol, too. Where all of them
// are to be replaced it is one when a mistake puts the symbol's end into doubt,
// for they may be those of what follows.
func symbolSpan(ctx context.Context, name string, data []byte, symbol string, replaced bool) (first, last int, err error) {
	all, s, err := findSymbol(ctx, name, data, symbol)
	if err != nil {
		return 0, 0, err
	}
	if d := s.Doubt; d != nil && replaced {
		return 0, 0, tool.Errorf(tool.Conflict, "where %s ends is not sure: lines %d-%d as far as they can be read, but line %d: %s", s.Path(), s.First, s.EndLine, d.Line, d.Message).
			With(doubtDetails{s.Path(), s.First, s.EndLine, d.Line, d.Message, d.Text}).
			WithHint("look at lines %d-%d with {read}, and give those that are to go as {.old_string}", max(1, min(s.First, d.Line)-2), max(s.EndLine, d.Line)+5)
	}
	if other := entangled(all, s, data); other != nil {
		return 0, 0, tool.Errorf(tool.Ambiguous, "%s shares a line with %s", s.Path(), other.Path()).
			WithHint("name the text itself: line %d of %s is not %s alone", s.Line, name, s.Name)
	}
	return s.First, s.EndLine, nil
}

// findSymbol finds the symbol that is meant by a name such as Close,
// Server.Close or, where that names several, Server.Close:120 with the line on
// which it stands. A name that is the whole path of one symbol means that one,
// and a function means its definition, not its prototype. All are the symbols
// of the file.
func findSymbol(ctx context.Context, name string, data []byte, symbol string) (all []syntax.Symbol, found syntax.Symbol, err error) {
	all, err = syntax.OutlineContext(ctx, name, data)
	partial, cut := errors.AsType[*syntax.PartialError](err)
	switch {
	case errors.Is(err, syntax.ErrNoGrammar):
		return nil, found, tool.Errorf(tool.Unsupported, "%s is in no language that this build reads the symbols of", name).
			WithHint("name lines or text instead; the languages are %s", strings.Join(syntax.Outlined(), ", "))
	case err != nil && !cut:
		return nil, found, tool.Errorf(tool.TooLarge, "%w", err).WithHint("name lines or text instead")
	}
	list, near := syntax.Find(all, symbol)
	if at := strings.LastIndexByte(symbol, ':'); len(list) == 0 && at > 0 {
		if line, bad := strconv.Atoi(symbol[at+1:]); bad == nil {
			list, near = syntax.Find(all, strings.TrimSuffix(symbol[:at], ":"))
			list = slices.DeleteFunc(list, func(s syntax.Symbol) bool { return line < s.First || line > s.EndLine })
		}
	}
	list = syntax.Narrow(list, symbol)
	switch {
	case len(list) == 1:
		return all, list[0], nil
	case len(list) > 1:
		return nil, found, severalSymbols(name, symbol, list)
	}
	e := tool.Errorf(tool.NotFound, "%s has no symbol %q", name, symbol).Suggest(near...)
	switch {
	case cut:
		return nil, found, e.WithHint("%s; name lines or text instead", partial.Error())
	case len(near) > 0:
		return nil, found, e.WithHint("did you mean %s?", near[0])
	}
	return nil, found, e.WithHint("{outline} lists the symbols of the file")
}

// maxCandidates is how many of several symbols an error names.
const maxCandidates = 10

func severalSymbols(name, symbol string, list []syntax.Symbol) error {
	e := tool.Errorf(tool.Ambiguous, "%s has %d symbols that %q can mean", name, len(list), symbol)
	var details []candidate
	for _, s := range list[:min(len(list), maxCandidates)] {
		_ = e.Suggest(fmt.Sprintf("%s:%d", s.Path(), s.Line))
		details = append(details, candidate{s.Path(), s.Kind, s.Line, s.EndLine, s.Signature})
	}
	return e.With(candidatesDetails{details}).
		WithHint("name one of them, such as %s:%d: the name and the line it stands on", list[0].Path(), list[0].Line)
}

// entangled returns a symbol that begins or ends within the lines of s but is
// neither part of it nor around it, or whose own lines would not stay whole
// without those of s; nil when there is none.
func entangled(all []syntax.Symbol, s syntax.Symbol, data []byte) *syntax.Symbol {
	for i, o := range all {
		apart := o.First > s.EndLine || o.EndLine < s.First
		within := o.First >= s.First && o.EndLine <= s.EndLine
		inside := within && (strings.HasPrefix(o.Path(), s.Path()+".") || o.Path() == s.Path() || s.Kind == syntax.Impl || parameter(s, o))
		around := (strings.HasPrefix(s.Path(), o.Path()+".") || o.Kind == syntax.Impl) && o.Line < s.First &&
			(o.EndLine > s.EndLine || o.EndLine == s.EndLine && !overclosed(data, s))
		if !apart && !inside && !around {
			return &all[i]
		}
	}
	return nil
}

// parameter reports whether o is a field that a parameter of the constructor s
// declares, as in TypeScript.
func parameter(s, o syntax.Symbol) bool {
	return s.Name == "constructor" && o.Kind == syntax.Field && o.Parent == s.Parent
}

// overclosed reports whether the lines of s close more brackets than they
// open: the last of them also ends what is around s.
func overclosed(data []byte, s syntax.Symbol) bool {
	depth, line := 0, 1
	for _, c := range data {
		if c == '\n' {
			line++
		}
		switch {
		case line < s.First:
		case line > s.EndLine:
			return depth < 0
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			depth--
		}
	}
	return depth < 0
}
