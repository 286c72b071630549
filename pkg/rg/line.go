package rg

import (
	"bytes"
	"unicode/utf8"

	"github.com/agentkit-go/agentkit/pkg/text"
)

// lineSpans finds the matches in a line, the first always and others as long
// as they begin before limit bytes after it.
func (m *matcher) lineSpans(line []byte, limit int) []Span {
	var spans []Span
	for pos := 0; pos <= len(line) && len(spans) < MaxSpans; {
		start, end, ok := m.nextMatch(line, pos)
		if !ok {
			break
		}
		if len(spans) > 0 && limit >= 0 && start > spans[0].Start+limit {
			break
		}
		if end == start && len(spans) > 0 && spans[len(spans)-1].End == start { // nothing, right after a match
			pos = end + 1
			continue
		}
		spans = append(spans, Span{start, end})
		pos = end
		if end == start {
			pos++
		}
	}
	return spans
}

// newLine makes what is shown of a line of the file: raw without its line
// break, and the matches in it. Legacy gives the encoding of a file that is not
// in UTF-8; it may be nil.
func newLine(raw []byte, number int, offset int64, spans []Span, limit int, legacy func() (text.Encoding, bool)) Line {
	if n := len(raw); n > 0 && raw[n-1] == '\r' {
		raw = raw[:n-1]
	}
	l := Line{Number: number, Offset: offset, Length: len(raw), Match: len(spans) > 0}
	if l.Match {
		first := min(spans[0].Start, len(raw))
		l.Column = first + 1
		l.Char = utf8.RuneCount(raw[:first]) + 1
	}
	lo, hi := 0, len(raw)
	if limit >= 0 && len(raw) > limit {
		lo, hi = window(raw, l.Column-1, limit)
		l.Partial = true
	}
	l.Cut = lo
	l.Spans = shownSpans(spans, lo, hi)
	switch part := raw[lo:hi]; {
	case utf8.Valid(part):
		l.Text = string(part)
	case legacy != nil:
		if e, ok := legacy(); ok {
			l.Text, l.Spans = decodeText(e, part, l.Spans)
			break
		}
		fallthrough
	default:
		l.Text, l.Spans = repairText(part, l.Spans)
		l.Lossy = true
	}
	return l
}

// window picks limit bytes of a line with the match at from near their front.
func window(raw []byte, from, limit int) (lo, hi int) {
	lo = max(0, from-limit/4)
	hi = min(len(raw), lo+limit)
	lo = max(0, hi-limit)
	for n := 0; lo > 0 && n < utf8.UTFMax && !utf8.RuneStart(raw[lo]); n++ {
		lo++
	}
	for n := 0; hi < len(raw) && n < utf8.UTFMax && hi > lo && !utf8.RuneStart(raw[hi]); n++ {
		hi--
	}
	return lo, hi
}

// shownSpans are the spans within the bytes lo to hi, counted from there.
func shownSpans(spans []Span, lo, hi int) []Span {
	var shown []Span
	for _, s := range spans {
		if s.Start <= hi && s.End >= lo {
			shown = append(shown, Span{max(s.Start, lo) - lo, max(min(s.End, hi), lo) - lo})
		}
	}
	return shown
}

// repairText puts U+FFFD for what is not UTF-8 and moves the spans with it.
func repairText(part []byte, spans []Span) (string, []Span) {
	moved := make([]int, len(part)+1) // where each byte goes
	out := make([]byte, 0, len(part)+16)
	for i := 0; i < len(part); {
		r, size := utf8.DecodeRune(part[i:])
		for k := range size {
			moved[i+k] = len(out)
		}
		out = utf8.AppendRune(out, r)
		i += size
	}
	moved[len(part)] = len(out)
	for i, s := range spans {
		spans[i] = Span{moved[s.Start], moved[s.End]}
	}
	return string(out), spans
}

// decodeText decodes a line piece by piece, so that the spans are known in the
// result.
func decodeText(e text.Encoding, part []byte, spans []Span) (string, []Span) {
	var out []byte
	at := 0
	piece := func(to int) int {
		if to > at {
			decoded, _ := e.Decode(part[at:to])
			out = append(out, bytes.ToValidUTF8(decoded, []byte("\uFFFD"))...)
			at = to
		}
		return len(out)
	}
	for i, s := range spans {
		start := piece(s.Start)
		spans[i] = Span{start, piece(s.End)}
	}
	piece(len(part))
	return string(out), spans
}
