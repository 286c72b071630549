// Package edit finds the place that a change is meant for, makes the change,
// and says what it did; it also reads and applies patches.
//
// The rules:
//
//   - Nothing is guessed. A change is made where its place is certain and
//     refused where two places are alike, where the file has other content
//     than the change rests on, or where the change is already made.
//   - A misquoted line is not overwritten. The quoted text is the base of a
//     three-way merge: only what differs between old and new text changes,
//     everything else stays as the file has it.
//   - Bytes outside the reported lines never change, whatever their encoding.
//     Every line keeps its own ending; new lines take the ending and the
//     indentation of their place.
//   - Encodings that do not hold ASCII as it is, such as UTF-16, are for the
//     caller to convert.
//   - Text is literal: no character of old or new text has a special meaning.
//   - Pure: bytes in, bytes out. Time is near linear in the size of the file.
package edit

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strings"
)

// Edit is one change: Old becomes New.
type Edit struct {
	Old     string // the text that stands there now; "" only for an empty file, or with Within
	New     string // the text that is to stand there; "" removes
	All     bool   // every occurrence, not the only one
	InWords bool   // also an occurrence that is a part of a longer word
	Line    int    // where Old begins, from 1, to choose among equal places; 0 is unknown

	// Within are the first and last line, from 1, in which Old is looked for;
	// zero is the whole file. Without Old all of these lines become New, which
	// takes their indentation where it has none.
	Within [2]int
}

func (e Edit) limited() bool { return e.Within != [2]int{} }

// Options say how a place is looked for.
type Options struct {
	// Exact accepts only places that hold the old text as it is, line endings
	// apart, and replaces it to the letter.
	Exact bool
	fits  bool // the new text is not to the letter
	// MinConfidence is the least Similarity of a place that is accepted, from 0
	// to 1, such as Normal or Strict. At 0 the limits are the engine's own.
	MinConfidence float64
	// Grown is by how many bytes other edits of the call have made files larger; see [MostGrowth].
	Grown int

	growth *growth // of the edits that build on each other
}

// The ways in which a place was found, from the plainest to the boldest. All
// are readings of one search; none is tried because another failed.
const (
	Exact                = "exact"                 // the old text as it is
	LineTrimmed          = "line_trimmed"          // but for blanks at line ends
	BlockAnchor          = "block_anchor"          // the first and the last line are equal, lines between them differ
	WhitespaceNormalized = "whitespace_normalized" // but for blanks inside lines, or lines broken in another way
	IndentationFlexible  = "indentation_flexible"  // but for the indentation
	EscapeNormalized     = "escape_normalized"     // after taking escapes or entities off
	TrimmedBoundary      = "trimmed_boundary"      // after taking blank lines, fences, line numbers or diff columns off
	ContextAware         = "context_aware"         // at least half of the lines are equal
	MultiOccurrence      = "multi_occurrence"      // every occurrence was asked for
	Merged               = "merged"                // most lines differ a little
)

// Hints to which callers add what else can be done, by the names that they have for it.
const (
	AddLines  = "add surrounding lines to the old text until it is unique"
	WholeWord = "quote the whole word or line that is to change"
)

// Hit is one place that was changed.
type Hit struct {
	Edit       int      // which of the edits, from 0
	Count      int      // occurrences in it, where there are more than one; else 0
	Strategy   string   // how the place was found
	Similarity float64  // of the old text and the file's: 1 − d/max(len), white space aside
	Margin     float64  // how much better than the next best place, from 0 to 1; 1 where there is no other
	Lines      [2]int   // first and last line of the place before the change, from 1
	NewLines   [2]int   // the same lines after; the last is one less than the first where all were removed
	Kept       []Kept   // lines where the old text misquotes the file; the file's stay. At most 20
	Cleaned    []string // what was taken off the call first, such as "line numbers"
}

// Kept is a line that the call quotes wrongly. It stays as it is, but for what
// the call changes.
type Kept struct {
	Line    int    // in the file before the change, from 1
	File    string // what it says
	Quoted  string // what the call says
	Changed bool   // whether the call changes a part of it
}

// Outcome is the result of a plan.
type Outcome struct {
	After []byte // the whole file after all edits
	Hits  []Hit  // by edit, then by line
}

// Plan makes the edits in file and returns the result; file is not modified.
// An edit is looked for in file as given, and where it is not there, in what
// the edits before it have made of it. All edits are made or none: the error
// is a *Refusal, and nothing else.
func Plan(file []byte, edits []Edit, o Options) (*Outcome, error) {
	if len(edits) == 0 {
		return nil, &Refusal{Code: BadInput, Message: "there is nothing to edit", Hint: "give at least one edit"}
	}
	if o.growth == nil {
		o.growth = newGrowth(edits, o)
	}
	begun := *o.growth
	p := &planner{file: file, edits: edits, options: o}
	var all []change
	var failed *Refusal
	for i, e := range edits {
		cs, r := p.plan(e)
		if r != nil {
			r.Edit, failed = i, r
			break
		}
		for _, c := range cs {
			c.hit.Edit = i
			all = append(all, c)
		}
	}
	if n, r := firstOverlap(all); r != nil {
		failed = r
		all = slices.DeleteFunc(all, func(c change) bool { return c.hit.Edit >= n })
	}
	if failed == nil {
		after, hits := apply(file, all)
		return &Outcome{After: after, Hits: hits}, nil
	}
	p.options.growth = &begun // what was not to be made as it is counts no more
	out, failed := p.later(edits, failed.Edit, all, failed)
	if failed != nil {
		return nil, failed
	}
	return out, nil
}

// later makes edit i and those behind it after the ones before it. Its old text
// must then be there to the letter once, or be like what these have written;
// r, why it cannot be made in the file as it is, where it is not.
func (p *planner) later(edits []Edit, i int, before []change, r *Refusal) (*Outcome, *Refusal) {
	if i == 0 || r.Code == BadInput || r.Code == TooLarge || slices.ContainsFunc(edits[i:], Edit.limited) {
		return nil, r
	}
	mid, hits := apply(p.file, before)
	n := (&planner{file: mid}).count(edits[i].Old)
	exact := n == 1 || n > 1 && edits[i].All
	if !exact && (n > 0 || r.Code == Ambiguous || r.Other != nil) {
		return nil, r
	}
	o := p.options
	o.growth = o.growth.behind(p.file, mid)
	out, err := Plan(mid, edits[i:], o)
	if no, ok := errors.AsType[*Refusal](err); ok && no.Code == TooLarge {
		no.Edit += i
		return nil, no
	}
	if err != nil {
		return nil, r
	}
	if !exact && !slices.ContainsFunc(out.Hits, func(h Hit) bool { return h.Edit == 0 && writtenBy(hits, h.Lines) }) {
		return nil, r
	}
	for _, h := range out.Hits {
		h.Edit += i
		h.Lines = originalLines(hits, h.Lines)
		hits = append(hits, h)
	}
	out.Hits = hits
	return out, nil
}

// writtenBy reports whether some of the lines were written by edits.
func writtenBy(hits []Hit, lines [2]int) bool {
	return slices.ContainsFunc(hits, func(h Hit) bool { return h.NewLines[0] <= lines[1] && lines[0] <= h.NewLines[1] })
}

// originalLines tells which lines of the original the lines of the middle
// state are.
func originalLines(hits []Hit, lines [2]int) [2]int {
	for x, l := range lines {
		shift := 0
		for _, h := range hits {
			if h.NewLines[1] < l {
				shift += h.NewLines[1] - h.Lines[1] - (h.NewLines[0] - h.Lines[0])
			} else if h.NewLines[0] <= l {
				shift = l - h.Lines[x]
				break
			}
		}
		lines[x] = max(1, l-shift)
	}
	return lines
}

// splice replaces file[start:end] by text.
type splice struct {
	start, end int
	text       string
	line       int // of start, from 1
}

// change is what one place becomes.
type change struct {
	splices []splice // in order
	hit     Hit
}

// ownedSplice is a splice and the change that it is of.
type ownedSplice struct {
	splice
	change int
}

// ordered are all splices by their place in the file.
func ordered(all []change) []ownedSplice {
	var ss []ownedSplice
	for i, c := range all {
		for _, s := range c.splices {
			ss = append(ss, ownedSplice{s, i})
		}
	}
	slices.SortStableFunc(ss, func(a, b ownedSplice) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end))
	})
	return ss
}

// firstOverlap is the first edit that touches bytes of one before it.
func firstOverlap(all []change) (int, *Refusal) {
	first := -1
	var r *Refusal
	ss := ordered(all)
	for i := 1; i < len(ss); i++ {
		a, b := ss[i-1], ss[i]
		if a.change == b.change || b.start >= a.end && b.start != a.start {
			continue
		}
		x, y := all[a.change].hit, all[b.change].hit
		if x.Edit > y.Edit {
			x, y = y, x
		}
		if first < 0 || y.Edit < first {
			first, r = y.Edit, overlap(x, y)
		}
	}
	return first, r
}

// apply makes all changes. No two of them touch the same bytes.
func apply(file []byte, all []change) ([]byte, []Hit) {
	ss := ordered(all)
	size := len(file)
	for _, s := range ss {
		size += len(s.text) - (s.end - s.start)
	}
	after := make([]byte, 0, size)
	at := 0
	for _, s := range ss {
		after = append(append(after, file[at:s.start]...), s.text...)
		at = s.end
	}
	after = append(after, file[at:]...)
	lines := make([]int, len(ss))   // of each splice
	grown := make([]int, len(ss)+1) // how many lines the splices before one add
	for i, s := range ss {
		lines[i] = s.line
		grown[i+1] = grown[i] + strings.Count(s.text, "\n") - bytes.Count(file[s.start:s.end], []byte{'\n'})
	}
	had, has := countLines(file), countLines(after)
	hits := make([]Hit, len(all))
	for i, c := range all {
		hits[i] = c.hit
		for x, l := range [...]int{c.hit.Lines[0], c.hit.Lines[1] + 1} {
			n, _ := slices.BinarySearch(lines, l)
			hits[i].NewLines[x] = l - x + grown[n]
			for ; x == 1 && c.hit.Lines[1] < c.hit.Lines[0] && n < len(ss) && lines[n] == l; n++ { // what is put in before line l
				if ss[n].change == i {
					hits[i].NewLines[1] += grown[n+1] - grown[n]
				}
			}
		}
		hits[i].Lines = withinLines(hits[i].Lines, had)
		hits[i].NewLines = withinLines(hits[i].NewLines, has)
	}
	return after, hits
}

// withinLines are lines of a file that has so many: what follows its final line
// ending is none.
func withinLines(lines [2]int, n int) [2]int {
	if lines[0] <= n {
		lines[1] = min(lines[1], n)
	}
	return lines
}

// countLines is how many lines a file has, in which a last one without an
// ending counts.
func countLines(file []byte) int {
	n := bytes.Count(file, []byte{'\n'})
	if len(file) > 0 && file[len(file)-1] != '\n' {
		n++
	}
	return n
}

func overlap(a, b Hit) *Refusal {
	return &Refusal{
		Code: Conflict, Edit: b.Edit, Other: &a.Edit,
		Message: "two edits change the same text, " + lineRange(a.Lines) + " and " + lineRange(b.Lines),
		Hint:    "join the two edits into one",
	}
}
