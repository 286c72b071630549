package edit

import (
	"slices"
	"strings"
)

// What lies next to a change in the call.
const (
	edge    = -1 // nothing
	missing = -2 // a line that the file does not have
)

// neighbour is the nearest line of the call that is in the file, past blank
// ones; an elision stops the search.
func (m *merger) neighbour(k, step int) int {
	for ; k >= 0 && k < len(m.call); k += step {
		switch {
		case m.of[k] >= 0:
			return k
		case m.call[k].blank:
		case m.call[k].elided:
			return k
		default:
			return missing
		}
	}
	return edge
}

// change makes one change: replaces, removes or inserts lines.
func (m *merger) change(o op) *conflict {
	var solid []int
	for k := o.i1; k < o.i2; k++ {
		if !m.call[k].blank || m.ops != nil {
			solid = append(solid, k)
		}
	}
	left, right := m.neighbour(o.i1-1, -1), m.neighbour(o.i2, 1)
	if len(solid) == 0 {
		return m.insert(o, left, right)
	}
	return m.replace(o, solid, left, right)
}

// holds is line k of the call when an insertion can hold on to it.
func (m *merger) holds(k int) (pair, bool) {
	if k < 0 || m.call[k].elided {
		return pair{}, false
	}
	return m.pair(k)
}

// insert puts lines between left and right, and removes blank ones.
func (m *merger) insert(o op, left, right int) *conflict {
	if left == missing || right == missing {
		return m.at(o, "the line next to the change is not in the file")
	}
	l, hasL := m.holds(left)
	r, hasR := m.holds(right)
	if !hasL && !hasR {
		return m.at(o, "there is no line to hold on to")
	}
	if hasL && l.sim < lineAlike || hasR && r.sim < lineAlike {
		return m.at(o, "the line next to the change differs")
	}
	if hasL && hasR {
		switch {
		case m.of[left] == m.of[right]:
			return m.at(o, "the change lies inside a line of the file")
		case r.i0 < l.i1:
			return m.at(o, "the lines are in another order")
		case m.text.solidBetween(l.i1, r.i0):
			return &conflict{"the file has other lines where something is to be inserted", l.i1}
		}
	}
	if m.ops == nil && hasL && hasR && m.spaced(o, left, right, r.i0-l.i1) {
		return nil
	}
	first, last := -1, -1 // the blank lines that are replaced
	for k := o.i1; k < o.i2; k++ {
		if m.of[k] >= 0 {
			if first < 0 {
				first = k
			}
			last = k
		}
	}
	switch {
	case first >= 0:
		m.upTo(m.place.pairs[m.of[first]].i0)
		m.cur = max(m.cur, m.place.pairs[m.of[last]].i1)
	case hasL:
		m.upTo(l.i1)
		limit := m.text.lines()
		if hasR {
			limit = r.i0
		}
		// Blank lines before the insertion that the file has too stay before it.
		for k := left + 1; k < o.i1 && m.cur < limit && m.text.blank(m.cur); k++ {
			m.upTo(m.cur + 1)
		}
	default:
		m.upTo(r.i0)
	}
	eol := m.text.ending(max(m.cur-1, m.start))
	var lines []string
	for j := o.j1; j < o.j2; j++ {
		l := m.indent.line(m.news[j].text, m.near, o.i1)
		lines = append(lines, l)
		m.out = append(m.out, written{-1, l, m.ending(j, eol)})
	}
	if slices.ContainsFunc(lines, func(l string) bool { return !blank(l) }) {
		m.note(lines, m.cur)
	}
	return nil
}

// spaced reports whether o changes only how many blank lines there are, and
// the file has no more, or no fewer, than o wants.
func (m *merger) spaced(o op, left, right, have int) bool {
	for _, n := range m.news[o.j1:o.j2] {
		if !n.blank {
			return false
		}
	}
	less := (o.i2 - o.i1) - (o.j2 - o.j1)
	want := right - left - 1 - less
	return less > 0 && have <= want || less < 0 && have >= want
}

// replace puts lines in the place of others.
func (m *merger) replace(o op, solid []int, left, right int) *conflict {
	for _, k := range solid {
		p, ok := m.pair(k)
		if !ok {
			return m.at(o, "a line that is to be removed is not in the file")
		}
		if p.k0 < o.i1 || p.k1 > o.i2 {
			return m.at(o, "the change lies inside a line of the file")
		}
	}
	a, b := m.place.pairs[m.of[solid[0]]].i0, m.place.pairs[m.of[solid[len(solid)-1]]].i1
	for i := a; i < b; i++ {
		if !m.covered[i-m.start] && !m.text.blank(i) {
			return &conflict{"the file has other lines inside the part that is to be replaced", i}
		}
	}
	if o.j2 > o.j1 {
		if l, ok := m.holds(left); ok && m.text.solidBetween(l.i1, a) {
			return &conflict{"the file has other lines before the part that is to be replaced", l.i1}
		}
		if r, ok := m.holds(right); ok && m.text.solidBetween(b, r.i0) {
			return &conflict{"the file has other lines after the part that is to be replaced", b}
		}
	}
	lines, c := m.rewrite(o, solid)
	if c != nil {
		return c
	}
	m.note(lines, a)
	m.upTo(a)
	for k := o.i1; k < solid[0]; k++ {
		if n := len(m.out) - 1; m.of[k] >= 0 && n >= 0 && m.out[n].src >= 0 && m.text.blank(m.out[n].src) {
			m.out = m.out[:n]
		}
	}
	m.cur = b
	for k := solid[len(solid)-1] + 1; k < o.i2; k++ {
		if p, ok := m.pair(k); ok {
			m.cur = max(m.cur, p.i1)
		}
	}
	for n, l := range lines {
		m.out = append(m.out, written{-1, l, m.ending(o.j1+n, m.text.ending(min(a+n, b-1)))})
	}
	return nil
}

// rewrite is the new text of a replaced stretch. A new line that is a version
// of a removed one is merged with what the file has there.
func (m *merger) rewrite(o op, solid []int) ([]string, *conflict) {
	removed, added := m.call[o.i1:o.i2], m.news[o.j1:o.j2]
	of := versions(removed, added)
	for _, k := range solid {
		p, _ := m.pair(k)
		switch {
		case slices.Contains(of, k-o.i1):
		case p.sim < lineRemoved:
			return nil, &conflict{"a line that is to be removed differs too much from the file's", p.i0}
		case m.partly(p):
			return nil, &conflict{"of a line that is to be removed the call quotes only a part", p.i0}
		}
	}
	var out []string
	for j, n := range added {
		switch {
		case of[j] >= 0 && !n.blank:
			s, c := m.version(o.i1+of[j], n)
			if c != nil {
				return nil, c
			}
			out = append(out, s)
		case o.j1+j == 0 && o.i1 == 0 && m.of[0] >= 0 && n.lead == m.call[0].lead:
			out = append(out, m.text.line(m.place.pairs[m.of[0]].i0).lead+n.body())
		default:
			out = append(out, m.indent.line(n.text, m.near, solid[0]))
		}
	}
	return out, nil
}

// partly reports whether the call quotes no more than the start or the end of the file's line.
func (m *merger) partly(p pair) bool {
	o, f := m.call[p.k0].tight, m.text.line(p.i0).tight
	return p.single() && len(o) < len(f) && (strings.HasPrefix(f, o) || strings.HasSuffix(f, o))
}

// version is n, a new version of line k of the call, as it stands in the file.
func (m *merger) version(k int, n *form) (string, *conflict) {
	p, _ := m.pair(k)
	if !p.single() {
		return m.indent.line(n.text, m.near, k), nil
	}
	o, f := m.call[k], m.text.line(p.i0)
	if o.text == f.text && (o.lead == n.lead || m.indent.identity) {
		return n.text, nil
	}
	ot, nt, ft := unended(o), unended(n), unended(f)
	if nt == ft && ot != ft && o.lead == n.lead {
		return f.text, nil
	}
	body := nt
	if ot != ft && nt != ft {
		merged, ok := mergeLine(ot, nt, ft)
		switch {
		case ok:
		case o.tight == f.tight:
			merged = nt
		default:
			return "", &conflict{"the line that is to be changed has another content in the file", p.i0}
		}
		body = merged
	}
	switch {
	case trailing(o.text) == trailing(f.text):
		body += trailing(n.text)
	case strings.HasSuffix(body, "\r"): // which would be of the line ending without them
		body += trailing(f.text)
	}
	if o.lead == n.lead {
		return f.lead + body, nil
	}
	return m.indent.line(n.lead+body, m.near, k), nil
}

// unended is a line without its indentation and the blanks at its end.
func unended(f *form) string { return strings.TrimRight(f.body(), " \t") }

// note counts a change that puts lines at line i.
func (m *merger) note(lines []string, i int) {
	m.changes++
	if m.there(lines, i) {
		m.done++
	}
}

// ending is the line ending of new line j where its place has eol.
func (m *merger) ending(j int, eol string) string {
	if m.eols != nil {
		return m.eols[j]
	}
	return eol
}
