package edit

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// A text that is not in the file as it is quoted may be one that is there no more,
// while another like it still is. This file weighs what a place has of the call
// against what it has otherwise.

// How a line of the call differs from the line of the file that it is taken for.
const (
	sameLine    = iota // by blanks, typography or quotes at most, or by case in prose
	misspelt           // by a letter or by punctuation
	longerWord         // by a word that has more letters at an end
	otherCase          // by a name in another case, as PATH and path
	otherLine          // by a word, a number, an operator or a negation
	missingLine        // by all of it
)

const (
	leastSpelt = 4    // letters of a word of which one may be another
	leastLong  = 8    // of one of which two may be
	leastCut   = 6    // characters of a line that is quoted in part
	mostSigns  = 0.15 // weight of what a line may have more at its end
)

// What speaks against a place, for each line.
const (
	doubtMissing  = 1.25 // a line that is not there
	doubtOuter    = 0.3  // the same at the beginning or the end, where all between stands as it is quoted
	doubtHead     = 9    // one that defines what the others are of
	doubtOther    = 1.0
	doubtComment  = 0.66 // the same in a comment
	doubtLonger   = 0.5
	doubtCase     = 0.8
	doubtForeign  = 0.25 // a line of the file between those of the call
	doubtSpelt    = 0.09
	doubtInner    = 0.75 // share of a doubt where lines before and behind it are there
	doubtInserted = 0.45 // the same for a comment
	doubtEnclosed = 0.6  // share of all doubts where the changes stand between lines that are there
	leastDoubt    = 0.8  // below, the likeness decides alone
)

// evidence is what a place has of the call, and what it has otherwise.
type evidence struct {
	same     []string // lines that are there
	doubt    float64
	enclosed bool // whether lines that are there stand on both sides of each change
}

// tells reports whether the lines that are there tell the place, in spite of those that are
// not. A line that the file has n times tells the nth part.
func (e evidence) tells(x *index) bool {
	if e.enclosed {
		e.doubt *= doubtEnclosed
	}
	if e.doubt < leastDoubt {
		return true
	}
	lines, rare := 2+3*e.doubt, 0.6+1.8*e.doubt
	if e.enclosed {
		lines, rare = 1+3*e.doubt, 0.2+0.4*e.doubt
	}
	return float64(len(e.same)) >= min(4, lines) && x.rarity(e.same) >= rare
}

// rarity is the weight of lines, each divided by how many such lines the file has.
func (x *index) rarity(lines []string) (sum float64) {
	often := make(map[uint64]int, len(lines))
	for _, l := range lines {
		often[hashString(tight(l))] = 0
	}
	for _, h := range x.hashes {
		if n, ok := often[h]; ok {
			often[h] = n + 1
		}
	}
	for _, l := range lines {
		sum += weight(l) / float64(max(1, often[hashString(tight(l))]))
	}
	return sum
}

// evidence is that of the merge's place.
func (m *merger) evidence() evidence {
	var e evidence
	first, last := len(m.call), -1
	kinds := make([]int, len(m.call))
	for k, f := range m.call {
		if f.blank || f.elided || strings.Trim(f.tight, ".…") == "" {
			continue
		}
		if kinds[k] = m.differs(k); kinds[k] == sameLine {
			e.same = append(e.same, f.text)
			first, last = min(first, k), k
		}
	}
	for k, kind := range kinds {
		e.doubt += doubtOf(m.call[k], kind, first < k && k < last)
	}
	for i, is := range m.covered {
		if !is && !m.text.blank(m.start+i) {
			e.doubt += doubtForeign
		}
	}
	e.enclosed = m.enclosed(kinds)
	return e
}

// doubtOf is what a line that differs in one way says against a place.
func doubtOf(f *form, kind int, inner bool) float64 {
	comment := kind == otherLine && isComment(f.text)
	doubt := [...]float64{0, doubtSpelt, doubtLonger, doubtCase, doubtOther, doubtMissing}[kind]
	switch {
	case comment && inner:
		doubt = doubtComment * doubtInserted
	case comment:
		doubt = doubtComment
	case inner:
		doubt *= doubtInner
	}
	if f.weight < leastAnchor { // no more than a bracket
		doubt *= f.weight
	}
	return doubt
}

// enclosed reports whether the lines that change are there, and so are those on both sides
// of each change.
func (m *merger) enclosed(kinds []int) bool {
	ops := m.ops
	if ops == nil {
		ops = compareStrings(ended(m.call), ended(m.news))
	}
	there := func(k, step int) bool {
		for k >= 0 && k < len(m.call) && m.call[k].blank {
			k += step
		}
		return k >= 0 && k < len(m.call) && kinds[k] == sameLine
	}
	return !slices.ContainsFunc(ops, func(o op) bool {
		changed := slices.ContainsFunc(kinds[o.i1:o.i2], func(kind int) bool { return kind != sameLine })
		return !o.equal && (changed || !there(o.i1-1, -1) || !there(o.i2, 1))
	})
}

// differs is how line k of the call differs from the file's.
func (m *merger) differs(k int) int {
	p, ok := m.pair(k)
	switch {
	case !ok:
		return missingLine
	case !p.single():
		if p.sim >= simJoined {
			return sameLine
		}
		return otherLine
	case p.sim >= simLoose, m.cut(k, m.text.line(p.i0)):
		return sameLine
	}
	kind := difference(m.call[k], m.text.line(p.i0))
	if name, ok := definition(m.call[k].text); ok && kind > misspelt {
		if theirs, too := definition(m.text.line(p.i0).text); too && name == theirs {
			return misspelt // the same thing, with other parameters
		}
	}
	return kind
}

// cut reports whether line k is the beginning of the file's line, where the call ends, or
// the end of it, where the call begins.
func (m *merger) cut(k int, f *form) bool {
	t := m.call[k].tight
	head := strings.TrimSuffix(t, "...")
	return k == lastSolid(m.call) && len(head) >= leastCut && strings.HasPrefix(f.tight, head) ||
		k == firstSolid(m.call) && len(t) >= leastCut && strings.HasSuffix(f.tight, t)
}

// headedOther reports whether a line above the changes defines one thing in the call and
// another in the file, or says yes to what the file says no to.
func (m *merger) headedOther() bool {
	return slices.ContainsFunc(m.place.pairs, func(p pair) bool {
		if !p.single() || p.sim >= simLoose || !m.above(p.k0) {
			return false
		}
		o, f := m.call[p.k0], m.text.line(p.i0)
		name, ok := definition(o.text)
		theirs, too := definition(f.text)
		return ok && too && isName(name) && isName(theirs) && wordDifference(name, theirs) == otherLine ||
			m.opensBlock(p.k0) && negations(o) != negations(f)
	})
}

// opensBlock reports whether the next line of the call is deeper.
func (m *merger) opensBlock(k int) bool {
	return k+1 < len(m.call) && len(m.call[k+1].lead) > len(m.call[k].lead)
}

// negations is how many words and signs of a line say no.
func negations(f *form) (n int) {
	for _, t := range f.tokens() {
		if t == "!" || t == "not" || t == "unless" {
			n++
		}
	}
	return n
}

// above reports whether the call changes nothing up to line k.
func (m *merger) above(k int) bool {
	for n := range k + 1 {
		if n >= len(m.news) || m.call[n].text != m.news[n].text {
			return false
		}
	}
	return true
}

// isComment reports whether a line is a comment in one of the common languages.
func isComment(line string) bool {
	s := strings.TrimSpace(line)
	return slices.ContainsFunc([]string{"//", "#", "/*", "* ", "-- ", "<!--", ";;"}, func(sign string) bool { return strings.HasPrefix(s, sign) })
}

// difference is how two lines differ.
func difference(a, b *form) int {
	code := isCode(a.text) || isCode(b.text)
	if x, y := a.loose(), b.loose(); a.tight == b.tight || x == y || !code && strings.EqualFold(x, y) {
		return sameLine
	}
	short, long := a.tight, b.tight
	if len(short) > len(long) {
		short, long = long, short
	}
	if more, ok := strings.CutPrefix(long, short); ok && weight(more) < mostSigns {
		return misspelt
	}
	x, y := solidTokens(a), solidTokens(b)
	worst := sameLine
	for _, o := range changes(x, y) {
		worst = max(worst, tokenDifference(x[o.i1:o.i2], y[o.j1:o.j2]))
		if code && otherCases(x[o.i1:o.i2], y[o.j1:o.j2]) && !hexColour(x, o.i1) {
			worst = max(worst, otherCase)
		}
	}
	return worst
}

// isCode reports whether a line reads as code, in which a name in another case
// is another name.
func isCode(s string) bool {
	if isComment(s) {
		return false
	}
	if strings.ContainsAny(s, "={}$_") || strings.HasSuffix(strings.TrimSpace(s), ";") {
		return true
	}
	for i := 1; i < len(s); i++ {
		if c := s[i]; isWord(s[i-1]) && (c == '(' || c == '[') || s[i-1] == '<' && isWord(c) {
			return true
		}
	}
	name, value, ok := strings.Cut(strings.TrimSpace(s), ":") // a key, as in YAML
	return ok && isName(name) && len(strings.Fields(value)) < 2
}

// otherCases reports whether words that stand in the same place of two lines
// differ in case by their first letter, or by more letters than a typing error.
func otherCases(a, b []string) bool {
	for i := range min(len(a), len(b)) {
		x, y := a[i], b[i]
		if x == y || !strings.EqualFold(x, y) || !isName(x) {
			continue
		}
		most := 1
		if len(x) >= leastLong {
			most = 2
		}
		if x[0] != y[0] || len(x) < leastSpelt || distance(x, y, most) > most {
			return true
		}
	}
	return false
}

// hexColour reports whether token k is the number behind #.
func hexColour(ts []string, k int) bool {
	return k > 0 && ts[k-1] == "#" && strings.Trim(ts[k], "0123456789abcdefABCDEF") == ""
}

// solidTokens are the tokens of a line without blanks.
func solidTokens(f *form) []string {
	return slices.DeleteFunc(slices.Clone(f.tokens()), func(t string) bool { return isSpace(t[0]) })
}

// tokenDifference is how tokens differ that stand in the same place of two lines.
func tokenDifference(a, b []string) int {
	x, s := wordsAndSigns(a)
	y, t := wordsAndSigns(b)
	if s != t || len(x) != len(y) {
		return otherLine
	}
	worst := misspelt
	for i := range x {
		worst = max(worst, wordDifference(x[i], y[i]))
	}
	return worst
}

// wordsAndSigns are the words of tokens, and the signs that say something.
func wordsAndSigns(ts []string) (words []string, signs string) {
	for _, t := range ts {
		if isWord(t[0]) {
			words = append(words, t)
		} else if strings.Contains("!=<>+-*/&|^%~?@[]{}", t) {
			signs += t
		}
	}
	return words, signs
}

// wordDifference is how two words differ.
func wordDifference(a, b string) int {
	short, long := a, b
	if len(short) > len(long) {
		short, long = long, short
	}
	affix := strings.HasPrefix(long, short) || strings.HasSuffix(long, short)
	most := 1
	if len(long) >= leastLong && a[0] == b[0] && !affix {
		most = 2
	}
	switch {
	case strings.EqualFold(a, b), (!utf8.ValidString(a) || !utf8.ValidString(b)) && ascii(a) == ascii(b):
		return misspelt
	case otherNumber(a, b):
		return otherLine
	case len(long) >= leastSpelt && (distance(a, b, most) <= most || swapped(a, b)):
		return misspelt
	case affix:
		return longerWord
	}
	return otherLine
}

// ascii is a word without its other bytes.
func ascii(s string) string {
	return string(slices.DeleteFunc([]byte(s), func(c byte) bool { return c >= utf8.RuneSelf }))
}

// otherNumber reports whether one of two words that differ is a number, or both hold one
// and not the same.
func otherNumber(a, b string) bool {
	digits := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r < '0' || r > '9' {
				return -1
			}
			return r
		}, s)
	}
	x, y := digits(a), digits(b)
	return strings.HasPrefix(a, x) && x != "" || strings.HasPrefix(b, y) && y != "" || x != "" && y != "" && x != y
}

// swapped reports whether two words are the same letters, two of them in other places.
func swapped(a, b string) bool {
	x, y := []byte(a), []byte(b)
	slices.Sort(x)
	slices.Sort(y)
	return a[0] == b[0] && slices.Equal(x, y) && distance(a, b, 2) <= 2
}
