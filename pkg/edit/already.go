package edit

import (
	"slices"
	"strings"
)

const (
	alreadySim   = 0.97 // how much of the new text must be there
	alreadyGain  = 0.02 // and by how much it must be there better than the old
	deletedSim   = 0.985
	deletedGain  = 0.08 // where the new text is only a part of the old
	littleWeight = 0.3  // of a line that is in many places
	leastNew     = 10   // how many characters new text must have to be recognised
)

// already refuses an edit whose new text is in the file, at least as well as
// the old one; nil where it is not.
func (p *planner) already(c *candidate, best place) *Refusal {
	if blank(c.new) {
		return nil
	}
	if strings.Join(strings.Fields(c.old), "") == strings.Join(strings.Fields(c.new), "") {
		if r := p.alreadySpaced(c, best); r != nil {
			return r
		}
	}
	news := newForms(strings.Split(c.new, "\n"))
	least, gain := deletedSim, deletedGain
	olds := make(map[string]bool)
	for _, f := range c.locator.call {
		olds[f.tight] = true
	}
	for _, f := range news {
		if !f.blank && !olds[f.tight] {
			least, gain = alreadySim, alreadyGain
			break
		}
	}
	score := best.score
	if score+gain >= 1 {
		return nil
	}
	ps := newLocator(p.index, news).near(best.start)
	if len(ps) == 0 {
		return nil
	}
	if ps[0].score < least || ps[0].score <= score+gain || !p.hasChanges(ended(c.locator.call), news, ps[0]) {
		return nil
	}
	return alreadyApplied([2]int{ps[0].start + 1, ps[0].end})
}

// hasChanges reports whether a place of the new text has the very lines that
// differ from the old text, and none where lines are to go.
func (p *planner) hasChanges(old []string, news []*form, at place) bool {
	of := make([]int, len(news)) // per line of the new text the pair that it is in, from 1
	for x, q := range at.pairs {
		for j := q.k0; j < q.k1; j++ {
			of[j] = x + 1
		}
	}
	for _, o := range compareStrings(old, ended(news)) {
		if o.equal {
			continue
		}
		for j := o.j1; j < o.j2; j++ {
			if !news[j].blank && (of[j] == 0 || at.pairs[of[j]-1].sim < simTight) {
				return false
			}
		}
		l, r := o.j1-1, o.j2
		if o.j1 == o.j2 && l >= 0 && r < len(news) &&
			(of[l] == 0 || of[r] == 0 || p.text().solidBetween(at.pairs[of[l]-1].i1, at.pairs[of[r]-1].i0)) {
			return false
		}
	}
	return true
}

// alreadySpaced is already for an edit that changes white space alone. It is
// refused, too, where the new text is there but for a part of the indentation:
// how much of it is to stay cannot be told.
func (p *planner) alreadySpaced(c *candidate, best place) *Refusal {
	all := slices.DeleteFunc(p.find(strings.Trim(c.new, "\n"), 1000), func(x span) bool {
		i := p.line(x.start)
		return i < best.start || i >= best.end
	})
	if len(all) == 0 {
		return nil
	}
	if x := all[0]; p.startsLine(x.start) == behindBlanks && isBlank(rune(p.file[x.start])) {
		return c.conflict(best, &conflict{"the old and the new text differ in their indentation alone, and the file has another", best.start})
	}
	return alreadyApplied(p.linesOf(all[0]))
}

// there reports whether the file has the lines already, from line i on or up
// to it. Lines that the call quotes anyway say nothing.
func (m *merger) there(lines []string, i int) bool {
	var want []string
	fresh := false
	for _, l := range lines {
		if t := tight(l); t != "" {
			want = append(want, t)
			fresh = fresh || weight(l) > littleWeight && !slices.ContainsFunc(m.call, func(f *form) bool { return f.tight == t })
		}
	}
	return fresh && (m.stands(want, i, 1) || m.stands(want, i-1, -1))
}

// stands compares lines with those of the file from i on, in a direction and
// past blank ones.
func (m *merger) stands(want []string, i, step int) bool {
	for k := range want {
		if step < 0 {
			k = len(want) - 1 - k
		}
		for i >= 0 && i < m.text.lines() && m.text.blank(i) {
			i += step
		}
		if i < 0 || i >= m.text.lines() || m.text.line(i).tight != want[k] {
			return false
		}
		i += step
	}
	return true
}

// standsAlready reports where all lines of the new text stand one after the
// other, white space aside, when it only adds lines to the old text.
func (c *candidate) standsAlready() ([2]int, bool) {
	olds := solidForms(c.locator.call)
	if added := len(solidForms(c.news)) - len(olds); added <= 0 || !within(olds, c.news) {
		return [2]int{}, false
	}
	at := findRun(c.locator.index.hashes, tightHashes(c.news))
	if len(at) == 0 {
		return [2]int{}, false
	}
	return [2]int{at[0] + 1, at[0] + len(c.news)}, true
}

// within reports whether all lines of a are in b, in order.
func within(a, b []*form) bool {
	for _, f := range b {
		if len(a) > 0 && a[0].tight == f.tight {
			a = a[1:]
		}
	}
	return len(a) == 0
}

func solidForms(fs []*form) []*form {
	var out []*form
	for _, f := range fs {
		if !f.blank {
			out = append(out, f)
		}
	}
	return out
}

// tightHashes are hashes as an index has them.
func tightHashes(fs []*form) []uint64 {
	out := make([]uint64, len(fs))
	for k, f := range fs {
		if !f.blank {
			out[k] = hashString(f.tight)
		}
	}
	return out
}

// hasNew reports where the file has the new text, when that says something:
// it is in one place only, or in the one that is most like the old text.
func (p *planner) hasNew(old, new string, best *candidate) ([2]int, bool) {
	s := strings.Trim(new, "\n")
	if t := tight(s); len(t) < leastNew || strings.Contains(tight(old), t) {
		return [2]int{}, false
	}
	word := !slices.ContainsFunc([]byte(s), func(c byte) bool { return !isWord(c) })
	all := slices.DeleteFunc(p.find(s, 1000), func(x span) bool { return !word && p.partsWord(x) })
	if len(all) > 1 && best != nil {
		all = slices.DeleteFunc(all, func(x span) bool {
			i := p.line(x.start)
			return i < best.places[0].start || i >= best.places[0].end
		})
	}
	if len(all) != 1 {
		return [2]int{}, false
	}
	return p.linesOf(all[0]), true
}

// madeAround refuses an edit whose new text, which holds the old one, stands
// around the old one at a place already; nil where it does not.
func (p *planner) madeAround(at span, old, new string) *Refusal {
	if _, new = p.fit(at, old, new); !strings.Contains(new, old) {
		return nil
	}
	var doubt *span
	x, ok := p.firstOf(new, func(x span) bool {
		if x.start > at.start || at.end > x.end || !p.made(x, at, old, new) {
			return false
		}
		if x.start < at.start && p.startsLine(x.start) == behindBlanks && p.startsLine(at.start) == atLineStart {
			doubt = &x
			return false
		}
		return true
	})
	switch {
	case ok:
		return alreadyApplied(p.linesOf(x))
	case doubt != nil:
		lines := p.linesOf(*doubt)
		return &Refusal{
			Code: Ambiguous, Message: "the file has the new text already but for the indentation, " + lineRange(lines),
			Hint:   "if that is not what the edit is to make, add the line before to the old and the new text",
			Places: []Place{{Lines: lines, Text: p.text().excerpt(lines[0]-1, lines[1]), Similarity: 1}},
		}
	}
	return nil
}

// made reports whether new text at x, around the old text at a place, is what
// the edit leaves. It is not where x is a part of something longer: of a line,
// where the old text is of whole lines ("import sys" of "import system"), or
// of a word that the old text did not end in.
func (p *planner) made(x, at span, old, new string) bool {
	before, after, _ := strings.Cut(new, old)
	starts, ends := p.startsLine(at.start), p.endsLine(at.end)
	lines := strings.Contains(old, "\n")
	if starts == behindBlanks && new[0] == '\n' {
		starts, ends, lines = insideLine, false, false // a part of a line that gets lines of its own
	}
	if x.start < at.start {
		if starts > insideLine && (ends || lines) && (blank(before) || new[0] != '\n') && p.startsLine(x.start) == insideLine {
			return false
		}
		if p.parts(x.start) && !p.parts(at.start) && isWord(old[0]) {
			return false
		}
	}
	if x.end > at.end {
		broken := old[len(old)-1] != '\n' && blank(after) || new[len(new)-1] != '\n'
		if ends && (starts > insideLine || lines) && broken && !p.endsLine(x.end) {
			return false
		}
		if p.parts(x.end) && !p.parts(at.end) && isWord(old[len(old)-1]) {
			return false
		}
	}
	return true
}

// Where in its line a text begins.
const (
	insideLine = iota
	behindBlanks
	atLineStart
)

// startsLine says where in its line an offset is.
func (p *planner) startsLine(at int) int {
	from := bodyStart(p.file)
	head := at - len(p.indentBefore(at))
	switch {
	case head > from && p.file[head-1] != '\n':
		return insideLine
	case head == at:
		return atLineStart
	}
	return behindBlanks
}

// parts reports whether a cut at an offset parts a word.
func (p *planner) parts(at int) bool { return at > bodyStart(p.file) && joined(p.file, at) }

// partsWord reports whether the text at x begins or ends inside a word.
func (p *planner) partsWord(x span) bool { return p.parts(x.start) || p.parts(x.end) }

// firstOf is the first of the occurrences of a text that counts.
func (p *planner) firstOf(s string, counts func(span) bool) (span, bool) {
	all := p.find(s, 1000)
	if i := slices.IndexFunc(all, counts); i >= 0 {
		return all[i], true
	}
	return span{}, false
}

// linesOf are the first and last line of a stretch, from 1.
func (p *planner) linesOf(at span) [2]int { return [2]int{p.line(at.start) + 1, p.line(at.end) + 1} }
