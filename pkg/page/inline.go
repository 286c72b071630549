package page

import (
	"bytes"
	"strings"
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
