package rg

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A place is what surrounds a position of a text, as assertions see it.
type place struct {
	lineStart, lineEnd, textStart, textEnd bool
	word, wordNext                         bool // Unicode word characters before and after
	byteWord, byteWordNext                 bool // ASCII ones
	broken, brokenNext                     bool // what is before or after is not UTF-8
	legacy, legacyNext                     bool // … and is a letter in windows-1252
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
	set(!s.word && !s.legacy, lookHalfStart)
	set(!s.wordNext && !s.legacyNext, lookHalfEnd)
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
			s.legacy = s.broken && isLegacyLetter(c)
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
			s.legacyNext = s.brokenNext && isLegacyLetter(c)
			s.wordNext = isWordRune(r)
		}
	}
	return s
}

// isLegacyLetter says whether a byte that is not UTF-8 is a letter in
// windows-1252, which most of what is not UTF-8 is near enough to.
func isLegacyLetter(c byte) bool {
	const below = "\x83\x8a\x8c\x8e\x9a\x9c\x9e\x9f" // of those that Latin-1 has for controls
	return c >= 0xA0 && unicode.IsLetter(rune(c)) || strings.IndexByte(below, c) >= 0
}
