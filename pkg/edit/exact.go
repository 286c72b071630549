package edit

import (
	"bytes"
	"iter"
	"slices"
	"sort"
	"strings"
)

// span is a stretch of the file in bytes.
type span struct{ start, end int }

// planner looks for the places of edits in one file.
type planner struct {
	file    []byte
	options Options
	lines   *text // once asked for
	index   *index
	edits   []Edit // all that are looked for in the file
	indexes int    // how often an index was asked for
	endings endings
	lf      *unixView // for files with mixed endings
}

// endings says how the lines of a file end.
type endings int

const (
	endingsUnknown endings = iota
	endingsLF
	endingsCRLF
	endingsMixed
)

func (p *planner) text() *text {
	if p.lines == nil {
		p.lines = newText(p.file)
	}
	return p.lines
}

func (p *planner) lineEndings() endings {
	if p.endings == endingsUnknown {
		p.endings = endingsLF
		if bytes.IndexByte(p.file, '\r') >= 0 {
			switch n := bytes.Count(p.file, []byte("\r\n")); n {
			case 0:
			case bytes.Count(p.file, []byte{'\n'}):
				p.endings = endingsCRLF
			default:
				p.endings = endingsMixed
			}
		}
	}
	return p.endings
}

// unixView is a file with LF endings.
type unixView struct {
	src    []byte
	starts []int
}

func (p *planner) unix() *unixView {
	if p.lf == nil {
		t := p.text()
		v := &unixView{src: make([]byte, 0, len(p.file)), starts: make([]int, t.lines())}
		for i := range v.starts {
			v.starts[i] = len(v.src)
			v.src = append(v.src, t.raw(i)...)
			if i < t.lines()-1 {
				v.src = append(v.src, '\n')
			}
		}
		p.lf = v
	}
	return p.lf
}

// offset is where offset at of the view lies in the file.
func (p *planner) offset(at int) int {
	i := sort.SearchInts(p.lf.starts, at+1) - 1
	return p.lines.starts[i] + at - p.lf.starts[i]
}

// find is where the text, with LF endings, occurs in the file, whatever the
// file's endings; overlapping occurrences count. It stops after limit.
func (p *planner) find(s string, limit int) []span { return p.search(s, limit, 1) }

// findApart is find for occurrences that do not overlap.
func (p *planner) findApart(s string, limit int) []span { return p.search(s, limit, 0) }

// search finds at most limit occurrences, the next one step bytes behind the
// start of the one before; 0 is behind its end.
func (p *planner) search(s string, limit, step int) []span {
	var out []span
	for at := range p.occurrences(s, step) {
		if out = append(out, at); len(out) >= limit {
			break
		}
	}
	return out
}

func (p *planner) occurrences(s string, step int) iter.Seq[span] {
	src, shift := p.file[bodyStart(p.file):], bodyStart(p.file)
	mixed := false
	if strings.Contains(s, "\n") {
		switch p.lineEndings() {
		case endingsCRLF:
			s = strings.ReplaceAll(s, "\n", "\r\n")
		case endingsMixed:
			src, shift, mixed = p.unix().src, 0, true
		}
	}
	if step == 0 {
		step = len(s)
	}
	needle := newNeedle(s)
	return func(yield func(span) bool) {
		for at := 0; s != ""; at += step {
			n := needle.index(src[at:])
			if n < 0 {
				return
			}
			at += n
			found := span{shift + at, shift + at + len(s)}
			if mixed {
				found = span{p.offset(at), p.offset(at + len(s))}
			}
			if !yield(found) {
				return
			}
		}
	}
}

// needle is a text to be searched for. A long one is found by a short part,
// which the processor does fast, unless that part is everywhere.
type needle struct {
	all    []byte
	from   int // where the part begins
	to     int
	budget int // bytes that may be compared in vain
}

const (
	shortNeedle  = 60
	needleBudget = 16 << 20
)

func newNeedle(s string) *needle {
	n := &needle{all: []byte(s), to: len(s), budget: needleBudget}
	if len(s) <= shortNeedle {
		return n
	}
	longest := 0
	for at := 0; at < len(s); {
		end := strings.IndexByte(s[at:], '\n')
		if end < 0 {
			end = len(s) - at
		}
		if end > longest {
			longest, n.from = end, at
		}
		at += end + 1
	}
	n.to = min(n.from+shortNeedle, len(s))
	return n
}

func (n *needle) index(src []byte) int {
	if n.to-n.from == len(n.all) {
		return bytes.Index(src, n.all)
	}
	for at := n.from; at < len(src) && n.budget > 0; at++ {
		k := bytes.Index(src[at:], n.all[n.from:n.to])
		if k < 0 {
			return -1
		}
		at += k
		if start := at - n.from; len(src)-start < len(n.all) {
			return -1
		} else if bytes.Equal(src[start:start+len(n.all)], n.all) {
			return start
		}
		n.budget -= len(n.all)
	}
	if n.budget > 0 {
		return -1
	}
	return bytes.Index(src, n.all)
}

// count is how often the text occurs, up to 2.
func (p *planner) count(s string) int { return len(p.find(unixLines(s), 2)) }

// lineEnd is the first line ending at or behind at: its start and its end; the
// end of the file where there is none.
func lineEnd(file []byte, at int) (int, int) {
	n := bytes.IndexByte(file[at:], '\n')
	if n < 0 {
		return len(file), len(file)
	}
	n += at
	if n > at && file[n-1] == '\r' {
		return n - 1, n + 1
	}
	return n, n + 1
}

// endingAt is the line ending that new lines at an offset take.
func endingAt(file []byte, at int) string {
	if a, b := lineEnd(file, at); a < b {
		return string(file[a:b])
	}
	if n := bytes.LastIndexByte(file[:at], '\n'); n > 0 && file[n-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// line is the number of line endings before an offset.
func (p *planner) line(at int) int {
	if p.lines == nil {
		return bytes.Count(p.file[:at], []byte{'\n'})
	}
	n, ok := slices.BinarySearch(p.lines.starts[:p.lines.lines()], at)
	if ok {
		return n
	}
	return max(n-1, 0)
}

// literal replaces a span by new text. Lines that are on both sides keep their endings,
// whether they change or not.
func literal(file []byte, at span, old, new string) splice {
	if !strings.Contains(new, "\n") {
		return splice{start: at.start, end: at.end, text: new}
	}
	eol := endingAt(file, at.start)
	var eols []string // of the old text
	for x := at.start; ; {
		a, b := lineEnd(file, x)
		if b > at.end || a == b {
			break
		}
		eols = append(eols, string(file[a:b]))
		x = b
	}
	olds, news := strings.Split(old, "\n"), strings.Split(new, "\n")
	ends := make([]string, len(news)-1)
	for i := range ends {
		ends[i] = eol
	}
	for _, o := range compareStrings(olds, news) {
		for k := range min(o.i2-o.i1, o.j2-o.j1) {
			if o.i1+k < len(eols) && o.j1+k < len(ends) {
				ends[o.j1+k] = eols[o.i1+k]
			}
		}
	}
	var b strings.Builder
	for i, l := range news {
		b.WriteString(l)
		if i < len(ends) {
			b.WriteString(ends[i])
		}
	}
	return splice{start: at.start, end: at.end, text: b.String()}
}

// wholeLines reports whether a span begins at the start of a line and ends
// before a line ending.
func wholeLines(file []byte, at span) bool {
	if at.start > bodyStart(file) && file[at.start-1] != '\n' {
		return false
	}
	rest := file[at.end:]
	return bytes.HasPrefix(rest, []byte{'\n'}) || bytes.HasPrefix(rest, []byte("\r\n"))
}

// replace is the change of one literal occurrence. Removing whole lines
// removes their last ending too.
func (p *planner) replace(at span, old, new string) change {
	at, new = p.fit(at, old, new)
	first := p.line(at.start)
	last := first + bytes.Count(p.file[at.start:at.end], []byte{'\n'})
	atStart := at.start == bodyStart(p.file) || p.file[at.start-1] == '\n'
	if strings.HasSuffix(old, "\n") && (strings.HasSuffix(new, "\n") || new == "" && atStart) {
		last-- // the next line stays what it is
	}
	if new == "" && !strings.HasSuffix(old, "\n") && wholeLines(p.file, at) {
		_, at.end = lineEnd(p.file, at.end)
	}
	s := literal(p.file, at, old, new)
	s.line = first + 1
	s = s.shrink(p.file)
	s.line = min(s.line, max(first, last)+1) // an insertion behind the last line is of the place
	return change{
		splices: []splice{s},
		hit:     Hit{Strategy: Exact, Similarity: 1, Margin: 1, Lines: [2]int{first + 1, max(first, last) + 1}},
	}
}

// shrink takes off what a splice leaves as it is.
func (s splice) shrink(file []byte) splice {
	old := file[s.start:s.end]
	n := 0
	for n < len(old) && n < len(s.text) && old[n] == s.text[n] {
		n++
	}
	m := 0
	for m < len(old)-n && m < len(s.text)-n && old[len(old)-m-1] == s.text[len(s.text)-m-1] {
		m++
	}
	return splice{s.start + n, s.end - m, s.text[n : len(s.text)-m], s.line + bytes.Count(old[:n], []byte{'\n'})}
}
