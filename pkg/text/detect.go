package text

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// sampleMax bounds the bytes that statistics are made of.
const sampleMax = 64 << 10

// Detect tells the encoding of a file from its first bytes; whole means that the
// sample is the entire file, so that a character cut off at its end is damage.
//
// In this order: a byte order mark decides; a known binary format is "binary";
// zero bytes mean UTF-16 or UTF-32 where the characters make sense, else binary;
// valid UTF-8 is "utf-8" (ASCII, too), as is UTF-8 with few damaged bytes; many
// control bytes mean binary. What is left is some legacy encoding, judged by how
// common the characters are that it would show: shift_jis, euc-jp, gbk, gb18030,
// euc-kr, big5, windows-1251, koi8-r and ibm866 must score clearly better than
// western text; windows-1250 and iso-8859-2 need characters that make no sense
// in it. Otherwise it is damaged UTF-8 where as many characters of it are whole as not,
// for western text hardly ever has two bytes that are one; else iso-8859-1, or windows-1252
// when there are bytes from 0x80 to 0x9f and all of them have a meaning there. A short sample gives a low Confidence.
func Detect(sample []byte, whole bool) Encoding {
	if e, ok := detectBOM(sample); ok {
		return e
	}
	if hasMagic(sample) {
		return Encoding{binaryName, 1}
	}
	if bytes.IndexByte(sample, 0) >= 0 {
		if e, ok := detectWide(sample, whole); ok {
			return e
		}
		return Encoding{binaryName, 1}
	}
	valid, invalid := countUTF8(sample, whole)
	controls := countControls(sample)
	if invalid == 0 {
		if tooMany(controls, len(sample), 30) {
			return Encoding{binaryName, 0.8}
		}
		return Encoding{"utf-8", 1}
	}
	if tooMany(controls, len(sample), 5) {
		return Encoding{binaryName, 0.9}
	}
	if valid > 2 && valid >= 8*invalid {
		return Encoding{"utf-8", float64(valid-invalid) / float64(valid)}
	}
	e := detectLegacy(sample, whole)
	if western := e.Name == "iso-8859-1" || e.Name == "windows-1252"; western && valid > 0 {
		if bad := damaged(sample); valid >= bad {
			return Encoding{"utf-8", 0.6 * float64(valid) / float64(valid+bad)}
		}
	}
	return e
}

// damaged counts the stretches of bytes that are no UTF-8.
func damaged(b []byte) (n int) {
	last := false
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		bad := r == utf8.RuneError && size == 1
		if bad && !last {
			n++
		}
		b, last = b[size:], bad
	}
	return n
}

// detectBOM looks for a byte order mark that is followed by sensible characters.
func detectBOM(b []byte) (Encoding, bool) {
	for _, name := range [...]string{"utf-8-bom", "utf-32le-bom", "utf-32be-bom", "utf-16le-bom", "utf-16be-bom"} {
		e := Encoding{name, 1}
		body, ok := bytes.CutPrefix(b, e.BOM())
		if !ok {
			continue
		}
		if w := e.wide(); w.unit > 0 {
			if _, _, bad, n := w.judge(body); bad*10 > n {
				continue
			}
		}
		return e, true
	}
	return Encoding{}, false
}

// judge counts the characters of b, those of ASCII, the common ones (ASCII
// included) and the bad ones: controls, unassigned ones, lone surrogates.
func (w wide) judge(b []byte) (ascii, common, bad, n int) {
	b = b[:min(len(b), sampleMax)]
	b = b[:len(b)-len(b)%w.unit]
	for ; len(b) > 0; n++ {
		r, size, ok := w.next(b)
		lone := utf16.IsSurrogate(r)
		if lone && len(b) == size { // its partner may be beyond the sample
			lone = false
		}
		switch {
		case !ok || lone || r < 0x20 && !isTextControl(byte(r)) || r > 0x20 && !unicode.IsGraphic(r) && !unicode.Is(unicode.Cf, r):
			bad++
		case r < utf8.RuneSelf:
			ascii++
			common++
		case isCommon(r):
			common++
		}
		b = b[size:]
	}
	return ascii, common, bad, n
}

// isCommon tells whether r is of a block that most texts are made of.
func isCommon(r rune) bool {
	switch {
	case r < 0x80, r >= 0xc0 && r < 0x180, r >= 0x370 && r < 0x700, r >= 0xe00 && r < 0xe80:
		return true
	case r >= 0x2010 && r < 0x2040, r >= 0x3000 && r < 0x3100, r >= 0x4e00 && r < 0xa000, r >= 0xac00 && r < 0xd7a4:
		return true
	case r >= 0xff00 && r < 0xff60, r >= 0x1f300 && r < 0x1fb00:
		return true
	}
	return false
}

// detectWide looks for UTF-32 and UTF-16 without a byte order mark.
func detectWide(b []byte, whole bool) (Encoding, bool) {
	if isASCIIWithZeros(b) {
		return Encoding{}, false
	}
	for _, unit := range [...]int{4, 2} {
		if len(b) < 2*unit || whole && len(b)%unit != 0 {
			continue
		}
		best, score, most := wide{}, 0.0, -1
		for _, w := range [...]wide{{unit, false}, {unit, true}} {
			ascii, common, bad, n := w.judge(b)
			// In the wrong order ASCII reads as common Han characters.
			if s := float64(common) / float64(n); bad == 0 && (s > score && ascii >= most || ascii > most) {
				best, score, most = w, s, ascii
			}
		}
		if score >= 0.8 {
			return Encoding{best.name(), 0.9 * score}, true
		}
	}
	return Encoding{}, false
}

// isASCIIWithZeros tells whether b is ASCII text with a few zero bytes in it, pairs
// of which would read as Han characters.
func isASCIIWithZeros(b []byte) bool {
	b = b[:min(len(b), sampleMax)]
	zeros := bytes.Count(b, []byte{0})
	ascii := 0
	for _, c := range b {
		if c >= 0x20 && c < 0x7f || isTextControl(c) {
			ascii++
		}
	}
	return zeros*4 <= len(b) && ascii*100 > (len(b)-zeros)*85
}

// countUTF8 counts invalid bytes and, where there are some, characters of more
// than one byte. A character
// cut off at the end of a sample that is not whole counts as neither.
func countUTF8(b []byte, whole bool) (valid, invalid int) {
	if utf8.Valid(b) {
		return 0, 0
	}
	for i := 0; i < len(b); {
		if b[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRune(b[i:])
		switch {
		case r != utf8.RuneError || n > 1:
			valid++
		case !whole && !utf8.FullRune(b[i:]):
			return valid, invalid
		default:
			invalid++
		}
		i += n
	}
	return valid, invalid
}

// isTextControl tells whether a control byte is at home in texts.
func isTextControl(c byte) bool { return c >= '\b' && c <= '\r' || c == 0x1b }

// rareControls has a bit for each control byte that is not at home in texts.
const rareControls uint64 = 1<<0x20 - 1 - (1<<('\r'+1) - 1<<'\b') - 1<<0x1b

// countControls counts control bytes that are not at home in texts.
func countControls(b []byte) int {
	b = bytes.TrimSuffix(b, []byte{0x1a}) // Ctrl-Z is how old systems end a text
	n := bytes.Count(b, []byte{0x7f})
	for _, c := range b {
		n += int(rareControls >> c & 1) // no branch: this looks at each byte of each file
	}
	return n
}

// tooMany tells whether n of total is more than percent; one alone never is.
func tooMany(n, total, percent int) bool { return n > 1 && n*100 > total*percent }

// detectLegacy chooses among encodings of bytes that are no UTF-8.
func detectLegacy(sample []byte, whole bool) Encoding {
	b := sample[:min(len(sample), sampleMax)]
	whole = whole && len(b) == len(sample)
	best := Encoding{Name: "iso-8859-1"}
	if hasC1(sample) && !hasUnassigned(sample) {
		best.Name = "windows-1252"
	}
	latin := scoreLatin(b)
	score, second, evidence := latin, 0.0, countHigh(b)
	consider := func(name string, s, least float64, n int) {
		clear := s >= least && s > latin+0.1
		if !clear || s <= score {
			second = max(second, s)
			return
		}
		second = max(second, score)
		best.Name, score, evidence = name, s, n
	}
	for _, m := range multibytes() {
		s, n := m.score(b, whole)
		consider(m.name, s, 0.45, n)
	}
	for _, name := range [...]string{"windows-1251", "koi8-r", "ibm866"} {
		s, n := scoreCyrillic(name, b)
		consider(name, s, 0.55, n) // Greek and Hebrew letters reach 0.5
	}
	best.Confidence = confidence(score, second, evidence)
	if score == latin {
		if name := detectCentral(b); name != "" {
			return Encoding{name, 0.6}
		}
		// Its Polish, Turkish and other siblings cannot be told from it.
		best.Confidence = min(best.Confidence, 0.6)
	}
	return best
}

// confidence grows with the distance to the next best and with the evidence.
func confidence(score, second float64, evidence int) float64 {
	c := 0.3 + 0.7*max(score-second, 0)
	c *= 1 - 0.6/float64(1+evidence)
	return min(max(c, 0.05), 0.95)
}

// hasC1 tells whether b has bytes from 0x80 to 0x9f.
func hasC1(b []byte) bool {
	for _, c := range b {
		if c >= 0x80 && c < 0xa0 {
			return true
		}
	}
	return false
}

// hasUnassigned tells whether b has bytes without a meaning in windows-1252.
func hasUnassigned(b []byte) bool {
	for i := range len(unassigned1252) {
		if bytes.IndexByte(b, unassigned1252[i]) >= 0 {
			return true
		}
	}
	return false
}

// countHigh counts the bytes from 0x80.
func countHigh(b []byte) int {
	n := 0
	for _, c := range b {
		if c >= 0x80 {
			n++
		}
	}
	return n
}

// unassigned1252 are the bytes without a meaning in windows-1252.
const unassigned1252 = "\x81\x8d\x8f\x90\x9d"

// isLatinLetter tells whether a byte is a letter beyond ASCII in windows-1252.
func isLatinLetter(c byte) bool {
	return c >= 0xc0 && c != 0xd7 && c != 0xf7 || strings.IndexByte("\x8a\x8c\x8e\x9a\x9c\x9e\x9f", c) >= 0
}

// isASCIILetter tells whether c is an ASCII letter.
func isASCIILetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// scoreLatin tells how well b reads as windows-1252, from 0 to 1: accented letters
// stand alone among ASCII letters, signs stand beside no accented letter.
func scoreLatin(b []byte) float64 {
	sum, n := 0.0, 0
	at := func(i int) byte {
		if i < 0 || i >= len(b) {
			return ' '
		}
		return b[i]
	}
	for i, c := range b {
		if c < 0x80 {
			continue
		}
		n++
		prev, next := at(i-1), at(i+1)
		beside := isLatinLetter(prev) || isLatinLetter(next)
		ascii := isASCIILetter(prev) || isASCIILetter(next)
		switch {
		case strings.IndexByte(unassigned1252, c) >= 0:
		case isLatinLetter(c) && beside && ascii:
			sum += 0.4
		case isLatinLetter(c) && beside:
			sum += 0.1
		case isLatinLetter(c) && ascii:
			sum++
		case isLatinLetter(c):
			sum += 0.6
		case beside || prev >= 0x80 && next >= 0x80:
			sum += 0.2
		default:
			sum += 0.7
		}
	}
	if n == 0 {
		return 1
	}
	return sum / float64(n)
}
