package rg

import (
	"bytes"
	"sync/atomic"
)

// A plan is a query's pattern, ready to be searched for by many goroutines.
type plan struct {
	prog    *program
	find    finder // candidates; nil when only the automaton can find them
	exact   bool   // every candidate is a match
	prefix  finder // what every match begins with; nil when not known
	literal int    // length of the pattern where it is one literal text, else 0
	multi   bool   // a match may span lines
}

// newPlan compiles the pattern of q.
func newPlan(q *Query) (*plan, error) {
	tree, err := parsePattern(q.Pattern, q.Literal, q.IgnoreCase, q.SmartCase, q.Multiline, q.Multiline && q.DotAll, q.CRLF)
	if err != nil {
		return nil, err
	}
	multi := q.Multiline && tree.spansLines() // else line by line is the same, and faster
	switch {
	case q.Line:
		tree = &node{op: opConcat, subs: []*node{{op: opLook, look: lookLineStart}, tree, lineEndNode(q.CRLF)}}
	case q.Word:
		tree = &node{op: opConcat, subs: []*node{
			{op: opLook, look: lookHalfStart}, tree, {op: opLook, look: lookHalfEnd},
		}}
	}
	prog, ok := compile(tree, !multi)
	if !ok {
		return nil, &PatternError{Pattern: q.Pattern, Message: "the pattern is too large", PCRE: true}
	}
	p := &plan{prog: prog, multi: multi}
	need := requiredOf(tree)
	p.find, p.exact = need.finder()
	if need.prefix {
		p.prefix = p.find
	}
	if p.find == nil {
		if f := newGramFinder(tree); f != nil {
			p.find = f
		}
	}
	if p.exact && len(need.lits) == 1 {
		p.literal = len(need.lits[0].text)
	}
	return p, nil
}

// A matcher runs a plan on one goroutine.
type matcher struct {
	*plan
	dfa  *lazyDFA
	sim  *simulator
	stop *atomic.Bool
	next int // nextMatch has seen a candidate here

	beyond int    // bytes of the text that were looked at behind the ends of matches
	guide  *guide // finds the matches of the text where those are many
}

func newMatcher(p *plan, stop *atomic.Bool) *matcher { return &matcher{plan: p, stop: stop} }

func (m *matcher) lazy() *lazyDFA {
	if m.dfa == nil {
		m.dfa = newLazyDFA(m.prog, !m.multi, m.prefix)
	}
	return m.dfa
}

func (m *matcher) simulate() *simulator {
	if m.sim == nil {
		m.sim = newSimulator(m.prog, m.stop)
	}
	return m.sim
}

// nextLine finds the first line from pos on, the start of a line, that
// matches. The text is whole lines, the last of which may lack its end.
func (m *matcher) nextLine(text []byte, pos int) (start, end int, ok bool) {
	for pos < len(text) {
		hit, sure := 0, false
		if m.find != nil {
			if hit = m.find.index(text, pos); hit < 0 {
				break
			}
			sure = m.exact
		} else {
			at, _, v := m.lazy().find(text, pos, text[len(text)-1] != '\n')
			if v == noMatch {
				break
			}
			hit, sure = at, v == matched
		}
		start = pos + bytes.LastIndexByte(text[pos:hit], '\n') + 1
		end = lineEnd(text, hit)
		if sure || m.matchesLine(text[start:end]) {
			return start, end, true
		}
		pos = end + 1
	}
	return 0, 0, false
}

func lineEnd(text []byte, pos int) int {
	if n := bytes.IndexByte(text[pos:], '\n'); n >= 0 {
		return pos + n
	}
	return len(text)
}

func (m *matcher) matchesLine(line []byte) bool {
	switch _, _, v := m.lazy().find(line, 0, true); v {
	case noMatch:
		return false
	case matched:
		return true
	}
	_, _, _, ok := m.simulate().find(line, 0)
	return ok
}

// nextMatch finds the leftmost match from pos on. The first call for a text is
// with pos 0, the next ones are with later positions.
func (m *matcher) nextMatch(text []byte, pos int) (start, end int, ok bool) {
	if m.literal > 0 {
		if start = m.find.index(text, pos); start < 0 {
			return 0, 0, false
		}
		return start, start + m.literal, true
	}
	if pos == 0 {
		m.beyond, m.guide = 0, nil
	}
	if m.guide != nil {
		return m.guide.find(pos)
	}
	if m.find != nil && (pos == 0 || pos > m.next) {
		if m.next = m.find.index(text, pos); m.next < 0 {
			return 0, 0, false
		}
	}
	_, safe, v := m.lazy().find(text, pos, true)
	if v == noMatch {
		return 0, 0, false
	}
	start, end, looked, ok := m.simulate().find(text, safe)
	if m.beyond += looked - end; ok && m.beyond > guideAfter+len(text)/8 {
		m.guide = newGuide(m.prog, text, end, m.stop)
		m.beyond = 0
	}
	return start, end, ok
}

// guideAfter is how much may be looked at in vain before a guide is worth it.
const guideAfter = 64 << 10
