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
func tellsPlace(lines []string) bool { return weightOf(lines) >= leastTelling && len(lines) > 1 }

// weightOf is the weight of lines together.
func weightOf(lines []string) (sum float64) {
	for _, l := range lines {
		sum += weight(l)
	}
	return sum
}

// leastAlone is the weight of lines that stand once in a file and tell so much.
const leastAlone = 0.5

// tellsAlone reports whether lines that stand once in the file say where.
func tellsAlone(lines []string) bool { return weightOf(lines) >= leastAlone && len(lines) > 1 }

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
		kept := news[t[0] : len(news)-t[1]]
		for _, at := range p.find(text, mostEqual) {
			if p.startsLine(at.start) != atLineStart || !p.endsLine(at.end) || slices.Contains(found, at) {
				continue
			}
			if p.headsOther(call[:t[0]], at) {
				return nil
			}
			if !keptOf(call, t, kept, p.text().beside(p.line(at.start), p.line(at.end)+1)).tells(p.index) {
				continue
			}
			found, rest = append(found, at), [2]string{text, strings.Join(kept, "\n")}
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

// keptOf is the evidence of a place where a call stands but for outer lines; what is kept
// becomes news, and beside are the lines of the file next to the place.
func keptOf(call []string, left [2]int, news, beside []string) evidence {
	kept := call[left[0] : len(call)-left[1]]
	e := evidence{same: slices.DeleteFunc(slices.Clone(kept), blank)}
	for k, l := range call {
		switch _, defines := definition(l); {
		case blank(l) || k >= left[0] && k < len(call)-left[1]:
		case slices.Contains(beside, l):
			e.same = append(e.same, l)
		case k < left[0] && (defines || slices.ContainsFunc(beside, func(b string) bool { return denies(l, b) })): // what is kept may be of another block
			e.doubt += doubtHead
		default:
			e.doubt += doubtOuter * min(1, weight(l))
		}
	}
	head, tail := commonEnds(kept, news)
	says := func(l string) bool { return !blank(l) }
	e.enclosed = slices.ContainsFunc(kept[:head], says) && slices.ContainsFunc(kept[len(kept)-tail:], says)
	return e
}

// denies reports whether one of two lines says no to what the other says yes to.
func denies(a, b string) bool {
	x, y := newForm(a), newForm(b)
	return negations(x) != negations(y) && similar(x, y) >= wordMisquote
}

// beside are the lines next to lines from to to, from 0.
func (t *text) beside(from, to int) []string {
	var out []string
	for i := max(0, from-mostTrimmed-1); i < min(t.lines(), to+mostTrimmed+1); i++ {
		if i < from || i >= to {
			out = append(out, string(t.raw(i)))
		}
	}
	return out
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

// leastNearer is how many lines of an edit stand together to the letter where they
// tell more than lines that are only alike elsewhere.
const leastNearer = 4

// nearer refuses a change that was found by what is like the old text when all of that
// but one or two outer lines of context stands in one place to the letter, and the change
// would be another one there; nil where it does not.
func (p *planner) nearer(old, new string, cs []change) *Refusal {
	call, news := splitCall(old, new)
	head, tail := commonEnds(call, news)
	for _, t := range trims(head, tail) {
		lines := call[t[0] : len(call)-t[1]]
		if t[0]+t[1] > 1 && !(mostOf(lines, call) && tellsPlace(lines)) || t[0]+t[1] > mostTrimmed || len(lines) < leastNearer || slices.IndexFunc(lines, func(l string) bool { return !blank(l) }) < 0 {
			continue
		}
		text := strings.Join(lines, "\n")
		found := slices.DeleteFunc(p.find(text, mostEqual), func(at span) bool {
			return p.startsLine(at.start) != atLineStart || !p.endsLine(at.end)
		})
		if len(found) != 1 {
			continue
		}
		there := p.replace(found[0], text, strings.Join(news[t[0]:len(news)-t[1]], "\n"))
		a, _ := apply(p.file, cs)
		if b, _ := apply(p.file, []change{there}); string(a) != string(b) {
			at := p.linesOf(found[0])
			return &Refusal{
				Code: Ambiguous, final: true, Message: "the old text is like one place of the file, and all but a line of it stands in another, " + lineRange(at),
				Hint:   "read both places again and quote the one that is meant as it is",
				Places: []Place{{Lines: at, Text: p.text().excerpt(at[0]-1, at[1]), Similarity: Similarity(tight(old), tight(text))}},
			}
		}
	}
	return nil
}
