package truncate

import "bytes"

// Lines that look like errors, and how they are found without slowing the stream.
//
// What counts: a line whose first 400 bytes hold one of the phrases below, or one
// of the words as a word of its own ("error:", "TypeError:", "FAIL", "fatal",
// "3 failures"), unless the line says there were none ("0 failed", "no errors").
//
// What it costs: a table of letter pairs lets the search step over three bytes at
// a time; only where four letters agree is the line looked at. Every line that
// starts in the first 32 MiB is searched, then those that start in the first 8 KiB
// of each MiB. A stream full of such lines is searched wholly only until 100,000
// of them have been looked at.
//
// What is kept: the first 16 and the last 16 different ones beyond the head, at
// most 400 bytes of each.
const (
	searchAll    = 32 << 20
	searchPeriod = 1 << 20
	searchWindow = 8 << 10
	searchBudget = 100_000
	suspectBytes = 400
	suspectKeep  = 16

	startsGram = 0x80 // set in the table for the first pair of a gram
)

// A suspect is a line that looks like an error.
type suspect struct {
	at    int64  // offset in the stored stream
	end   int64  // where the next line starts there
	line  int64  // number, from 0
	input int64  // offset before shortening
	size  int64  // bytes before shortening, newline included
	text  []byte // the first bytes, without newline
	hash  uint64
}

// suspects finds and keeps them.
type suspects struct {
	table    [1 << 10]uint8 // pair of letters -> bytes to step, startsGram
	minAt    int64          // lines before both are not kept: the head shows them
	minLine  int64
	all      int64 // offset up to which every line is searched
	searched int64 // bytes
	looked   int   // lines

	first [suspectKeep]suspect
	last  [suspectKeep]suspect // a ring, position n % suspectKeep
	n     int                  // kept in first and, beyond suspectKeep, in last
}

// grams are four bytes of each phrase and word below; one of them is in any line
// worth a look. Rare ones make the search fast.
var grams = [...]string{
	"abor", "asse", "cann", "comm", "core", "err!", "erro", "exce", "fail", "fata",
	"kill", "memo", "pani", "perm", "segm", "such", "t ok", "trac", "unde", "unha", "unre",
}

// phrases are looked for in lower case, anywhere in the line.
var phrases = [...]string{
	"assertion", "cannot find", "cannot open", "command not found", "core dumped", "err! ",
	"no such file", "out of memory", "panic:", "panicked at", "permission denied",
	"segmentation fault", "traceback (most recent call", "undefined reference",
	"undefined symbol", "undefined:", "unhandled ", "unresolved ",
}

// words are looked for in lower case as words of their own; counted ones only
// after a number above zero.
var words = [...]struct {
	text    string
	counted bool
}{
	{"error", false},
	{"fatal", false},
	{"failed", false},
	{"fail", false},
	{"failure", false},
	{"exception", false},
	{"aborted", false},
	{"killed", false},
	{"errors", true},
	{"failures", true},
}

// init builds the table; lines before offset minAt and line minLine are not kept.
func (s *suspects) init(minAt, minLine int64) {
	s.minAt, s.minLine, s.all = minAt, minLine, searchAll
	for i := range s.table {
		s.table[i] = 3
	}
	for _, g := range grams {
		for j := 1; j < 4; j++ {
			t := &s.table[pair(g[j-1], g[j])]
			*t = min(*t, uint8(3-j))
		}
	}
	for _, g := range grams {
		s.table[pair(g[0], g[1])] |= startsGram
	}
}

// pair folds two bytes, ignoring case, into an index of the table.
func pair(a, b byte) int { return int(a&31)<<5 | int(b&31) }

// search looks through whole lines that start at c.at in the stored stream, at
// line number line, and at input before shortening; c.bytes are missing from the
// line when it is a single shortened one.
func (s *suspects) search(p []byte, c cut, line, input int64) {
	end := c.at + int64(len(p))
	counted := 0 // bytes of p whose lines are counted in line
	for pos := c.at; pos < end; {
		lo, hi := s.window(pos)
		from := int(max(lo-c.at, 0))
		if from >= len(p) {
			return
		}
		if from > 0 && p[from-1] != '\n' {
			from += bytes.IndexByte(p[from:], '\n') + 1
		}
		to := int(min(hi-c.at, int64(len(p))))
		if to > 0 && p[to-1] != '\n' {
			to += bytes.IndexByte(p[to:], '\n') + 1
		}
		pos = max(c.at+int64(to), hi)
		for i := from; i < to; {
			start, stop, ok := s.next(p, i, to)
			s.searched += int64(stop - i)
			i = stop
			if ok {
				line += int64(bytes.Count(p[counted:start], newline))
				counted = start
				text := p[start : stop-1]
				if c.bytes > 0 {
					text = text[:c.split]
				}
				s.keep(text, suspect{
					at: c.at + int64(start), end: c.at + int64(stop), line: line,
					input: input + int64(start), size: int64(stop-start) + c.bytes,
				})
			}
			if s.looked > searchBudget && s.all > 0 {
				s.all = 0
				pos = c.at + int64(stop)
				break
			}
		}
	}
}

// window returns the part of the stream to search that holds pos or follows it.
func (s *suspects) window(pos int64) (lo, hi int64) {
	if pos < s.all {
		return 0, s.all
	}
	lo = pos &^ (searchPeriod - 1)
	if pos >= lo+searchWindow {
		lo += searchPeriod
	}
	return lo, lo + searchWindow
}

// next finds the next line of p[i:to] worth a look, and tells whether it looks
// like an error; stop is where the line after it starts, or to when there is none.
func (s *suspects) next(p []byte, i, to int) (start, stop int, ok bool) {
	table := &s.table
	for at := i + 3; at < to; {
		if step := table[pair(p[at-1], p[at])] &^ startsGram; step > 0 {
			at += int(step)
			continue
		}
		if table[pair(p[at-3], p[at-2])]&startsGram == 0 || !isGram(p[at-3:at+1]) {
			at++
			continue
		}
		start = i + bytes.LastIndexByte(p[i:at-3], '\n') + 1
		stop = at + bytes.IndexByte(p[at:], '\n') + 1
		if at-start < suspectBytes {
			s.looked++
			return start, stop, looksLikeError(p[start : stop-1])
		}
		i = stop
		at = i + 3
	}
	return to, to, false
}

// isGram tells whether the four bytes are one of the grams, in any case.
func isGram(b []byte) bool {
	var low [4]byte
	for i, c := range b {
		low[i] = lower(c)
	}
	for _, g := range grams {
		if string(low[:]) == g {
			return true
		}
	}
	return false
}

// looksLikeError applies the rules to one line.
func looksLikeError(line []byte) bool {
	var buf [suspectBytes]byte
	line = line[:min(len(line), len(buf))]
	low := buf[:len(line)]
	for i, c := range line {
		low[i] = lower(c)
	}
	for _, p := range phrases {
		if bytes.Contains(low, []byte(p)) {
			return true
		}
	}
	if bytes.HasPrefix(bytes.TrimLeft(low, " \t"), []byte("not ok")) { // TAP
		return true
	}
	for _, w := range words {
		for at := 0; ; {
			i := bytes.Index(low[at:], []byte(w.text))
			if i < 0 {
				break
			}
			i += at
			at = i + len(w.text)
			if isWord(line, i, at) && reports(low, i, w.counted) && !saysNone(low[at:]) {
				return true
			}
		}
	}
	return false
}

// isWord tells whether line[i:j] stands alone, or ends a CamelCase name, and is
// not part of a path or an identifier.
func isWord(line []byte, i, j int) bool {
	if i > 0 {
		prev := line[i-1]
		camel := 'a' <= prev && prev <= 'z' && 'A' <= line[i] && line[i] <= 'Z'
		if !camel && (isAlnum(prev) || prev == '_' || prev == '-' || prev == '/' || prev == '.' && line[i] >= 'a') {
			return false
		}
	}
	if j == len(line) {
		return true
	}
	next := line[j]
	if next == '.' {
		return j+1 == len(line) || line[j+1] == ' '
	}
	return !isAlnum(next) && next != '_' && next != '-' && next != '/' && next != '='
}

// reports tells whether the words before the one at i let it report something: no
// "0", "no" or "without" there, and a number if it is to be counted.
func reports(low []byte, i int, counted bool) bool {
	before := bytes.TrimRight(low[:i], " ")
	start := len(before)
	for start > 0 && isAlnum(before[start-1]) {
		start--
	}
	word := string(before[start:])
	if counted {
		return word != "" && word[0] >= '1' && word[0] <= '9'
	}
	return word != "0" && word != "no" && word != "without" && word != "zero"
}

// saysNone tells whether what follows a word counts it as none, as in ": 0".
func saysNone(after []byte) bool {
	after = bytes.TrimLeft(after, ": ")
	return len(after) > 0 && after[0] == '0' && (len(after) == 1 || !isAlnum(after[1]))
}

// isAlnum tells whether c is an ASCII letter or digit.
func isAlnum(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// lower folds an ASCII letter.
func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// keep stores a suspect among the first or the last ones, unless the head shows
// it or it repeats one of the first.
func (s *suspects) keep(text []byte, x suspect) {
	if x.at < s.minAt && x.line < s.minLine {
		return
	}
	if len(text) > suspectBytes {
		text = text[:wholeRunes(text[:suspectBytes])]
	}
	x.hash = 14695981039346656037 // FNV-1a
	for _, c := range text {
		x.hash = (x.hash ^ uint64(c)) * 1099511628211
	}
	for i := range min(s.n, suspectKeep) {
		if s.first[i].hash == x.hash {
			return
		}
	}
	slot := &s.last[s.n%suspectKeep]
	if s.n < suspectKeep {
		slot = &s.first[s.n]
	}
	x.text = append(slot.text[:0], text...)
	*slot = x
	s.n++
}

// appendTo appends the suspects kept, in order, to dst.
func (s *suspects) appendTo(dst []suspect) []suspect {
	dst = append(dst, s.first[:min(s.n, suspectKeep)]...)
	for i := max(suspectKeep, s.n-suspectKeep); i < s.n; i++ {
		dst = append(dst, s.last[i%suspectKeep])
	}
	return dst
}
