package edit

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// mostRounds is how often hunks may build on the result of others.
const mostRounds = 64

// applyHunks makes all changes of one file or none. Every hunk is looked for
// in the file as it is; one that is not there may build on the result of
// those before it.
func applyHunks(file []byte, hunks []Hunk) ([]byte, []HunkResult, []string, *Refusal) {
	lines := 0
	for i := range hunks {
		lines += len(hunks[i].Lines)
	}
	if r := newGrowth(nil, Options{}).indents(file, lines); r != nil {
		return nil, nil, nil, r
	}
	results := make([]HunkResult, len(hunks))
	var warns []string
	cur := file
	applied := 0
	var made *Refusal  // of a hunk that was left out
	var clash *Refusal // of the first hunk of the round with one before it
	for round, first := 0, 0; first < len(hunks); round++ {
		pl := newPlacer(cur, len(hunks)-first)
		pl.told = slices.ContainsFunc(hunks, func(h Hunk) bool { return h.tellsEndings() })
		pl.offset = bytes.Count(cur, []byte{'\n'}) - bytes.Count(file, []byte{'\n'})
		pl.last = lastLine(hunks, results[:first])
		var all []change
		var failed *Refusal
		i := first
		for ; i < len(hunks); i++ {
			c, r := pl.place(&hunks[i])
			if r != nil && r.made && len(hunks) > 1 {
				made, r = r, nil
				results[i] = HunkResult{Line: made.Places[0].Lines[0], Strategy: ContextAware, Similarity: 1}
				pl.warns = append(pl.warns, fmt.Sprintf("hunk %d of %d is made already, %s", i+1, len(hunks), lineRange(made.Places[0].Lines)))
			}
			if r == nil && len(c) > 0 {
				r = pl.placed(c[0].hit.Lines[0]-1, c[0].hit.Lines[1]-c[0].hit.Lines[0]+1)
				if r != nil {
					return nil, nil, nil, r
				}
			}
			if r != nil {
				failed = r
				break
			}
			for _, x := range c {
				x.hit.Edit = i
				all = append(all, x)
			}
		}
		if n, r := firstOverlap(all); r != nil && n > first {
			// Hunk n changes what another one changes: it must mean the result.
			all = slices.DeleteFunc(all, func(c change) bool { return c.hit.Edit >= n })
			i, failed, clash = n, r, r
		} else if i > first {
			clash = nil
		}
		if failed != nil && (i == first || round == mostRounds) {
			if clash != nil {
				failed = clash
			}
			failed.Edit = i
			if len(hunks) > 1 {
				failed.Message = fmt.Sprintf("hunk %d of %d: %s", i+1, len(hunks), failed.Message)
			}
			if failed.Code == AlreadyApplied && applied > 0 {
				failed.Code = Conflict
			}
			return nil, nil, nil, failed
		}
		after, hits := apply(cur, all)
		shift(results[:first], all, hits)
		starts, ends := make([]int, i), make([]int, i) // the first lines of the hunks before, the last ones after
		for _, h := range hits {
			starts[h.Edit], ends[h.Edit] = h.Lines[0], h.NewLines[1]
			results[h.Edit] = HunkResult{Line: h.NewLines[0], Strategy: h.Strategy, Similarity: h.Similarity}
		}
		for k := first; k < i; k++ {
			after = hunks[k].finalEOL(after, starts[k], ends[k], bytes.HasSuffix(cur, []byte{'\n'}), pl.told)
		}
		warns = append(warns, pl.warns...)
		cur, first, applied = after, i, applied+len(all)
	}
	if applied == 0 && made != nil {
		return nil, nil, nil, made
	}
	return cur, results, warns, nil
}

// lastLine is the line behind the hunks that were applied; -1 when they are not
// in order.
func lastLine(hunks []Hunk, results []HunkResult) int {
	last := 0
	for i, x := range results {
		if x.Line-1 < last {
			return -1
		}
		last = x.Line - 1 + len(hunks[i].side('-'))
	}
	return last
}

// shift moves the lines of earlier results past what later hunks add.
func shift(results []HunkResult, all []change, hits []Hit) {
	for i := range results {
		line := results[i].Line
		for x, h := range hits {
			if all[x].hit.Lines[1] < line {
				results[i].Line += h.NewLines[1] - h.NewLines[0] - (h.Lines[1] - h.Lines[0])
			}
		}
	}
}

// finalEOL adds or removes the last line ending when the hunk, which began at line start
// and now ends with line end, says so and its last line is the last of the file.
func (h *Hunk) finalEOL(file []byte, start, end int, hadEOL, told bool) []byte {
	if h.oldNoEOL == h.newNoEOL || end < countLines(file) {
		return file
	}
	if h.newNoEOL {
		file = bytes.TrimSuffix(file, []byte{'\n'})
		if i := h.bareEnd('-'); i >= 0 && strings.HasSuffix(h.Lines[i].Text, "\r") {
			return file
		}
		return bytes.TrimSuffix(file, []byte{'\r'})
	}
	if hadEOL || len(file) == 0 && start <= 1 && len(h.side('-')) == 0 { // nothing is left that could end
		return file
	}
	eol := endingAt(file, len(file))
	if told {
		eol = "\n"
		if i := lastIndex(h.Lines, func(l HunkLine) bool { return l.Op != '-' }); i >= 0 && strings.HasSuffix(h.Lines[i].Text, "\r") {
			eol = "\r\n"
		}
	}
	return append(bytes.Clone(file), eol...)
}

func lastIndex[T any](s []T, is func(T) bool) int {
	for i, v := range slices.Backward(s) {
		if is(v) {
			return i
		}
	}
	return -1
}

// side is the hunk's text without the lines of one kind.
func (h *Hunk) side(without byte) []string {
	bare := h.bareEnd(without)
	var out []string
	for i, l := range h.Lines {
		if i == bare {
			out = append(out, l.Text)
		} else if l.Op != without {
			out = append(out, strings.TrimSuffix(l.Text, "\r"))
		}
	}
	return out
}

// bareEnd is the last line of a side where no line ending follows it, so that a carriage
// return at its end is a part of it; -1 where there is none.
func (h *Hunk) bareEnd(without byte) int {
	if without == '+' && h.oldNoEOL || without == '-' && h.newNoEOL {
		return lastIndex(h.Lines, func(l HunkLine) bool { return l.Op != without })
	}
	return -1
}

// tellsEndings reports whether the hunk tells CRLF from LF.
func (h *Hunk) tellsEndings() bool {
	return slices.ContainsFunc(h.Lines, func(l HunkLine) bool { return strings.HasSuffix(l.Text, "\r") })
}

// endings are those of the new side, when the hunks tell them; else nil.
func (pl *placer) endings(h *Hunk) []string {
	if !pl.told {
		return nil
	}
	var out []string
	for i, l := range h.Lines {
		eol := "\n"
		if strings.HasSuffix(l.Text, "\r") && i != h.bareEnd('-') {
			eol = "\r\n"
		}
		if l.Op != '-' {
			out = append(out, eol)
		}
	}
	return out
}

// ops are the hunk's changes, by lines of its old and of its new side.
func (h *Hunk) ops() []op {
	var out []op
	i, j := 0, 0
	for _, l := range h.Lines {
		equal := l.Op == ' '
		if n := len(out); n == 0 || out[n-1].equal != equal {
			out = append(out, op{equal, i, i, j, j})
		}
		if l.Op != '+' {
			i++
		}
		if l.Op != '-' {
			j++
		}
		o := &out[len(out)-1]
		o.i2, o.j2 = i, j
	}
	return out
}

// manyHunks are worth an index of the file's lines.
const manyHunks = 4

// mostRuns is how many places of a hunk are looked at.
const mostRuns = 10_000

// insert adds lines where the hunk has no old ones: behind its anchor, before
// its line, or at the end of the file.
func (pl *placer) insert(h *Hunk) ([]change, *Refusal) {
	at := pl.text.lines()
	if len(pl.text.raw(at-1)) == 0 {
		at--
	}
	switch {
	case len(h.Anchors) > 0 && !h.EndOfFile:
		found := pl.anchors(h.Anchors)
		if len(found) > 1 && h.OldLine > 0 {
			if i, ok := pl.nearest(found, h.OldLine-2+pl.offset); ok {
				found = []int{i}
			}
		}
		if len(found) > 1 {
			return nil, pl.ambiguous(found, 1)
		}
		if len(found) == 0 {
			return nil, &Refusal{Code: NoMatch, Message: fmt.Sprintf("the line behind @@, %q, is not in the file", clip(h.Anchors[len(h.Anchors)-1])), Hint: "name a line of the file, or add lines of context"}
		}
		at = found[0] + 1
	case h.OldLine > 0:
		want := max(h.OldLine-1+pl.offset, 0)
		if want > at {
			return nil, &Refusal{
				Code: NoMatch, Message: fmt.Sprintf("the lines go behind line %d, and the file has %d", want, at),
				Hint: "name a line that there is, or add lines of context",
			}
		}
		at = want
	}
	lines := h.side('-')
	if h.OldLine == 0 {
		there := pl.findExact(lines)
		if slices.Contains(there, at) || slices.Contains(there, at-len(lines)) && len(h.Anchors) == 0 {
			return nil, alreadyApplied([2]int{at + 1, at + len(lines)})
		}
	}
	return []change{pl.inserted(at, lines, pl.endings(h))}, nil
}

// inserted is the insertion of lines before line at.
func (pl *placer) inserted(at int, lines, eols []string) change {
	t := pl.text
	eol := t.ending(max(at-1, 0))
	var b strings.Builder
	for i, l := range lines {
		b.WriteString(l)
		if i < len(lines)-1 && eols != nil {
			b.WriteString(eols[i])
		} else if i < len(lines)-1 {
			b.WriteString(eol)
		}
	}
	body := b.String()
	if eols != nil {
		eol = eols[len(eols)-1]
	}
	s := splice{start: len(t.src), end: len(t.src), text: body + eol, line: at + 1}
	switch {
	case at < t.lines():
		s.start, s.end = t.starts[at], t.starts[at]
	case len(t.src) > t.body:
		s.text = eol + body // the last line has no ending, nor shall the new one
	}
	return change{[]splice{s}, Hit{Strategy: Exact, Similarity: 1, Margin: 1, Lines: [2]int{at + 1, at}}}
}

// like leaves a hunk whose old lines are not in the file to the search for
// places that are like them.
func (pl *placer) like(h *Hunk) ([]change, *Refusal) {
	e := Edit{Old: strings.Join(h.side('+'), "\n"), New: strings.Join(h.side('-'), "\n")}
	if h.OldLine > 0 {
		e.Line = max(1, h.OldLine+pl.offset)
	}
	if e.Old == e.New {
		return nil, nil
	}
	p := &planner{file: pl.planner.file, lines: pl.text}
	cs, r := p.planLike(e, e.Old, e.New)
	if r != nil && r.Code != AlreadyApplied {
		if at := pl.findExact(h.side('-')); len(at) == 1 && slices.ContainsFunc([]byte(e.New), isWord) && slices.ContainsFunc(h.Lines, func(l HunkLine) bool { return l.Op == '+' }) {
			return nil, alreadyApplied([2]int{at[0] + 1, at[0] + len(h.side('-'))})
		}
	}
	return cs, r
}
