package truncate

import (
	"bytes"
	"slices"
)

// Bounds of what is held when the lines are limited and the bytes are not.
const (
	heldPerLine = 4 << 10
	minHeld     = 1 << 20
	maxHeld     = 64 << 20
)

// A store receives a stream and holds what a Result may need of it. Too long
// lines are shortened on the way in (this is the stored stream, which offsets
// count); its first lines are held until the limits are passed, its last ones in
// a ring. Everything it decides depends on the bytes alone, not on the chunks.
type store struct {
	lim  Limits // resolved
	cap  int    // bytes held at each end
	step int    // a line of at most this many bytes is stored as it is

	cur  line
	tmp  []byte // scratch for a shortened line
	need bool   // something must be left out

	bytes int64 // of the stored stream, finished lines
	lines int64 // finished
	input int64 // bytes of finished lines before shortening

	over     bool // more has come than fits
	head     []byte
	headCuts []cut
	tail     ring
	tailCuts []cut

	suspects suspects
}

// init prepares the store for resolved limits.
func (s *store) init(lim Limits, shape Shape) {
	s.lim = lim
	s.cap = lim.Bytes
	if s.cap == noLimit && lim.Lines != noLimit {
		s.cap = min(max(lim.Lines, minHeld/heldPerLine), maxHeld/heldPerLine) * heldPerLine
	}
	s.cur.keep = s.cap
	if lim.LineChars < s.cur.keep/4 {
		s.cur.keep = lim.LineChars * 4
	}
	s.step = min(lim.LineChars, s.cur.keep)
	s.cur.last.max = s.cur.keep
	if s.cap != noLimit {
		s.tail.max = 2*s.cap + 1 // a long line and what follows it
	}
	// Lines that the head will show need not be searched; a quarter is left for
	// what the footer takes away from the head.
	s.suspects.init(int64(shape.part(s.cap)/4*3), int64(shape.part(lim.Lines)/4*3))
}

// write takes the next bytes of the stream.
func (s *store) write(p []byte) {
	for len(p) > 0 {
		if s.cur.n == 0 {
			if n := shortLines(p, s.step); n > 0 {
				s.emit(p[:n], cut{})
				p = p[n:]
				continue
			}
		}
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			s.push(p)
			return
		}
		s.push(p[:i])
		s.endLine()
		p = p[i+1:]
	}
}

// shortLines returns the length of the longest prefix of p that is made of whole
// lines of at most step bytes. It looks at a few bytes of every step only.
func shortLines(p []byte, step int) int {
	n := 0
	for {
		w := p[n:]
		if len(w) > step {
			w = w[:step+1]
		}
		i := bytes.LastIndexByte(w, '\n')
		if i < 0 {
			return n
		}
		n += i + 1
	}
}

// push adds to the current line.
func (s *store) push(p []byte) {
	s.cur.push(p)
	if s.cur.n > int64(s.cur.keep) || !s.over && int64(len(s.head))+s.cur.n > int64(s.cap) || s.lines >= int64(s.lim.Lines) {
		s.need = s.need || s.cur.n > 0
	}
}

// endLine stores the current line.
func (s *store) endLine() {
	var c cut
	s.tmp, c = s.cur.stored(s.tmp[:0], s.lim.LineChars)
	s.tmp = append(s.tmp, '\n')
	s.emit(s.tmp, c)
	s.cur.reset()
}

// emit stores whole lines; c.bytes is set only for a single shortened one.
func (s *store) emit(p []byte, c cut) {
	c.at = s.bytes
	s.suspects.search(p, c, s.lines, s.input)
	lines := int64(bytes.Count(p, newline))
	s.bytes += int64(len(p))
	s.input += int64(len(p)) + c.bytes
	if c.bytes > 0 {
		s.need = true
	}
	if !s.over {
		p = s.fill(p, c)
		if len(p) == 0 {
			s.lines += lines
			return
		}
	}
	s.lines += lines
	s.tail.write(p)
	if c.bytes > 0 {
		s.tailCuts = append(s.tailCuts, c)
	}
	if len(s.tailCuts) > 0 {
		s.forgetCuts()
	}
}

// newline is what bytes.Count looks for.
var newline = []byte{'\n'}

// fill adds lines to the head as long as all may still fit, and returns the rest.
func (s *store) fill(p []byte, c cut) []byte {
	lines := s.lines
	for len(p) > 0 {
		n := bytes.IndexByte(p, '\n') + 1
		if n > s.cap-len(s.head) || lines >= int64(s.lim.Lines) {
			s.over, s.need = true, true
			if len(s.head) > 0 {
				s.tail.write(s.head)
			}
			s.tailCuts = slices.Clone(s.headCuts)
			return p
		}
		s.head = append(s.head, p[:n]...)
		if c.bytes > 0 {
			s.headCuts = append(s.headCuts, c)
		}
		lines++
		p = p[n:]
	}
	return nil
}

// forgetCuts drops the cuts of lines that have left the ring. It works in batches
// so that the cost stays constant per line.
func (s *store) forgetCuts() {
	start := s.bytes - int64(s.tail.n)
	gone := 0
	for gone < len(s.tailCuts) && s.tailCuts[gone].at < start {
		gone++
	}
	if gone > 64 || gone == len(s.tailCuts) {
		s.tailCuts = slices.Delete(s.tailCuts, 0, gone)
	}
}

// eraseLine empties the current line.
func (s *store) eraseLine() { s.cur.reset() }

// backspace takes back the last character of the current line.
func (s *store) backspace() { s.cur.pop() }

// totalLines counts the unfinished line too.
func (s *store) totalLines() int64 {
	if s.cur.n > 0 {
		return s.lines + 1
	}
	return s.lines
}
