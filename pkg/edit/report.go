package edit

import "slices"

// mostKept is how many misquoted lines are reported.
const mostKept = 20

// cleanedStrategy is the strategy of a place that was found literally after
// cleaning.
func cleanedStrategy(cleaned []string) string {
	if slices.ContainsFunc(cleaned, func(c string) bool {
		return c == cleanJSON || c == cleanEscapes || c == cleanQuotes || c == cleanHTML
	}) {
		return EscapeNormalized
	}
	return TrimmedBoundary
}

// strategy names the rung on which a place was found.
func (c *candidate) strategy(at place) string {
	var equal, trailing, indent, inner, escaped int
	first, last := false, false
	lines := c.locator.call
	for _, q := range at.pairs {
		o, f := lines[q.k0], c.locator.text.line(q.i0)
		if o.blank {
			continue
		}
		switch {
		case !q.single():
			inner++
		case o.text == f.text:
		case o.lead == f.lead && o.ws() == f.ws():
			trailing++
		case o.ws() == f.ws():
			indent++
		case o.tight == f.tight:
			inner++
		case q.sim == simLoose:
			escaped++
		default:
			continue
		}
		equal++
		first = first || q.k0 == firstSolid(lines)
		last = q.k1 > lastSolid(lines)
	}
	whole := equal == c.solid()
	switch {
	case !whole && first && last && c.solid() > 2:
		return BlockAnchor
	case !whole && equal*2 >= c.solid():
		return ContextAware
	case !whole:
		return Merged
	case escaped > 0:
		return EscapeNormalized
	case inner > 0:
		return WhitespaceNormalized
	case indent > 0:
		return IndentationFlexible
	case trailing > 0 || len(c.cleaned) == 0:
		return LineTrimmed
	}
	return cleanedStrategy(c.cleaned)
}

func firstSolid(fs []*form) int {
	return slices.IndexFunc(fs, func(f *form) bool { return !f.blank && !f.elided })
}

func lastSolid(fs []*form) int {
	for k, f := range slices.Backward(fs) {
		if !f.blank && !f.elided {
			return k
		}
	}
	return 0
}

// similarity is 1 − d/max(len) of the call and a place, line by line and
// without white space.
func (l *locator) similarity(at place) float64 {
	d, size := 0.0, 0
	k, i := 0, at.start
	skip := func(k1, i1 int) {
		n, m := 0, 0
		for ; k < k1; k++ {
			if !l.call[k].elided {
				n += len(l.call[k].tight)
			}
		}
		for ; i < i1; i++ {
			m += len(l.text.line(i).tight)
		}
		if slices.ContainsFunc(l.call, func(f *form) bool { return f.elided }) {
			m = 0
		}
		d, size = d+float64(max(n, m)), size+max(n, m)
	}
	for _, q := range at.pairs {
		if q.i0 < at.start || q.i1 > at.end {
			continue
		}
		skip(q.k0, q.i0)
		var a, b string
		for ; k < q.k1; k++ {
			a += l.call[k].tight
		}
		for ; i < q.i1; i++ {
			b += l.text.line(i).tight
		}
		n := max(len(a), len(b))
		size += n
		switch {
		case a == b:
		case n > longLine:
			d += max(1, float64(n)*(1-tokenShare(a, b))) // the same tokens in another order differ, too
		default:
			d += float64(n) * (1 - Similarity(a, b))
		}
	}
	skip(len(l.call), at.end)
	if size == 0 {
		return 1
	}
	return 1 - d/float64(size)
}

// kept are the lines of a place where the file's text stays, or what the merge
// does not change of it, though the call misquotes it.
func (c *candidate) kept(at place, m *merger) []Kept {
	var out []Kept
	for _, q := range at.pairs {
		o, f := c.locator.call[q.k0], c.locator.text.line(q.i0)
		if q.single() && !o.blank && o.tight != f.tight && len(out) < mostKept {
			stays := slices.ContainsFunc(m.out, func(w written) bool { return w.src == q.i0 || w.src < 0 && w.text == f.text })
			out = append(out, Kept{Line: q.i0 + 1, File: clip(f.text), Quoted: clip(o.text), Changed: !stays})
		}
	}
	return out
}
