package page

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html/atom"
)

// escape decides for each guarded character whether Markdown would take it for
// markup, and puts a backslash before it if so.
func escape(b []byte, cell, flat bool) []byte {
	if bytes.IndexByte(b, guard) < 0 && bytes.IndexByte(b, force) < 0 {
		return b
	}
	f := survey(b)
	f.flat = flat
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		switch {
		case b[i] == force && i+1 < len(b):
			i++
			out = append(out, '\\', b[i])
		case b[i] == guard && i+1 < len(b):
			i++
			if f.active(b, i, cell) {
				out = append(out, '\\')
			}
			out = append(out, b[i])
		default:
			out = append(out, b[i])
		}
	}
	return out
}

// facts are what of a paragraph decides whether a character in it is markup.
type facts struct {
	opens    [128]int // the first place where a run of the character could open
	shuts    [128]int // the last where it could close, or -1
	ticks    int      // backticks of the text
	spans    bool     // there are code spans
	flat     bool     // no line begins here
	gt       int      // the last >
	brackets bool     // the text begins with a bracket and has ]:
	tildes   int      // pairs of ~
}

func survey(b []byte) *facts {
	f := &facts{gt: -1}
	f.opens['*'], f.opens['_'], f.shuts['*'], f.shuts['_'] = len(b), len(b), -1, -1
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '`':
			f.spans = true
			i = pastSpan(b, i) - 1
			continue
		case '>':
			f.gt = i
		case '*': // markup of our own
			f.opens['*'], f.shuts['*'] = min(f.opens['*'], i), i
		}
		if b[i] != guard || i+1 >= len(b) {
			continue
		}
		i++
		switch c := b[i]; c {
		case '`':
			f.ticks++
		case '~':
			if i+2 < len(b) && b[i+2] == '~' {
				f.tildes++
			}
		case ']':
			if i+2 < len(b) && b[i+1] == ':' && b[0] == guard && b[1] == '[' {
				f.brackets = true
			}
		case '*', '_':
			opens, shuts := flanks(b, i)
			if opens {
				f.opens[c] = min(f.opens[c], i)
			}
			if shuts {
				f.shuts[c] = i
			}
		}
	}
	return f
}

// pastSpan is where the code span that begins at i is over.
func pastSpan(b []byte, i int) int {
	n := 0
	for i+n < len(b) && b[i+n] == '`' {
		n++
	}
	end := bytes.Index(b[i+n:], b[i:i+n])
	if end < 0 {
		return i + n
	}
	i += n + end
	for i < len(b) && b[i] == '`' {
		i++
	}
	return i
}

// flanks reports whether a * or _ could open and close emphasis where it stands.
func flanks(b []byte, i int) (opens, shuts bool) {
	before, after := ' ', ' '
	j := i - 1
	for j >= 0 && j > i-64 && (b[j] == guard || b[j] == force || b[j] == b[i]) {
		j--
	}
	if j >= 0 {
		before, _ = utf8.DecodeLastRune(b[:j+1])
	}
	k := i + 1
	for k < len(b) && k < i+64 && (b[k] == guard || b[k] == force || b[k] == b[i]) {
		k++
	}
	if k < len(b) {
		after, _ = utf8.DecodeRune(b[k:])
	}
	spaceL, spaceR := unicode.IsSpace(before), unicode.IsSpace(after)
	punctL, punctR := isPunct(before), isPunct(after)
	left := !spaceR && (!punctR || spaceL || punctL)
	right := !spaceL && (!punctL || spaceR || punctR)
	if b[i] == '_' {
		return left && (!right || punctL), right && (!left || punctR)
	}
	return left, right
}

func isPunct(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

// active reports whether the guarded character at i is markup.
func (f *facts) active(b []byte, i int, cell bool) bool {
	next := byte(' ')
	if i+1 < len(b) {
		if next = b[i+1]; (next == guard || next == force) && i+2 < len(b) {
			next = b[i+2]
		}
	}
	switch c := b[i]; c {
	case '|':
		return cell || !f.flat && lineStart(b, i) // where it may begin a table
	case '\\':
		return next > ' ' && next < 0x7f && isPunct(rune(next))
	case '`':
		return f.ticks > 1 || f.spans
	case '*', '_':
		opens, shuts := flanks(b, i)
		return opens && f.shuts[c] > i || shuts && f.opens[c] < i || !f.flat && lineStart(b, i) && (c == '*' && next == ' ' || rule(b[i-1:]))
	case '~':
		return next == '~' && f.tildes > 1
	case '!': // before a link, which it would make an image
		return i+2 < len(b) && b[i+1] == '[' && b[i+2] != '^'
	case ']':
		return next == '(' || next == ':' && f.brackets
	case '<':
		return f.gt > i && isTag(b[i+1:])
	case '&':
		return entity(b[i+1:])
	case '#', '+', '-', '=', '>':
		return lineStart(b, i) && starts(b, i, next)
	case '.', ')':
		return numbered(b, i, next)
	}
	return false
}

// isTag reports whether what follows a < is the rest of a tag that HTML has, in small
// letters as everybody writes them. Others are names, as of a type's parameter.
func isTag(b []byte) bool {
	if b = bytes.TrimPrefix(b, []byte{guard}); len(b) == 0 || b[0] == '!' || b[0] == '?' {
		return len(b) > 0
	}
	b = bytes.TrimPrefix(b, []byte("/"))
	n := 0
	for n < len(b) && n < 16 && (b[n] >= 'a' && b[n] <= 'z' || n > 0 && b[n] >= '0' && b[n] <= '9') {
		n++
	}
	return n < len(b) && (b[n] == '>' || b[n] == ' ' || b[n] == '/') && atom.Lookup(b[:n]) != 0 || bytes.HasPrefix(b[n:], []byte("://"))
}

// lineStart reports whether the guarded character at i is the first of its line.
func lineStart(b []byte, i int) bool { return i == 1 || b[i-2] == '\n' }

// starts reports whether a line that begins with this character is no paragraph.
func starts(b []byte, i int, next byte) bool {
	switch b[i] {
	case '>':
		return true
	case '+':
		return next == ' ' || next == '\n'
	case '-':
		return next == ' ' || next == '\n' || rule(b[i-1:])
	case '=':
		return i > 1 && rule(b[i-1:])
	}
	j := i
	for j < len(b) && b[j] == '#' {
		j++
	}
	return j-i <= 6 && (j >= len(b) || b[j] == ' ' || b[j] == '\n')
}

// rule reports whether a line consists of one guarded character and spaces.
func rule(b []byte) bool {
	c, n := b[1], 0
	for i := 0; i < len(b) && b[i] != '\n'; i++ {
		switch b[i] {
		case guard, ' ':
		case c:
			n++
		default:
			return false
		}
	}
	return n >= 3 || c == '=' || c == '-'
}

// numbered reports whether the . or ) at i ends the number of a list's item.
func numbered(b []byte, i int, next byte) bool {
	if next != ' ' && next != '\n' {
		return false
	}
	j := i - 2
	for j >= 0 && i-j < 12 && b[j] >= '0' && b[j] <= '9' {
		j--
	}
	return j < i-2 && (j < 0 || b[j] == '\n')
}

// entity reports whether what follows an ampersand makes it a character reference.
func entity(b []byte) bool {
	for i := 0; i < len(b) && i < 32; i++ {
		switch c := b[i]; {
		case c == ';':
			return i > 0
		case c == guard, c == '#' && i < 2:
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		default:
			return false
		}
	}
	return false
}
