package edit

import (
	"slices"
	"strings"
)

// splices are the bytes that the merge changes.
func (m *merger) splices() []splice {
	t := m.text
	toEnd := m.end == t.lines()
	if toEnd {
		m.dropLastEnding()
	}
	var out []splice
	at := t.starts[m.start]
	var b strings.Builder
	flush := func(to int) {
		line, _ := slices.BinarySearch(t.starts, at+1)
		s := splice{at, to, b.String(), line}.shrink(t.src)
		s.line = min(s.line, max(m.end, 1)) // an insertion behind the last line is of the place
		if s.start < s.end || s.text != "" {
			out = append(out, s)
		}
		b.Reset()
	}
	open := false // the text before lacks its line ending
	if m.start > 0 && t.eol(m.start-1) == "" {
		open = true
	}
	for x, w := range m.out {
		last := toEnd && x == len(m.out)-1
		switch {
		case w.src < 0:
			if open {
				b.WriteString(t.ending(t.lines() - 1))
			}
			b.WriteString(w.text)
			open = w.eol == ""
			if !last {
				b.WriteString(w.eol)
			}
		case last && t.eol(w.src) != "":
			if open {
				b.WriteString(t.ending(t.lines() - 1))
			}
			flush(t.starts[w.src])
			at, open = t.end(w.src), true
		default:
			if open {
				b.WriteString(t.ending(t.lines() - 1))
			}
			flush(t.starts[w.src])
			at, open = t.starts[w.src+1], t.eol(w.src) == ""
		}
	}
	flush(t.starts[m.end])
	return out
}

// dropLastEnding makes the line before a removed end of the file part of the
// change, because it becomes the last one.
func (m *merger) dropLastEnding() {
	if len(m.out) == 0 && m.start > 0 {
		m.start--
		m.out = append(m.out, written{src: m.start})
	}
}
