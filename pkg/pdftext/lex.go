package pdftext

import (
	"bytes"
	"strconv"
)

// The objects of a PDF file: nil, bool, int, float64, text, name, array, dict,
// ref and *stream. In content streams there are also operators.
type (
	text     string // a string of bytes
	name     string
	array    []any
	dict     map[name]any
	operator string
	ref      struct{ num, gen int }
	stream   struct {
		dict dict
		raw  []byte // as it stands in the file, decrypted
	}
)

// maxNesting bounds how deep arrays and dictionaries may lie in each other.
const maxNesting = 60

// A lexer reads objects from bytes. What is malformed is read as far as it
// makes sense: PDF files in the wild are full of mistakes.
type lexer struct {
	data []byte
	pos  int
	refs bool // "1 0 R" is a reference; not so in content streams
	work *work
	kept int // parts that the object being read holds
}

// maxKept bounds the parts of one object, those of its parts included: what
// is behind them is read, and not kept.
const maxKept = 500_000

func (l *lexer) keeps() bool {
	l.kept++
	return l.kept <= maxKept
}

// A work counts what reading a document has cost, so that no document can make
// it endless.
type work struct {
	objects int // objects and operators that may still be read
	bytes   int // bytes that may still be unpacked
}

func (w *work) spend(objects int) bool {
	w.objects -= objects
	return w.objects >= 0
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == 0
}

func isDelimiter(c byte) bool { return bytes.IndexByte([]byte("()<>[]{}/%"), c) >= 0 }

// skip passes over white space and comments.
func (l *lexer) skip() {
	for l.pos < len(l.data) {
		switch c := l.data[l.pos]; {
		case isSpace(c):
			l.pos++
		case c == '%':
			for l.pos < len(l.data) && l.data[l.pos] != '\n' && l.data[l.pos] != '\r' {
				l.pos++
			}
		default:
			return
		}
	}
}

// next reads one object or operator; false at the end, or when the work is
// spent.
func (l *lexer) next() (any, bool) {
	l.kept = 0
	return l.object(0)
}

func (l *lexer) object(depth int) (any, bool) {
	l.skip()
	if l.pos >= len(l.data) || depth > maxNesting || !l.work.spend(1) {
		return nil, false
	}
	c := l.data[l.pos]
	switch {
	case c == '(':
		return l.literal(), true
	case c == '/':
		return l.name(), true
	case c == '<' && l.pos+1 < len(l.data) && l.data[l.pos+1] == '<':
		l.pos += 2
		return l.dict(depth), true
	case c == '<':
		return l.hex(), true
	case c == '[':
		l.pos++
		return l.array(depth), true
	case c == '>' && l.pos+1 < len(l.data) && l.data[l.pos+1] == '>':
		l.pos += 2
		return operator(">>"), true
	case isDelimiter(c):
		l.pos++
		return operator(c), true
	case c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.':
		return l.number(), true
	}
	switch word := l.word(); word {
	case "true":
		return true, true
	case "false":
		return false, true
	case "null":
		return nil, true
	default:
		return operator(word), true
	}
}

func (l *lexer) word() string {
	start := l.pos
	for l.pos < len(l.data) && !isSpace(l.data[l.pos]) && !isDelimiter(l.data[l.pos]) {
		l.pos++
	}
	return string(l.data[start:l.pos])
}

// number reads a number, or a reference where these are possible.
func (l *lexer) number() any {
	word := l.word()
	n, err := strconv.Atoi(word)
	if err != nil {
		return real(word)
	}
	if !l.refs || n < 0 {
		return n
	}
	after := l.pos
	l.skip()
	if l.pos < len(l.data) && l.data[l.pos] >= '0' && l.data[l.pos] <= '9' {
		gen, err := strconv.Atoi(l.word())
		l.skip()
		if err == nil && l.pos < len(l.data) && l.data[l.pos] == 'R' && l.word() == "R" {
			return ref{n, gen}
		}
	}
	l.pos = after
	return n
}

// real reads a number as viewers do: "--5" is -5, "1.2.3" is 1.2.
func real(word string) float64 {
	sign, value, scale, dot := 1.0, 0.0, 1.0, false
	for _, c := range []byte(word) {
		switch {
		case c == '-' && value == 0:
			sign = -1
		case c == '.' && !dot:
			dot = true
		case c >= '0' && c <= '9':
			if dot {
				scale /= 10
				value += scale * float64(c-'0')
			} else {
				value = value*10 + float64(c-'0')
			}
		case c != '+':
			return sign * value
		}
	}
	return sign * value
}

func (l *lexer) name() name {
	l.pos++
	word := l.word()
	if !bytes.ContainsRune([]byte(word), '#') {
		return name(word)
	}
	var b []byte
	for i := 0; i < len(word); i++ {
		if word[i] == '#' && i+2 < len(word) {
			if v, err := strconv.ParseUint(word[i+1:i+3], 16, 8); err == nil {
				b = append(b, byte(v))
				i += 2
				continue
			}
		}
		b = append(b, word[i])
	}
	return name(b)
}

func (l *lexer) array(depth int) array {
	list := array{}
	for {
		v, ok := l.object(depth + 1)
		if !ok || v == operator("]") {
			return list
		}
		if op, is := v.(operator); is && (op == "endobj" || op == ">>") {
			return list
		}
		if l.keeps() {
			list = append(list, v)
		}
	}
}

func (l *lexer) dict(depth int) dict {
	d := dict{}
	for {
		k, ok := l.object(depth + 1)
		if !ok || k == operator(">>") || k == operator("endobj") || k == operator("stream") {
			return d
		}
		key, is := k.(name)
		if !is {
			continue
		}
		v, ok := l.object(depth + 1)
		if !ok || v == operator(">>") {
			return d
		}
		if l.keeps() {
			d[key] = v
		}
	}
}

// hex reads <48656C>.
func (l *lexer) hex() text {
	l.pos++
	var b []byte
	half := -1
	for l.pos < len(l.data) {
		c := l.data[l.pos]
		l.pos++
		if c == '>' {
			break
		}
		v := hexDigit(c)
		switch {
		case v < 0:
		case half < 0:
			half = v
		default:
			b = append(b, byte(half<<4|v))
			half = -1
		}
	}
	if half >= 0 {
		b = append(b, byte(half<<4))
	}
	return text(b)
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// literal reads (text), with its escapes and balanced parentheses.
func (l *lexer) literal() text {
	l.pos++
	var b []byte
	for open := 1; l.pos < len(l.data); {
		c := l.data[l.pos]
		l.pos++
		switch c {
		case '(':
			open++
		case ')':
			if open--; open == 0 {
				return text(b)
			}
		case '\\':
			b = l.escape(b)
			continue
		case '\r':
			if l.pos < len(l.data) && l.data[l.pos] == '\n' {
				l.pos++
			}
			c = '\n'
		}
		b = append(b, c)
	}
	return text(b)
}

func (l *lexer) escape(b []byte) []byte {
	if l.pos >= len(l.data) {
		return b
	}
	c := l.data[l.pos]
	l.pos++
	switch c {
	case 'n':
		return append(b, '\n')
	case 'r':
		return append(b, '\r')
	case 't':
		return append(b, '\t')
	case 'b':
		return append(b, '\b')
	case 'f':
		return append(b, '\f')
	case '\n':
		return b
	case '\r':
		if l.pos < len(l.data) && l.data[l.pos] == '\n' {
			l.pos++
		}
		return b
	}
	if c < '0' || c > '7' {
		return append(b, c)
	}
	v := int(c - '0')
	for range 2 {
		if l.pos < len(l.data) && l.data[l.pos] >= '0' && l.data[l.pos] <= '7' {
			v = v<<3 | int(l.data[l.pos]-'0')
			l.pos++
		} else {
			break
		}
	}
	return append(b, byte(v))
}
