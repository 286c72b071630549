package rg

import (
	"encoding/binary"
	"sync/atomic"
)

// A guide finds the matches of a text in time linear in it. A pattern such as
// a+b|a makes the simulator look ahead to the end of the text for every match.
// The guide goes over the text once from its end and learns at which
// instructions each position can be passed so that a match follows; a match is
// then walked forward without ever turning back.
//
// What is learned is kept for one block of positions. For the blocks behind it
// the state at their end is kept, from which they are filled when they come up.
type guide struct {
	p    *program
	text []byte
	from int // no position before is asked for
	stop *atomic.Bool

	leads  [][]int32 // the splits and assertions that lead to an instruction
	leaves []int32   // the instructions that take a byte, and the match
	words  int       // of a set of instructions

	size int        // positions in a block
	ends [][]uint64 // what holds at the end of each block

	low    int     // the position of the first of ids
	ids    []int32 // the state of every position of the block, and of the next
	states [][]uint64
	index  map[string]int32
	moves  map[move]int32

	stack []int32
	mark  []uint32
	gen   uint32
}

// A move is a step back: over a byte, to a place of which holds is known.
type move struct {
	to    int32
	b     uint8
	holds look
}

const (
	guideBlock  = 16 << 10
	guideMemory = 64 << 20 // bytes of states in a block, and of all ends
	stateMemory = 200      // bytes of a state besides its set
)

// newGuide prepares to find matches in text[from:]; nil where that would take
// too much memory.
func newGuide(p *program, text []byte, from int, stop *atomic.Bool) *guide {
	g := &guide{p: p, text: text, from: from, stop: stop, words: (len(p.insts) + 63) / 64}
	g.size = min(guideBlock, guideMemory/(8*g.words+stateMemory))
	blocks := (len(text)-from)/max(g.size, 1) + 1
	if g.size < 64 || blocks*8*g.words > guideMemory {
		return nil
	}
	g.mark = make([]uint32, len(p.insts))
	g.leads = make([][]int32, len(p.insts))
	for i := range p.insts {
		in, at := &p.insts[i], int32(i)
		switch in.kind {
		case instSplit:
			g.leads[in.out] = append(g.leads[in.out], at)
			g.leads[in.arg] = append(g.leads[in.arg], at)
		case instLook:
			g.leads[in.out] = append(g.leads[in.out], at)
		case instMatch, instByte, instSet:
			g.leaves = append(g.leaves, at)
		}
	}
	g.forget()
	g.ends = make([][]uint64, blocks)
	id := g.atEnd()
	for b := blocks - 1; b >= 0; b-- {
		g.ends[b] = g.states[id]
		if id = g.back(id, b, nil); id < 0 {
			return nil
		}
	}
	g.low = -1
	return g
}

// bounds are the positions of a block: from lo on, before hi.
func (g *guide) bounds(block int) (lo, hi int) {
	lo = g.from + block*g.size
	return lo, min(lo+g.size, len(g.text))
}

// back goes from the end of a block, with the state id there, to its start. It
// notes the states in ids when that is not nil; -1 means the search is over.
func (g *guide) back(id int32, block int, ids []int32) int32 {
	if g.stop != nil && g.stop.Load() {
		return -1
	}
	lo, hi := g.bounds(block)
	if len(g.states)*(8*g.words+stateMemory) > guideMemory {
		set := g.states[id]
		g.forget()
		id = g.intern(set)
	}
	if ids != nil {
		ids[hi-lo] = id
	}
	for i := hi - 1; i >= lo; i-- {
		m := move{to: id, b: g.text[i]}
		if g.p.looks != 0 {
			m.holds = placeAt(g.text, i).holds()
		}
		next, ok := g.moves[m]
		if !ok {
			next = g.step(m)
			g.moves[m] = next
		}
		id = next
		if ids != nil {
			ids[i-lo] = id
		}
	}
	return id
}

func (g *guide) forget() {
	g.states, g.index, g.moves = nil, map[string]int32{}, map[move]int32{}
}

func (g *guide) intern(set []uint64) int32 {
	key := make([]byte, 0, 8*len(set))
	for _, w := range set {
		key = binary.NativeEndian.AppendUint64(key, w)
	}
	id, ok := g.index[string(key)]
	if !ok {
		id = int32(len(g.states))
		g.states = append(g.states, set)
		g.index[string(key)] = id
	}
	return id
}

// atEnd is the state behind the last byte.
func (g *guide) atEnd() int32 {
	set := make([]uint64, g.words)
	for _, at := range g.leaves {
		if g.p.insts[at].kind == instMatch {
			g.reach(set, at, placeAt(g.text, len(g.text)).holds())
		}
	}
	return g.intern(set)
}

// step works out a move.
func (g *guide) step(m move) int32 {
	after, set := g.states[m.to], make([]uint64, g.words)
	for _, at := range g.leaves {
		in := &g.p.insts[at]
		if in.kind != instMatch {
			to := in.step(m.b)
			if to == dead || !has(after, to) {
				continue
			}
		}
		g.reach(set, at, m.holds)
	}
	return g.intern(set)
}

// reach adds at to set, and what leads there without a byte.
func (g *guide) reach(set []uint64, at int32, holds look) {
	g.stack = append(g.stack[:0], at)
	for len(g.stack) > 0 {
		at := g.stack[len(g.stack)-1]
		g.stack = g.stack[:len(g.stack)-1]
		if in := &g.p.insts[at]; has(set, at) || in.kind == instLook && holds&in.look == 0 {
			continue
		}
		set[at/64] |= 1 << (at % 64)
		g.stack = append(g.stack, g.leads[at]...)
	}
}

func has(set []uint64, at int32) bool { return set[at/64]&(1<<(at%64)) != 0 }

// at gives the set of position i; nil when the search is over.
func (g *guide) at(i int) []uint64 {
	if k := i - g.low; g.low >= 0 && k >= 0 && k < len(g.ids) {
		return g.states[g.ids[k]]
	}
	block := min((i-g.from)/g.size, len(g.ends)-1)
	lo, hi := g.bounds(block)
	g.low, g.ids = lo, append(g.ids[:0], make([]int32, hi-lo+1)...)
	// The states of the block before are not needed any longer, and a block may
	// add as many as it has positions.
	if len(g.states)*(8*g.words+stateMemory) > guideMemory/2 {
		g.forget()
	}
	if g.back(g.intern(g.ends[block]), block, g.ids) < 0 {
		g.low = -1
		return nil
	}
	return g.states[g.ids[i-lo]]
}

// find gives the first match that begins at pos or after.
func (g *guide) find(pos int) (start, end int, ok bool) {
	for start = pos; ; start++ {
		set := g.at(start)
		if set == nil {
			return 0, 0, false
		}
		if has(set, g.p.start) {
			break
		}
		if start == len(g.text) {
			return 0, 0, false
		}
	}
	at := g.p.start
	for end = start; ; end++ {
		set := g.at(end)
		if set == nil {
			return 0, 0, false
		}
		at = g.leaf(set, at)
		if g.p.insts[at].kind == instMatch {
			return start, end, true
		}
		at = g.p.insts[at].step(g.text[end])
	}
}

// leaf is what a backtracking engine would come to first from at, of what leads
// to a match.
func (g *guide) leaf(set []uint64, at int32) int32 {
	g.gen++
	if g.gen == 0 {
		clear(g.mark)
		g.gen = 1
	}
	g.stack = append(g.stack[:0], at)
	for len(g.stack) > 0 {
		at = g.stack[len(g.stack)-1]
		g.stack = g.stack[:len(g.stack)-1]
		if g.mark[at] == g.gen || !has(set, at) {
			continue
		}
		g.mark[at] = g.gen
		in := &g.p.insts[at]
		switch in.kind {
		case instSplit:
			g.stack = append(g.stack, in.arg, in.out)
		case instLook:
			g.stack = append(g.stack, in.out)
		default:
			return at
		}
	}
	return at // not reached: a set holds nothing that leads nowhere
}
