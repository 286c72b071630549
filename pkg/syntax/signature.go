package syntax

import (
	"bytes"
	"strings"
)

const (
	maxSignature = 300 // bytes
	maxHead      = 40  // lines that a function's parameters may take
	maxLine      = 200 // bytes of a line that is shown from its beginning in any case
	maxBefore    = 120 // bytes of a longer line before the symbol
)

// signature is the line of a symbol without the space around it, of a function
// the lines up to the end of its parameters. Where other symbols stand before
// it on the line, as in minified files, it begins at the symbol.
func (c *collector) signature(s Symbol) string {
	line := c.lines[s.Line-1]
	if at := s.Column - 1; at >= 0 && at < len(line) && len(line) > maxLine && (at == 0 || at > maxBefore || bytes.ContainsAny(line[:at], ";{}")) {
		if line = line[at:]; s.endColumn > s.Column && s.endColumn-s.Column < len(line) {
			line = line[:s.endColumn-s.Column]
		}
	}
	text := strings.TrimSpace(string(bytes.TrimRight(line[:min(len(line), 2*maxSignature)], "\r")))
	switch s.Kind {
	case Function, Method, Prototype, Macro:
		if !c.lang.headless {
			text = c.head(s, text)
		}
	}
	return clipTo(text, maxSignature)
}

// head adds to a function's first line those that its name and parameters
// take.
func (c *collector) head(s Symbol, text string) string {
	b := &brackets{lang: c.lang}
	text = b.read(text)
	for n := s.Line + 1; n <= min(s.EndLine, s.Line+maxHead) && len(text) < maxSignature; n++ {
		if b.body || b.depth <= 0 && (b.parens || !strings.HasSuffix(text, "<")) && mentions(text, s.Name) && !strings.HasSuffix(text, "=") && !strings.HasSuffix(text, ",") {
			break
		}
		next := strings.TrimSpace(c.text(n))
		if next == "" || isComment(next) {
			continue
		}
		if next = b.read(next); next != "" && (c.lang.hash || next[0] != '#') {
			text = joinHead(text, next)
		}
	}
	return text
}

// mentions reports whether a text holds a name or a part of a name such as
// "width.setter".
func mentions(text, name string) bool {
	for part := range strings.SplitSeq(name, ".") {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// joinHead joins two lines as one would write them on one.
func joinHead(text, next string) string {
	last := text[max(0, len(text)-1):]
	if last == "(" || last == "[" || last == "<" || strings.IndexByte(")]>", next[0]) >= 0 {
		return strings.TrimSuffix(text, ",") + next
	}
	return text + " " + next
}

// brackets counts those of a declaration that are open.
type brackets struct {
	lang   *language
	depth  int  // of parentheses, and brackets and braces within them
	parens bool // a pair of parentheses was closed
	body   bool // a brace outside of them was opened, or a semicolon seen
}

// read counts the brackets of a line, and returns it without its comment.
func (b *brackets) read(line string) string {
	for i := 0; i < len(line); i++ {
		switch ch := line[i]; {
		case ch == '"' || ch == '`' || ch == '\'' && !b.lifetime(line[i:]):
			if n := strings.IndexByte(line[i+1:], ch); n >= 0 {
				i += n + 1
			}
		case strings.HasPrefix(line[i:], "//") && !b.lang.hash, strings.HasPrefix(line[i:], "//") && b.lang.name == "Rust", ch == '#' && b.lang.hash && i > 0 && line[i-1] == ' ':
			return strings.TrimSpace(line[:i])
		case ch == '(' || ch == '[' || ch == '{' && b.depth > 0:
			b.depth++
		case ch == ')' || ch == ']' || ch == '}' && b.depth > 0:
			if b.depth--; b.depth == 0 && ch == ')' {
				b.parens = true
			}
		case b.depth == 0 && (ch == '{' || ch == ';'):
			b.body = true
		}
	}
	return line
}

// lifetime knows Rust's 'a, which opens no quotes.
func (b *brackets) lifetime(text string) bool {
	return b.lang.name == "Rust" && (len(text) < 3 || text[2] != '\'')
}
