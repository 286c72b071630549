package truncate

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// Room set aside while the pieces are chosen.
const (
	markerRoom  = 110 // a marker line between pieces
	suspectRoom = 300 // bytes shown of an error line
)

// A stretch is a run of stored lines that is at hand: the start of the stored
// stream, or its end.
type stretch struct {
	buf  []byte
	at   int64 // offset of buf in the stored stream
	cuts []cut
	open bool // the newline of the last line is not of the input
}

// A piece is what is shown of consecutive lines.
type piece struct {
	text            []byte
	at, end         int64 // in the stored stream
	line, lineEnd   int64
	input, inputEnd int64
	shortened       int64 // lines without their middle
	firstShort      int64 // the first of them, from 0
	missing         int64 // input bytes missing inside lines
	replaced        int64 // bytes shown as U+FFFD
}

// A view renders a store into a Result.
type view struct {
	store *store
	o     *Options
	res   *Result

	front, back stretch
	suspects    []suspect
}

// render fills in everything of the Result that depends on what is shown.
func (v *view) render() {
	if v.whole() {
		return
	}
	v.res.Truncated = true
	v.front, v.back = v.stretches()
	if v.store.over {
		v.suspects = v.store.suspects.appendTo(nil)
	}
	lim := v.store.lim
	base := *v.res
	// The footer's own length depends on what is shown, so the room for the
	// content shrinks until all of it fits.
	for _, style := range [...]footerStyle{fullFooter, pathFooter, totalsFooter, bareFooter} {
		if style != bareFooter && len(v.footer(v.worst(), style, lim.Lines)) > lim.Bytes/2 {
			continue
		}
		room, lines := lim.Bytes, lim.Lines
		for range 6 {
			*v.res = base
			text := v.compose(room, lines, style)
			overBytes, overLines := len(text)-lim.Bytes, countLines(text)-lim.Lines
			if overBytes <= 0 && overLines <= 0 {
				v.res.Text = string(text)
				return
			}
			if room -= max(overBytes, 0); room <= 0 {
				break
			}
			if lines -= max(overLines, 0); lines <= 0 {
				break
			}
		}
	}
	*v.res = base
	v.leftOut(nil)
	v.res.Text = "…"[:min(len("…"), lim.Bytes/len("…")*len("…"))]
}

// whole renders an output that fits, and reports whether it does.
func (v *view) whole() bool {
	s := v.store
	if s.over || len(s.headCuts) > 0 || s.cur.n > int64(len(s.cur.first)) ||
		s.totalLines() > int64(s.lim.Lines) || len(s.cur.first) > s.lim.LineChars && utf8.RuneCount(s.cur.first) > s.lim.LineChars {
		return false
	}
	size := len(s.head) + len(s.cur.first)
	if size > s.lim.Bytes {
		return false
	}
	text, replaced := appendValid(make([]byte, 0, size), s.head)
	text, more := appendValid(text, s.cur.first)
	if len(text) > s.lim.Bytes {
		return false
	}
	v.res.Text = string(text)
	v.res.Replaced = replaced + more
	v.res.HeadLines = s.totalLines()
	return true
}

// stretches gathers the stored lines, the unfinished one included.
func (v *view) stretches() (front, back stretch) {
	s := v.store
	var open []byte
	openCut := cut{at: s.bytes}
	if s.cur.n > 0 {
		open, openCut = s.cur.stored(nil, s.lim.LineChars)
		openCut.at = s.bytes
	}
	withOpen := func(x stretch) stretch {
		if s.cur.n == 0 {
			return x
		}
		x.buf, x.open = append(append(x.buf, open...), '\n'), true
		if openCut.bytes > 0 {
			x.cuts = append(x.cuts, openCut)
		}
		return x
	}
	if !s.over {
		front = withOpen(stretch{buf: slices.Clone(s.head), cuts: slices.Clone(s.headCuts)})
		return front, front
	}
	front = stretch{buf: s.head, cuts: s.headCuts}
	back = stretch{buf: s.tail.appendTo(make([]byte, 0, s.tail.n+len(open))), at: s.bytes - int64(s.tail.n)}
	if back.at > 0 { // the first line may lack its start
		i := bytes.IndexByte(back.buf, '\n') + 1
		back.buf = back.buf[i:]
		back.at += int64(i)
	}
	for _, c := range s.tailCuts {
		if c.at >= back.at {
			back.cuts = append(back.cuts, c)
		}
	}
	return front, withOpen(back)
}

// compose chooses the pieces and writes them with markers and a footer; room and
// lines are what is assumed to be there.
func (v *view) compose(room, lines int, style footerStyle) []byte {
	foot := v.footer(v.worst(), style, lines)
	pieces := v.choose(max(room-len(foot)-1, 0), max(lines-countLines([]byte(foot)), 0))
	v.leftOut(pieces)

	var text []byte
	at := position{}
	for _, p := range pieces {
		text = appendMarker(text, at, position{p.line, p.input})
		text = append(text, p.text...)
		at = position{p.lineEnd, p.inputEnd}
	}
	if len(pieces) > 0 {
		text = appendMarker(text, at, position{v.res.TotalLines, v.totalInput()})
	}
	return append(text, v.footer(v.res, style, lines)...)
}

// worst returns a Result whose numbers make the longest footer, to know how much
// room is left.
func (v *view) worst() *Result {
	r := *v.res
	r.HeadLines, r.TailLines = r.TotalLines, r.TotalLines
	r.ErrorLines, r.ShortenedLines = int64(len(v.suspects)), r.TotalLines
	r.TruncatedAtLine = r.TotalLines
	return &r
}

// totalInput returns the bytes that came into the store.
func (v *view) totalInput() int64 { return v.store.input + v.store.cur.n }

// leftOut fills in the numbers of what is and is not shown.
func (v *view) leftOut(pieces []piece) {
	r := v.res
	shownLines, shownBytes, at := int64(0), int64(0), int64(0)
	r.TruncatedAtLine = 0
	first := func(line int64) {
		if r.TruncatedAtLine == 0 || line+1 < r.TruncatedAtLine {
			r.TruncatedAtLine = line + 1
		}
	}
	for i, p := range pieces {
		n := p.lineEnd - p.line
		shownLines += n
		shownBytes += p.inputEnd - p.input - p.missing
		switch {
		case p.line == 0:
			r.HeadLines = n
		case i == len(pieces)-1 && p.lineEnd == r.TotalLines:
			r.TailLines = n
		default:
			r.ErrorLines += n
		}
		r.ShortenedLines += p.shortened
		r.Replaced += p.replaced
		if p.line > at {
			first(at)
		}
		if p.shortened > 0 {
			first(p.firstShort)
		}
		at = p.lineEnd
	}
	if at < r.TotalLines {
		first(at)
	}
	r.LeftOutLines = r.TotalLines - shownLines
	r.LeftOutBytes = v.totalInput() - shownBytes
}

// countLines counts the lines of a text; a last one without a newline counts.
func countLines(b []byte) int {
	n := bytes.Count(b, newline)
	if len(b) > 0 && b[len(b)-1] != '\n' {
		n++
	}
	return n
}
