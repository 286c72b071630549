package edit

import "slices"

// A numbered hunk whose old lines do not stand together any more is merged as git
// merge-file does: its lines are paired with those of the file, and each of its
// changes is made where the lines beside it and those that it removes stand together
// as they are. Where the file has the new lines there already, nothing is left to do.

const (
	leastPaired  = 0.5  // share of the weight of the old lines that the file has
	leastAlike   = 0.7  // the same where no line number says where to look
	leastAnchors = 2    // lines that say by themselves where they stand, there
	leastSolid   = 6    // old lines that are not blank, there
	mostSpread   = 4    // lines of the file for each old line, there
	leastAnchor  = 0.2  // weight of a line that says by itself where it stands
	mostGap      = 2000 // lines between two anchors that are paired
)

// merge makes the changes of a hunk that are not made; a refusal that is of a hunk that
// is made says that all of them are. Neither where it is not certain what belongs where.
func (pl *placer) merge(h *Hunk) ([]change, *Refusal) {
	if h.OldLine > 0 && !h.counted {
		return nil, nil
	}
	if pl.single == nil {
		pl.single = pl.text.once()
	}
	m := pairLines(pl.text, pl.single, h.side('+'))
	if m == nil {
		return nil, nil
	}
	m.numbered = h.OldLine > 0
	m.begins, m.ends = h.begins, h.ends || h.EndOfFile
	c, ok := m.merge(h.side('-'), h.ops(), pl.endings(h))
	if !ok {
		return nil, nil
	}
	if h.OldLine > 0 {
		pl.offset = c.hit.Lines[1] - h.OldLine - slices.Index(m.of, c.hit.Lines[1]-1)
	}
	if len(c.splices) == 0 {
		made := alreadyApplied(c.hit.Lines)
		made.made = true
		return nil, made
	}
	return []change{c}, nil
}

// merged makes an edit whose old lines do not stand together; nil where it is not
// certain what belongs where, or nothing is left to do.
func (p *planner) merged(old, new string) []change {
	call, news := splitCall(old, new)
	m := pairLines(p.text(), p.text().once(), call)
	if m == nil {
		return nil
	}
	c, ok := m.merge(news, compareStrings(call, news), nil)
	if !ok || len(c.splices) == 0 {
		return nil
	}
	return []change{c}
}

// paired says which lines of the file those of a hunk or an edit are.
type paired struct {
	text         *text
	old          []string
	of           []int   // per old line the file's, -1 none
	anchor       []bool  // per old line whether it stands once in the file, and once in old
	anchors      int     // how many there are
	share        float64 // of the weight of the old lines, what the file has
	numbered     bool    // a line number says where to look
	begins, ends bool    // the old lines are the first or the last of a file
}

// pairLines pairs old lines with the file's; nil where none says where it stands. single is what
// once gives for the file.
func pairLines(t *text, single map[uint64]int, old []string) *paired {
	m := &paired{text: t, old: old, of: slices.Repeat([]int{-1}, len(old)), anchor: make([]bool, len(old))}
	if !m.findAnchors(single) {
		return nil
	}
	m.fill()
	var all, there float64
	for k, l := range old {
		if blank(l) {
			continue
		}
		all += weight(l)
		if m.of[k] >= 0 {
			there += weight(l)
		}
	}
	m.share = there / max(all, 1e-9)
	return m
}

// merge makes the changes from old to added that the file does not have, none where it
// has all of them. It is false where a change has no certain place.
func (m *paired) merge(added []string, ops []op, eols []string) (change, bool) {
	c := change{hit: Hit{Strategy: ContextAware, Similarity: m.share, Margin: 1, Lines: m.lines()}}
	for _, o := range ops {
		if o.equal {
			continue
		}
		lo, hi, ok := m.around(o)
		switch {
		case !ok:
			return c, false
		case m.stand(lo, hi, m.old[o.i1:o.i2]):
			c.splices = append(c.splices, m.text.spliced(lo-o.i1, added, []op{o}, eols)...)
		case !m.stand(lo, hi, added[o.j1:o.j2]) || o.j1 == o.j2 && !m.joined(o):
			return c, false
		}
	}
	return c, true
}

// stand reports whether lines lo to hi of the file (half open) are these.
func (m *paired) stand(lo, hi int, lines []string) bool {
	return hi-lo == len(lines) && m.text.has(lo, lines)
}

// lines are the first and the last line of the file that are paired, from 1.
func (m *paired) lines() [2]int {
	var out [2]int
	for _, i := range m.of {
		if i >= 0 && out[0] == 0 {
			out[0] = i + 1
		}
		out[1] = max(out[1], i+1)
	}
	return out
}

// once is the line of each hash of a line, -1 where there are several.
func (t *text) once() map[uint64]int {
	single := make(map[uint64]int, t.lines())
	for i := range t.lines() {
		h := hashBytes(t.raw(i))
		if _, again := single[h]; again {
			single[h] = -1
		} else {
			single[h] = i
		}
	}
	return single
}

// findAnchors pairs lines that stand once on both sides: of these the heaviest chain
// that is in order. It is false where there is none, or where one that is not in it
// defines something: then another place may be meant.
func (m *paired) findAnchors(single map[uint64]int) bool {
	type link struct {
		k, i int
		sum  float64
		prev int
	}
	in := map[string]int{}
	for _, l := range m.old {
		in[l]++
	}
	var all []link
	best := -1
	for k, l := range m.old {
		w := weight(l)
		i, ok := single[hashString(l)]
		if in[l] > 1 || w < leastAnchor || !ok || i < 0 || string(m.text.raw(i)) != l || len(all) == mostGap {
			continue
		}
		x := link{k, i, w, -1}
		for n, y := range all {
			if y.i < i && y.sum+w > x.sum {
				x.sum, x.prev = y.sum+w, n
			}
		}
		if all = append(all, x); best < 0 || x.sum > all[best].sum {
			best = len(all) - 1
		}
	}
	for ; best >= 0; best = all[best].prev {
		m.of[all[best].k], m.anchor[all[best].k] = all[best].i, true
		m.anchors++
	}
	return m.anchors > 0 && !slices.ContainsFunc(all, func(x link) bool {
		_, defines := definition(m.old[x.k])
		return defines && !m.anchor[x.k]
	})
}

// fill pairs the lines between the anchors, first those that stand beside one.
func (m *paired) fill() {
	n, lines := len(m.old), m.text.lines()
	same := func(k, i int) bool {
		return k >= 0 && k < n && i >= 0 && i < lines && m.of[k] < 0 && string(m.text.raw(i)) == m.old[k]
	}
	for k := range n {
		if k > 0 && m.of[k-1] >= 0 && same(k, m.of[k-1]+1) && m.free(k, m.of[k-1]+1) {
			m.of[k] = m.of[k-1] + 1
		}
	}
	for k := n - 1; k >= 0; k-- {
		if k+1 < n && m.of[k+1] >= 0 && same(k, m.of[k+1]-1) && m.free(k, m.of[k+1]-1) {
			m.of[k] = m.of[k+1] - 1
		}
	}
	for k := 0; k < n; k++ {
		if m.of[k] >= 0 {
			continue
		}
		end := k
		for end < n && m.of[end] < 0 {
			end++
		}
		from, to := 0, 0
		if k > 0 {
			from = m.of[k-1] + 1
		} else if end < n {
			from = max(0, m.of[end]-2*end-8)
		}
		if end < n {
			to = m.of[end]
		} else {
			to = min(lines, from+2*(end-k)+8)
		}
		if to > from && to-from <= mostGap && end-k <= mostGap {
			m.fillGap(k, end, from, to)
		}
		k = end
	}
}

// free reports whether no other line before or behind k is paired beyond line i.
func (m *paired) free(k, i int) bool {
	for n := k - 1; n >= 0; n-- {
		if m.of[n] >= 0 {
			if m.of[n] >= i {
				return false
			}
			break
		}
	}
	for n := k + 1; n < len(m.of); n++ {
		if m.of[n] >= 0 {
			return m.of[n] > i
		}
	}
	return true
}

// fillGap pairs old lines k to end with those of the file from from to to.
func (m *paired) fillGap(k, end, from, to int) {
	var file []string
	for i := from; i < to; i++ {
		file = append(file, string(m.text.raw(i)))
	}
	for _, o := range compareStrings(m.old[k:end], file) {
		if !o.equal {
			continue
		}
		for x := range o.i2 - o.i1 {
			m.of[k+o.i1+x] = from + o.j1 + x
		}
	}
}

// around is the part of the file, half open, between the lines beside a change of the
// hunk; false where one of them is not there, or what stands there may stand elsewhere.
func (m *paired) around(o op) (lo, hi int, ok bool) {
	switch {
	case o.i1 > 0:
		if lo = m.of[o.i1-1] + 1; lo == 0 {
			return 0, 0, false
		}
	case !m.begins:
		return 0, 0, false
	}
	switch hi = m.end(); {
	case o.i2 < len(m.old):
		if hi = m.of[o.i2]; hi < 0 {
			return 0, 0, false
		}
	case !m.ends:
		return 0, 0, false
	}
	return lo, hi, lo <= hi && m.certain(o)
}

// end is the line behind the last of the file.
func (m *paired) end() int {
	n := m.text.lines()
	if n > 0 && len(m.text.raw(n-1)) == 0 {
		n--
	}
	return n
}

// joined reports whether lines are gone: those beside them stand together and say where.
func (m *paired) joined(o op) bool {
	return m.numbered && m.anchored(o.i1-1, -1) > 0 && m.anchored(o.i2, 1) > 0
}

// together reports whether so much of the old lines is there, in one part of the file
// and beside a change, that it tells where to make it without a line number.
func (m *paired) together(o op) bool {
	solid := 0
	for _, l := range m.old {
		if !blank(l) {
			solid++
		}
	}
	at := m.lines()
	have, all := m.beside(o)
	return solid >= leastSolid && m.share >= leastAlike && at[1]-at[0] < mostSpread*len(m.old) && 2*have >= all
}

// beside is how many lines that are not blank there are next to a change, at most two
// a side, and how many of them stand together with it.
func (m *paired) beside(o op) (have, all int) {
	for _, way := range [...]struct{ k, step int }{{o.i1 - 1, -1}, {o.i2, 1}} {
		stand := true
		for k, n := way.k, 0; k >= 0 && k < len(m.of) && n < 2; k += way.step {
			stand = stand && m.of[k] >= 0 && (k == way.k || m.of[k] == m.of[k-way.step]+way.step)
			if blank(m.old[k]) {
				continue
			}
			n++
			all++
			if stand {
				have++
			}
		}
	}
	return have, all
}

// certain reports whether what stands together with a change says that it is meant:
// by itself, or with most of the other lines.
func (m *paired) certain(o op) bool {
	if !m.numbered && !m.together(o) {
		return false
	}
	sum := m.anchored(o.i1-1, -1) + m.anchored(o.i2, 1)
	if sum >= 2*leastTelling {
		return true
	}
	return m.share >= leastPaired && (m.numbered || m.anchors >= leastAnchors) && (sum > 0 || m.only(o))
}

// anchored is the weight of the anchors among the lines from k on that stand together.
func (m *paired) anchored(k, step int) (sum float64) {
	for ; k >= 0 && k < len(m.of) && m.of[k] >= 0; k += step {
		if m.anchor[k] {
			sum += weight(m.old[k])
		}
		if next := k + step; next < 0 || next >= len(m.of) || m.of[next] != m.of[k]+step {
			break
		}
	}
	return sum
}

// only reports whether a change stands between two anchors, and the lines beside it
// nowhere else between these.
func (m *paired) only(o op) bool {
	a, b := o.i1-1, o.i2
	for a >= 0 && !m.anchor[a] {
		a--
	}
	for b < len(m.anchor) && !m.anchor[b] {
		b++
	}
	if a < 0 || b == len(m.anchor) || o.i1 == 0 || o.i2 == len(m.old) {
		return false
	}
	from, to := o.i1-1, o.i2+1
	for from > a && m.of[from-1] >= 0 && m.of[from-1] == m.of[from]-1 {
		from--
	}
	for to < b && m.of[to] >= 0 && m.of[to] == m.of[to-1]+1 {
		to++
	}
	block := make([]string, 0, to-from)
	for i := m.of[from]; i <= m.of[to-1]; i++ {
		block = append(block, string(m.text.raw(i)))
	}
	found := 0
	for i := m.of[a]; i+len(block) <= m.of[b]+1; i++ {
		if m.text.has(i, block) {
			found++
		}
	}
	return found == 1
}
