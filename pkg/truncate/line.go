package truncate

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// A line is the line being received: its first and its last bytes.
type line struct {
	keep  int    // bytes held at the start, and again at the end
	first []byte // at most keep bytes
	last  ring   // what came after first
	n     int64  // bytes in all
}

// push appends p, which holds no newline.
func (l *line) push(p []byte) {
	l.n += int64(len(p))
	if k := min(l.keep-len(l.first), len(p)); k > 0 {
		l.first = append(l.first, p[:k]...)
		p = p[k:]
	}
	if len(p) > 0 {
		l.last.write(p)
	}
}

// pop takes back the last character.
func (l *line) pop() {
	switch {
	case l.last.n > 0:
		l.n -= int64(l.last.dropRune())
	case l.n > int64(len(l.first)): // that byte is no longer held
		l.n--
	case l.n > 0:
		_, size := utf8.DecodeLastRune(l.first)
		l.first = l.first[:len(l.first)-size]
		l.n -= int64(size)
	}
}

// reset empties the line.
func (l *line) reset() {
	l.first = l.first[:0]
	l.last.reset()
	l.n = 0
}

// A cut says that a stored line lacks its middle.
type cut struct {
	at    int64 // where the stored line starts in the stored stream
	split int   // bytes of the line before the missing middle
	bytes int64 // bytes missing
}

// stored appends to dst the line as it is stored, without a newline: whole when
// it has at most chars characters and was held whole, else its start and its end
// with room for a mark between them.
func (l *line) stored(dst []byte, chars int) ([]byte, cut) {
	whole := l.n == int64(len(l.first))
	if whole && (len(l.first) <= chars || utf8.RuneCount(l.first) <= chars) {
		return append(dst, l.first...), cut{split: len(l.first)}
	}
	room := max(chars-markChars(chars), 0)
	half := (l.keep - 1) / 2
	split := prefixLen(l.first, room-room/3, half)
	base := len(dst)
	dst = append(dst, l.first[:split]...)

	rest := l.first[split:]
	switch {
	case whole:
	case l.n == int64(len(l.first)+l.last.n):
		rest = l.last.appendTo(bytes.Clone(rest))
	default: // the ring may start inside a character
		rest = trimContinuation(l.last.appendTo(nil))
	}
	rest = rest[len(rest)-suffixLen(rest, room/3, half):]
	dst = append(dst, rest...)
	return dst, cut{split: split, bytes: l.n - int64(len(dst)-base)}
}

// prefixLen returns the length of the longest prefix of b with at most chars
// characters and at most size bytes.
func prefixLen(b []byte, chars, size int) int {
	n := 0
	for ; chars > 0 && n < len(b); chars-- {
		_, k := utf8.DecodeRune(b[n:])
		if n+k > size {
			break
		}
		n += k
	}
	return n
}

// suffixLen is prefixLen from the end.
func suffixLen(b []byte, chars, size int) int {
	n := 0
	for ; chars > 0 && n < len(b); chars-- {
		_, k := utf8.DecodeLastRune(b[:len(b)-n])
		if n+k > size {
			break
		}
		n += k
	}
	return n
}

// trimContinuation drops the end of a character whose start is missing.
func trimContinuation(b []byte) []byte {
	for i := 0; i < utf8.UTFMax-1 && len(b) > 0 && !utf8.RuneStart(b[0]); i++ {
		b = b[1:]
	}
	return b
}

// wholeRunes returns the length of b without an incomplete character at its end.
func wholeRunes(b []byte) int {
	for i := len(b) - 1; i >= 0 && i >= len(b)-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return i
			}
			break
		}
	}
	return len(b)
} // The room below which the mark inside a line gets shorter, in characters or

// bytes, whichever is at hand.
const (
	fullMark  = 160
	shortMark = 60
)

// markChars returns how many characters the mark inside a line takes at most
// when the line may have chars.
func markChars(chars int) int {
	switch {
	case chars >= fullMark:
		return 42
	case chars >= shortMark:
		return 22
	}
	return 1
}

// mark returns what stands for n missing bytes inside a line with that much room.
func mark(n int64, room int) string {
	switch {
	case room >= fullMark:
		return "[… " + strconv.FormatInt(n, 10) + " bytes left out …]"
	case room >= shortMark:
		return "…" + strconv.FormatInt(n, 10) + "…"
	}
	return "…"
}
