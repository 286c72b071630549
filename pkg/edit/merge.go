package edit

import (
	"strings"
)

// conflict says why the change of a call cannot be made at a place.
type conflict struct {
	reason string
	line   int // of the file, from 0; -1 where none is to blame
}

// written is a line of the result: line src of the file as it is, or new text.
type written struct {
	src  int // -1: new
	text string
	eol  string
}

// merger makes the change from call to news at a place of the file, where the
// file's lines may differ from the call's: a three-way merge whose base is
// the call. Lines that the call does not change stay as the file has them.
type merger struct {
	index     *index
	text      *text
	call      []*form
	news      []*form
	place     place
	of        []int // per line of the call its pair in place.pairs, -1 none
	indent    *indenter
	unmatched map[string]bool
	near      *string // indentation of the last line of the call that is in both
	cur       int     // the file is written up to here
	start     int
	end       int
	ops       []op     // the changes from call to news; nil: to be found
	eols      []string // per new line its ending; nil: that of its place
	covered   []bool   // per line from start, whether a pair has it
	out       []written
	changes   int // how many were made
	done      int // how many of them the file has already
}

const (
	lineAlike    = 0.72 // a line that an insertion holds on to
	lineRemoved  = 0.95 // a line that is removed must be this much what the call says
	lineCertain  = 0.97 // lines around a change where the block as a whole is weak
	wordMisquote = 0.6
)

func newMerger(x *index, call, news []*form, p place) *merger {
	t := x.text
	m := &merger{index: x, text: t, call: call, news: news, place: p, of: make([]int, len(call))}
	for k := range m.of {
		m.of[k] = -1
	}
	m.start, m.end = p.pairs[0].i0, 0
	for x, q := range p.pairs {
		for k := q.k0; k < q.k1; k++ {
			m.of[k] = x
		}
		m.start, m.end = min(m.start, q.i0), max(m.end, q.i1)
	}
	m.covered = make([]bool, m.end-m.start)
	for _, q := range p.pairs {
		for i := q.i0; i < q.i1; i++ {
			m.covered[i-m.start] = true
		}
	}
	m.cur = m.start
	m.indent = newIndenter(t, call, news, p.pairs)
	return m
}

// pair is the pair that line k of the call is in.
func (m *merger) pair(k int) (pair, bool) {
	if m.of[k] < 0 {
		return pair{}, false
	}
	return m.place.pairs[m.of[k]], true
}

// run merges. weak says that the place as a whole matches badly, so that the
// lines around each change have to match well.
func (m *merger) run(weak bool) *conflict {
	m.findUnmatched()
	ops := m.ops
	if ops == nil {
		call, news := ended(m.call), ended(m.news)
		ops = m.slide(compareStrings(call, news), call, news)
	}
	for _, o := range ops {
		if o.equal {
			m.keep(o)
			continue
		}
		if c := m.check(o, weak); c != nil {
			return c
		}
		c := m.change(o)
		if c != nil {
			return c
		}
	}
	m.upTo(m.end)
	return nil
}

// ended are the lines without trailing white space.
func ended(fs []*form) []string {
	out := make([]string, len(fs))
	for i, f := range fs {
		out[i] = strings.TrimRight(f.text, " \t")
	}
	return out
}

// upTo keeps the file's lines up to i.
func (m *merger) upTo(i int) {
	for ; m.cur < i; m.cur++ {
		m.out = append(m.out, written{src: m.cur})
	}
}

// keep goes over lines that the call does not change.
func (m *merger) keep(o op) {
	for k := o.i1; k < o.i2; k++ {
		p, ok := m.pair(k)
		switch {
		case !ok:
		case p.k0 >= o.i1 && p.k1 <= o.i2:
			m.upTo(p.i1)
			m.trail(p, m.news[o.j1+k-o.i1])
			m.near = &m.call[k].lead
			k = p.k1 - 1
		case p.k0 < o.i1:
			m.upTo(p.i1)
		}
	}
}

// trail changes the blanks at the end of a kept line, where they are what the
// call changes and the file has them just so.
func (m *merger) trail(p pair, n *form) {
	o, f := m.call[p.k0].text, m.text.line(p.i0).text
	ot, nt := trailing(o), trailing(n.text)
	same := trailing(f) == ot || ot != "" && nt == "" && trailing(f) != ""
	if last := len(m.out) - 1; ot != nt && p.single() && same && last >= 0 && m.out[last].src == p.i0 {
		m.out[last] = written{-1, strings.TrimRight(f, " \t") + nt, m.text.eol(p.i0)}
	}
}

func trailing(s string) string { return s[len(strings.TrimRight(s, " \t")):] }

// check refuses changes that the place gives no ground for.
func (m *merger) check(o op, weak bool) *conflict {
	if weak {
		near := 2
		if m.oneLost() {
			near = 1
		}
		if !m.certain(o.i1-1, -1, near) || !m.certain(o.i2, 1, near) {
			return m.at(o, "the place matches badly and the lines next to the change differ")
		}
		for k := o.i1; k < o.i2; k++ {
			if p, ok := m.pair(k); !m.call[k].blank && (!ok || p.sim < lineCertain) {
				return m.at(o, "the place matches badly and a changed line differs")
			}
		}
	}
	for _, n := range m.news[o.j1:o.j2] {
		if elidesCode(n.text) {
			return m.at(o, "the new text leaves code out")
		}
		if len(m.unmatched) > 0 && m.repeatsUnmatched(n, o) {
			return m.at(o, "the new text repeats a word that the file does not have")
		}
	}
	for k := o.i1; k < o.i2; k++ {
		if m.call[k].elided {
			return m.at(o, "lines that the call leaves out would be removed")
		}
	}
	return nil
}

// at is a conflict at the line of the file where o begins, as far as known.
func (m *merger) at(o op, reason string) *conflict {
	for k := o.i1; k < o.i2; k++ {
		if p, ok := m.pair(k); ok {
			return &conflict{reason, p.i0}
		}
	}
	return &conflict{reason, m.cur}
}

// oneLost reports whether all of the call is here, line by line, but for one
// line that the file does not have or has otherwise.
func (m *merger) oneLost() bool {
	good, lost := 0, 0
	for k, f := range m.call {
		if f.blank {
			continue
		}
		if p, ok := m.pair(k); ok && p.sim >= lineCertain {
			good++
		} else {
			lost++
		}
	}
	if lost > 1 || good < 4 {
		return false
	}
	for i, is := range m.covered {
		if !is && lost > 0 && !m.text.blank(m.start+i) {
			lost--
		} else if !is && !m.text.blank(m.start+i) {
			return false
		}
	}
	return true
}

// certain reports whether the nearest lines in a direction match well.
func (m *merger) certain(k, step, near int) bool {
	for n := 0; k >= 0 && k < len(m.call) && n < near; k += step {
		if m.call[k].blank {
			continue
		}
		n++
		if p, ok := m.pair(k); !ok || p.sim < lineCertain {
			return false
		}
	}
	return true
}
