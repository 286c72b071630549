package rg

import "slices"

// An opKind is the kind of a node of a parsed pattern.
type opKind uint8

const (
	opEmpty  opKind = iota
	opSet           // one rune of a set
	opLook          // an assertion without width
	opConcat        // all of subs in order
	opAlt           // one of subs, the first that leads to a match
	opRepeat        // sub[0] min to max times; max < 0 is without end
)

type look uint16

const (
	lookLineStart look = 1 << iota
	lookLineEnd
	lookTextStart
	lookTextEnd
	lookWord
	lookNotWord
	lookWordASCII
	lookNotWordASCII
	lookWordStart
	lookWordEnd
	lookHalfStart // no word character before
	lookHalfEnd   // no word character after

	lookUnicode = lookWord | lookNotWord | lookWordStart | lookWordEnd | lookHalfStart | lookHalfEnd
)

type node struct {
	op       opKind
	set      runeSet
	look     look
	subs     []*node
	min, max int
	lazy     bool
}

// nullable says whether the node can match without taking a byte.
func (n *node) nullable() bool {
	switch n.op {
	case opSet:
		return false
	case opConcat:
		for _, s := range n.subs {
			if !s.nullable() {
				return false
			}
		}
	case opAlt:
		for _, s := range n.subs {
			if s.nullable() {
				return true
			}
		}
		return len(n.subs) == 0
	case opRepeat:
		return n.min == 0 || n.subs[0].nullable()
	}
	return true
}

// spansLines says whether a match may hold a line break, or depends on where
// the whole text begins or ends.
func (n *node) spansLines() bool {
	switch n.op {
	case opSet:
		return n.set.has('\n')
	case opLook:
		return n.look&(lookTextStart|lookTextEnd) != 0
	}
	return slices.ContainsFunc(n.subs, (*node).spansLines)
}
