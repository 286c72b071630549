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

// already reports where the new text is in the file, at least as well as the
// old one.
func (p *planner) already(c *candidate, best place) ([2]int, bool) {
	if blank(c.new) {
		return [2]int{}, false
	}
	if strings.Join(strings.Fields(c.old), "") == strings.Join(strings.Fields(c.new), "") {
		if at := p.find(strings.Trim(c.new, "\n"), 1); len(at) > 0 {
			return [2]int{p.line(at[0].start) + 1, p.line(at[0].end) + 1}, true
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
		return [2]int{}, false
	}
	ps := newLocator(p.index, news).near(best.start)
	if len(ps) == 0 {
		return [2]int{}, false
	}
	return [2]int{ps[0].start + 1, ps[0].end}, ps[0].score >= least && ps[0].score > score+gain
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

// hasNew reports where the file has the new text, when that says something.
func (p *planner) hasNew(old, new string) ([2]int, bool) {
	s := strings.Trim(new, "\n")
	if t := tight(s); len(t) < leastNew || strings.Contains(tight(old), t) {
		return [2]int{}, false
	}
	at := p.find(s, 1)
	if len(at) == 0 {
		return [2]int{}, false
	}
	return [2]int{p.line(at[0].start) + 1, p.line(at[0].end) + 1}, true
}
