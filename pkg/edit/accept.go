package edit

import (
	"fmt"
	"slices"
)

// candidate is a reading of the call with its places.
type candidate struct {
	reading
	locator *locator
	news    []*form
	places  []place
	score   float64
	told    bool // whether a line number names the place
}

// decide takes the best reading, when it is good enough.
func (p *planner) decide(e Edit, best *candidate, doubt *Refusal) ([]change, *Refusal) {
	switch {
	case doubt != nil && (best == nil || best.score < 0.999):
		return nil, doubt
	case best == nil:
		return nil, p.noMatch("the old text is not in the file", nil)
	case p.options.Exact:
		return nil, p.noMatch("the old text is not in the file as it is", best.locator.describe(best.places))
	case e.All:
		return p.everyLike(best)
	}
	return p.accept(e, best)
}

func (p *planner) candidate(r reading) *candidate {
	call, news := splitCall(r.old, r.new)
	c := &candidate{reading: r, locator: newLocator(p.index, newForms(call)), news: newForms(news)}
	c.places = c.locator.places(mostPlaces + 1)
	if len(c.places) > 0 {
		c.score = c.places[0].score - r.penalty
	}
	return c
}

// solid is how many lines of the call say something.
func (c *candidate) solid() int {
	n := 0
	for _, f := range c.locator.call {
		if !f.blank && !f.elided {
			n++
		}
	}
	return n
}

// accept decides whether the best place is the one that is meant.
func (p *planner) accept(e Edit, c *candidate) ([]change, *Refusal) {
	best, second := c.places[0], c.locator.rest
	if len(c.places) > 1 {
		second = max(second, c.places[1].score)
	}
	margin := best.score - second
	solid := c.solid()
	limit := acceptMany
	switch {
	case solid == 1:
		limit = acceptOne
	case solid <= 3:
		limit = acceptFew
	}
	weak := c.score < limit
	if weak && (solid < 4 || c.score < acceptWeak && (c.score < acceptLost || margin < marginLost)) {
		return nil, p.noMatch("the old text is not in the file", c.locator.describe(c.places))
	}
	if margin < marginLeast {
		if at, ok := c.hinted(e.Line, limit); ok {
			best, margin = at, 1
		}
	}
	c.told = best.begins(e.Line) || best.begins(c.line)
	need := marginPerfect
	if best.score < perfect {
		need = max(marginLeast, 1-best.score)
		if solid == 1 {
			need = max(need, marginOne)
		}
	}
	if i := c.rival(best); i >= 0 && e.Line == 0 && c.line == 0 {
		return nil, p.otherDefinition(i, c.locator.describe([]place{best}))
	}
	if margin < need {
		return nil, &Refusal{
			Code: Ambiguous, Message: "two places are alike", Places: c.locator.describe(c.places),
			Hint: "add surrounding lines to the old text until it is unique, or give the line",
		}
	}
	if r := p.already(c, best); r != nil {
		return nil, r
	}
	if c.scattered(best, solid) {
		return nil, p.noMatch("the lines of the old text are far apart in the file", c.locator.describe(c.places))
	}
	return p.merge(c, best, margin, weak)
}

// otherDefinition refuses a call that names one definition and quotes the lines
// of another: the one at line i, the other at a place.
func (p *planner) otherDefinition(i int, at []Place) *Refusal {
	t := p.text()
	return &Refusal{
		Code: Ambiguous, final: true, Message: fmt.Sprintf("the old text names one part of the file and quotes another, see line %d and %s", i+1, lineRange(at[0].Lines)),
		Hint:   "read both places again and quote the one that is meant as it is",
		Places: append([]Place{{Lines: [2]int{i + 1, i + 1}, Text: t.excerpt(i, i+1), Similarity: 1}}, at...),
	}
}

// hinted is the only good place at the line that the caller or the call's own
// line numbers name.
func (c *candidate) hinted(line int, limit float64) (place, bool) {
	if c.line > 0 {
		line = c.line
	}
	var at []place
	for _, q := range c.places {
		if d := q.start + 1 - line; line > 0 && d >= -1 && d <= 1 && q.score >= limit {
			at = append(at, q)
		}
	}
	if len(at) != 1 {
		return place{}, false
	}
	return at[0], true
}

// scattered reports whether too many lines of the file lie between those of
// the call.
func (c *candidate) scattered(at place, solid int) bool {
	inside := make(map[int]bool)
	for _, q := range at.pairs {
		for i := q.i0; i < q.i1; i++ {
			inside[i] = true
		}
	}
	for _, f := range c.locator.call {
		if f.elided {
			return false
		}
	}
	n := 0
	for i := at.start; i < at.end; i++ {
		if !inside[i] && !c.locator.text.blank(i) {
			n++
		}
	}
	return float64(n) > max(2, mostScattered*float64(solid))
}

// merge makes the change at a place.
func (p *planner) merge(c *candidate, at place, margin float64, weak bool) ([]change, *Refusal) {
	m := newMerger(p.index, c.locator.call, c.news, at)
	if weak && c.score < acceptWeak && !m.oneLost() {
		return nil, p.noMatch("the old text is not in the file", c.locator.describe(c.places))
	}
	if x := m.run(weak); x != nil {
		return nil, c.conflict(at, x)
	}
	if p.numbered(m) {
		return nil, c.conflict(at, &conflict{"the new text has line numbers", at.start})
	}
	if !c.told && !m.evidence().tells(p.index) {
		return nil, c.conflict(at, &conflict{"too much of the old text is otherwise there to be sure of the place", at.start})
	}
	if m.headedOther() {
		r := c.conflict(at, &conflict{"the old text stands below another line than in the file", at.start})
		r.final = true
		return nil, r
	}
	ss := m.splices()
	h := Hit{
		Strategy: c.strategy(at), Similarity: c.locator.similarity(at), Margin: margin,
		Lines: [2]int{m.start + 1, m.end}, Kept: c.kept(at, m), Cleaned: c.cleaned,
	}
	if h.Similarity < p.options.MinConfidence {
		return nil, p.noMatch(fmt.Sprintf("the nearest place is %.2f like the old text, less than %.2f", h.Similarity, p.options.MinConfidence), c.locator.describe(c.places))
	}
	if len(ss) == 0 || m.changes > 0 && m.changes == m.done {
		return nil, alreadyApplied(h.Lines)
	}
	return []change{{ss, h}}, nil
}

func (c *candidate) conflict(at place, x *conflict) *Refusal {
	r := &Refusal{Code: Conflict, Message: x.reason, Places: c.locator.describe([]place{at})}
	if x.line >= 0 {
		r.Message += ", line " + itoa(x.line+1)
	}
	if lines := [2]int{at.start + 1, at.end}; lines[0] == lines[1] {
		r.Hint = "read " + lineRange(lines) + " again and quote it as it is"
	} else {
		r.Hint = "read " + lineRange(lines) + " again and quote them as they are"
	}
	return r
}

// numbered reports whether new lines carry line numbers that the file does
// not have.
func (p *planner) numbered(m *merger) bool {
	n := 0
	for _, w := range m.out {
		if w.src < 0 && hasNumber(w.text) {
			n++
		}
	}
	if n < 2 {
		return false
	}
	t, have := p.text(), 0
	for i := 0; i < t.lines() && have < 2; i++ {
		if hasNumber(string(t.raw(i))) {
			have++
		}
	}
	return have < 2
}

// everyLike changes every place that is like the old text.
func (p *planner) everyLike(c *candidate) ([]change, *Refusal) {
	places := c.locator.runs()
	for _, q := range c.locator.places(mostAll) {
		if q.score >= everySim && !slices.ContainsFunc(places, q.overlaps) {
			places = append(places, q)
		}
	}
	if len(places) == 0 {
		return nil, p.noMatch("the old text is not in the file", c.locator.describe(c.places))
	}
	out, r := p.mergeEvery(c, places)
	if r == nil && len(out) == 0 {
		r = alreadyApplied([2]int{places[0].start + 1, places[0].end})
	}
	return out, r
}

// mergeEvery makes the change at all places, but for those that have it.
func (p *planner) mergeEvery(c *candidate, places []place) ([]change, *Refusal) {
	if r := p.options.growth.add(len(places), len(c.reading.old), len(c.reading.new)); r != nil {
		return nil, r
	}
	slices.SortFunc(places, func(a, b place) int { return a.start - b.start })
	var out []change
	for _, at := range places {
		cs, r := p.merge(c, at, 1, false)
		if r != nil && r.Code != AlreadyApplied {
			return nil, r
		}
		if r == nil {
			cs[0].hit.Strategy = MultiOccurrence
			out = append(out, cs...)
		}
	}
	return out, nil
}
