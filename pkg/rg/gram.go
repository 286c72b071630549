package rg

import "math/bits"

// byteShare says how many of 65,536 bytes of source text are each of ASCII,
// the most of Go, C and Python. No other byte is more than a few.
var byteShare = [128]uint16{
	'\t': 2685, '\n': 2276,
	' ': 17916, 87, 737, 286, 14, 80, 125, 1539, 751, 750, 649, 71, 1584, 625, 844, 763,
	'0': 2277, 812, 630, 458, 478, 270, 434, 229, 367, 253, 721, 609, 103, 594, 300, 44,
	'@': 17, 548, 186, 510, 381, 593, 248, 173, 134, 506, 12, 105, 393, 394, 394, 347,
	'P': 415, 35, 489, 559, 529, 217, 183, 89, 218, 61, 25, 171, 379, 171, 15, 2762,
	'`': 127, 2168, 529, 1684, 1568, 4083, 1083, 640, 763, 2307, 57, 412, 1595, 935, 2152, 2034,
	'p': 1134, 94, 2442, 2293, 2970, 1196, 525, 292, 1537, 457, 75, 463, 84, 461, 41, 0,
}

// An atom is a character that every match holds at some place: the bytes it
// may begin and end with.
type atom struct {
	first, last *[256]bool
	single      bool // it is one byte
	cut         bool // not an atom: what is before and after need not be neighbours
}

const (
	maxCopies = 3  // of a repeated atom that are written out
	maxAtoms  = 64 // of a node; of more, the first and the last are kept
)

// An atomizer takes patterns apart. Sets that come again are looked at once.
type atomizer struct{ seen map[string]atom }

// atoms gives atoms of n in order, with cuts wherever something unknown may
// stand between two.
func (z *atomizer) atoms(n *node) []atom {
	switch n.op {
	case opEmpty, opLook:
		return nil
	case opSet:
		return []atom{z.atom(n.set)}
	case opConcat:
		var out []atom
		for _, s := range n.subs {
			out = shorten(append(out, z.atoms(s)...))
		}
		return out
	case opRepeat:
		return z.repeated(n)
	}
	return []atom{{cut: true}}
}

func (z *atomizer) repeated(n *node) []atom {
	if n.min == 0 {
		return []atom{{cut: true}}
	}
	sub := z.atoms(n.subs[0])
	if n.min == 1 && n.max == 1 || len(sub) == 0 {
		return sub
	}
	var out []atom
	for range min(n.min, maxCopies) {
		out = append(out, sub...)
	}
	if n.min == n.max && n.min <= maxCopies {
		return shorten(out)
	}
	return shorten(append(append(out, atom{cut: true}), out...))
}

// shorten drops what is in the middle of too many atoms.
func shorten(list []atom) []atom {
	if len(list) <= maxAtoms {
		return list
	}
	const side = maxAtoms / 2
	out := append(list[:side:side], atom{cut: true})
	return append(out, list[len(list)-side+1:]...)
}

func (z *atomizer) atom(set runeSet) atom {
	key := setKey(set)
	a, ok := z.seen[key]
	if ok {
		return a
	}
	a = atom{first: new([256]bool), last: new([256]bool), single: true}
	auto := newByteSet(set)
	for state, ranges := range auto.states {
		for _, r := range ranges {
			a.single = a.single && r.next == accept
			for b := int(r.lo); b <= int(r.hi); b++ {
				a.first[b] = a.first[b] || state == 0
				a.last[b] = a.last[b] || r.next == accept
			}
		}
	}
	z.seen[key] = a
	return a
}

// A gramFinder finds bytes of two or three sets in a row, of which every match
// holds some.
type gramFinder struct {
	sets  []*[256]bool
	masks maskTable
}

// maxGramShare is how many of 65,536 places a gram may stand at to be looked
// for: at more, the automaton is as fast by itself.
const maxGramShare = 128

// newGramFinder makes the finder of the rarest gram that every match of tree
// holds; nil where all are too common.
func newGramFinder(tree *node) *gramFinder {
	z := &atomizer{seen: map[string]atom{}}
	atoms := z.atoms(tree)
	var best *gramFinder
	least := float64(maxGramShare)
	try := func(sets ...*[256]bool) {
		f := &gramFinder{sets: sets}
		f.fill()
		if share := f.share(); share < least {
			best, least = f, share
		}
	}
	for i := 0; i+1 < len(atoms); i++ {
		a, b := atoms[i], atoms[i+1]
		if a.cut || b.cut {
			continue
		}
		try(a.last, b.first)
		if i+2 < len(atoms) && b.single && !atoms[i+2].cut {
			try(a.last, b.first, atoms[i+2].first)
		}
	}
	return best
}

func (f *gramFinder) fill() {
	for k := range 3 {
		for c := range 256 {
			if k >= len(f.sets) || f.sets[k][c] {
				f.masks.add(k, byte(c), 1)
			}
		}
	}
}

// share guesses at how many of 65,536 places the masks let pass.
func (f *gramFinder) share() float64 {
	const all, rare = 65536, 8
	share := float64(all)
	for k := range f.sets {
		sum := 0
		for c := range 256 {
			switch {
			case f.masks.nibbles[2*k][c&15]&f.masks.nibbles[2*k+1][c>>4] == 0:
			case c < len(byteShare):
				sum += int(byteShare[c])
			default:
				sum += rare
			}
		}
		share *= float64(sum) / all
	}
	return share
}

func (f *gramFinder) index(text []byte, pos int) int {
	last := len(text) - len(f.sets)
	for pos <= last {
		p, found, ok := f.masks.scan(text, pos)
		if !ok {
			pos = p
			break
		}
		for ; found != 0; found &= found - 1 {
			if at := p + bits.TrailingZeros32(found); at <= last && f.at(text, at) {
				return at
			}
		}
		pos = p + 32
	}
	return f.indexPortable(text, pos)
}

func (f *gramFinder) indexPortable(text []byte, pos int) int {
	for ; pos <= len(text)-len(f.sets); pos++ {
		if f.at(text, pos) {
			return pos
		}
	}
	return -1
}

// at says whether a gram stands at p.
func (f *gramFinder) at(text []byte, p int) bool {
	for k, set := range f.sets {
		if !set[text[p+k]] {
			return false
		}
	}
	return true
}
