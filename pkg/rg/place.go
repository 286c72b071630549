package rg

import "unicode/utf8"

// A place is what surrounds a position of a text, as assertions see it.
type place struct {
	lineStart, lineEnd, textStart, textEnd bool
	word, wordNext                         bool // Unicode word characters before and after
	byteWord, byteWordNext                 bool // ASCII ones
	broken, brokenNext                     bool // what is before or after is not UTF-8
}

// holds gives the assertions that are true.
func (s place) holds() look {
	var l look
	set := func(on bool, bit look) {
		if on {
			l |= bit
		}
	}
	set(s.lineStart, lookLineStart)
	set(s.lineEnd, lookLineEnd)
	set(s.textStart, lookTextStart)
	set(s.textEnd, lookTextEnd)
	set(s.word != s.wordNext, lookWord)
	set(s.word == s.wordNext && !s.broken && !s.brokenNext, lookNotWord)
	set(s.byteWord != s.byteWordNext, lookWordASCII)
	set(s.byteWord == s.byteWordNext, lookNotWordASCII)
	set(!s.word && s.wordNext, lookWordStart)
	set(s.word && !s.wordNext, lookWordEnd)
	set(!s.word && !s.broken, lookHalfStart)
	set(!s.wordNext && !s.brokenNext, lookHalfEnd)
	return l
}

// placeAt looks around position i of text.
func placeAt(text []byte, i int) place {
	s := place{textStart: i == 0, textEnd: i == len(text)}
	s.lineStart, s.lineEnd = s.textStart, s.textEnd
	if i > 0 {
		c := text[i-1]
		s.lineStart = c == '\n'
		s.byteWord = isWordByte(c)
		s.word = s.byteWord
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeLastRune(text[:i])
			s.broken = size == 1
			s.word = isWordRune(r)
		}
	}
	if i < len(text) {
		c := text[i]
		s.lineEnd = c == '\n'
		s.byteWordNext = isWordByte(c)
		s.wordNext = s.byteWordNext
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRune(text[i:])
			s.brokenNext = size == 1
			s.wordNext = isWordRune(r)
		}
	}
	return s
}
