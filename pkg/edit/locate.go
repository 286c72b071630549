package edit

import (
	"cmp"
	"slices"
	"strings"
)

// A pair says that lines k0 to k1 of the call stand for lines i0 to i1 of the
// file (half open).
type pair struct {
	k0, k1, i0, i1 int
	sim            float64
}

// single reports whether the pair is one line on both sides.
func (p pair) single() bool { return p.k1-p.k0 == 1 && p.i1-p.i0 == 1 }

// A place is where the lines of a call may lie in the file.
type place struct {
	score      float64 // 1: every line is there
	pairs      []pair
	start, end int // lines of the file between the first and the last pair that is not blank (half open)
}

func (p place) overlaps(q place) bool { return p.start < q.end && q.start < p.end }

// begins reports whether a place begins near a line, from 1; near 0 is none.
func (p place) begins(line int) bool {
	return line > 0 && max(p.start+1-line, line-p.start-1) <= nearTrimmed
}

// hit is a line of the file that is like a line of the call.
type hit struct {
	line int32
	sim  float32
}

// locator finds the places of one reading.
type locator struct {
	index *index
	text  *text
	call  []*form
	total float64             // weight of all lines of the call
	kinds []int32             // per line of the call, which lines of the file are tightly equal; -1 none
	ofs   []int32             // per line of the file, its kind
	seen  [][]int32           // per kind, its lines in the file
	hits  [][]hit             // per line of the call, lines of the file that are alike, in order
	known map[uint64]struct{} // pairs of lines that were compared
	rest  float64             // no place that was not looked at is better than this
}

const (
	wholeCells = 400_000 // up to this size all of the file is aligned
	mostLines  = 4000
	mostCells  = 4_000_000 // work on one reading
	mostPairs  = 400_000
	mostSure   = 100 // a line of the call that is in the file more often is no guide

	mostNeighbours = 20_000
)

func newLocator(x *index, call []*form) *locator {
	l := &locator{index: x, text: x.text, call: call, known: make(map[uint64]struct{})}
	l.kinds = make([]int32, len(call))
	byHash := make(map[uint64]int32)
	for k, f := range call {
		l.kinds[k] = -1
		if f.blank {
			continue
		}
		h := hashString(f.tight)
		id, ok := byHash[h]
		if !ok {
			id = int32(len(byHash))
			byHash[h] = id
		}
		l.kinds[k] = id
	}
	var bloom [1024]uint64
	for h := range byHash {
		bloom[h>>54] |= 1 << (h >> 48 & 63)
	}
	l.seen = make([][]int32, len(byHash))
	l.ofs = make([]int32, l.text.lines())
	for i, h := range x.hashes {
		l.ofs[i] = -1
		if h != 0 && bloom[h>>54]&(1<<(h>>48&63)) != 0 {
			if id, ok := byHash[h]; ok {
				l.ofs[i] = id
				l.seen[id] = append(l.seen[id], int32(i))
			}
		}
	}
	l.settleElisions()
	return l
}

// settleElisions takes an elision that the file itself has for a line, and
// adds up the weights.
func (l *locator) settleElisions() {
	for k, f := range l.call {
		if f.elided && len(l.seen[l.kinds[k]]) > 0 {
			f = newForm(f.text)
			f.elided = false
			l.call[k] = f
		}
		if f.elided {
			l.kinds[k] = -1
			continue
		}
		l.total += f.weight
	}
	l.total = max(l.total, 1e-9)
}

// places are where the call may lie, best first, at most most of them, none
// over another.
func (l *locator) places(most int) []place {
	l.compare()
	if l.whole() {
		return apart(l.align(-len(l.call), l.text.lines(), most), most)
	}
	return apart(l.alignBands(most), most)
}

// whole reports whether all of the file can be aligned at once.
func (l *locator) whole() bool {
	return l.text.lines() <= mostLines && l.text.lines()*len(l.call) <= wholeCells
}

// near is the best place that begins near line i.
func (l *locator) near(i int) []place {
	if l.whole() {
		return l.places(1)
	}
	l.compare()
	far := max(32, len(l.call)/3)
	return l.align(i-far, i+far, 1)
}

// apart are the best places, at most most, none over another.
func apart(all []place, most int) []place {
	slices.SortStableFunc(all, func(a, b place) int { return cmp.Compare(b.score, a.score) })
	var out []place
	for _, p := range all {
		if len(out) < most && !slices.ContainsFunc(out, p.overlaps) {
			out = append(out, p)
		}
	}
	return out
}

// runs are the places where the lines of the call stand one after the other,
// white space and typography aside; none over another.
func (l *locator) runs() []place {
	if slices.ContainsFunc(l.call, func(f *form) bool { return f.elided }) {
		return nil
	}
	want := tightHashes(l.call)
	var out []place
	for _, i := range findRun(l.index.hashes, want) {
		if len(out) > 0 && i < out[len(out)-1].end {
			continue
		}
		p := place{score: 1, start: i, end: i + len(want)}
		for k, f := range l.call {
			p.pairs = append(p.pairs, pair{k, k + 1, i + k, i + k + 1, similarOrBlank(f, l.text.line(i+k))})
		}
		out = append(out, p)
	}
	return out
}

// compare fills hits: lines of the file that share words with a line of the
// call, that begin or end like it at the border, or that stand next to a sure
// line.
func (l *locator) compare() {
	l.hits = make([][]hit, len(l.call))
	limit := mostSharing
	if len(l.call) > 50 {
		limit = 12
	}
	for k, f := range l.call {
		if f.blank || f.elided {
			continue
		}
		best, near := l.index.sharing(f.text, limit)
		for _, s := range best {
			l.meet(k, int(s.line))
		}
		if len(l.call) > 1 && len(f.tight) >= 8 && (k == 0 || k == len(l.call)-1) {
			l.border(k, near)
		}
	}
	l.neighbours()
	for k := range l.hits {
		slices.SortFunc(l.hits[k], func(a, b hit) int {
			return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(b.sim, a.sim))
		})
	}
}

// meet compares line k of the call with line i of the file, once.
func (l *locator) meet(k, i int) {
	if l.ofs[i] >= 0 && l.ofs[i] == l.kinds[k] {
		return
	}
	at := uint64(k)<<32 | uint64(i)
	if _, ok := l.known[at]; ok {
		return
	}
	l.known[at] = struct{}{}
	if s := similar(l.call[k], l.text.line(i)); s > 0.5 {
		l.hits[k] = append(l.hits[k], hit{int32(i), float32(s)})
	}
}

// border looks for lines of which the call has quoted only the end (its first
// line) or the start (its last).
func (l *locator) border(k int, near []int32) {
	t := l.call[k].tight
	first, last := k == 0, k == len(l.call)-1
	short := strings.TrimSuffix(t, "...")
	for _, i := range near {
		f := l.text.line(int(i)).tight
		if last && len(short) >= 8 && f != short && strings.HasPrefix(f, short) || first && f != t && strings.HasSuffix(f, t) {
			l.hits[k] = append(l.hits[k], hit{i, simPart})
		}
	}
}

// neighbours compares the lines next to sure pairs even when they share no
// word.
func (l *locator) neighbours() {
	budget := mostNeighbours
	for k := range l.call {
		if l.kinds[k] < 0 {
			continue
		}
		for _, dk := range [...]int{1, -1} {
			q := k + dk
			if q < 0 || q >= len(l.call) || l.call[q].blank && !l.call[q].elided || l.kinds[q] < 0 && !l.call[q].elided {
				continue
			}
			for _, i := range l.sure(q) {
				if j := int(i) - dk; j >= 0 && j < l.text.lines() && budget > 0 && l.index.hashes[j] != 0 {
					budget--
					l.meet(k, j)
				}
			}
		}
	}
}

// sure are the lines of the file that are surely line q of the call, unless
// they are many.
func (l *locator) sure(q int) []int32 {
	var out []int32
	if id := l.kinds[q]; id >= 0 && len(l.seen[id]) <= mostSure {
		out = slices.Clip(l.seen[id])
	}
	for _, h := range l.hits[q] {
		if h.sim >= simSure {
			out = append(out, h.line)
		}
	}
	return out
}
