package edit

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// The moves of an alignment. A match of one line of the call with m of the
// file is moveSplit+m, of m lines of the call with one is moveJoin+m.
const (
	moveUp    = 0 // a line of the call that the file does not have
	moveLeft  = 1 // a line of the file that the call does not have
	moveMatch = 2
	moveSplit = 16
	moveJoin  = 32
	mostJoin  = 8
)

const (
	costUp      = 0.95 // per weight
	costLeft    = 0.30
	leastLeft   = 0.05
	costBlank   = 0.005
	costElided  = 0.002
	costUpBlank = 0.01
	leastScore  = 0.2 // of a place that is told after the best
	mostEnds    = 64  // ends of places that are walked back
	never       = -1e9
)

// grid is the alignment of all lines of the call (rows) with the lines of the
// file on the diagonals low to high: row k has the columns from lo[k].
type grid struct {
	*locator
	lo    []int
	score [][]float32
	move  [][]uint8
	sim   []float32 // of the present row
	gaps  []float32 // per line of the file from lo[0], the cost to skip it
	tails []uint16  // per line of the file from lo[0], the tail of its loose form
}

// align finds the best places on the diagonals low to high: local in the
// file, all of the call.
func (l *locator) align(low, high, most int) []place {
	n, lines := len(l.call), l.text.lines()
	g := grid{locator: l, lo: make([]int, n+1), score: make([][]float32, n+1), move: make([][]uint8, n+1)}
	size := 0
	width := func(k int) (lo, w int) {
		lo = min(max(low+k, 0), lines)
		return lo, min(max(high+1+k, 0), lines) - lo + 1
	}
	for k := range n + 1 {
		_, w := width(k)
		size += w
	}
	scores, moves := make([]float32, size), make([]uint8, size)
	for k := range n + 1 {
		lo, w := width(k)
		g.lo[k] = lo
		g.score[k], scores = scores[:w], scores[w:]
		g.move[k], moves = moves[:w], moves[w:]
	}
	g.sim = make([]float32, min(high-low+3, lines+1))
	g.gaps = make([]float32, g.lo[n]+len(g.score[n])-g.lo[0]-1)
	g.tails = make([]uint16, len(g.gaps))
	for i := range g.gaps {
		f := l.text.line(g.lo[0] + i)
		g.gaps[i] = costBlank
		if !f.blank {
			g.gaps[i] = float32(max(leastLeft, f.weight*costLeft))
		}
		g.tails[i] = tail(f)
	}
	for k := range n {
		g.fill(k)
	}
	return g.best(most)
}

// at is the score of k lines of the call against the file up to line j.
func (g *grid) at(k, j int) float32 {
	if j -= g.lo[k]; j < 0 || j >= len(g.score[k]) {
		return never
	}
	return g.score[k][j]
}

// fill computes row k+1 from the rows before.
func (g *grid) fill(k int) {
	f := g.call[k]
	w := float32(f.weight)
	up := w * costUp
	switch {
	case f.elided:
		up = 0
	case f.blank:
		up = costUpBlank
	}
	g.similarities(k)
	cur, move, lo := g.score[k+1], g.move[k+1], g.lo[k+1]
	prev := g.score[k]
	end := uint16(0)
	if !f.elided {
		end = tail(f)
	}
	before := lo - 1 - g.lo[0] // the line of the file before column 0, in tails
	for x := range cur {
		p := x + lo - g.lo[k]
		v, m := float32(never), uint8(moveUp)
		if p < len(prev) {
			v = prev[p] - up
		}
		if s := g.sim[x]; s >= 0 && p > 0 {
			gain := s
			if s < simSure {
				gain = 2*s - 1 + 0.1
			}
			if d := prev[p-1] + w*gain; d > v {
				v, m = d, moveMatch
			}
		}
		if i := before + x; end != 0 && i >= 0 && sameTail(g.tails[i], end) {
			v, m = g.join(k, lo+x, v, m)
		}
		cur[x], move[x] = v, m
	}
	if k == len(g.call)-1 {
		return
	}
	for x := 1; x < len(cur); x++ {
		gap := float32(costElided)
		if !f.elided {
			gap = g.gaps[before+x]
		}
		if v := cur[x-1] - gap; v > cur[x] {
			cur[x], move[x] = v, moveLeft
		}
	}
}

// tail is the last two bytes of a line's loose form; those of a shorter one
// are 0.
func tail(f *form) uint16 {
	t := f.loose()
	switch len(t) {
	case 0:
		return 0
	case 1:
		return uint16(t[0])
	}
	return uint16(t[len(t)-2])<<8 | uint16(t[len(t)-1])
}

// sameTail reports whether one of two lines may end in the other.
func sameTail(a, b uint16) bool {
	return a == b || a&0xff == b&0xff && (a < 0x100 || b < 0x100)
}

// similarities fills sim for row k+1: how much line k of the call is like the
// line of the file before each column; negative is not at all.
func (g *grid) similarities(k int) {
	f := g.call[k]
	lo, w := g.lo[k+1], len(g.score[k+1])
	sim := g.sim[:w]
	for x := range sim {
		sim[x] = -1
	}
	first := max(lo-1, 0) // the line of the file before column lo, where there is one
	skip := 0
	if lo == 0 {
		skip = 1
	}
	if f.blank {
		for x := skip; x < w; x++ {
			if g.index.hashes[first+x-skip] == 0 {
				sim[x] = 1
			}
		}
		return
	}
	end := first + w - skip
	for _, h := range g.hits[k] {
		if i := int(h.line); i >= first && i < end {
			sim[i-first+skip] = max(sim[i-first+skip], h.sim)
		}
	}
	id := g.kinds[k]
	if id < 0 {
		return
	}
	for i := first; i < end; i++ {
		if g.ofs[i] == id {
			sim[i-first+skip] = float32(similar(f, g.text.line(i)))
		}
	}
}

// join tries to read line k of the call as several lines of the file that end
// at column j, and several lines of the call that end with k as one.
func (g *grid) join(k, j int, v float32, m uint8) (float32, uint8) {
	call, file := g.call[k].loose(), g.text.line(j-1).loose()
	if len(call) == len(file) {
		return v, m
	}
	if len(file) < len(call) {
		if len(call) < 6 {
			return v, m
		}
		left, ok := strings.CutSuffix(call, file)
		for n := 2; ok && n <= mostJoin && j-n >= 0; n++ {
			left, ok = strings.CutSuffix(left, g.text.line(j-n).loose())
			if ok && left == "" {
				if d := g.at(k, j-n) + float32(g.call[k].weight)*simJoined; d > v {
					return d, uint8(moveSplit + n)
				}
				break
			}
		}
		return v, m
	}
	if len(file) < 5 {
		return v, m
	}
	left, ok := strings.CutSuffix(file, call)
	w := g.call[k].weight
	for n := 2; ok && n <= mostJoin && k-n+1 >= 0; n++ {
		w += g.call[k-n+1].weight
		left, ok = strings.CutSuffix(left, g.call[k-n+1].loose())
		if ok && left == "" {
			if d := g.at(k-n+1, j-1) + float32(w)*simJoined; d > v {
				return d, uint8(moveJoin + n)
			}
			break
		}
	}
	return v, m
}

// best walks back from the best ends.
func (g *grid) best(most int) []place {
	n := len(g.call)
	last, lo := g.score[n], g.lo[n]
	var ends []int
	for x, v := range last {
		if v > 0 && !math.IsInf(float64(v), 0) {
			ends = append(ends, lo+x)
		}
	}
	slices.SortStableFunc(ends, func(a, b int) int { return cmp.Compare(last[b-lo], last[a-lo]) })
	var out []place
	tries := 0
	for _, j := range ends {
		if len(out) >= most || tries >= max(mostEnds, 2*most) || len(out) > 0 && float64(last[j-lo]) < leastScore*g.total {
			break
		}
		if slices.ContainsFunc(out, func(p place) bool { return j > p.start && j <= p.end }) {
			continue
		}
		tries++
		p := g.traceback(j)
		if p.end > p.start && !slices.ContainsFunc(out, p.overlaps) {
			p.score = float64(last[j-lo]) / g.total
			out = append(out, p)
		}
	}
	return out
}

// traceback is the place that ends at column j of the last row.
func (g *grid) traceback(j int) place {
	p := place{pairs: make([]pair, 0, len(g.call))}
	for k := len(g.call); k > 0; {
		m := g.move[k][j-g.lo[k]]
		nk, nj := 1, 1
		switch {
		case m == moveUp:
			k--
			continue
		case m == moveLeft:
			j--
			continue
		case m >= moveJoin:
			nk = int(m) - moveJoin
		case m >= moveSplit:
			nj = int(m) - moveSplit
		}
		q := pair{k - nk, k, j - nj, j, simJoined}
		if m == moveMatch {
			q.sim = g.pairSim(k-1, j-1)
		}
		p.pairs = append(p.pairs, q)
		if !g.blankCall(q.k0, q.k1) {
			p.start = q.i0
			if p.end == 0 {
				p.end = q.i1
			}
		}
		k, j = k-nk, j-nj
	}
	slices.Reverse(p.pairs)
	return p
}

func (g *grid) blankCall(k0, k1 int) bool {
	for _, f := range g.call[k0:k1] {
		if !f.blank {
			return false
		}
	}
	return true
}

// pairSim is the similarity that fill has used for line k of the call and
// line i of the file.
func (g *grid) pairSim(k, i int) float64 {
	s := 0.0
	if g.call[k].blank {
		return 1
	}
	if g.ofs[i] == g.kinds[k] && g.ofs[i] >= 0 {
		return similar(g.call[k], g.text.line(i))
	}
	for _, h := range g.hits[k] {
		if int(h.line) == i {
			s = max(s, float64(h.sim))
		}
	}
	return s
}
