package rg

import "bytes"

// A pendingLine is a line of a multiline match to which later matches may add.
type pendingLine struct {
	start, end, number int
	spans              []Span
	continues          bool
}

// wholeFile searches a file in one piece, so that matches may span lines.
func (s *fileSearch) wholeFile(f source, n int, end bool) {
	for !end {
		if n >= s.most {
			s.reason = ReasonTooLarge
			return
		}
		var err error
		if n, end, err = s.fill(f, n, min(2*n, s.most)); err != nil {
			s.reason = errorReason(err)
			return
		}
	}
	text := s.buf[:n]
	lineOf, lineTo := -1, -1 // the line on which the last match began
	storing := false         // whether that is kept
	for pos := 0; pos < len(text) && !s.stop.Load(); {
		start, stop, ok := s.nextMatch(text, pos)
		if !ok || start == len(text) && text[start-1] == '\n' {
			break
		}
		if s.matches == 0 {
			if s.isBinary(text) {
				s.reason = ReasonBinary
				return
			}
			s.want = s.request()
		}
		if start > lineTo {
			if s.full() {
				break
			}
			lineOf = bytes.LastIndexByte(text[:start], '\n') + 1
			lineTo = lineEnd(text, start)
			s.matches++
			s.addSum(int64(lineOf))
			if s.q.Mode == Files {
				return
			}
			storing = s.begins(lineOf)
		}
		if storing {
			s.addMatch(text, lineOf, start, stop)
		}
		pos = stop
		if stop == start {
			pos++
		}
	}
	s.flushPending(text)
}

// begins says whether to keep a match that begins on the line at pos.
func (s *fileSearch) begins(pos int) bool {
	if s.stored >= s.want.lines {
		return false
	}
	s.countTo(pos)
	if s.number <= s.want.after {
		s.before++
		return false
	}
	s.stored++
	return true
}

// addMatch keeps the lines that a match spans, from the one that begins at at.
func (s *fileSearch) addMatch(text []byte, at, start, stop int) {
	number := s.number
	for {
		end := 0
		if k := len(s.pending) - 1; k >= 0 && s.pending[k].start == at {
			end = s.pending[k].end
		} else {
			end = lineEnd(text, at)
		}
		span := Span{max(start, at) - at, max(min(stop, end), at) - at}
		if k := len(s.pending) - 1; k >= 0 && s.pending[k].number >= number {
			p := &s.pending[k-(s.pending[k].number-number)]
			p.continues = p.continues && start < at
			if len(p.spans) < MaxSpans {
				p.spans = append(p.spans, span)
			}
		} else {
			s.pending = append(s.pending, pendingLine{at, end, number, []Span{span}, start < at})
		}
		if stop <= end+1 || end == len(text) {
			return
		}
		at = end + 1
		number++
	}
}

// flushPending makes lines of what is pending, with the context around.
func (s *fileSearch) flushPending(text []byte) {
	for i, p := range s.pending {
		if i == 0 || s.pending[i-1].number+1 < p.number {
			if i > 0 {
				s.contextAfter(text, s.pending[i-1], p.start)
			}
			s.contextBefore(text, p)
		}
		line := s.newLine(text, p.start, p.end, p.number, p.spans)
		line.Continues = p.continues
		s.lines = append(s.lines, line)
		s.context = min(p.end+1, len(text))
	}
	if k := len(s.pending) - 1; k >= 0 {
		s.contextAfter(text, s.pending[k], len(text))
	}
}

func (s *fileSearch) contextBefore(text []byte, p pendingLine) {
	at := p.start
	for range s.q.Before {
		if at <= s.context {
			break
		}
		at = bytes.LastIndexByte(text[:at-1], '\n') + 1
	}
	at = max(at, s.context)
	s.storeLines(text, at, p.start, p.number-bytes.Count(text[at:p.start], lineBreak[:]), s.q.Before)
}

func (s *fileSearch) contextAfter(text []byte, p pendingLine, upto int) {
	s.storeLines(text, s.context, upto, p.number+1, s.q.After)
}
