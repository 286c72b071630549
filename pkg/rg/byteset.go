package rg

import "unicode/utf8"

// A byteRange is a transition of a byteSet's automaton; next < 0 accepts.
type byteRange struct {
	lo, hi byte
	next   int32
}

// A byteSet is a runeSet as an automaton over the bytes of UTF-8. State 0 is
// where it starts.
type byteSet struct {
	states [][]byteRange
}

// step gives the state that byte b leads to; dead where there is none.
func (s *byteSet) step(state int32, b byte) int32 {
	trans := s.states[state]
	if len(trans) <= 8 {
		for i := range trans {
			if trans[i].lo <= b && b <= trans[i].hi {
				return trans[i].next
			}
		}
		return dead
	}
	lo, hi := 0, len(trans)
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		if trans[m].hi < b {
			lo = m + 1
		} else {
			hi = m
		}
	}
	if lo < len(trans) && trans[lo].lo <= b {
		return trans[lo].next
	}
	return dead
}

const (
	accept int32 = -1
	dead   int32 = -2
)

// A setBuilder makes the minimal automaton of sorted byte sequences.
type setBuilder struct {
	out   *byteSet
	seen  map[string]int32
	stack [][]byteRange // the path of the last sequence, root first; next is not known yet
}

func newByteSet(set runeSet) *byteSet {
	b := &setBuilder{out: &byteSet{states: [][]byteRange{nil}}, seen: map[string]int32{}}
	for i := 0; i+1 < len(set); i += 2 {
		utf8Ranges(set[i], set[i+1], b.add)
	}
	if len(b.stack) > 0 {
		b.freeze(1)
		b.out.states[0] = b.stack[0]
	}
	return b.out
}

func (b *setBuilder) add(lo, hi []byte) {
	k := 0
	for k < len(b.stack) && k < len(lo)-1 {
		last := b.stack[k][len(b.stack[k])-1]
		if last.lo != lo[k] || last.hi != hi[k] || last.next == accept {
			break
		}
		k++
	}
	b.freeze(k + 1)
	for ; k < len(lo); k++ {
		next := dead
		if k == len(lo)-1 {
			next = accept
		}
		r := byteRange{lo[k], hi[k], next}
		if k < len(b.stack) {
			b.stack[k] = append(b.stack[k], r)
		} else {
			b.stack = append(b.stack, []byteRange{r})
		}
	}
}

// freeze gives a number to every open state at depth and below.
func (b *setBuilder) freeze(depth int) {
	for k := len(b.stack) - 1; k >= depth; k-- {
		key := make([]byte, 0, 6*len(b.stack[k]))
		for _, r := range b.stack[k] {
			key = append(key, r.lo, r.hi, byte(r.next), byte(r.next>>8), byte(r.next>>16))
		}
		id, ok := b.seen[string(key)]
		if !ok {
			id = int32(len(b.out.states))
			b.out.states = append(b.out.states, b.stack[k])
			b.seen[string(key)] = id
		}
		up := b.stack[k-1]
		up[len(up)-1].next = id
		b.stack = b.stack[:k]
	}
}

// utf8Ranges calls f, in order, with the byte sequences that encode lo to hi:
// each position ranges over its own bytes.
func utf8Ranges(lo, hi rune, f func(lo, hi []byte)) {
	if lo > hi {
		return
	}
	if lo <= 0xDFFF && hi >= 0xD800 { // surrogates have no encoding
		utf8Ranges(lo, 0xD7FF, f)
		utf8Ranges(max(lo, 0xE000), hi, f)
		return
	}
	for _, last := range [...]rune{0x7F, 0x7FF, 0xFFFF} {
		if lo <= last && hi > last {
			utf8Ranges(lo, last, f)
			utf8Ranges(last+1, hi, f)
			return
		}
	}
	if hi >= utf8.RuneSelf {
		for shift := 6; shift <= 18; shift += 6 {
			m := rune(1)<<shift - 1
			if lo&^m == hi&^m {
				continue
			}
			if lo&m != 0 {
				utf8Ranges(lo, lo|m, f)
				utf8Ranges((lo|m)+1, hi, f)
				return
			}
			if hi&m != m {
				utf8Ranges(lo, hi&^m-1, f)
				utf8Ranges(hi&^m, hi, f)
				return
			}
		}
	}
	var a, b [utf8.UTFMax]byte
	n := utf8.EncodeRune(a[:], lo)
	utf8.EncodeRune(b[:], hi)
	f(a[:n], b[:n])
}
