package page

import (
	"context"
	"io"
	"slices"
	"strings"

	"golang.org/x/net/html/atom"
)

const (
	maxTree       = 325_000 // of 112 bytes each in the parser's tree
	maxAttributes = 256     // of a tag; the others are left out
	maxOpen       = 600     // the parser refuses 512 elements inside each other
)

// A meter hands a page to the parser tag by tag, and ends it when the tree would have
// too many nodes or the call has ended. What the parser has by then is a page, cut short.
//
// Tags alone do not tell how many nodes there will be: an inline element that is open when
// its block ends (<p><b>x<p>y) is opened again in the next one, with its attributes, and so
// are 250 of them, by which 80 KB became 1 GB. The meter follows which are open, and where it
// cannot know it assumes that they are opened again.
type meter struct {
	ctx   context.Context
	body  string
	out   string // what the parser is given next
	nodes int
	cut   bool
	flat  bool // the tree is built by parseFlat, which opens nothing again

	raw    int        // so many bytes of body belong to a script, a title or the like
	open   []reopened // that the parser opens again
	closed int        // of open, those from here on have been closed by the end of a block
	spans  int        // how many are open

	paragraph bool // one is open that has not been ended by its tag
}

// A reopened element is an inline one that the parser opens again in the next block.
type reopened struct {
	name  atom.Atom
	tag   string // as it is written: of equal ones the parser opens three again
	nodes int    // what it and all before it cost, attributes included
	spans int    // how many were open when it began
}

func (m *meter) Read(p []byte) (int, error) {
	for m.out == "" {
		if m.cut || m.body == "" {
			return 0, io.EOF
		}
		m.next()
	}
	n := copy(p, m.out)
	m.out = m.out[n:]
	return n, nil
}

// next takes the next text, comment or tag of the page.
func (m *meter) next() {
	rest := m.body
	if m.raw > 0 {
		rest = rest[:m.raw]
	}
	var end int
	t, isTag := scanTag(rest)
	switch {
	case isTag:
		end = t.end
		m.tag(t)
	case strings.HasPrefix(rest, "<!--"):
		end = after(rest, 2, "-->")
		m.nodes++
	case strings.HasPrefix(rest, "<!"), strings.HasPrefix(rest, "<?"):
		end = after(rest, 2, ">")
		m.nodes++
	default:
		end = after(rest, 1, "<")
		if rest[end-1] == '<' && end > 1 {
			end--
		}
		m.reopen()
		m.nodes++
	}
	if m.cut = m.nodes > maxTree || m.ctx.Err() != nil; m.cut {
		return
	}
	m.out, m.body = rest[:end], m.body[end:]
	if m.raw > 0 {
		m.raw -= end
		return // what looks like a tag in a script is none, so nothing is left out of it
	}
	if t.kept > 0 {
		m.out = rest[:t.kept] + ">"
	}
	if isTag && !t.closing {
		m.raw = rawLength(m.body, t.name)
	}
}

// tag counts what the parser makes of a tag.
func (m *meter) tag(t tag) {
	own := 1 + t.attributes/2
	switch {
	case m.flat:
		m.nodes += own
	case isInline(t.name):
		if t.closing || t.name == atom.A { // a link ends the one before it
			m.forget(t.name)
		}
		m.nodes += own
		if !t.closing {
			m.reopen()
			m.remember(t, own)
		}
	case t.name == atom.Span && t.closing: // it ends what was opened within it, and no more
		m.spans--
		for i := range m.open {
			if m.open[i].spans > m.spans {
				m.closed = min(m.closed, i)
				break
			}
		}
	case t.name == atom.Span, t.name == atom.Br, t.name == atom.Img:
		m.reopen()
		m.nodes += own
		if t.name == atom.Span {
			m.spans++
		}
	default:
		m.closed = 0
		if !t.closing {
			m.nodes += own
		}
		m.nodes += m.implied(t)
	}
}

// implied counts the elements that the parser adds where a tag stands without them.
func (m *meter) implied(t tag) int {
	switch t.name {
	case atom.Table:
		if !t.closing {
			return 2 // a body and a row
		}
	case atom.Tr, atom.Tbody, atom.Thead, atom.Tfoot:
		if t.closing {
			return 1 // a cell that follows gets a row
		}
	case atom.P:
		empty := t.closing && !m.paragraph // an end without a beginning is an empty paragraph
		m.paragraph = !t.closing
		if empty {
			return 1
		}
	}
	return 0
}

// reopen counts the inline elements that the parser opens again before it goes on.
func (m *meter) reopen() {
	if m.closed == len(m.open) {
		return
	}
	m.nodes += m.open[len(m.open)-1].nodes
	if m.closed > 0 {
		m.nodes -= m.open[m.closed-1].nodes
	}
	m.closed = len(m.open)
}

func (m *meter) remember(t tag, own int) {
	if len(m.open) >= maxOpen {
		return
	}
	equal := 0
	for i := range m.open {
		if m.open[i].tag == t.text {
			equal++
		}
	}
	if equal >= 3 {
		return
	}
	if len(m.open) > 0 {
		own += m.open[len(m.open)-1].nodes
	}
	m.open = append(m.open, reopened{t.name, t.text, own, m.spans})
	m.closed = len(m.open)
}

// forget takes the last inline element of a name out of those that are open.
func (m *meter) forget(name atom.Atom) {
	for i, it := range slices.Backward(m.open) {
		if it.name != name {
			continue
		}
		if i > 0 {
			it.nodes -= m.open[i-1].nodes
		}
		m.open = slices.Delete(m.open, i, i+1)
		for j := range m.open[i:] {
			m.open[i+j].nodes -= it.nodes
		}
		if m.closed > i {
			m.closed--
		}
		return
	}
}

// A tag is where it ends in a page, and what it holds.
type tag struct {
	name       atom.Atom // 0 where nobody knows it
	closing    bool
	attributes int
	kept       int // where the first attribute that is left out begins, or 0
	end        int
	text       string
}

// scanTag reads the tag that s begins with, if it does.
func scanTag(s string) (tag, bool) {
	i := 1
	closing := strings.HasPrefix(s, "</")
	if closing {
		i = 2
	}
	if i >= len(s) || s[0] != '<' || (s[i]|0x20) < 'a' || (s[i]|0x20) > 'z' {
		return tag{}, false
	}
	end := until(s, i, " \n\r\t\f/>")
	t := tag{closing: closing, name: atom.Lookup([]byte(strings.ToLower(s[i:min(end, i+16)])))}
	for i = end; i < len(s) && s[i] != '>'; {
		if strings.IndexByte(" \n\r\t\f/", s[i]) >= 0 {
			i++
			continue
		}
		if t.attributes++; t.attributes == maxAttributes+1 {
			t.kept = i
		}
		i = until(s, i+1, " \n\r\t\f/=>") // the key
		if value := skipSpace(s, i); value < len(s) && s[value] == '=' {
			i = skipSpace(s, value+1)
			switch {
			case i == len(s):
			case s[i] == '"' || s[i] == '\'':
				i = after(s, i+1, s[i:i+1])
			default:
				i = until(s, i, " \n\r\t\f>")
			}
		}
	}
	t.attributes = min(t.attributes, maxAttributes)
	t.end = min(i+1, len(s))
	t.text = s[:t.end]
	return t, true
}

// until is the index of the first of some bytes in s from i on, or the length of s.
func until(s string, i int, of string) int {
	for i < len(s) && strings.IndexByte(of, s[i]) < 0 {
		i++
	}
	return i
}

func skipSpace(s string, i int) int {
	for i < len(s) && strings.IndexByte(" \n\r\t\f", s[i]) >= 0 {
		i++
	}
	return i
}

// after is the index behind the first end in s from i on, or the length of s.
func after(s string, i int, end string) int {
	if i = min(i, len(s)); strings.Contains(s[i:], end) {
		return i + strings.Index(s[i:], end) + len(end)
	}
	return len(s)
}

// rawLength is how much of body the element of a name holds, in which there are no tags.
func rawLength(body string, name atom.Atom) int {
	switch name {
	case atom.Plaintext:
		return len(body)
	case atom.Iframe, atom.Noembed, atom.Noframes, atom.Noscript, atom.Script, atom.Style, atom.Textarea, atom.Title, atom.Xmp:
	default:
		return 0
	}
	want := name.String()
	for i := 0; ; {
		at := strings.Index(body[i:], "</")
		if at < 0 {
			return len(body)
		}
		i += at
		if end := i + 2 + len(want); end <= len(body) && strings.EqualFold(body[i+2:end], want) {
			return i
		}
		i += 2
	}
}

// isInline reports whether the parser opens an element again that a block has closed.
func isInline(a atom.Atom) bool {
	switch a {
	case atom.A, atom.B, atom.Big, atom.Code, atom.Em, atom.Font, atom.I, atom.Nobr, atom.S, atom.Small, atom.Strike, atom.Strong, atom.Tt, atom.U:
		return true
	}
	return false
}
