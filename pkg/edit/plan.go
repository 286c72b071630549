package edit

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// The limits. A place is accepted when enough of the call's weight is there,
// and when it stands out from the next best one. They decide how much is
// found; that nothing wrong is written rests on the merge and on the margin.
const (
	acceptOne     = 0.90 // of one line
	acceptFew     = 0.86 // of two or three
	acceptMany    = 0.74 // of more
	acceptWeak    = 0.62 // of four or more, when the lines around each change match
	acceptLost    = 0.55 // when all lines but one are there and no other place is near
	marginLost    = 0.30
	marginPerfect = 0.01 // to the next place, when the best is perfect
	marginLeast   = 0.06
	marginOne     = 0.12 // of one line
	perfect       = 0.99
	everySim      = 0.985 // a place that counts when all are asked for
	mostScattered = 0.35  // foreign lines in a place, per line of the call
	leastFragment = 6     // characters of a cleaned fragment that is found literally
	mostAll       = 200
	mostSeparate  = 2000     // occurrences that are changes of their own
	stretchSize   = 64 << 10 // bytes of the file in which many others are one
)

// plan finds what one edit changes.
func (p *planner) plan(e Edit) ([]change, *Refusal) {
	if r := p.options.growth.indents(p.file, strings.Count(e.New, "\n")+1); r != nil {
		return nil, r
	}
	if e.limited() {
		return p.planWithin(e)
	}
	if len(p.file) == bodyStart(p.file) && e.Old == "" && e.New != "" {
		return []change{{[]splice{{len(p.file), len(p.file), e.New, 1}}, Hit{Strategy: Exact, Similarity: 1, Margin: 1, Lines: [2]int{1, 1}}}}, nil
	}
	old, new := unixLines(e.Old), unixLines(e.New)
	switch {
	case old == "":
		return nil, &Refusal{Code: BadInput, Message: "the old text is empty", Hint: "quote the lines that are to change, or write the whole file"}
	case e.Old == e.New || old == new && p.count(e.Old) == 0:
		return nil, &Refusal{Code: BadInput, Message: "the old text and the new text are the same", Hint: "say in the new text what is to change"}
	case old == new:
		return p.planEndings(e)
	}
	if cs, r, ok := p.planExact(e, old, new); ok {
		return cs, r
	}
	if blank(old) {
		return nil, p.noMatch("the old text is blank and not in the file", nil)
	}
	return p.planLike(e, old, new)
}

// planEndings changes only line endings, literally.
func (p *planner) planEndings(e Edit) ([]change, *Refusal) {
	raw := &planner{file: p.file, endings: endingsLF}
	at := raw.find(e.Old, 2)
	if len(at) == 0 {
		return nil, &Refusal{Code: BadInput, Message: "the old text and the new text differ only in line endings, and the file has others", Hint: "quote the line endings as the file has them"}
	}
	if len(at) > 1 {
		return nil, p.ambiguous(at, "")
	}
	c := p.replace(at[0], e.Old, e.New)
	c.splices = []splice{{at[0].start, at[0].end, e.New, c.hit.Lines[0]}}
	return []change{c}, nil
}

// planExact finds the old text as it is. It is sure of its answer unless the
// text does not occur.
func (p *planner) planExact(e Edit, old, new string) ([]change, *Refusal, bool) {
	if e.All {
		return p.planExactAll(e, old, new)
	}
	at := p.find(old, 1000)
	if len(at) > 1 && e.Line > 0 {
		at = p.nearLine(at, e.Line)
	}
	switch {
	case len(at) == 0:
		return nil, nil, false
	case len(at) > 1:
		if r := p.insideWord(e, at, old); r != nil {
			return nil, r, true
		}
		return nil, p.ambiguous(at, ""), true
	}
	if r := p.madeAround(at[0], old, new); r != nil {
		return nil, r, true
	}
	if r := p.insideWord(e, at, old); r != nil {
		return nil, r, true
	}
	return []change{p.replace(at[0], old, new)}, nil, true
}

// nearLine keeps the one span that begins within three lines of the hint, if
// there is just one.
func (p *planner) nearLine(at []span, line int) []span {
	p.text()
	for far := range 4 {
		var near []span
		for _, x := range at {
			if d := p.line(x.start) + 1 - line; d == far || d == -far {
				near = append(near, x)
			}
		}
		if len(near) == 1 {
			return near
		}
	}
	return at
}

// planExactAll replaces every occurrence, and where the old text is made of
// whole lines also those with another indentation.
func (p *planner) planExactAll(e Edit, old, new string) ([]change, *Refusal, bool) {
	at := p.findApart(old, mostSeparate+1)
	if len(at) == 0 {
		return nil, nil, false
	}
	if r := p.insideWord(e, at, old); r != nil {
		return nil, r, true
	}
	n := len(at)
	if n > mostSeparate {
		n = 0
		for range p.occurrences(old, 0) {
			n++
		}
	}
	if r := p.options.growth.add(n, len(old), len(new)); r != nil {
		return nil, r, true
	}
	if n > mostSeparate {
		return p.replaceMany(old, new), nil, true
	}
	var out []change
	p.text() // so that lines are found fast
	for _, x := range at {
		c := p.replace(x, old, new)
		c.hit.Strategy = MultiOccurrence
		out = append(out, c)
	}
	if p.options.Exact {
		return out, nil, true
	}
	more, r := p.otherwiseIndented(old, new, at)
	return append(out, more...), r, true
}

// replaceMany replaces so many occurrences that to tell of each would take many
// times the file's size: those of a stretch of it are one change.
func (p *planner) replaceMany(old, new string) []change {
	p.text() // so that lines are found fast
	var out []change
	var b strings.Builder
	at := 0 // the stretch is written up to here
	for x := range p.occurrences(old, 0) {
		c := p.replace(x, old, new)
		s := c.splices[0]
		if n := len(out) - 1; n < 0 || s.start-out[n].splices[0].start > stretchSize {
			if n >= 0 {
				out[n].splices[0].text = b.String()
				b = strings.Builder{}
			}
			c.hit.Strategy, c.hit.Count, at = MultiOccurrence, 0, s.start
			out = append(out, c)
		}
		last := &out[len(out)-1]
		b.Write(p.file[at:s.start])
		b.WriteString(s.text)
		at, last.splices[0].end = s.end, s.end
		last.hit.Count++
		last.hit.Lines[1] = c.hit.Lines[1]
	}
	out[len(out)-1].splices[0].text = b.String()
	return out
}

// otherwiseIndented replaces the places that hold the whole lines of old with
// another indentation. Where old is no more than a word or a part of a line,
// there is no such thing.
func (p *planner) otherwiseIndented(old, new string, taken []span) ([]change, *Refusal) {
	if !strings.Contains(strings.Trim(old, "\n"), "\n") && lead(old) == "" {
		return nil, nil
	}
	p.makeIndex([]reading{{old: old, new: new}})
	c := &candidate{reading: reading{old: old, new: new}}
	call, news := splitCall(old, new)
	c.locator, c.news = newLocator(p.index, newForms(call)), newForms(news)
	t := p.text()
	c.places = slices.DeleteFunc(c.locator.runs(), func(q place) bool {
		for _, r := range q.pairs {
			if !r.single() || c.locator.call[r.k0].ws() != t.line(r.i0).ws() {
				return true
			}
		}
		x, _ := slices.BinarySearchFunc(taken, t.starts[q.start], func(s span, at int) int { return cmp.Compare(s.end, at+1) })
		return x < len(taken) && taken[x].start < t.starts[q.end]
	})
	return p.mergeEvery(c, c.places)
}

func (p *planner) ambiguous(at []span, how string) *Refusal {
	r := &Refusal{Code: Ambiguous, Hint: AddLines}
	var lines []string
	for _, x := range at[:min(len(at), mostEqual)] {
		a := p.line(x.start)
		b := p.line(x.end)
		lines = append(lines, itoa(a+1))
		if n := len(r.Places); n > 0 && r.Places[n-1].Lines == [2]int{a + 1, b + 1} {
			continue
		}
		r.Places = append(r.Places, Place{Lines: [2]int{a + 1, b + 1}, Text: p.text().excerpt(a, b+1), Similarity: 1})
	}
	more := ""
	if len(at) > mostEqual {
		more = ", …"
	}
	n := itoa(len(at))
	if len(at) >= 1000 {
		n = "at least 1000"
	}
	r.Message = fmt.Sprintf("the old text occurs %s times%s, at lines %s%s", n, how, strings.Join(lines, ", "), more)
	return r
}

func alreadyApplied(lines [2]int) *Refusal {
	return &Refusal{
		Code: AlreadyApplied, Message: "the file has the new text already, " + lineRange(lines),
		Hint: "nothing is left to do; read the file to make sure", Places: []Place{{Lines: lines, Similarity: 1}},
	}
}

func (p *planner) noMatch(message string, ps []Place) *Refusal {
	hint := "read the file again and quote the lines as they are"
	if len(ps) > 0 {
		hint = "the nearest place is " + lineRange(ps[0].Lines) + "; read it again and quote the lines as they are"
	}
	return &Refusal{Code: NoMatch, Message: message, Hint: hint, Places: ps}
}

// planLike finds a place that is like the old text.
func (p *planner) planLike(e Edit, old, new string) ([]change, *Refusal) {
	rs := readings(old, new)
	if p.options.Exact {
		rs = rs[:1]
	}
	p.makeIndex(rs)
	found, best, doubt := p.read(e, rs)
	if found != nil {
		return found, nil
	}
	if best != nil && !e.All {
		if lines, ok := best.standsAlready(); ok {
			return nil, alreadyApplied(lines)
		}
	}
	if !e.All && !p.options.Exact && (best == nil || best.score < acceptOne) && doubt == nil {
		if cs, no := p.fragment(old, new); cs != nil || no != nil {
			return cs, no
		}
	}
	cs, no := p.decide(e, best, doubt)
	if no != nil && (no.Code == NoMatch || no.Code == Conflict) {
		if lines, ok := p.hasNew(old, new, best); ok {
			return nil, alreadyApplied(lines)
		}
	}
	if no == nil && !e.All {
		no = p.nearer(old, new, cs)
	}
	if no != nil && no.Code != AlreadyApplied && !no.final && doubt == nil && !e.All && !p.options.Exact && p.options.MinConfidence == 0 {
		if cs := p.trimmed(old, new); cs != nil {
			return cs, nil
		}
		if cs := p.merged(old, new); cs != nil && no.Code != Ambiguous {
			return cs, nil
		}
	}
	return cs, no
}

// read goes through the readings of a call: one that is there as it reads
// settles the edit, else the best of the others and the first doubt are told.
func (p *planner) read(e Edit, rs []reading) (found []change, best *candidate, doubt *Refusal) {
	for _, r := range rs {
		if r.old == r.new {
			continue
		}
		if len(r.cleaned) > 0 {
			c, d := p.planCleaned(e, r)
			if c != nil {
				return c, nil, nil
			}
			if d != nil {
				if doubt == nil {
					doubt = d
				}
				continue
			}
		}
		c := p.candidate(r)
		if len(c.places) > 0 && (best == nil || c.score > best.score+1e-9) {
			best = c
		}
	}
	return nil, best, doubt
}

// calls are the texts whose words the readings need.
func calls(rs []reading) []string {
	var out []string
	for _, r := range rs {
		out = append(out, r.old, r.new)
	}
	return out
}

// leastShared is how many indexes of a file are made for one edit each, before
// one is made that knows the words of all edits.
const leastShared = 4

// makeIndex reads the file for all readings at once, and for all edits where
// several were not to the letter.
func (p *planner) makeIndex(rs []reading) {
	switch p.indexes++; {
	case p.indexes <= leastShared || len(p.edits) <= leastShared:
		p.index = newIndex(p.text(), calls(rs)...)
	case p.indexes == leastShared+1:
		var all []string
		for _, e := range p.edits {
			all = append(all, calls(readings(unixLines(e.Old), unixLines(e.New)))...)
		}
		p.index = newIndex(p.text(), all...)
	}
}

// planCleaned finds a cleaned reading literally. It refuses to choose among
// several occurrences, unless the call's own line numbers do.
func (p *planner) planCleaned(e Edit, r reading) ([]change, *Refusal) {
	at := p.find(r.old, 1000)
	if len(at) > 1 && r.line > 0 {
		for _, x := range at {
			if p.line(x.start)+1 == r.line {
				at = []span{x}
				break
			}
		}
	}
	if e.All && len(at) > 1 {
		cs, _, _ := p.planExactAll(e, r.old, r.new)
		for i := range cs {
			cs[i].hit.Cleaned = r.cleaned
		}
		return cs, nil
	}
	if len(at) > 1 {
		return nil, p.ambiguous(at, " after taking "+strings.Join(r.cleaned, " and ")+" off")
	}
	if len(at) == 1 && isBlank(rune(r.old[0])) && at[0].start > bodyStart(p.file) && isBlank(rune(p.file[at[0].start-1])) {
		return nil, nil // only a part of the indentation; another reading may have all of it
	}
	if len(at) == 0 || !strings.Contains(r.old, "\n") && at[0].start > bodyStart(p.file) && len(strings.TrimSpace(r.old)) < leastFragment {
		return nil, nil
	}
	if slices.Contains(r.cleaned, cleanOuter) && endsBlank(unixLines(e.Old)) && !p.endsLine(at[0].end) {
		return nil, nil // the call says that the line ends there
	}
	if no := p.madeAround(at[0], r.old, r.new); no != nil {
		return nil, no
	}
	if no := p.insideWord(e, at, r.old); no != nil {
		return nil, no
	}
	c := p.replace(at[0], r.old, r.new)
	c.hit.Strategy, c.hit.Cleaned = cleanedStrategy(r.cleaned), r.cleaned
	return []change{c}, nil
}

// endsLine reports whether nothing but blanks follows in the line.
func (p *planner) endsLine(at int) bool {
	for at < len(p.file) && (p.file[at] == ' ' || p.file[at] == '\t') {
		at++
	}
	rest := p.file[at:]
	return len(rest) == 0 || rest[0] == '\n' || bytes.HasPrefix(rest, []byte("\r\n"))
}

// splitCall cuts a text into lines; "" has none.
func splitCall(old, new string) (call, news []string) {
	call = strings.Split(old, "\n")
	if new != "" {
		news = strings.Split(new, "\n")
	}
	for len(call) > 1 && blank(call[len(call)-1]) {
		call = call[:len(call)-1]
		if n := len(news); n > 0 && blank(news[n-1]) {
			news = news[:n-1]
		}
	}
	return call, news
}
