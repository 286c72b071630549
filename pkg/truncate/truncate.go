// Package truncate keeps of an output what fits, says what was left out, and
// keeps the rest readable.
//
// A [Writer] takes a stream of any length at the speed of the pipe and holds a
// small multiple of the limits in memory. It shows whole lines from the start
// and from the end, and between them a few lines that look like errors. A marker
// stands wherever something is missing and says which lines and how many bytes;
// a footer says how much there was in all, where the complete output lies and how
// to read on. Markers and footer count against the limits.
//
// The rules:
//
//   - Input that fits comes back byte for byte, and no spill is made.
//   - Cuts fall between lines, and inside a line between characters. A line that
//     is too long shows its start and its end.
//   - Valid UTF-8 stays valid, however the stream was chopped into writes. A byte
//     that is not UTF-8 is shown as U+FFFD; the spill keeps it.
//   - The same bytes give the same Result, whatever the sizes of the writes.
//   - What could not be kept is said in Result.Incomplete.
package truncate

import (
	"errors"
	"math"
)

// ErrSpillFull is returned by a SpillFile's Write that has reached its cap. The
// bytes counted by that Write are kept, the rest and all later ones are not.
var ErrSpillFull = errors.New("spill file is full")

// Limits bound a Result's Text, its markers and footer included. Zero means the
// default, a negative value no limit. With neither Lines nor Bytes limited the
// Writer holds everything it is given.
type Limits struct {
	Lines     int // lines; default 2000
	Bytes     int // bytes; default 51200
	LineChars int // characters of one line; default 2000
	Tokens    int // model tokens of four bytes each; tightens Bytes when positive
}

// Default returns the limits that a zero Limits stands for: 2000 lines, 51,200
// bytes, 2000 characters a line.
func Default() Limits {
	return Limits{Lines: 2000, Bytes: 51200, LineChars: 2000}
}

// noLimit stands for an absent limit in resolved Limits.
const noLimit = math.MaxInt

// Resolved replaces zeros by defaults and negative values by what is as good as no
// limit.
func (l Limits) Resolved() Limits {
	d := Default()
	pick := func(v, def int) int {
		switch {
		case v == 0:
			return def
		case v < 0:
			return noLimit
		}
		return v
	}
	r := Limits{Lines: pick(l.Lines, d.Lines), Bytes: pick(l.Bytes, d.Bytes), LineChars: pick(l.LineChars, d.LineChars)}
	if l.Tokens > 0 && l.Tokens < noLimit/4 {
		r.Bytes = min(r.Bytes, l.Tokens*4)
	}
	return r
}

// A Shape says how the room is shared between the start and the end.
type Shape int

// The shapes. Each keeps both ends, and what one end does not need the other gets.
const (
	Head Shape = iota // four fifths from the start: files and lists
	Tail              // three quarters from the end: commands
)

// part returns the start's share of n.
func (s Shape) part(n int) int {
	if s == Tail {
		return n / 4
	}
	return n - n/5
}

// A SpillFile takes the complete raw output.
type SpillFile interface {
	// Write keeps p. With ErrSpillFull it has kept the first n bytes and takes
	// no more; any other error likewise ends the writing.
	Write(p []byte) (n int, err error)
	// Close ends the file. It is called once.
	Close() error
	// Path names the file for the reader of the footer.
	Path() string
}

// Options say what to keep and where the rest goes. The zero value cuts at the
// default limits, shows mostly the start, and keeps no spill.
type Options struct {
	Limits Limits
	Shape  Shape

	// Spill opens the file for the complete output. It is called at most once,
	// and only when something must be left out (or, with Clean, when more raw
	// bytes have come than are held in memory). Nil where the caller has the
	// whole anyway, as when reading a file.
	Spill func() (SpillFile, error)

	// ReadOn returns the exact call that shows the output from a line (from 1)
	// onwards, for the footer. The path is empty when there is no spill. Nil or
	// an empty answer leaves the line out of the footer.
	ReadOn func(spillPath string, line int64) string

	// Clean condenses terminal output in the Text: escape sequences and control
	// characters go, a line redrawn after a carriage return is shown in its last
	// state, backspaces take back. Line numbers stay. The spill keeps all bytes.
	Clean bool
}

// A Result is what is shown of an output, and what there was.
type Result struct {
	Text      string // what fits, with markers and footer when Truncated
	Truncated bool   // something was left out of Text

	TotalLines int64 // lines of the input; a last line without a newline counts
	TotalBytes int64 // bytes of the raw input

	HeadLines      int64 // lines shown from the start, shortened ones included
	TailLines      int64 // lines shown from the end
	ErrorLines     int64 // lines shown from the middle because they look like errors
	ShortenedLines int64 // lines among the shown that lack their middle

	// TruncatedAtLine is the first line that is missing or shortened, from 1; 0
	// when nothing is.
	TruncatedAtLine int64

	LeftOutLines int64 // lines of which nothing is shown
	LeftOutBytes int64 // bytes not shown, of the cleaned input when Clean
	Replaced     int64 // invalid bytes shown as U+FFFD
	Cleaned      int64 // bytes removed by Clean

	// SearchedBytes says how much of the input was searched for error lines: all
	// of it up to 32 MiB, then 8 KiB of each MiB (see the detector's rules in
	// suspects.go).
	SearchedBytes int64

	SpillPath  string // the file with the complete output; empty when there is none
	SpillBytes int64  // bytes of the input that the spill holds

	// Incomplete says why the spill lacks some of the output; empty when it has
	// everything or none was needed.
	Incomplete string
}

// String cuts a text that is already in memory.
func String(s string, o Options) Result {
	w := New(o)
	// Chunks bound the copies that a conversion of the whole would make.
	const chunk = 1 << 20
	for len(s) > chunk {
		_, _ = w.WriteString(s[:chunk])
		s = s[chunk:]
	}
	_, _ = w.WriteString(s)
	return w.Close()
}
