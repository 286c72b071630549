package edit

import (
	"html"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// form is one line in the shapes it is compared in. tight has no white space
// and one spelling of quotes, dashes and compatible characters; loose has also
// lost backslashes, entities and the choice of quotes.
type form struct {
	text   string
	lead   string
	tight  string
	weight float64
	blank  bool
	elided bool // stands for lines that are left out

	looseOf string
	hasWS   bool
	wsOf    string
	toks    []string
}

func newForm(s string) *form {
	f := &form{text: s, lead: lead(s), tight: tight(s), weight: weight(s)}
	f.blank = blank(s)
	f.elided = isElision(s)
	return f
}

func newForms(lines []string) []*form {
	fs := make([]*form, len(lines))
	for i, l := range lines {
		fs[i] = newForm(l)
	}
	return fs
}

func (f *form) body() string { return f.text[len(f.lead):] }

func (f *form) loose() string {
	if f.looseOf == "" {
		f.looseOf = loosen(f.tight)
	}
	return f.looseOf
}

// ws is the line without outer blanks, inner ones folded.
func (f *form) ws() string {
	if !f.hasWS {
		f.wsOf, f.hasWS = strings.Join(strings.FieldsFunc(f.text, isBlank), " "), true
	}
	return f.wsOf
}

func isBlank(r rune) bool { return r == ' ' || r == '\t' }

func (f *form) tokens() []string {
	if f.toks == nil {
		f.toks = tokens(strings.TrimFunc(f.text, isSpaceRune))
	}
	return f.toks
}

// weight is how much a line tells about its place: its letters and digits. How far it
// is from the change does not count: with lines that fade by a fifth each, two more of
// 600 drifted hunks were placed, and one of 1,365 labelled edits in the wrong place.
func weight(s string) float64 {
	n, seen := 0, false
	for i := range len(s) {
		c := s[i]
		if !isSpace(c) {
			seen = true
		}
		if isWord(c) && c&0xC0 != 0x80 {
			n++
		}
	}
	if !seen {
		return 0.02
	}
	return 0.12 + min(1, float64(n)/18)
}

// tight is s without white space, typography made plain.
func tight(s string) string {
	plain := true
	for i := range len(s) {
		c := s[i]
		if c >= 0x80 || i > 0 && (c == '-' && s[i-1] == '-' || c == 'u' && s[i-1] == '\\') {
			plain = false
			break
		}
	}
	if !plain {
		s = typography(s)
	}
	n := 0
	for i := range len(s) {
		if isSpace(s[i]) {
			n++
		}
	}
	if n == 0 {
		return s
	}
	b := make([]byte, 0, len(s)-n)
	for i := range len(s) {
		if !isSpace(s[i]) {
			b = append(b, s[i])
		}
	}
	return string(b)
}

// typography spells quotes, dashes, arrows and spaces in ASCII, resolves
// \uXXXX, and composes what Unicode calls compatible.
func typography(s string) string {
	s = resolveUnicode(s)
	if !isASCII(s) {
		s = norm.NFKC.String(strings.Map(plainRune, expand(s)))
		s = strings.Map(func(r rune) rune {
			if isSpaceRune(r) {
				return ' '
			}
			return r
		}, s)
	}
	if !strings.Contains(s, "--") {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		n := 0
		for n < 3 && i+n < len(s) && s[i+n] == '-' {
			n++
		}
		b = append(b, s[i])
		i += max(n, 1)
	}
	return string(b)
}

// expand spells the characters that stand for several.
func expand(s string) string {
	if !strings.ContainsAny(s, "\u2026\u2190\u2192\u21d2") {
		return validBytes(s)
	}
	return validBytes(strings.NewReplacer("\u2026", "...", "\u2192", "->", "\u2190", "<-", "\u21d2", "=>").Replace(s))
}

// private is where validBytes puts bytes that are not UTF-8, so that
// functions over runes keep them apart. They are only compared with each
// other, so they are never turned back.
const private = 0xF700

func validBytes(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	b := make([]byte, 0, len(s)*2)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			r = private + rune(s[i])
		}
		b = utf8.AppendRune(b, r)
		i += n
	}
	return string(b)
}

// plainRune maps typographic characters to the ones on a keyboard; -1 drops.
func plainRune(r rune) rune {
	switch {
	case r >= 0x2018 && r <= 0x201b, r == 0x2032:
		return '\''
	case r >= 0x201c && r <= 0x201f, r == 0x2033, r == 0xab, r == 0xbb:
		return '"'
	case r >= 0x2010 && r <= 0x2015, r == 0x2212:
		return '-'
	case r >= 0x200b && r <= 0x200d, r == 0x2060, r == 0xfeff, r == 0xad:
		return -1
	}
	return r
}

// resolveUnicode replaces \uXXXX outside ASCII by the character.
func resolveUnicode(s string) string {
	if !strings.Contains(s, `\u`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if strings.HasPrefix(s[i:], `\u`) && i+6 <= len(s) {
			if v, err := strconv.ParseUint(s[i+2:i+6], 16, 16); err == nil && v > 127 && (v < 0xd800 || v >= 0xe000) {
				b.WriteRune(rune(v))
				i += 6
				continue
			}
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// loosen takes the tight form further: no escapes, no entities, one quote.
func loosen(t string) string {
	if !strings.ContainsAny(t, "&\\\"`") {
		return t
	}
	if strings.Contains(t, "&") {
		t = html.UnescapeString(t)
	}
	b := make([]byte, 0, len(t))
	for i := 0; i < len(t); i++ {
		switch c := t[i]; c {
		case '\\':
			if i+1 < len(t) && strings.IndexByte("ntr", t[i+1]) >= 0 {
				i++
			}
		case '"', '`':
			b = append(b, '\'')
		default:
			b = append(b, c)
		}
	}
	return string(b)
}

// tokens splits into words, runs of white space and single other characters.
func tokens(s string) []string {
	var out []string
	for i := 0; i < len(s); {
		n, kind := tokenKind(s[i:])
		e := i + n
		for kind != 0 && e < len(s) {
			m, k := tokenKind(s[e:])
			if k != kind {
				break
			}
			e += m
		}
		out = append(out, s[i:e])
		i = e
	}
	return out
}

// tokenKind is the length of the first character and what it is: 1 of a word,
// 2 white space, 0 other.
func tokenKind(s string) (size, kind int) {
	c := s[0]
	switch {
	case c >= 0x80:
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1, unicode.IsLetter(r), unicode.IsNumber(r):
			return n, 1
		case unicode.IsSpace(r):
			return n, 2
		}
		return n, 0
	case isSpace(c):
		return 1, 2
	case isWord(c):
		return 1, 1
	}
	return 1, 0
}

// FNV-1a, 64 bits.
const (
	hashStart = 14695981039346656037
	hashPrime = 1099511628211
)

func hashString(s string) uint64 {
	h := uint64(hashStart)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * hashPrime
	}
	return h
}
