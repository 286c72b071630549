package page

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
)

// In a paragraph that is being collected, guard stands before a character that
// Markdown may take for markup, force before one that it will. Control
// characters of a page are left out, so neither comes from there.
const (
	guard = 1
	force = 2
)

// A paragraph is rendered in pieces of about this size, each by itself.
const (
	maxPiece = 64 << 10 // bytes
	maxNodes = 4096
)

// A mark is markup around a piece of a paragraph: emphasis, a link or an image. Its
// node is made when the first character within it is written, so that none is empty
// and none begins or ends with a space.
type mark struct {
	tag, target string // the tag is "" where nothing is to be written
	node        *html.Node
}

// An inline collects a paragraph: a tree of the running text and its marks.
type inline struct {
	md    *phrasing // renders the tree
	err   error     // of md
	done  []byte    // the pieces that are rendered
	root  *html.Node
	at    *html.Node // the innermost mark that is written, or the root; nil as long as there is only text
	buf   []byte     // the text after what is in at
	size  int        // bytes of this piece
	nodes int
	begun bool // something is written
	fresh bool // a line begins here
	space bool // white space is owed
	plain bool // no markup
	cell  bool // within a table
	flat  bool // not at the beginning of a line: in a heading or a table
	marks []mark
}

// ready writes what is owed before the next n bytes, and reports whether a line begins.
func (l *inline) ready(n int) (lineStart bool) {
	lineStart = l.fresh || !l.begun
	if !l.plain && (l.size+n > maxPiece && (l.space || l.fresh) || l.nodes > maxNodes) {
		l.cut()
	} else if l.space && !lineStart {
		l.buf = append(l.buf, ' ')
	}
	l.begun, l.fresh, l.space = true, false, false
	l.size += n
	for i := range l.marks {
		if m := &l.marks[i]; m.node == nil && m.tag != "" {
			m.node = &html.Node{Type: html.ElementNode, Data: m.tag}
			if m.target != "" {
				m.node.Attr = []html.Attribute{attribute("href", l.md.hide(m.target))}
			}
			l.add(m.node)
			l.at = m.node
			l.size += len(m.target)
		}
	}
	return lineStart
}

// add puts an element after what was written.
func (l *inline) add(n *html.Node) {
	if l.at == nil {
		l.root = &html.Node{Type: html.DocumentNode}
		l.at = l.root
	}
	l.flushText()
	l.at.AppendChild(n)
	l.nodes++
}

func (l *inline) flushText() {
	if len(l.buf) > 0 {
		l.at.AppendChild(&html.Node{Type: html.TextNode, Data: l.md.hide(string(l.buf))})
		l.buf = l.buf[:0]
		l.nodes++
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
			l.word(s[i:j])
			i = j
		}
	}
}

// word adds text without white space.
func (l *inline) word(s string) {
	lineStart := l.ready(len(s))
	if l.plain {
		l.buf = append(l.buf, s...)
		return
	}
	if lineStart && !l.flat {
		s = l.lineStart(s)
	}
	from := 0
	for i := range len(s) {
		switch s[i] {
		case '\\', '`', '*', '_', '[', ']', '<', '&', '~', '|', '!':
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
	l.ready(len(s))
	l.buf = append(l.buf, strings.Map(printable, s)...)
}

// code adds a code span.
func (l *inline) code(s string) {
	begins := s != "" && strings.IndexByte(" \n\t\r", s[0]) >= 0
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
	beside := !l.space
	l.ready(len(s))
	s = l.md.hide(s)
	if l.at != nil && len(l.buf) == 0 && beside && isCode(l.at.LastChild) {
		if last := l.at.LastChild.FirstChild; len(last.Data) < 1024 { // or many take long
			if begins {
				s = " " + s
			}
			last.Data += s // two spans side by side are one
			return
		}
	}
	l.add(textNode(codeSpan, s))
}

// lineBreak ends a line.
func (l *inline) lineBreak() {
	l.space = false
	if l.plain {
		l.buf = append(l.buf, '\n')
	} else {
		l.add(&html.Node{Type: html.ElementNode, Data: "br"})
	}
	l.fresh = true
}

// begin opens a mark. It reports false where the same one is open already.
func (l *inline) begin(tag, target string) bool {
	for i := range l.marks {
		if l.marks[i].tag == tag {
			return false
		}
	}
	if l.plain {
		tag = ""
	}
	l.marks = append(l.marks, mark{tag: tag, target: target})
	return true
}

// end closes the mark that was opened last.
func (l *inline) end() {
	m := &l.marks[len(l.marks)-1]
	l.shut(m)
	l.marks = l.marks[:len(l.marks)-1]
}

func (l *inline) shut(m *mark) {
	if m.node == nil {
		return
	}
	l.flushText()
	m.node.AppendChild(&html.Node{Type: html.TextNode}) // or the library moves what follows into it
	l.at = m.node.Parent
	m.node = nil
	if m.target != "" {
		m.tag = "" // a link does not go on in the next paragraph
	}
}

// suspend closes all marks because the paragraph ends. Emphasis goes on in the
// next one, a link does not.
func (l *inline) suspend() {
	for i := len(l.marks) - 1; i >= 0; i-- {
		l.shut(&l.marks[i])
	}
}

// cut ends a piece of a long paragraph.
func (l *inline) cut() {
	l.suspend()
	l.render()
	switch {
	case l.fresh:
		l.done = append(l.done, "  \n"...)
	case l.space:
		l.done = append(l.done, ' ')
	}
}

// render turns the piece that was collected into Markdown.
func (l *inline) render() {
	if l.at == nil {
		l.done = append(l.done, l.buf...)
	} else {
		l.flushText()
		var err error
		if l.done, err = l.md.render(l.done, l.root); err != nil {
			l.err = err
		}
	}
	l.root, l.at, l.buf, l.size, l.nodes = nil, nil, l.buf[:0], 0, 0
}

// finish returns the paragraph as Markdown, and forgets it.
func (l *inline) finish() []byte {
	l.suspend()
	l.render()
	out := bytes.Trim(l.done, " \n")
	if !l.plain {
		out = escape(out, l.cell, l.flat)
	}
	l.done, l.begun, l.fresh, l.space = l.done[:0], false, false, false
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
