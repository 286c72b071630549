package edit

import (
	"cmp"
	"slices"
)

// band is a band of diagonals and the most that a place in it can score.
type band struct {
	low, high int
	bound     float64
}

// alignBands aligns only where enough lines agree, the most promising band
// first, as long as the budget lasts.
func (l *locator) alignBands(most int) []place {
	n := len(l.call)
	slack := max(8, min(n/3, 200))
	if slices.ContainsFunc(l.call, func(f *form) bool { return f.elided }) {
		slack = max(slack, min(400, mostCells/8/n))
	}
	bands := l.bandScores(slack)
	var out []place
	best, cells := 0.0, 0
	for x, p := range bands {
		size := (p.high - p.low) * n
		if x >= 3 && (p.bound < 0.5 || p.bound < best-0.5) {
			break
		}
		if x >= 2 && cells+size > mostCells {
			l.rest = p.bound
			break
		}
		cells += size
		found := l.align(p.low, p.high, most)
		for _, f := range found {
			best = max(best, f.score)
		}
		out = append(out, found...)
		if n := equalPlaces(out, best); n >= most || n > 1 && cells > mostCells/4 {
			break // there is no telling them apart
		}
	}
	return out
}

// equalPlaces is how many places are as good as the best, none over another.
func equalPlaces(ps []place, best float64) int {
	var apart []place
	for _, p := range ps {
		if p.score > best-marginPerfect/2 && !slices.ContainsFunc(apart, p.overlaps) {
			apart = append(apart, p)
		}
	}
	return len(apart)
}

// bandScores bounds what each band can score by the lines that agree in it. Lines
// that are everywhere count for every band.
func (l *locator) bandScores(slack int) []band {
	n, step := len(l.call), max(32, slack)
	buckets := make([]float64, (l.text.lines()+n)/step+3)
	stamp := make([]int32, len(buckets))
	everywhere := 0.0
	budget := mostPairs
	for k, f := range l.call {
		if f.elided {
			continue
		}
		id := l.kinds[k]
		if id < 0 || len(l.seen[id]) > budget || len(l.seen[id]) > l.text.lines()/64+64 {
			everywhere += f.weight
			continue
		}
		budget -= len(l.seen[id])
		add := func(i int32) {
			b := (int(i)-k+n)/step + 1
			for _, c := range [...]int{b - 1, b, b + 1} {
				if stamp[c] != int32(k+1) {
					stamp[c] = int32(k + 1)
					buckets[c] += f.weight
				}
			}
		}
		for _, i := range l.seen[id] {
			add(i)
		}
		for _, h := range l.hits[k] {
			add(h.line)
		}
	}
	bands := make([]band, 0, 64)
	for b, v := range buckets {
		low := (b-1)*step - n
		if bound := (v + everywhere) / l.total; bound >= 0.25 && low-slack < l.text.lines() {
			bands = append(bands, band{low - slack, low + step + slack, bound})
		}
	}
	slices.SortStableFunc(bands, func(a, b band) int { return cmp.Compare(b.bound, a.bound) })
	return bands
}
