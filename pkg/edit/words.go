package edit

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"
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
// The line diffs of this package are made by [Diff]: udiff, which compares the
// words, gives up on the shortest way after some dozen changes, which no line
// has, but files do.
func Words(before, after string) (gone, come [][2]int) {
	if before == after || len(before)+len(after) > mostWords {
		return nil, nil
	}
	a, b := wordsOf(before), wordsOf(after)
	at, common := 0, 0 // where we are in b, and how much of a is in b
	last := 0
	for _, e := range udiff.Lines(a.text, b.text) {
		i, j := a.at(e.Start), a.at(e.End)
		common += a.solid(last, i)
		at += i - last
		n := strings.Count(e.New, "\n")
		gone, come = a.mark(gone, i, j), b.mark(come, at, at+n)
		at, last = at+n, j
	}
	common += a.solid(last, len(a.starts)-1)
	if all := max(a.solid(0, len(a.starts)-1), b.solid(0, len(b.starts)-1)); float64(common) < leastCommon*float64(all) {
		return nil, nil
	}
	return gone, come
}

// A wordList holds the words of a text, one a line, so that a diff of lines is one
// of words. A line ending is an empty line.
type wordList struct {
	src    string
	starts []int // of each word in src, and the end of it
	text   string
	lines  []int // where each word begins in text, and the end of it
}

func wordsOf(src string) *wordList {
	t := &wordList{src: src}
	var b strings.Builder
	for at := 0; at < len(src); {
		n := wordEnd(src[at:])
		t.starts, t.lines = append(t.starts, at), append(t.lines, b.Len())
		b.WriteString(strings.TrimSuffix(src[at:at+n], "\n") + "\n")
		at += n
	}
	t.starts, t.lines = append(t.starts, len(src)), append(t.lines, b.Len())
	t.text = b.String()
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

// at is the word that begins at an offset of the text.
func (t *wordList) at(offset int) int {
	n, _ := slices.BinarySearch(t.lines, offset)
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
