package edit

import (
	"bytes"
	"strings"
	"unicode"
)

const bom = "\ufeff"

// text is a file split into lines. Like strings.Split it has one more line
// than line endings, so a file with a final newline ends in an empty line.
type text struct {
	src    []byte
	body   int   // where the first line begins: behind a byte order mark
	starts []int // where each line begins, and len(src)
	forms  []*form
	unit   *string // the indentation unit, once asked for
}

func newText(src []byte) *text {
	t := &text{src: src, body: bodyStart(src)}
	t.starts = append(make([]int, 0, bytes.Count(src, []byte{'\n'})+2), t.body)
	for at := t.body; ; {
		n := bytes.IndexByte(src[at:], '\n')
		if n < 0 {
			break
		}
		at += n + 1
		t.starts = append(t.starts, at)
	}
	t.starts = append(t.starts, len(src))
	return t
}

func bodyStart(src []byte) int {
	if bytes.HasPrefix(src, []byte(bom)) {
		return len(bom)
	}
	return 0
}

// lines is how many lines there are; never 0.
func (t *text) lines() int { return len(t.starts) - 1 }

// end is where line i ends, without its line ending.
func (t *text) end(i int) int {
	e := t.starts[i+1]
	if e > t.starts[i] && t.src[e-1] == '\n' {
		e--
		if e > t.starts[i] && t.src[e-1] == '\r' {
			e--
		}
	}
	return e
}

// raw is line i without its line ending.
func (t *text) raw(i int) []byte { return t.src[t.starts[i]:t.end(i)] }

// eol is the ending of line i; the last line has none.
func (t *text) eol(i int) string { return string(t.src[t.end(i):t.starts[i+1]]) }

// ending is the line ending that a new line at line i takes.
func (t *text) ending(i int) string {
	for _, k := range [...]int{i, i - 1, 0} {
		if k >= 0 && k < t.lines() {
			if e := t.eol(k); e != "" {
				return e
			}
		}
	}
	return "\n"
}

// line is the form of line i; forms are made when first asked for.
func (t *text) line(i int) *form {
	if t.forms == nil {
		t.forms = make([]*form, t.lines())
	}
	if t.forms[i] == nil {
		t.forms[i] = newForm(string(t.raw(i)))
	}
	return t.forms[i]
}

// blank reports whether line i holds nothing but white space.
func (t *text) blank(i int) bool {
	for _, c := range t.raw(i) {
		if c >= 0x80 {
			return t.line(i).blank
		}
		if !isSpace(c) {
			return false
		}
	}
	return true
}

// solidBetween reports whether a line that is not blank lies in [a, b).
func (t *text) solidBetween(a, b int) bool {
	for i := a; i < b; i++ {
		if !t.blank(i) {
			return true
		}
	}
	return false
}

// isSpace reports whether c is white space. A carriage return is none: where it is no part
// of a line ending it is a character like others, which no change may lose unseen.
func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c < '\r' }

// isSpaceRune is isSpace for all characters.
func isSpaceRune(r rune) bool { return r != '\r' && unicode.IsSpace(r) }

// isWord reports whether c belongs to a word; so does all that is not ASCII.
func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c >= 0x80
}

// lead is the indentation of a line.
func lead(s string) string { return s[:len(s)-len(strings.TrimLeft(s, " \t"))] }

func blank(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return !isSpaceRune(r) })
}

// unixLines turns CRLF into LF and drops a byte order mark.
func unixLines(s string) string {
	return strings.TrimPrefix(strings.ReplaceAll(s, "\r\n", "\n"), bom)
}
