package page

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html/atom"
)

// In a paragraph that is being collected, guard stands before a character that
// Markdown may take for markup, force before one that it will. Control
// characters of a page are left out, so neither comes from there.
const (
	guard = 1
	force = 2
)

// A mark is markup around a piece of a paragraph: emphasis or a link. It is
// written when the first character within it is, so that none is empty and
// none begins or ends with a space.
type mark struct {
	open, shut string
	at         int // where the text within begins, or -1 as long as there is none
	link       bool
}

// An inline collects a paragraph.
type inline struct {
	buf     []byte
	space   bool // white space is owed
	plain   bool // no markup
	cell    bool // within a table
	flat    bool // not at the beginning of a line: in a heading or a table
	marks   []mark
	codeEnd int // where a code span has just ended
}

func (l *inline) reset() {
	l.buf, l.space, l.codeEnd = l.buf[:0], false, 0
}

// ready writes what is owed before the next character.
func (l *inline) ready() {
	if l.space {
		l.space = false
		if n := len(l.buf); n > 0 && l.buf[n-1] != '\n' {
			l.buf = append(l.buf, ' ')
		}
	}
	for i := range l.marks {
		m := &l.marks[i]
		if m.at >= 0 {
			continue
		}
		if m.link && len(l.buf) > 1 && l.buf[len(l.buf)-1] == '!' && l.buf[len(l.buf)-2] != guard {
			l.buf = append(l.buf[:len(l.buf)-1], force, '!') // or the link becomes an image
		}
		l.buf = append(l.buf, m.open...)
		m.at = len(l.buf)
	}
}

// text adds running text.
func (l *inline) text(s string) {
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f':
			l.space = true
			i++
		case c < ' ' || c == 0x7f:
			i++
		case c == 0xc2 && i+1 < len(s) && s[i+1] == 0xa0: // a space that does not break
			l.space = true
			i += 2
		default:
			j := i + 1
			for j < len(s) && s[j] > ' ' && s[j] != 0x7f && s[j] != 0xc2 {
				j++
			}
			if c == 0xc2 && j == i+1 {
				j = min(i+2, len(s))
			}
			l.ready()
			l.word(s[i:j])
			i = j
		}
	}
}

// word adds text without white space.
func (l *inline) word(s string) {
	if l.plain {
		l.buf = append(l.buf, s...)
		return
	}
	if n := len(l.buf); !l.flat && (n == 0 || l.buf[n-1] == '\n') {
		s = l.lineStart(s)
	}
	from := 0
	for i := range len(s) {
		switch s[i] {
		case '\\', '`', '*', '_', '[', ']', '<', '&', '~', '|':
			l.buf = append(append(l.buf, s[from:i]...), guard)
			from = i
		}
	}
	l.buf = append(l.buf, s[from:]...)
}

// lineStart adds what at the beginning of a line may be markup, and returns the rest.
func (l *inline) lineStart(s string) string {
	i := 0
	for i < len(s) && i < 10 && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	if i == len(s) || i == 0 && !strings.ContainsRune("#+-=>", rune(s[0])) || i > 0 && s[i] != '.' && s[i] != ')' {
		return s
	}
	l.buf = append(append(l.buf, s[:i]...), guard, s[i])
	return s[i+1:]
}

// raw adds a piece of Markdown.
func (l *inline) raw(s string) {
	l.ready()
	l.buf = append(l.buf, s...)
}

// code adds a code span.
func (l *inline) code(s string) {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '\n' || r == '\t' || r == '\r' || r == 0xa0 }), " ")
	s = strings.Map(printable, s)
	if s == "" {
		return
	}
	if l.plain {
		l.raw(s)
		return
	}
	if l.cell {
		s = strings.ReplaceAll(s, "|", `\|`)
	}
	if n := len(l.buf); !l.space && n > 1 && l.codeEnd == n && l.buf[n-2] != '`' && !strings.Contains(s, "`") && !l.owed() {
		l.buf = append(append(l.buf[:n-1], s...), '`') // two spans side by side are one
		l.codeEnd = len(l.buf)
		return
	}
	ticks := strings.Repeat("`", longestRun(s, '`')+1)
	if len(ticks) > 1 && longestRun(s, '`') > 0 && !strings.Contains(s, "``") {
		ticks = "``"
	}
	if s[0] == '`' || s[len(s)-1] == '`' {
		s = " " + s + " "
	}
	l.raw(ticks + s + ticks)
	if len(ticks) == 1 {
		l.codeEnd = len(l.buf)
	}
}

// owed reports whether markup is to be opened before the next character.
func (l *inline) owed() bool {
	for i := range l.marks {
		if l.marks[i].at < 0 && l.marks[i].open != "" {
			return true
		}
	}
	return false
}

// begin opens a mark. It reports false where the same one is open already.
func (l *inline) begin(open, shut string, link bool) bool {
	for i := range l.marks {
		if l.marks[i].open == open && !link || link && l.marks[i].link {
			return false
		}
	}
	if l.plain {
		open, shut = "", ""
	}
	l.marks = append(l.marks, mark{open, shut, -1, link})
	return true
}

// end closes the mark that was opened last, and returns the text within a link.
func (l *inline) end() string {
	m := l.marks[len(l.marks)-1]
	l.marks = l.marks[:len(l.marks)-1]
	if m.at < 0 {
		return ""
	}
	return l.shut(m)
}

func (l *inline) shut(m mark) string {
	if !m.link {
		l.buf = append(l.buf, m.shut...)
		return ""
	}
	inner := l.buf[m.at:]
	text := string(bytes.Map(func(r rune) rune {
		if r == guard || r == force {
			return -1
		}
		return r
	}, inner))
	if !balanced(inner) {
		for i := 0; i+1 < len(inner); i++ {
			if inner[i] == guard && (inner[i+1] == '[' || inner[i+1] == ']') {
				inner[i] = force
			}
		}
	}
	l.buf = append(l.buf, m.shut...)
	return text
}

// suspend closes all marks because the paragraph ends. Emphasis goes on in the
// next one, a link does not.
func (l *inline) suspend() {
	for i := len(l.marks) - 1; i >= 0; i-- {
		m := &l.marks[i]
		if m.at < 0 {
			continue
		}
		l.shut(*m)
		m.at = -1
		if m.link {
			m.open, m.shut, m.link = "", "", false
		}
	}
}

// balanced reports whether the brackets of a link's text that come from the page
// come in pairs.
func balanced(b []byte) bool {
	depth := 0
	for i := 0; i+1 < len(b); i++ {
		if b[i] != guard {
			continue
		}
		switch b[i+1] {
		case '[':
			depth++
		case ']':
			if depth--; depth < 0 {
				return false
			}
		}
	}
	return depth == 0
}

// finish returns the paragraph as Markdown, and forgets it.
func (l *inline) finish() []byte {
	l.suspend()
	for bytes.HasSuffix(l.buf, []byte("  \n")) {
		l.buf = l.buf[:len(l.buf)-3]
	}
	out := bytes.Trim(l.buf, " \n")
	if !l.plain {
		out = escape(out, l.cell, l.flat)
	}
	l.reset()
	return out
}

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
	for i += n + end; i < len(b) && b[i] == '`'; i++ {
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
		return cell
	case '\\':
		return next > ' ' && next < 0x7f && isPunct(rune(next))
	case '`':
		return f.ticks > 1 || f.spans
	case '*', '_':
		opens, shuts := flanks(b, i)
		return opens && f.shuts[c] > i || shuts && f.opens[c] < i || !f.flat && lineStart(b, i) && (c == '*' && next == ' ' || rule(b[i-1:]))
	case '~':
		return next == '~' && f.tildes > 1
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
	if len(b) == 0 || b[0] == '!' || b[0] == '?' {
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

// longestRun is the length of the longest run of c.
func longestRun(s string, c byte) int {
	longest, n := 0, 0
	for i := range len(s) {
		if s[i] != c {
			n = 0
			continue
		}
		n++
		longest = max(longest, n)
	}
	return longest
}

func printable(r rune) rune {
	if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
		return -1
	}
	return r
}
