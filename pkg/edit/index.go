package edit

import (
	"bytes"
	"cmp"
	"math/bits"
	"slices"
)

// index knows which lines of a file are tightly equal to which lines of the
// call, and which share words with them. One pass over the file serves all
// readings of the call.
type index struct {
	text     *text
	hashes   []uint64  // of the tight form of each line; 0 for a blank one
	words    []word    // a hash table, a power of two long, not full
	postings [][]int32 // per word of the call, the lines that have it
	blind    bool      // no words were looked for
	class    [256]byte
	count    []uint8 // scratch of sharing
	touched  []int32
}

const (
	mostPostings = 400 // a word in more lines than this says nothing
	mostSharing  = 40  // lines of the file that one line of the call is compared with
	sharedWords  = 0.34
	wordLength   = 3 // shorter words are not looked at
)

// word is an entry of the table of words; id 0 is empty.
type word struct {
	hash uint64
	id   int32 // of its postings, from 1
}

// slot is where the word is in the table, or would be.
func (x *index) slot(w uint64) *word {
	for i := int(w) & (len(x.words) - 1); ; i = (i + 1) & (len(x.words) - 1) {
		if s := &x.words[i]; s.id == 0 || s.hash == w {
			return s
		}
	}
}

// newIndex reads the file once, looking for the words of the given lines;
// without any, it only tells which lines are equal.
func newIndex(t *text, calls ...string) *index {
	x := &index{text: t, hashes: make([]uint64, t.lines()), class: wordClasses(), count: make([]uint8, t.lines())}
	x.learn(calls)
	for i := range x.hashes {
		if len(calls) > 0 {
			x.hashes[i] = x.scan(i, t.raw(i))
		} else {
			x.hashes[i] = x.hash(i, t.raw(i))
		}
	}
	return x
}

// learn makes the table of the words to look for.
func (x *index) learn(calls []string) {
	most := 0
	for _, c := range calls {
		most += len(c)/wordLength + 1
	}
	x.words = make([]word, 1<<bits.Len(uint(most)))
	x.postings = make([][]int32, 1)
	x.blind = len(calls) == 0
	for _, c := range calls {
		x.scanWords(c, func(w uint64) {
			if s := x.slot(w); s.id == 0 {
				*s = word{w, int32(len(x.postings))}
				x.postings = append(x.postings, nil)
			}
		})
	}
}

// hash is what scan returns.
func (x *index) hash(i int, line []byte) uint64 {
	h := uint64(hashStart)
	var special, prev byte
	for _, c := range line {
		if c <= ' ' && isSpace(c) {
			prev = c
			continue
		}
		special |= c
		if c == '-' && prev == '-' || c == 'u' && prev == '\\' {
			special |= 0x80
		}
		h = (h ^ uint64(c)) * hashPrime
		prev = c
	}
	return x.finish(i, h, special)
}

// finish is the hash of line i; one in which a byte is not ASCII, or stands for
// a character that is not, is hashed in full.
func (x *index) finish(i int, h uint64, special byte) uint64 {
	switch {
	case special&0x80 != 0:
		if f := x.text.line(i); !f.blank {
			return hashString(f.tight)
		}
		return 0
	case h == hashStart:
		return 0
	}
	return h
}

// scan hashes line i of the file and posts its words. It runs over every byte
// of the file.
func (x *index) scan(i int, line []byte) uint64 {
	h, w, n := uint64(hashStart), uint64(hashStart), 0
	var special, prev byte
	for _, c := range line {
		if class := x.class[c]; class != 0 {
			w = (w ^ uint64(class)) * hashPrime
			n++
			special |= c
		} else {
			if n >= wordLength {
				x.post(w, i)
			}
			w, n = hashStart, 0
			if c <= ' ' && isSpace(c) {
				prev = c
				continue
			}
			if c == '-' && prev == '-' {
				special |= 0x80
			}
		}
		if c == 'u' && prev == '\\' {
			special |= 0x80
		}
		h = (h ^ uint64(c)) * hashPrime
		prev = c
	}
	if n >= wordLength {
		x.post(w, i)
	}
	return x.finish(i, h, special)
}

// scanWords hands every word to the function.
func (x *index) scanWords(s string, word func(uint64)) {
	w, n := uint64(hashStart), 0
	for i := range len(s) {
		if class := x.class[s[i]]; class != 0 {
			w = (w ^ uint64(class)) * hashPrime
			n++
			continue
		}
		if n >= wordLength {
			word(mix(w))
		}
		w, n = hashStart, 0
	}
	if n >= wordLength {
		word(mix(w))
	}
}

func mix(w uint64) uint64 { return w ^ w>>29*hashPrime }

func (x *index) post(w uint64, line int) {
	s := x.slot(mix(w))
	if s.id == 0 {
		return
	}
	p := x.postings[s.id]
	if len(p) <= mostPostings && (len(p) == 0 || p[len(p)-1] != int32(line)) {
		x.postings[s.id] = append(p, int32(line))
	}
}

// share is a line of the file and how many words of a call line it has.
type share struct {
	line  int32
	words uint8
}

// sharing are the lines of the file that share the most words with the line,
// at most limit, best first; near lists all that share any.
func (x *index) sharing(line string, limit int) (best []share, near []int32) {
	words := 0
	seen := make(map[uint64]bool)
	x.touched = x.touched[:0]
	x.scanWords(line, func(w uint64) {
		if seen[w] {
			return
		}
		seen[w] = true
		words++
		p := x.postings[x.slot(w).id]
		if len(p) > mostPostings {
			return
		}
		for _, i := range p {
			if x.count[i] == 0 {
				x.touched = append(x.touched, i)
			}
			if x.count[i] < 255 {
				x.count[i]++
			}
		}
	})
	need := max(1, float64(words)*sharedWords)
	for _, i := range x.touched {
		if float64(x.count[i]) >= need {
			best = append(best, share{i, x.count[i]})
		}
		x.count[i] = 0
	}
	slices.SortFunc(best, func(a, b share) int {
		return cmp.Or(cmp.Compare(b.words, a.words), cmp.Compare(a.line, b.line))
	})
	return best[:min(limit, len(best))], x.touched
}

// has reports whether the file has the word, one of the call's.
func (x *index) has(w string) bool {
	if x.blind {
		return hasWord(x.text.src, w)
	}
	found := false
	x.scanWords(w, func(h uint64) {
		for n, i := range x.postings[x.slot(h).id] {
			found = found || n == mostPostings || hasWord(x.text.raw(int(i)), w)
		}
	})
	return found
}

// hasWord reports whether the word is in the line with no word character
// beside it.
func hasWord(line []byte, word string) bool {
	for at := 0; ; at++ {
		n := bytes.Index(line[at:], []byte(word))
		if n < 0 {
			return false
		}
		at += n
		e := at + len(word)
		if (at == 0 || !isWord(line[at-1])) && (e == len(line) || !isWord(line[e])) {
			return true
		}
	}
}

// wordClasses folds the bytes of words to lower case; 0 is not of a word.
func wordClasses() (class [256]byte) {
	for c := range class {
		if isWord(byte(c)) {
			class[c] = byte(c)
		}
		if c >= 'A' && c <= 'Z' {
			class[c] += 'a' - 'A'
		}
	}
	return class
}
