package syntax

import (
	"fmt"
	"strings"
)

// doubt marks the symbols whose end may be wrong. A mistake inside a symbol or
// on a line beside it is one reason. After any mistake, a symbol that holds
// lines as far left as its own first line is another: a missing bracket lets it
// swallow what follows. So is a conditional whose branches do not open as many
// brackets as each other.
func (c *collector) doubt(symbols []Symbol, broken []Problem, uneven []int) {
	c.fillText(broken)
	for i := range symbols {
		s := &symbols[i]
		for _, line := range uneven {
			if line >= s.First && line <= s.EndLine && s.Doubt == nil {
				s.Doubt = &Problem{Line: line, Message: "the branches of the conditional do not open as many brackets as each other"}
			}
		}
		for _, p := range broken {
			if p.Line >= s.First-1 && p.Line <= s.EndLine+1 && (s.Doubt == nil || p.Line < s.Doubt.Line) {
				s.Doubt = new(p)
			}
		}
		if s.Doubt == nil && (len(broken) > 0 || c.lang.prepare != nil) && c.lang.nested && hasBody(s.Kind) {
			s.Doubt = c.strays(s, len(broken) > 0)
		}
		if s.Doubt != nil && s.Doubt.Text == "" {
			s.Doubt.Text = clip(c.text(s.Doubt.Line))
		}
	}
}

func hasBody(k Kind) bool {
	switch k {
	case Function, Prototype, Method, Macro, Class, Interface, Struct, Enum, Impl, Module, Rule:
		return true
	}
	return false
}

// strays finds a line within a symbol that stands as far left as the symbol,
// and neither closes nor continues anything. In a file that could be read, it
// must look like a declaration besides; in a broken one the last line must
// stand where the first one does, and no line that belongs to the symbol may
// follow.
func (c *collector) strays(s *Symbol, broken bool) *Problem {
	indent, _ := leading(c.text(s.Line))
	if !broken && s.Kind == Module && !c.indented(s, indent) {
		return nil
	}
	for n := s.Line + 1; n <= s.EndLine; n++ {
		in, rest := leading(c.text(n))
		t := strings.TrimSpace(rest)
		last := n == s.EndLine && closes(t)
		switch {
		case t == "" || in > indent && !last:
			continue
		case last && (in == indent || !broken):
			continue
		case !last && headless(t, n-s.Line):
			continue
		case !broken && (closes(t) || !strings.ContainsAny(t, "({;")):
			continue
		case !last && in == indent && closes(t) && (opens(t) || t == ")"):
			continue
		}
		return &Problem{Line: n, Message: fmt.Sprintf("line %d does not stand as it would within %s or at its end", n, s.Name)}
	}
	if !broken {
		return nil
	}
	for n := s.EndLine + 1; n <= len(c.lines); n++ {
		in, rest := leading(c.text(n))
		if strings.TrimSpace(rest) == "" {
			continue
		}
		if in > indent {
			return &Problem{Line: n, Message: fmt.Sprintf("line %d stands as if it belonged to %s", n, s.Name)}
		}
		break
	}
	return nil
}

// indented reports whether the first line in a symbol's body stands further right than
// the symbol: what is in a namespace of C++ mostly does not.
func (c *collector) indented(s *Symbol, indent int) bool {
	for n := s.Line + 1; n < s.EndLine; n++ {
		in, rest := leading(c.text(n))
		if t := strings.TrimSpace(rest); t != "" && !headless(t, mostHead) {
			return in > indent
		}
	}
	return true
}

// mostHead is how many lines the head of a symbol may take.
const mostHead = 8

// headless knows lines that may stand at the left of a body or of a head of
// several lines.
func headless(t string, below int) bool {
	switch t[0] {
	case '{', '#', ':', '@', '/', '*', '<', '|', '&', ',', '=', '"', '\'', '`', '-', '\\', '+', '.', '?':
		return true
	}
	if strings.HasSuffix(t, ":") && !strings.ContainsAny(t, " (") || isLabel(t) {
		return true // a label
	}
	if hasWord("else elif elsif elseif except finally catch rescue ensure where and or then begin do in after when", firstWord(t)) {
		return true
	}
	return below < mostHead && !strings.ContainsAny(t, ";}") // a head of several lines
}

func (c *collector) fillText(list []Problem) {
	for i := range list {
		if n := list[i].Line; n >= 1 && n <= len(c.lines) {
			list[i].Text = clip(c.text(n))
		}
	}
}
