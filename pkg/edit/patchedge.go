package edit

import (
	"slices"
	"strings"
)

// A diff shows as many lines of context before a change as behind it, except
// where its file begins or ends. So a hunk that has fewer on one side says that
// it stands at that end, and there it belongs however much of the rest of its
// context has become something else.

// tellEdges tells hunks whether git wrote them, who does not leave out lines of
// context, and the first and the last of a file that they begin or end it.
func tellEdges(hunks []Hunk, git bool) {
	if len(hunks) == 0 {
		return
	}
	for i := range hunks {
		hunks[i].git = git
	}
	first, last := &hunks[0], &hunks[len(hunks)-1]
	if head, tail := first.context(); first.counted && first.OldLine == 1 && head < tail {
		first.begins = true
	}
	if head, tail := last.context(); last.counted && (tail < head || last.oldNoEOL) {
		last.ends = true
	}
}

// edge is the place of a hunk at the beginning or the end of the file, where the
// lines from there to the change are as the hunk says.
func (pl *placer) edge(h *Hunk) (trimmedPlace, bool) {
	old := h.side('+')
	head, tail := h.context()
	lines := pl.text.lines()
	if lines > 0 && len(pl.text.raw(lines-1)) == 0 {
		lines--
	}
	fits := func(kept []string) bool {
		return slices.ContainsFunc(kept, func(l string) bool { return !blank(l) }) && (h.git || h.oldNoEOL || mostOf(kept, old))
	}
	if h.ends || h.EndOfFile {
		n := 0
		for n < min(len(old), lines) && string(pl.text.raw(lines-1-n)) == old[len(old)-1-n] {
			n++
		}
		if cut := len(old) - n; cut <= head && fits(old[cut:]) {
			f := trimmedPlace{rest: *h, head: cut, start: lines - len(old)}
			f.rest.Lines = h.Lines[cut:]
			return f, true
		}
	}
	if h.begins {
		n := 0
		for n < min(len(old), lines) && string(pl.text.raw(n)) == old[n] {
			n++
		}
		if cut := len(old) - n; cut <= tail && fits(old[:n]) {
			f := trimmedPlace{rest: *h}
			f.rest.Lines = h.Lines[:len(h.Lines)-cut]
			return f, true
		}
	}
	return trimmedPlace{}, false
}

// insertedAlready reports whether all that a hunk does at line i is to insert lines
// that stand beside their places already.
func (pl *placer) insertedAlready(h *Hunk, i int) (at [2]int, ok bool) {
	added := h.side('-')
	for _, o := range h.ops() {
		if o.equal {
			continue
		}
		lines := added[o.j1:o.j2]
		if o.i1 < o.i2 || !tellsPlace(lines) {
			return at, false
		}
		before, behind := i+o.i1-len(lines), i+o.i1
		switch {
		case pl.text.has(before, lines):
			at = [2]int{before + 1, behind}
		case pl.text.has(behind, lines):
			at = [2]int{behind + 1, behind + len(lines)}
		default:
			return at, false
		}
		ok = true
	}
	return at, ok
}

// withoutMade is a hunk whose old lines are lines i to end of the file (half open)
// without what it adds before its first or behind its last line and the file has there
// already; a refusal where nothing is left.
func (pl *placer) withoutMade(h *Hunk, i, end int) (*Hunk, *Refusal) {
	head, tail := h.outer('+')
	less := *h
	if pl.text.has(i-len(head), head) && tellsPlace(head) {
		less.Lines = less.Lines[len(head):]
	}
	if pl.text.has(end, tail) && tellsPlace(tail) {
		less.Lines = less.Lines[:len(less.Lines)-len(tail)]
	}
	if len(less.Lines) == len(h.Lines) {
		return h, nil
	}
	if !slices.ContainsFunc(less.Lines, func(l HunkLine) bool { return l.Op != ' ' }) {
		return nil, alreadyApplied([2]int{i + 1, end})
	}
	return &less, nil
}

// outer is the text of the lines of one kind that a hunk begins and ends with.
func (h *Hunk) outer(op byte) (head, tail []string) {
	for _, l := range h.Lines {
		if l.Op != op {
			break
		}
		head = append(head, strings.TrimSuffix(l.Text, "\r"))
	}
	for _, l := range slices.Backward(h.Lines) {
		if l.Op != op {
			break
		}
		tail = append(tail, strings.TrimSuffix(l.Text, "\r"))
	}
	slices.Reverse(tail)
	return head, tail
}

// has reports whether lines stand at line i.
func (t *text) has(i int, lines []string) bool {
	if i < 0 || i+len(lines) > t.lines() {
		return false
	}
	for k, l := range lines {
		if string(t.raw(i+k)) != l {
			return false
		}
	}
	return true
}

// leastMore is the weight of the lines that a place must have more than the end of
// the file that a hunk names, to be meant as well as that.
const leastMore = 0.5

// near reports whether a place is where the hunk's number says.
func (pl *placer) near(h *Hunk, at int) bool {
	d := at - (h.OldLine - 1 + pl.offset)
	return h.OldLine > 0 && d >= -nearTrimmed && d <= nearTrimmed
}

// rival is a place that may be meant where the end of the file has less of the hunk.
func (pl *placer) rival(h *Hunk, f trimmedPlace, found []trimmedPlace) (trimmedPlace, bool) {
	has := weightOf(f.rest.side('+'))
	for _, g := range found {
		if g.start != f.start && len(g.rest.Lines) > len(f.rest.Lines) && (pl.near(h, g.start) || weightOf(g.rest.side('+'))-has >= leastMore) {
			return g, true
		}
	}
	return trimmedPlace{}, false
}
