package edit

import (
	"bytes"
	"errors"
	"strings"
)

// The limits of a Scan, in bytes unless said otherwise.
const (
	scanBuffer   = 1 << 20
	scanMargin   = 4 << 10  // what is read around a place, at least
	scanLine     = 64 << 10 // how far away the end of a line may be to be reached
	mostScanned  = 10_000   // places
	mostInWindow = 64 << 20
)

// ErrZero says that a file has zero bytes, so that it is no text in an
// encoding that holds ASCII as it is.
var ErrZero = errors.New("the file has zero bytes")

// A Scan finds the places of edits in a file that is not to be held in memory.
// All of the file is written to it, from its beginning; then Plan makes the
// edits. Only places that hold the old text to the letter, line endings apart,
// are found, and edits do not build on each other.
type Scan struct {
	edits   []Edit
	options Options
	needles []*needleScan
	buf     []byte
	base    int64 // offset of buf in the file
	longest int   // of the needles

	lines  int // line endings so far
	crlf   int // that are \r\n
	last   byte
	zero   bool
	failed *Refusal
}

// A needleScan looks for one spelling of one old text.
type needleScan struct {
	edit   int
	text   []byte
	crlf   bool // the spelling with \r\n
	next   int64
	places []scanned
	at     int64 // up to where the line endings are counted
	lines  int   // so many
}

// scanned is a place that was found.
type scanned struct {
	edit       int
	start, end int64
	line       int // of start, from 0
}

// NewScan returns a Scan for edits, which name no lines to stay within. Of the
// options only Exact matters: that the new text is written to the letter, too.
func NewScan(edits []Edit, o Options) *Scan {
	s := &Scan{edits: edits, options: Options{Exact: true, fits: !o.Exact, Grown: o.Grown}, longest: 1}
	for i, e := range edits {
		old := unixLines(e.Old)
		switch {
		case old == "":
			s.failed = &Refusal{Code: BadInput, Edit: i, Message: "the old text is empty", Hint: "quote the lines that are to change"}
		case e.limited():
			s.failed = &Refusal{Code: BadInput, Edit: i, Message: "the file is too large to be limited to lines", Hint: "quote the lines that are to change"}
		}
		s.add(i, old, false)
		if strings.Contains(old, "\n") {
			s.add(i, strings.ReplaceAll(old, "\n", "\r\n"), true)
		}
	}
	return s
}

func (s *Scan) add(i int, text string, crlf bool) {
	s.needles = append(s.needles, &needleScan{edit: i, text: []byte(text), crlf: crlf})
	s.longest = max(s.longest, len(text))
}

// Write implements io.Writer; it returns no error.
func (s *Scan) Write(p []byte) (int, error) {
	s.count(p)
	s.buf = append(s.buf, p...)
	if len(s.buf) >= scanBuffer+s.longest {
		s.search()
	}
	return len(p), nil
}

// count looks at the line endings.
func (s *Scan) count(p []byte) {
	if len(p) == 0 {
		return
	}
	s.lines += bytes.Count(p, []byte{'\n'})
	if s.last == '\r' && p[0] == '\n' {
		s.crlf++
	}
	s.crlf += bytes.Count(p, []byte("\r\n"))
	s.zero = s.zero || bytes.IndexByte(p, 0) >= 0
	s.last = p[len(p)-1]
}

// search goes through the buffer and keeps what may be the beginning of a
// place.
func (s *Scan) search() {
	keep := min(s.longest-1, len(s.buf))
	for _, n := range s.needles {
		if s.failed == nil {
			n.search(s.buf, s.base, keep, s.edits[n.edit].All)
		}
	}
	s.base += int64(len(s.buf) - keep)
	s.buf = append(s.buf[:0], s.buf[len(s.buf)-keep:]...)
}

// search finds the places in the buffer, of which the last bytes are kept for
// the next time.
func (n *needleScan) search(buf []byte, base int64, keep int, apart bool) {
	for len(n.places) < mostScanned {
		from := int(max(n.next-base, 0))
		k := -1
		if from < len(buf) {
			k = bytes.Index(buf[from:], n.text)
		}
		if k < 0 {
			n.next = max(n.next, base+int64(len(buf)-len(n.text)+1))
			break
		}
		start := base + int64(from+k)
		n.lines += bytes.Count(buf[n.at-base:start-base], []byte{'\n'})
		n.at = start
		n.places = append(n.places, scanned{n.edit, start, start + int64(len(n.text)), n.lines})
		if n.next = start + 1; apart {
			n.next = start + int64(len(n.text))
		}
	}
	if end := base + int64(len(buf)-keep); n.at < end {
		n.lines += bytes.Count(buf[n.at-base:end-base], []byte{'\n'})
		n.at = end
	}
}
