package rg

import (
	"bytes"
	"sync/atomic"

	"github.com/agentkit-go/agentkit/pkg/text"
)

// A request says what a search of one file is to bring home.
type request struct {
	lines int // matching lines to store
	after int // … from those behind this line on
}

// A found is what a search of one file brought home.
type found struct {
	matches  int
	before   int // matching lines up to request.after
	stored   int // matching lines among lines
	lines    []Line
	encoding string
	reason   string // why it was not searched wholly; "" when it was
	sum      uint64 // changes with the places of the matches
}

// A fileSearch searches files one after the other on one goroutine.
type fileSearch struct {
	*matcher
	q       *Query
	stop    *atomic.Bool
	buf     []byte
	request func() request // asked at the first match of a file
	shown   func() string  // the path of the file, made when it is asked for

	found
	want     request
	base     int64 // offset in the file of buf[0]
	number   int   // number of the line that begins at counted
	counted  int
	context  int // end of what has been stored: context begins here or later
	trailing int // lines of context still owed to the last match
	pending  []pendingLine
	guess    text.Encoding // of the file, where it is not UTF-8
	guessed  bool
	hit      hit   // with Query.Invert
	most     int   // bytes held at once
	total    int64 // bytes read by now, of all files
}

const (
	smallBuffer = 64 << 10 // at first: fresh memory costs more than reading twice
	largeBuffer = 256 << 10
	largeAfter  = 4 << 20   // bytes read
	maxHeld     = 256 << 20 // of a file: a line that is longer, or in a multiline search a file, is not searched
	maxKept     = 1 << 20   // of lines kept as context when the buffer moves on
	headChecked = 1 << 10   // of each file is looked through for a zero byte
)

func newFileSearch(p *plan, q *Query, stop *atomic.Bool) *fileSearch {
	return &fileSearch{matcher: newMatcher(p, stop), q: q, stop: stop, buf: make([]byte, smallBuffer), most: maxHeld}
}

// search looks through a file. The result's lines are the caller's to keep.
func (s *fileSearch) search(f source, ask func() request) found {
	s.found = found{}
	s.request, s.want = ask, request{}
	s.guessed = false
	s.base, s.number, s.counted, s.context, s.trailing = 0, 1, 0, 0, 0
	s.pending = s.pending[:0]
	n, end, err := s.fill(f, 0, s.piece())
	if err != nil {
		return found{reason: errorReason(err)}
	}
	encoding, mark := byteOrder(s.buf[:n])
	if encoding != "" {
		u := &utf16Source{from: f, big: encoding == "utf-16be", raw: bytes.Clone(s.buf[mark:n])}
		u.decode()
		u.out = bytes.Clone(u.out)
		f = u
		mark = 0
		n, end, err = s.fill(f, 0, s.piece())
		if err != nil {
			return found{reason: errorReason(err)}
		}
	}
	s.encoding = encoding
	if mark > 0 {
		n = copy(s.buf, s.buf[mark:n])
		s.base = int64(mark)
	}
	if n == 0 {
		return s.found
	}
	if s.isBinary(s.buf[:min(n, headChecked)]) {
		return found{reason: ReasonBinary}
	}
	if s.multi {
		s.wholeFile(f, n, end)
	} else {
		s.byLines(f, n, end)
	}
	if s.reason == ReasonBinary {
		return found{reason: ReasonBinary}
	}
	return s.found
}

func (s *fileSearch) isBinary(text []byte) bool {
	return !s.q.Binary && bytes.IndexByte(text, 0) >= 0
}

// piece is how much is searched at a time.
func (s *fileSearch) piece() int {
	if s.total < largeAfter {
		return smallBuffer
	}
	return largeBuffer
}

// fill reads behind buf[:n] until limit bytes are there or the file ends.
func (s *fileSearch) fill(f source, n, limit int) (int, bool, error) {
	for n < limit {
		if n == len(s.buf) {
			s.grow(2 * n)
		}
		free := s.buf[n:min(len(s.buf), limit)]
		k, err := f.read(free)
		if err != nil {
			return n, true, err
		}
		n += k
		s.total += int64(k)
		if k == 0 || k < len(free) && f.atEnd(s.base+int64(n)) {
			return n, true, nil
		}
	}
	return n, false, nil
}

func (s *fileSearch) grow(to int) {
	bigger := make([]byte, to)
	copy(bigger, s.buf)
	s.buf = bigger
}

// byLines searches buffer after buffer of whole lines.
func (s *fileSearch) byLines(f source, n int, end bool) {
	from, checked, limit := 0, 0, s.piece()
	for !s.stop.Load() {
		if (!end || s.matches > 0) && s.isBinary(s.buf[checked:n]) {
			s.reason = ReasonBinary
			return
		}
		upto := n
		if !end {
			upto = bytes.LastIndexByte(s.buf[from:n], '\n') + 1 + from
			if upto == from && n >= s.most {
				s.reason = ReasonLongLine
				return
			}
			if upto == from {
				limit = min(2*limit, s.most)
				checked = n
				var err error
				if n, end, err = s.fill(f, n, limit); err != nil {
					s.reason = errorReason(err)
					return
				}
				continue
			}
		}
		if more := s.chunk(s.buf[:upto], from, n); !more || end {
			return
		}
		from = s.advance(upto, n)
		n -= upto - from
		checked = n
		limit = max(s.piece(), 2*n)
		var err error
		if n, end, err = s.fill(f, n, limit); err != nil {
			s.reason = errorReason(err)
			return
		}
	}
}

// advance moves what is still needed to the front of the buffer: lines that
// may become context, and what is behind upto. It gives the new place of upto.
func (s *fileSearch) advance(upto, n int) int {
	keep := upto
	if s.want.lines > s.stored || s.matches == 0 {
		for range s.q.Before {
			if keep <= s.context || upto-keep > maxKept {
				break
			}
			keep = bytes.LastIndexByte(s.buf[:keep-1], '\n') + 1
		}
		keep = max(keep, min(s.context, upto))
	}
	if s.counting() {
		s.countTo(keep)
	}
	s.counted = max(s.counted-keep, 0)
	s.context = max(s.context-keep, 0)
	copy(s.buf, s.buf[keep:n])
	s.base += int64(keep)
	return upto - keep
}

// counting says whether line numbers can still be asked for.
func (s *fileSearch) counting() bool {
	return s.q.Mode == Content && (s.matches == 0 || s.want.lines > s.stored || s.trailing > 0)
}

// countTo brings the line number forward to the line that begins at pos.
func (s *fileSearch) countTo(pos int) {
	if pos > s.counted {
		s.number += bytes.Count(s.buf[s.counted:pos], lineBreak[:])
		s.counted = pos
	}
}

var lineBreak = [...]byte{'\n'}

// chunk searches text, whole lines from from on; the file's bytes in the
// buffer end at n. It is false when the rest of the file is of no interest.
func (s *fileSearch) chunk(text []byte, from, n int) bool {
	s.hit.known = false
	for pos := from; pos < len(text); {
		start, end, ok := s.nextWanted(text, pos)
		if !ok {
			break
		}
		if s.full() {
			if s.trailing > 0 {
				s.storeContext(text, start)
			}
			return false
		}
		if s.matches == 0 {
			if s.isBinary(s.buf[:n]) {
				s.reason = ReasonBinary
				return false
			}
			s.want = s.request()
		}
		s.matches++
		s.addSum(s.base + int64(start))
		if s.q.Mode == Files {
			return false
		}
		if s.want.lines > s.stored || s.trailing > 0 {
			s.store(text, start, end)
		}
		pos = end + 1
		if s.stop.Load() {
			return false
		}
	}
	if s.trailing > 0 {
		s.storeContext(text, len(text))
	}
	return !s.full() || s.trailing > 0
}

// full says whether the file has had as many matches as the query wants of one.
func (s *fileSearch) full() bool { return s.q.MaxCount > 0 && s.matches >= s.q.MaxCount }

// nextWanted finds the first line from pos on that matches, or with Invert that does
// not.
func (s *fileSearch) nextWanted(text []byte, pos int) (start, end int, ok bool) {
	if !s.q.Invert {
		return s.nextLine(text, pos)
	}
	for pos < len(text) {
		if !s.hit.known || s.hit.start < pos {
			start, end, ok := s.nextLine(text, pos)
			if !ok {
				start = len(text)
			}
			s.hit = hit{true, start, end}
		}
		if s.hit.start > pos {
			return pos, lineEnd(text, pos), true
		}
		pos = s.hit.end + 1
		if s.stop.Load() {
			break
		}
	}
	return 0, 0, false
}

// A hit is the next line with a match, which a search for those without one passes.
type hit struct {
	known      bool
	start, end int
}

func (s *fileSearch) addSum(place int64) {
	const prime = 1099511628211
	s.sum = (s.sum ^ uint64(place)) * prime
}

// store keeps a matching line and the context before it.
func (s *fileSearch) store(text []byte, start, end int) {
	if s.trailing > 0 {
		s.storeContext(text, start)
		s.trailing = 0
	}
	if s.want.lines <= s.stored {
		return
	}
	s.countTo(start)
	if s.number <= s.want.after {
		s.before++
		s.context = min(end+1, len(text))
		return
	}
	if s.q.Before > 0 {
		at := start
		for range s.q.Before {
			if at <= s.context {
				break
			}
			at = bytes.LastIndexByte(text[:at-1], '\n') + 1
		}
		at = max(at, s.context)
		number := s.number - bytes.Count(text[at:start], lineBreak[:])
		s.storeLines(text, at, start, number, s.q.Before)
	}
	line := text[start:end]
	spans := s.lineSpans(line, s.q.MaxLineShown)
	if len(spans) == 0 {
		spans = []Span{{}}
	}
	s.lines = append(s.lines, s.newLine(text, start, end, s.number, spans))
	s.stored++
	s.context = min(end+1, len(text))
	s.trailing = s.q.After
}

// storeContext keeps the lines after the last match, up to the place upto.
func (s *fileSearch) storeContext(text []byte, upto int) {
	s.countTo(s.context)
	s.trailing -= s.storeLines(text, s.context, upto, s.number, s.trailing)
}

// storeLines keeps at most most lines of text[from:upto] as context.
func (s *fileSearch) storeLines(text []byte, from, upto, number, most int) int {
	n := 0
	for ; n < most && from < upto; n++ {
		end := lineEnd(text, from)
		s.lines = append(s.lines, s.newLine(text, from, end, number+n, nil))
		from = min(end+1, len(text))
		s.context = from
	}
	return n
}

// newLine makes a line of from[start:end].
func (s *fileSearch) newLine(from []byte, start, end, number int, spans []Span) Line {
	legacy := func() (text.Encoding, bool) { return s.legacy(from, start) }
	return newLine(from[start:end], number, s.base+int64(start), spans, s.q.MaxLineShown, legacy)
}

// legacy guesses at the encoding of a file from what stands around a line that
// is not UTF-8; it is false where that is UTF-8 with some damage.
func (s *fileSearch) legacy(around []byte, at int) (text.Encoding, bool) {
	const before, after = 32 << 10, 32 << 10
	if !s.guessed {
		from, to := max(0, at-before), min(len(around), at+after)
		s.guess, s.guessed = text.Detect(around[from:to], false), true
	}
	switch s.guess.Name {
	case "binary", "utf-8":
		return s.guess, false
	}
	s.encoding = s.guess.Name
	return s.guess, true
}
