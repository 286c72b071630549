package syntax

import "bytes"

// mendScript blanks what the grammar of TypeScript cannot read, and ends members of types
// for it: the words in and out before type parameters, and a signature without a name that
// begins a line with <, which it takes for the rest of the line before. Every other byte
// stays where it was; nil is for nothing to mend.
func mendScript(src []byte, _ func(string) bool) []byte {
	m := &scriptMender{src: src}
	for i := 0; i < len(src); {
		switch c := src[i]; {
		case c == '\n':
			m.fresh = true
			i++
		case c == ' ' || c == '\t' || c == '\r':
			i++
		case c == '/' && i+1 < len(src) && src[i+1] == '/':
			i = lineEnd(src, i)
		case c == '/' && i+1 < len(src) && src[i+1] == '*':
			i = commentEnd(src, i)
		default:
			end := i + 1
			switch {
			case isScriptWord(c):
				for end < len(src) && isScriptWord(src[end]) {
					end++
				}
			case c == '"' || c == '\'':
				end = quotedEnd(src, i)
			case c == '`':
				end = templateEnd(src, i)
			case c == '=' && end < len(src) && src[end] == '>':
				end++
			}
			m.token(i, end)
			m.fresh, i = false, end
		}
	}
	return m.out
}

type scriptMender struct {
	src, out []byte
	fresh    bool      // nothing but blanks and comments on the line so far
	last     [3]string // the tokens before this one, the nearest first
	depth    int       // of the brackets of type parameters, 0 outside
}

// token takes the token from i to end.
func (m *scriptMender) token(i, end int) {
	t := string(m.src[i:end])
	switch {
	case t == "<" && m.depth == 0 && hasWord("interface type class", m.last[1]):
		m.depth = 1
	case m.depth > 0 && (t == "<" || t == "(" || t == "{" || t == "["):
		m.depth++
	case m.depth > 0 && (t == ">" || t == ")" || t == "}" || t == "]"):
		m.depth--
	case m.depth == 1 && (t == "in" || t == "out") && (m.last[0] == "<" || m.last[0] == ","):
		if rest := bytes.TrimLeft(m.src[end:], " \t"); len(rest) > 0 && isScriptWord(rest[0]) && !bytes.HasPrefix(rest, []byte("extends ")) {
			m.set(i, end, ' ')
			return // what follows stands behind the same bracket or comma
		}
	}
	if t == "<" && m.fresh && i > 0 && (m.src[i-1] == ' ' || m.src[i-1] == '\t') && m.complete() && end < len(m.src) && (isScriptWord(m.src[end]) || m.src[end] == '\n' || m.src[end] == '\r') {
		m.set(i-1, i, ';')
	}
	m.last = [3]string{t, m.last[0], m.last[1]}
}

// complete reports whether a type or an expression may end with the token before this
// one.
func (m *scriptMender) complete() bool {
	t := m.last[0]
	if t == "" || hasWord("extends return new await yield typeof keyof in of as is default function readonly async case infer satisfies", t) {
		return false
	}
	return isScriptWord(t[0]) || hasWord(") ] } > \" ' `", t[len(t)-1:]) && t != "=>"
}

func (m *scriptMender) set(from, to int, c byte) {
	if m.out == nil {
		m.out = bytes.Clone(m.src)
	}
	for i := from; i < to; i++ {
		m.out[i] = c
	}
}

func isScriptWord(c byte) bool { return isWordByte(c) || c == '$' }

// templateEnd is behind the template whose first quote is at i.
func templateEnd(src []byte, i int) int {
	for j := i + 1; j < len(src); j++ {
		switch src[j] {
		case '\\':
			j++
		case '`':
			return j + 1
		}
	}
	return len(src)
}
