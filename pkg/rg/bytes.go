package rg

import (
	"bytes"
	"math/bits"
)

// byteRank orders the bytes by how often they stand in source text, the
// rarest first; counted over the Go source tree.
const byteRank = "" +
	"\x00\x2f\x01\x02\x03\x04\x05\x2d\x06\xfc\xf9\x07\x08\x3c\x09\x0a" +
	"\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a" +
	"\xff\xb6\xe3\xa4\xa7\xaf\xb2\xae\xe9\xe8\xbd\xb4\xf3\xc0\xeb\xea" +
	"\xf4\xe6\xe1\xd6\xda\xcb\xd7\xc1\xcf\xc5\xe0\xb3\xb1\xe2\xaa\x9e" +
	"\x9d\xd8\xc2\xd1\xcc\xdb\xc4\xba\xb8\xce\xa2\xad\xc7\xc8\xc6\xd0" +
	"\xcd\xa9\xd3\xde\xdc\xbb\xc3\xb7\xb9\xb5\xa5\xbf\xbc\xbe\xa0\xdd" +
	"\xa6\xf8\xdf\xf1\xef\xfe\xee\xe5\xe4\xf7\xa8\xca\xf2\xe7\xfa\xf5" +
	"\xec\xab\xfb\xf6\xfd\xed\xd2\xc9\xf0\xd9\xb0\xd5\xac\xd4\x9c\x1b" +
	"\x9b\x8f\x9a\x94\x7d\x92\x8b\x62\x95\x84\x89\x5b\x6f\x4d\x63\x48" +
	"\x6c\x5c\x5f\x71\x8a\x8c\x56\x83\x7c\x87\x44\x47\x86\x8d\x68\x4e" +
	"\x57\x61\x58\x5e\x81\x7e\x6d\x72\x5d\x88\x6e\x76\x7b\x74\x64\x52" +
	"\x55\x80\x7f\x78\x60\x65\x59\xa1\x5a\x91\x70\x6a\x8e\x75\x85\x54" +
	"\x1c\x1d\xa3\x7a\x3f\x3b\x33\x45\x3a\x53\x51\x3e\x79\x50\x98\x69" +
	"\x4a\x43\x32\x35\x37\x4b\x4c\x4f\x96\x99\x41\x42\x38\x2b\x31\x34" +
	"\x67\x93\x9f\x97\x66\x82\x90\x73\x6b\x49\x46\x39\x3d\x36\x2c\x40" +
	"\x77\x1e\x1f\x20\x2e\x21\x22\x23\x24\x25\x26\x27\x28\x29\x2a\x30"

// rarity is the rank of c, or of the commoner of its cases when fold is set.
func rarity(c byte, fold bool) int {
	r := int(byteRank[c])
	if fold && isLetter(c) {
		r = max(r, int(byteRank[c^0x20])) + 1
	}
	return r
}

// A finder looks for candidates: the first position from pos on, or -1.
type finder interface {
	index(text []byte, pos int) int
}

// A byteFinder finds the first byte of a set.
type byteFinder struct {
	set   [256]bool
	masks maskTable
}

// newByteFinder is nil where the bytes are too common for a search to be
// faster than the automaton.
func newByteFinder(set *[256]bool) *byteFinder {
	const manyASCII, common = 16, 0xF6
	f := &byteFinder{set: *set}
	ascii := 0
	var highs [16]uint16
	for c, in := range set {
		if !in {
			continue
		}
		if c < 0x80 {
			ascii++
			if int(byteRank[c]) >= common {
				return nil
			}
		}
		highs[c>>4] |= 1 << (c & 15)
	}
	if ascii > manyASCII {
		return nil
	}
	// Bytes that share a high nibble share a bit, so up to eight high nibbles
	// are told apart exactly; index checks the rest.
	bit := 0
	for high, lows := range highs {
		if lows == 0 {
			continue
		}
		for rest := lows; rest != 0; rest &= rest - 1 {
			f.masks.add(0, byte(high<<4|bits.TrailingZeros16(rest)), 1<<(bit%8))
		}
		bit++
	}
	return f
}

func (f *byteFinder) index(text []byte, pos int) int {
	const near = 8 // bytes looked at before a kernel is worth its start
	for end := min(len(text), pos+near); pos < end; pos++ {
		if f.set[text[pos]] {
			return pos
		}
	}
	for {
		p, found, ok := f.masks.scanOne(text, pos)
		if !ok {
			pos = p
			break
		}
		for ; found != 0; found &= found - 1 {
			if at := p + bits.TrailingZeros64(found); f.set[text[at]] {
				return at
			}
		}
		pos = p + 64
	}
	for ; pos < len(text); pos++ {
		if f.set[text[pos]] {
			return pos
		}
	}
	return -1
}

// A literalFinder finds one literal by its two rarest bytes.
type literalFinder struct {
	text         []byte // in lower case when fold is set
	fold         bool
	first, gap   int  // place of the first rare byte, and from there to the second
	rare         int  // place of the rarer one
	mask1, mask2 byte // 0x20 where the byte is a letter in either case
}

func newLiteralFinder(text string, fold bool) *literalFinder {
	f := &literalFinder{text: []byte(text), fold: fold}
	a, b := -1, -1
	for i, c := range f.text {
		switch {
		case a < 0 || rarity(c, fold) < rarity(f.text[a], fold):
			a, b = i, a
		case b < 0 || rarity(c, fold) < rarity(f.text[b], fold):
			b = i
		}
	}
	if b < 0 {
		b = a
	}
	f.rare = a
	if a > b {
		a, b = b, a
	}
	f.first, f.gap = a, b-a
	if fold && isLetter(f.text[a]) {
		f.mask1 = 0x20
	}
	if fold && isLetter(f.text[b]) {
		f.mask2 = 0x20
	}
	return f
}

func (f *literalFinder) index(text []byte, pos int) int {
	n := len(f.text)
	for pos+n <= len(text) {
		p, ok := f.scanPair(text, pos)
		if !ok {
			return f.indexPortable(text, p)
		}
		if p < 0 {
			return -1
		}
		if p+n > len(text) {
			return -1
		}
		if f.at(text[p : p+n]) {
			return p
		}
		pos = p + 1
	}
	return -1
}

func (f *literalFinder) at(text []byte) bool {
	if !f.fold {
		return string(text) == string(f.text)
	}
	return equalFold(text, f.text)
}

// equalFold says whether text is lower but for the case of ASCII letters.
func equalFold(text, lower []byte) bool {
	for i, c := range lower {
		if d := text[i]; d != c && (d|0x20 != c || !isLetter(c)) {
			return false
		}
	}
	return true
}

// indexPortable looks for the rarest byte with what the standard library has.
func (f *literalFinder) indexPortable(text []byte, pos int) int {
	n := len(f.text)
	c := f.text[f.rare]
	other := c
	if f.fold && isLetter(c) {
		other = c ^ 0x20
	}
	next, nextOther := -1, -1 // where c and other stand next; -2 when nowhere
	seek := func(at *int, c byte, from int) {
		if *at == -2 || *at >= from {
			return
		}
		*at = -2
		if k := bytes.IndexByte(text[from:], c); k >= 0 {
			*at = from + k
		}
	}
	for pos+n <= len(text) {
		seek(&next, c, pos+f.rare)
		at := next
		if other != c {
			seek(&nextOther, other, pos+f.rare)
			if at < 0 || nextOther >= 0 && nextOther < at {
				at = nextOther
			}
		}
		if at < 0 {
			return -1
		}
		p := at - f.rare
		if p+n > len(text) {
			return -1
		}
		if f.at(text[p : p+n]) {
			return p
		}
		pos = p + 1
	}
	return -1
}

// A manyFinder finds the first of several literals.
type manyFinder struct {
	lits    []*literalFinder
	buckets [8][]*literalFinder // the literals of each bit of the masks
	masks   maskTable
}

func newManyFinder(lits []string, fold bool) *manyFinder {
	f := &manyFinder{}
	for i, s := range lits {
		l := newLiteralFinder(s, fold)
		f.lits = append(f.lits, l)
		bit := i % 8
		f.buckets[bit] = append(f.buckets[bit], l)
		for k := range 3 {
			if k >= len(s) {
				for c := range 256 {
					f.masks.add(k, byte(c), 1<<bit)
				}
				continue
			}
			f.masks.add(k, s[k], 1<<bit)
			if fold && isLetter(s[k]) {
				f.masks.add(k, s[k]^0x20, 1<<bit)
			}
		}
	}
	return f
}

func (f *manyFinder) index(text []byte, pos int) int {
	for pos < len(text) {
		p, found, ok := f.masks.scan(text, pos)
		if !ok {
			return f.indexPortable(text, p)
		}
		for ; found != 0; found &= found - 1 {
			if at := p + bits.TrailingZeros32(found); f.at(text, at) {
				return at
			}
		}
		pos = p + 32
	}
	return -1
}

// at says whether one of the literals stands at p.
func (f *manyFinder) at(text []byte, p int) bool {
	for bit := f.masks.at(text, p); bit != 0; bit &= bit - 1 {
		for _, l := range f.buckets[bits.TrailingZeros8(bit)] {
			if p+len(l.text) <= len(text) && l.at(text[p:p+len(l.text)]) {
				return true
			}
		}
	}
	return false
}

func (f *manyFinder) indexPortable(text []byte, pos int) int {
	best := -1
	for _, l := range f.lits {
		if p := l.indexPortable(text, pos); p >= 0 && (best < 0 || p < best) {
			best = p
			text = text[:min(len(text), best+longest(f.lits))]
		}
	}
	return best
}

func longest(lits []*literalFinder) int {
	n := 0
	for _, l := range lits {
		n = max(n, len(l.text))
	}
	return n
}

// A maskTable says which bits a byte can carry at each of three positions in a
// row: the bits of its low nibble that its high nibble has too.
type maskTable struct {
	nibbles [6][32]byte // low and high of each position, the 16 entries twice
}

func (m *maskTable) add(position int, c, bit byte) {
	m.nibbles[2*position][c&15] |= bit
	m.nibbles[2*position][16+c&15] |= bit
	m.nibbles[2*position+1][c>>4] |= bit
	m.nibbles[2*position+1][16+c>>4] |= bit
}

// at gives the bits that the bytes from p on carry; bytes beyond the end carry
// every bit.
func (m *maskTable) at(text []byte, p int) byte {
	bits := byte(0xFF)
	for k := 0; k < 3 && p+k < len(text); k++ {
		c := text[p+k]
		bits &= m.nibbles[2*k][c&15] & m.nibbles[2*k+1][c>>4]
	}
	return bits
}
