package syntax

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/nearest"
)

// Limits of an outline; what exceeds one gives a [PartialError].
const (
	maxSymbols = 50_000
	maxNodes   = 500_000
	maxParse   = 2 * time.Second
)

// ErrNoGrammar says that this build cannot read the language of a file.
var ErrNoGrammar = errors.New("no grammar for this language in this build")

// A Kind says what a symbol is.
type Kind string

// The kinds of symbols. A function within a type is a method, a variable
// within a type is a field.
const (
	Function  Kind = "function"
	Prototype Kind = "prototype" // declares a function whose body is elsewhere
	Method    Kind = "method"
	Macro     Kind = "macro"
	Type      Kind = "type"
	Class     Kind = "class"
	Interface Kind = "interface" // traits and protocols, too
	Struct    Kind = "struct"    // unions, too
	Enum      Kind = "enum"
	Constant  Kind = "constant" // members of an enum, too
	Variable  Kind = "variable"
	Field     Kind = "field"
	Module    Kind = "module" // namespaces and packages, too
	Impl      Kind = "impl"   // of a trait or protocol for a type
	Cell      Kind = "cell"   // of a notebook
	Heading   Kind = "heading"
	Key       Kind = "key"
	Rule      Kind = "rule"
	Element   Kind = "element"
	Table     Kind = "table"
	View      Kind = "view"
	Index     Kind = "index"
	Trigger   Kind = "trigger"
)

// A Symbol is a named part of a file. Lines and columns count from 1, columns
// in bytes.
type Symbol struct {
	Name      string `json:"name"`
	Kind      Kind   `json:"kind"`
	First     int    `json:"first"` // where its comment and decorators begin; Line where it has none
	Line      int    `json:"line"`
	EndLine   int    `json:"end_line"`
	Column    int    `json:"column"`
	Depth     int    `json:"depth"`            // how many names Parent holds that are symbols, too
	Parent    string `json:"parent,omitempty"` // the names around it, joined by dots
	Signature string `json:"signature"`        // Line's text without the space around it, a function's up to the end of its parameters; at most 300 bytes

	// Doubt is why EndLine may be wrong: the mistake inside or beside the symbol.
	Doubt *Problem `json:"doubt,omitempty"`

	endColumn int // behind its last byte, where it ends on the line on which it begins; else 0

	arity int // 1 + how many parameters it has, where that is part of its name; else 0
}

// Path is the symbol's name below those around it, joined by dots.
func (s Symbol) Path() string {
	if s.Parent == "" {
		return s.Name
	}
	return s.Parent + "." + s.Name
}

// A PartialError comes with symbols that are right but may not be all.
type PartialError struct {
	Reason string    // such as "syntax errors" or "more than 50000 symbols"
	Line   int       // where the file is broken; 0 where that is not known
	Faults []Problem // what cannot be read, the first of them; may be empty
}

func (e *PartialError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("the outline may be incomplete: %s from line %d on", e.Reason, e.Line)
	}
	return "the outline may be incomplete: " + e.Reason
}

// Outline is [OutlineContext] without a context.
func Outline(name string, data []byte) ([]Symbol, error) {
	return OutlineContext(context.Background(), name, data)
}

// OutlineContext lists the named parts of a file in the order of their lines;
// the language follows from the file's name and, without an ending, from its
// #! line. A file that is broken, or too large to be read to its end within
// two seconds, gives what was found and a [*PartialError]; a language that
// this build does not know gives [ErrNoGrammar]; more than 4 MiB give an
// error. It stops when the context ends.
func OutlineContext(ctx context.Context, name string, data []byte) ([]Symbol, error) {
	lang := languageOf(name, data)
	if lang == nil || !lang.outlined() {
		return nil, fmt.Errorf("outlining %q: %w", name, ErrNoGrammar)
	}
	if len(data) > maxSize {
		return nil, fmt.Errorf("outlining %q: %d bytes are more than %d", name, len(data), maxSize)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !bytes.Contains(data, []byte("\n")) {
		data = bytes.ReplaceAll(data, []byte("\r"), []byte("\n")) // lines as of old Macintoshes
	}
	found := &collector{lines: bytes.Split(data, []byte("\n")), lang: lang}
	var err error
	if lang.pure != nil {
		err = lang.pure(ctx, found, data)
	} else if lang.page {
		err = outlinePage(ctx, found, data)
	} else {
		err = outlineTree(ctx, found, data)
	}
	if partial, ok := errors.AsType[*PartialError](err); ok && lang.pure != nil && partial.Line > 0 {
		found.doubt(found.symbols, []Problem{{Line: partial.Line, Message: partial.Reason}}, nil)
	}
	if err == nil && found.full {
		err = &PartialError{Reason: fmt.Sprintf("more than %d symbols", maxSymbols)}
	}
	slices.SortStableFunc(found.symbols, func(a, b Symbol) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return found.symbols, err
}

// collector gathers symbols and fills in what follows from the lines.
type collector struct {
	lang    *language
	lines   [][]byte
	symbols []Symbol
	full    bool
}

// add completes a symbol of which Name, Kind, Line, EndLine, Column, Parent
// and Depth are known; First may be.
func (c *collector) add(s Symbol) {
	if len(c.symbols) >= maxSymbols {
		c.full = true
		return
	}
	s.Line = min(max(s.Line, 1), len(c.lines))
	s.EndLine = min(max(s.EndLine, s.Line), len(c.lines))
	if s.First == 0 || s.First > s.Line {
		s.First = s.Line
	}
	s.First = c.headed(s.First)
	s.Signature = c.signature(s)
	c.symbols = append(c.symbols, s)
}

// headed moves up over the comments and decorators that belong to the symbol
// at a line. It sees at most 400 lines.
func (c *collector) headed(line int) int {
	if c.lang.headless || line < 2 {
		return line
	}
	h := headers{hash: c.lang.hash, decorators: !c.lang.bare}
	if !mayHead(c.text(line-1), h) {
		return line
	}
	var lines []string
	for i := line; i > max(0, line-400) && (i == line || strings.TrimSpace(c.text(i)) != ""); i-- {
		lines = append(lines, c.text(i))
	}
	slices.Reverse(lines)
	return line - (len(lines) - 1 - headerStart(lines, len(lines)-1, h))
}

// text is the beginning of a line, counted from 1: minified files have lines
// of megabytes.
func (c *collector) text(line int) string {
	l := c.lines[line-1]
	return string(bytes.TrimRight(l[:min(len(l), 500)], "\r"))
}

// nearNames compares last names alone as well, because the type may be
// what is wrong.
func nearNames(symbols []Symbol, name string) []string {
	last := name[strings.LastIndexByte(name, '.')+1:]
	paths := map[string][]string{}
	var words []string
	for _, s := range symbols {
		for _, w := range []string{s.Path(), s.Name} {
			if paths[w] == nil {
				words = append(words, w)
			}
			if !slices.Contains(paths[w], s.Path()) && len(paths[w]) < 3 {
				paths[w] = append(paths[w], s.Path())
			}
		}
	}
	var near []string
	for _, w := range append(nearest.Words(name, words, 3), nearest.Words(last, words, 3)...) {
		for _, p := range paths[w] {
			if !slices.Contains(near, p) && len(near) < 3 {
				near = append(near, p)
			}
		}
	}
	return near
}
