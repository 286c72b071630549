package rg

import (
	"slices"
	"unicode/utf8"
)

// A literal is text that a match must hold.
type literal struct {
	text   string // folded letters in lower case
	fold   bool   // some letter matches in either case
	strict bool   // some letter matches in one case only
}

// A required is the set of literals of which every match of a node holds one.
type required struct {
	lits   []literal
	whole  bool // the node matches these texts and nothing else, assertions aside
	sure   bool // … and no assertion can forbid it
	prefix bool // every match begins with one of them
}

const (
	maxLiterals   = 32
	maxLiteralLen = 64
)

// requiredOf gives what every match of n holds; no literals where nothing is
// known.
func requiredOf(n *node) required {
	switch n.op {
	case opEmpty:
		return required{[]literal{{}}, true, true, true}
	case opLook:
		return required{[]literal{{}}, true, false, true}
	case opSet:
		return requiredOfSet(n.set)
	case opConcat:
		return requiredOfConcat(n.subs)
	case opAlt:
		out := required{whole: true, sure: true, prefix: true}
		for _, s := range n.subs {
			r := requiredOf(s)
			if len(r.lits) == 0 || len(out.lits)+len(r.lits) > maxLiterals {
				return required{}
			}
			out.lits = append(out.lits, r.lits...)
			out.whole = out.whole && r.whole
			out.prefix = out.prefix && r.prefix
			out.sure = out.sure && r.sure
		}
		return out
	case opRepeat:
		return requiredOfRepeat(n)
	}
	return required{}
}

func requiredOfSet(set runeSet) required {
	if set.size() == 0 || set.size() > 6 {
		return required{}
	}
	out := required{whole: true, sure: true, prefix: true}
	for i := 0; i+1 < len(set); i += 2 {
		for r := set[i]; r <= set[i+1]; r++ {
			letter := r < utf8.RuneSelf && isLetter(byte(r))
			both := letter && set.has(r^0x20)
			if both && r >= 'a' {
				continue // stands with its upper case
			}
			if both {
				r |= 0x20
			}
			out.lits = append(out.lits, literal{string(r), both, letter && !both})
			if both {
				r &^= 0x20
			}
		}
	}
	return out
}

func requiredOfRepeat(n *node) required {
	if n.min == 0 {
		return required{}
	}
	r := requiredOf(n.subs[0])
	if n.min == n.max && n.min <= maxLiteralLen && r.whole {
		copies := make([]*node, n.min)
		for i := range copies {
			copies[i] = n.subs[0]
		}
		return requiredOfConcat(copies)
	}
	r.whole, r.sure = false, false
	return r
}

// requiredOfConcat takes the best of the literals that run through
// neighbouring nodes.
func requiredOfConcat(subs []*node) required {
	var best, run required
	running := false
	began := 0
	better := func(upto int) {
		if len(run.lits) > 0 && run.score() > best.score() {
			best = run
			best.whole = run.whole && began == 0 && upto == len(subs)-1
			best.prefix = run.prefix && began == 0
		}
	}
	for i, s := range subs {
		r := requiredOf(s)
		if len(r.lits) == 0 {
			running = false
			continue
		}
		if !running || !r.whole || len(run.lits)*len(r.lits) > maxLiterals || run.lits[0].tooLong(r.lits) {
			run, began = r, i
		} else {
			run = join(run, r)
		}
		running = run.whole
		better(i)
	}
	if len(subs) == 0 {
		return required{[]literal{{}}, true, true, true}
	}
	return best
}

func (l literal) tooLong(more []literal) bool {
	return len(l.text)+len(more[0].text) > maxLiteralLen
}

// join is what a followed by b requires, when a is whole.
func join(a, b required) required {
	out := required{whole: b.whole, sure: a.sure && b.sure, prefix: a.prefix}
	for _, x := range a.lits {
		for _, y := range b.lits {
			out.lits = append(out.lits, literal{x.text + y.text, x.fold || y.fold, x.strict || y.strict})
		}
	}
	return out
}

// score is higher the fewer places the literals are likely to stand at.
func (r required) score() int {
	if len(r.lits) == 0 {
		return -1
	}
	shortest := maxLiteralLen
	for _, l := range r.lits {
		shortest = min(shortest, len(l.text))
	}
	score := 4 * min(shortest, 12)
	for k := len(r.lits); k > 1; k /= 2 {
		score--
	}
	return score
}

// usefulScore is that of a literal of two bytes among few.
const usefulScore = 5

// finder makes the search for candidates; nil when there is nothing to look
// for. It is exact when a candidate is a match.
func (r required) finder() (f finder, exact bool) {
	if r.score() < usefulScore {
		return nil, false
	}
	fold, strict := false, false
	var texts []string
	for _, l := range r.lits {
		fold = fold || l.fold
		strict = strict || l.strict
		texts = append(texts, l.text)
	}
	if fold && strict {
		for i := range texts {
			texts[i] = lowerASCII(texts[i])
		}
	}
	exact = r.whole && r.sure && !(fold && strict)
	slices.Sort(texts)
	texts = slices.Compact(texts)
	if len(texts) == 1 {
		return newLiteralFinder(texts[0], fold), exact
	}
	return newManyFinder(texts, fold), exact
}

func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c | 0x20
		}
	}
	return string(b)
}
