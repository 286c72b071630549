package edit

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// mostWords is the size in bytes beyond which two texts are not compared word
// by word, because nobody reads so much at once: 32 KiB.
const mostWords = 32 << 10

// leastCommon is the part of two texts, blanks aside, that must be in both for
// a comparison of their words to say anything.
const leastCommon = 0.3

// Words compares two texts word by word and returns the parts of each that the
// other does not have, as byte offsets in order. Both are nil when they are
// equal, have little in common, or are long (32 KiB).
//
// The line diffs of this package are made by [Diff]: lcs, which compares the
// words, gives up on the shortest way after some dozen changes, which no line
// has, but files do. It is a part of udiff, all of which would compile a regular
// expression at every start.
func Words(before, after string) (gone, come [][2]int) {
	if before == after || len(before)+len(after) > mostWords {
		return nil, nil
	}
	a, b := wordsOf(before), wordsOf(after)
	common, last := 0, 0 // how much of a is in b, and the word of a up to which that was counted
	for _, d := range lcs.DiffLines(a.words, b.words) {
		common += a.solid(last, d.Start)
		gone, come = a.mark(gone, d.Start, d.End), b.mark(come, d.ReplStart, d.ReplEnd)
		last = d.End
	}
	common += a.solid(last, len(a.words))
	if all := max(a.solid(0, len(a.words)), b.solid(0, len(b.words))); float64(common) < leastCommon*float64(all) {
		return nil, nil
	}
	return gone, come
}

// A wordList holds the words of a text.
type wordList struct {
	src    string
	words  []string
	starts []int // of each word in src, and the end of it
}

func wordsOf(src string) *wordList {
	t := &wordList{src: src, starts: []int{0}}
	for at := 0; at < len(src); {
		n := wordEnd(src[at:])
		t.words, t.starts = append(t.words, src[at:at+n]), append(t.starts, at+n)
		at += n
	}
	return t
}

// wordEnd is the length of the first word of s: letters, digits and
// underscores, or blanks, or one other character.
func wordEnd(s string) int {
	class := func(r rune) int {
		switch {
		case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			return 1
		case r == ' ' || r == '\t':
			return 2
		}
		return 0
	}
	first, n := utf8.DecodeRuneInString(s)
	for c := class(first); c != 0 && n < len(s); {
		r, size := utf8.DecodeRuneInString(s[n:])
		if class(r) != c {
			break
		}
		n += size
	}
	return n
}

// solid is the size of words i to j without blanks.
func (t *wordList) solid(i, j int) (n int) {
	for f := range strings.FieldsSeq(t.src[t.starts[i]:t.starts[j]]) {
		n += len(f)
	}
	return n
}

// mark adds words i to j to the parts, and joins them to the part before where
// nothing but a blank lies between: a line of many marks is hard to read.
func (t *wordList) mark(parts [][2]int, i, j int) [][2]int {
	if i == j {
		return parts
	}
	from, to := t.starts[i], t.starts[j]
	if n := len(parts); n > 0 {
		if gap := t.src[parts[n-1][1]:from]; gap == " " || gap == "" {
			parts[n-1][1] = to
			return parts
		}
	}
	return append(parts, [2]int{from, to})
}
