package edit

import (
	"math/bits"
	"strings"
)

// The similarity limits for callers that want one (Options.MinConfidence).
const (
	Normal = 0.8
	Strict = 0.9
)

// Similarity is 1 − d/max(len) where d is the Levenshtein distance in
// characters and len the longer text's length: 1 for equal texts, 0 for texts
// that share nothing. It takes O(len(a)·len(b)/64) time.
func Similarity(a, b string) float64 {
	a, b = dense(a, b)
	m := max(len(a), len(b))
	if m == 0 {
		return 1
	}
	return 1 - float64(distance(a, b, m))/float64(m)
}

// dense gives every character one byte, as long as there are few enough
// different ones; beyond, bytes are compared.
func dense(a, b string) (string, string) {
	if isASCII(a) && isASCII(b) {
		return a, b
	}
	ids := make(map[rune]byte, 64)
	code := func(s string) (string, bool) {
		out := make([]byte, 0, len(s))
		for _, r := range validBytes(s) {
			id, ok := ids[r]
			if !ok {
				if len(ids) > 255 {
					return s, false
				}
				id = byte(len(ids))
				ids[r] = id
			}
			out = append(out, id)
		}
		return string(out), true
	}
	x, ok1 := code(a)
	y, ok2 := code(b)
	if ok1 && ok2 {
		return x, y
	}
	return a, b
}

// distance is the Levenshtein distance of a and b in bytes, or any number
// above limit when it is above limit (Myers 1999, blocks after Hyyrö 2003).
func distance(a, b string, limit int) int {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if len(a) > len(b) {
		a, b = b, a
	}
	switch {
	case len(b)-len(a) > limit:
		return limit + 1
	case len(a) == 0:
		return len(b)
	case len(a) <= 64:
		return distanceWord(a, b, limit)
	}
	return distanceBlocks(a, b, limit)
}

func distanceWord(a, b string, limit int) int {
	var eqs [256]uint64
	for i := range len(a) {
		eqs[a[i]] |= 1 << i
	}
	pv, mv := ^uint64(0), uint64(0)
	d, top := len(a), uint64(1)<<(len(a)-1)
	for j := range len(b) {
		eq := eqs[b[j]]
		xv := eq | mv
		xh := (((eq & pv) + pv) ^ pv) | eq
		ph, mh := mv|^(xh|pv), pv&xh
		if ph&top != 0 {
			d++
		} else if mh&top != 0 {
			d--
		}
		if d-(len(b)-1-j) > limit {
			return limit + 1
		}
		ph = ph<<1 | 1
		pv, mv = mh<<1|^(xv|ph), ph&xv
	}
	return d
}

func distanceBlocks(a, b string, limit int) int {
	w := (len(a) + 63) / 64
	eqs := make([]uint64, 256*w)
	for i := range len(a) {
		eqs[int(a[i])*w+i/64] |= 1 << (i % 64)
	}
	pv, mv := make([]uint64, w), make([]uint64, w)
	for i := range pv {
		pv[i] = ^uint64(0)
	}
	d, last := len(a), uint64(1)<<((len(a)-1)%64)
	for j := range len(b) {
		row := eqs[int(b[j])*w:][:w]
		carry := 1
		for k := range row {
			eq, p, m := row[k], pv[k], mv[k]
			xv := eq | m
			if carry < 0 {
				eq |= 1
			}
			xh := (((eq & p) + p) ^ p) | eq
			ph, mh := m|^(xh|p), p&xh
			top := uint64(1) << 63
			if k == w-1 {
				top = last
			}
			out := 0
			if ph&top != 0 {
				out = 1
			} else if mh&top != 0 {
				out = -1
			}
			ph, mh = ph<<1, mh<<1
			if carry < 0 {
				mh |= 1
			} else if carry > 0 {
				ph |= 1
			}
			pv[k], mv[k] = mh|^(xv|ph), ph&xv
			carry = out
		}
		d += carry
		if d-(len(b)-1-j) > limit {
			return limit + 1
		}
	}
	return d
}

// common is the length of the longest common subsequence in bytes
// (bit-parallel, after Hyyrö 2004).
func common(a, b string) int {
	n := 0
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b, n = a[1:], b[1:], n+1
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b, n = a[:len(a)-1], b[:len(b)-1], n+1
	}
	if len(a) == 0 || len(b) == 0 {
		return n
	}
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) <= 64 {
		return n + commonWord(a, b)
	}
	w := (len(a) + 63) / 64
	eqs := make([]uint64, 256*w)
	for i := range len(a) {
		eqs[int(a[i])*w+i/64] |= 1 << (i % 64)
	}
	v := make([]uint64, w)
	for i := range v {
		v[i] = ^uint64(0)
	}
	for j := range len(b) {
		row := eqs[int(b[j])*w:][:w]
		carry := uint64(0)
		for k := range row {
			u := v[k] & row[k]
			s := v[k] + u
			c := uint64(0)
			if s < v[k] {
				c = 1
			}
			s2 := s + carry
			if s2 < s {
				c = 1
			}
			v[k] = s2 | (v[k] &^ row[k])
			carry = c
		}
	}
	for i := range len(a) {
		if v[i/64]&(1<<(i%64)) == 0 {
			n++
		}
	}
	return n
}

func commonWord(a, b string) int {
	var eqs [256]uint64
	for i := range len(a) {
		eqs[a[i]] |= 1 << i
	}
	v := ^uint64(0)
	for j := range len(b) {
		u := v & eqs[b[j]]
		v = (v + u) | (v - u)
	}
	return bits.OnesCount64(^v << (64 - len(a)))
}

// The rungs on which two lines can meet.
const (
	simSpace  = 0.9995 // only blanks differ
	simTight  = 0.995  // only blanks and typography differ
	simPart   = 0.985  // the call quotes only the start or the end of the line
	simLoose  = 0.97   // escapes, entities or quotes differ too
	simJoined = 0.96   // the same text, broken into lines in another way
	simCase   = 0.94   // upper and lower case differ
	simSure   = 0.9    // surely the same line
	simFloor  = 0.55   // below, two lines have nothing to do with each other
	longLine  = 4096   // beyond, lines are compared by their tokens
)

// similar is how much two lines are alike, on the ladder above.
func similar(a, b *form) float64 {
	switch {
	case a.text == b.text:
		return 1
	case a.tight == b.tight:
		if a.ws() == b.ws() {
			return simSpace
		}
		return simTight
	case a.tight == "" || b.tight == "":
		return 0
	}
	x, y := a.loose(), b.loose()
	if x == y && x != "" {
		return simLoose
	}
	if strings.EqualFold(x, y) {
		return simCase
	}
	if r := ratio(x, y); r >= simFloor {
		return r * simLoose
	}
	return 0
}

// ratio is the share of the characters that two strings have in common, in
// the middle between edit distance and common subsequence; 0 when it is small.
func ratio(x, y string) float64 {
	short, long := min(len(x), len(y)), max(len(x), len(y))
	if short*100 < long*45 {
		return 0
	}
	if long > longLine {
		return tokenShare(x, y)
	}
	d := distance(x, y, long)
	lev := 1 - float64(d)/float64(long)
	if lev < 0.3 {
		return 0
	}
	lcs := 2 * float64(common(x, y)) / float64(len(x)+len(y))
	return (lev + lcs) / 2
}

// tokenShare is the share of tokens that two strings have in common, in any order.
func tokenShare(x, y string) float64 {
	count := make(map[string]int)
	for _, t := range tokens(x) {
		count[t] += len(t)
	}
	n := 0
	for _, t := range tokens(y) {
		if count[t] > 0 {
			count[t] -= len(t)
			n += len(t)
		}
	}
	return 2 * float64(n) / float64(len(x)+len(y))
}
