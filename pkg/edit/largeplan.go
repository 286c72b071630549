package edit

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A LargeOutcome is the result of a Scan.
type LargeOutcome struct {
	Parts []Part // what changes, in order
	Hits  []Hit  // by place
	Size  int64  // of the whole file after
	Lines int    // line endings in it, one more where it does not end in one
	size  int64  // before
}

// A Part is a stretch of the file with a change in it.
type Part struct {
	Offset             int64 // in the file before
	Before, After      []byte
	FirstLine, NewLine int // where it begins before and after, from 1

	whole bool // it is made of whole lines
}

// Plan makes the edits. It reads the stretches of the file around them once
// more. The error is a *Refusal, [ErrZero], or one of reading.
func (s *Scan) Plan(file io.ReaderAt) (*LargeOutcome, error) {
	s.search()
	size := s.base + int64(len(s.buf))
	if s.zero {
		return nil, ErrZero
	}
	if s.failed != nil {
		return nil, s.failed
	}
	g := newGrowth(s.edits, s.options)
	var all []scanned
	for i := range s.edits {
		at, r := s.choose(i)
		if r != nil {
			r.Edit = i
			return nil, r
		}
		if r := g.add(len(at), len(s.edits[i].Old), len(s.edits[i].New)); r != nil {
			r.Edit = i
			return nil, r
		}
		all = append(all, at...)
	}
	slices.SortFunc(all, func(a, b scanned) int { return cmp.Compare(a.start, b.start) })
	out := &LargeOutcome{size: size, Size: size, Lines: s.lines}
	if s.last != '\n' && size > 0 {
		out.Lines++
	}
	grown, done := 0, int64(0)
	for len(all) > 0 {
		p, n, err := s.window(file, size, done, all)
		if err != nil {
			return nil, err
		}
		done = p.Offset + int64(len(p.Before))
		p.NewLine = p.FirstLine + grown
		hits, err := s.planPart(p, all[:n])
		if err != nil {
			return nil, err
		}
		more := bytes.Count(p.After, []byte{'\n'}) - bytes.Count(p.Before, []byte{'\n'})
		grown += more
		out.Size += int64(len(p.After) - len(p.Before))
		out.Lines += more
		out.Parts, out.Hits = append(out.Parts, *p), append(out.Hits, hits...)
		all = all[n:]
	}
	return out, nil
}

// choose returns the places of edit i in the spelling of the file's line
// endings.
func (s *Scan) choose(i int) ([]scanned, *Refusal) {
	var at []scanned
	full := false
	for _, n := range s.needles {
		if n.edit == i {
			at = append(at, n.places...)
			full = full || len(n.places) == mostScanned
		}
	}
	slices.SortFunc(at, func(a, b scanned) int { return cmp.Compare(a.start, b.start) })
	e := s.edits[i]
	if len(at) > 1 && e.Line > 0 {
		at = nearScanned(at, e.Line)
	}
	switch {
	case len(at) == 0:
		return nil, &Refusal{
			Code: NoMatch, Message: "the old text is not in the file to the letter, and the file is too large to look for something like it",
			Hint: "search for the lines, read them, and quote them exactly",
		}
	case full:
		return nil, &Refusal{
			Code: Ambiguous, Message: fmt.Sprintf("the old text occurs %d times or more", mostScanned),
			Hint: "add surrounding lines to the old text, or use a program such as sed",
		}
	case len(at) > 1 && !e.All:
		return nil, ambiguousAt(at)
	}
	return at, nil
}

// nearScanned keeps the one place that begins within three lines of a line,
// if there is just one.
func nearScanned(at []scanned, line int) []scanned {
	for far := range 4 {
		var near []scanned
		for _, x := range at {
			if d := x.line + 1 - line; d == far || d == -far {
				near = append(near, x)
			}
		}
		if len(near) == 1 {
			return near
		}
	}
	return at
}

func ambiguousAt(at []scanned) *Refusal {
	r := &Refusal{Code: Ambiguous, Hint: AddLines}
	var lines []string
	for _, x := range at[:min(len(at), mostEqual)] {
		lines = append(lines, itoa(x.line+1))
		r.Places = append(r.Places, Place{Lines: [2]int{x.line + 1, x.line + 1}, Similarity: 1})
	}
	more := ""
	if len(at) > mostEqual {
		more = ", …"
	}
	r.Message = fmt.Sprintf("the old text occurs %d times, at lines %s%s", len(at), strings.Join(lines, ", "), more)
	return r
}

// window reads the stretch of the first place, and of those that lie so near
// that their stretches touch: it says how many these are. It begins and ends
// with whole lines where these are not too long, and not before done.
func (s *Scan) window(file io.ReaderAt, size, done int64, all []scanned) (*Part, int, error) {
	margin := int64(scanMargin)
	for _, e := range s.edits {
		margin = max(margin, int64(len(e.New))) // so that what is there already is seen
	}
	from := max(all[0].start-margin, done)
	head, err := readRange(file, max(from-scanLine, done), from, size)
	if err != nil {
		return nil, 0, err
	}
	p := &Part{Offset: from - int64(len(head)), whole: true}
	if k := bytes.LastIndexByte(head, '\n'); k >= 0 {
		p.Offset += int64(k + 1)
	} else if p.Offset > done {
		p.Offset, p.whole = from, false
	}
	to, n := int64(0), 0
	for n == 0 || n < len(all) && all[n].start-margin <= to {
		to = max(to, min(all[n].end+margin, size))
		if n++; n < len(all) && all[n].start-margin <= to {
			continue
		}
		tail, err := readRange(file, to, to+scanLine, size)
		if err != nil {
			return nil, 0, err
		}
		switch k := bytes.IndexByte(tail, '\n'); {
		case k >= 0:
			to += int64(k + 1)
		case to+int64(len(tail)) == size:
			to = size
		default:
			p.whole = false
		}
		if to-p.Offset > mostInWindow {
			return nil, 0, &Refusal{
				Code: Ambiguous, Edit: all[0].edit, Message: "so many places lie so close together that a file of this size cannot be changed at once",
				Hint: "change fewer places in one call, or use a program such as sed",
			}
		}
	}
	if p.Before, err = readRange(file, p.Offset, to, size); err != nil {
		return nil, 0, err
	}
	p.FirstLine = all[0].line - bytes.Count(p.Before[:all[0].start-p.Offset], []byte{'\n'}) + 1
	return p, n, nil
}

// readRange reads the bytes from one offset to another, or to the end of the
// file.
func readRange(file io.ReaderAt, from, to, size int64) ([]byte, error) {
	data := make([]byte, min(to, size)-from)
	if n, err := file.ReadAt(data, from); n < len(data) {
		return nil, fmt.Errorf("reading: %w", err)
	}
	return data, nil
}

// planPart makes the edits whose places lie in a part.
func (s *Scan) planPart(p *Part, at []scanned) ([]Hit, error) {
	var edits []Edit
	var which []int
	for _, x := range at {
		if slices.Contains(which, x.edit) {
			continue
		}
		e := s.edits[x.edit]
		if e.Line > 0 {
			e.Line = x.line + 2 - p.FirstLine
		}
		edits, which = append(edits, e), append(which, x.edit)
	}
	out, err := Plan(p.Before, edits, s.options)
	if r, ok := errors.AsType[*Refusal](err); ok {
		r.shift(p.FirstLine-1, which)
		return nil, r
	}
	if err != nil {
		return nil, err
	}
	p.After = out.After
	for i := range out.Hits {
		h := &out.Hits[i]
		h.Edit = which[h.Edit]
		for x := range h.Lines {
			h.Lines[x] += p.FirstLine - 1
			h.NewLines[x] += p.NewLine - 1
		}
	}
	return out.Hits, nil
}

// shift makes a refusal that is about a part one that is about the file.
func (r *Refusal) shift(lines int, edits []int) {
	r.Edit = edits[r.Edit]
	if r.Other != nil {
		r.Other = &edits[*r.Other]
	}
	if lines > 0 && len(r.Places) > 0 {
		r.Message += fmt.Sprintf(" (lines counted from line %d of the file)", lines+1)
	}
	for i := range r.Places {
		r.Places[i].Lines[0] += lines
		r.Places[i].Lines[1] += lines
	}
}

// Reader gives the whole file after the edits. The file before is read from
// file.
func (o *LargeOutcome) Reader(file io.ReaderAt) io.Reader {
	var all []io.Reader
	at := int64(0)
	for _, p := range o.Parts {
		all = append(all, io.NewSectionReader(file, at, p.Offset-at), bytes.NewReader(p.After))
		at = p.Offset + int64(len(p.Before))
	}
	return io.MultiReader(append(all, io.NewSectionReader(file, at, o.size-at))...)
}

// Diff is the unified diff of the change, as [DiffLimit] makes it. Lines longer than
// 64 KiB are named only.
func (o *LargeOutcome) Diff(nameBefore, nameAfter string, context, limit int) Difference {
	w := diffWriter{limit: limit}
	w.head(nameBefore, nameAfter)
	for _, p := range o.Parts {
		if !p.whole {
			w.line("… ", fmt.Sprintf("a line too long to be shown, near line %d\n", p.FirstLine))
			continue
		}
		d := compareLines(p.Before, p.After)
		d.oldBase, d.newBase = p.FirstLine-1, p.NewLine-1
		d.hunks(&w, context)
	}
	return w.difference()
}
