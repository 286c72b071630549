package edit

import (
	"slices"
	"strings"
)

// mostTrimmed is how many outer lines of context, a side, a place may lack.
const mostTrimmed = 2

// trims are the ways to leave out lines of context at both ends, the fewest
// lines first. One line stays where there is one.
func trims(head, tail int) [][2]int {
	var out [][2]int
	for n := 1; n <= 2*mostTrimmed; n++ {
		for a := min(n, mostTrimmed); a >= max(0, n-mostTrimmed); a-- {
			if a < max(head, 1) && n-a < max(tail, 1) {
				out = append(out, [2]int{a, n - a})
			}
		}
	}
	return out
}

const (
	leastTelling = 1.0 // weight of lines that say by themselves where they stand
	nearTrimmed  = 3   // lines from where a hunk says it is, within which nothing contests a place
)

// tellsPlace reports whether lines say where they stand.
func tellsPlace(lines []string) bool {
	sum := 0.0
	for _, l := range lines {
		sum += weight(l)
	}
	return sum >= leastTelling && len(lines) > 1
}

// trimmed makes an edit whose outer lines of context are not in the file, where
// the rest stands in one place to the letter; nil where it does not.
func (p *planner) trimmed(old, new string) []change {
	call, news := splitCall(old, new)
	head, tail := commonEnds(call, news)
	var found []span
	var rest [2]string
	left := 0
	for _, t := range trims(head, tail) {
		if t[0]+t[1] > left && len(found) > 0 {
			break
		}
		left = t[0] + t[1]
		lines := call[t[0] : len(call)-t[1]]
		if !tellsPlace(lines) || !mostOf(lines, call) {
			continue
		}
		text := strings.Join(lines, "\n")
		for _, at := range p.find(text, mostEqual) {
			if p.startsLine(at.start) != atLineStart || !p.endsLine(at.end) || slices.Contains(found, at) {
				continue
			}
			if p.headsOther(call[:t[0]], at) {
				return nil
			}
			found, rest = append(found, at), [2]string{text, strings.Join(news[t[0]:len(news)-t[1]], "\n")}
		}
	}
	if len(found) != 1 || p.madeAround(found[0], rest[0], rest[1]) != nil {
		return nil
	}
	c := p.replace(found[0], rest[0], rest[1])
	c.hit.Strategy = ContextAware
	c.hit.Similarity = Similarity(tight(old), tight(rest[0]))
	return []change{c}
}

// mostOf reports whether more of the lines that are not blank are kept than
// left out.
func mostOf(kept, all []string) bool {
	solid := func(lines []string) (n int) {
		for _, l := range lines {
			if !blank(l) {
				n++
			}
		}
		return n
	}
	return 2*solid(kept) > solid(all)
}

// headsOther reports whether one of the lines before a place defines what
// stands elsewhere in the file.
func (p *planner) headsOther(lines []string, at span) bool {
	return slices.ContainsFunc(lines, func(l string) bool {
		return p.text().defines(l, p.line(at.start), p.line(at.end)+1) >= 0
	})
}

// commonEnds is how many lines two texts begin and end with in common.
func commonEnds(a, b []string) (head, tail int) {
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return head, tail
}
