package edit

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// insideWord refuses a text that is found inside words or numbers, such as load() in
// reload() and 80 in 8080, where it reads as if it were to stand by itself; nil where it does
// not, or where the caller says that the
// letters are meant.
func (p *planner) insideWord(e Edit, at []span, old string) *Refusal {
	if p.options.Exact || e.InWords {
		return nil
	}
	var inside []span
	for _, x := range at {
		if p.cutsWord(x.start) || p.cutsWord(x.end) {
			inside = append(inside, x)
		}
	}
	if len(inside) == 0 || len(inside) == len(at) && !p.readsWhole(inside[0], old) {
		return nil
	}
	r := p.ambiguous(at, "")
	l := p.line(inside[0].start)
	kind := "word"
	if p.cutsNumber(inside[0].start) || p.cutsNumber(inside[0].end) {
		kind = "number"
	}
	r.Message = fmt.Sprintf("the old text is found only inside a longer %s, line %d", kind, l+1)
	r.Hint = WholeWord
	if len(inside) < len(at) {
		r.Message = fmt.Sprintf("the old text stands by itself in %d and inside longer %ss in %d places, such as line %d", len(at)-len(inside), kind, len(inside), l+1)
	}
	return r
}

// cutsWord reports whether an offset lies between two letters or digits of a
// word, in a script that puts spaces between words.
func (p *planner) cutsWord(at int) bool {
	if at <= bodyStart(p.file) || at >= len(p.file) {
		return false
	}
	before, _ := utf8.DecodeLastRune(p.file[:at])
	behind, _ := utf8.DecodeRune(p.file[at:])
	of := func(r rune) bool {
		return r == '_' || unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Nd)
	}
	return of(before) && of(behind)
}

// cutsNumber reports whether an offset lies between two digits of a number.
func (p *planner) cutsNumber(at int) bool {
	if at <= bodyStart(p.file) || at >= len(p.file) {
		return false
	}
	digit := func(c byte) bool { return c >= '0' && c <= '9' }
	behind := bytes.TrimPrefix(p.file[at:], []byte{'_'}) // as in 1_000
	return digit(p.file[at-1]) && len(behind) > 0 && digit(behind[0])
}

// readsWhole reports whether a text that is found inside words reads as if it
// were whole: it is one name, an assignment or a call, it begins or ends with a
// part of a number, or the name that it cuts is one of the file's. A number has
// lost its beginning on purpose where the text is a fragment, as "8, 57)".
func (p *planner) readsWhole(at span, old string) bool {
	s := strings.TrimRight(strings.TrimSpace(old), ";")
	if isName(old) && !strings.HasPrefix(old, "_") && !strings.HasSuffix(old, "_") {
		return true
	}
	ts := tokens(s)
	if isName(ts[0]) && balanced(s) && (strings.Contains(s, "=") || strings.Contains(s, "(") && strings.HasSuffix(s, ")")) {
		return true
	}
	if p.cutsNumber(at.end) || p.cutsNumber(at.start) && balanced(s) {
		return true
	}
	first, last := ts[0], ts[len(ts)-1]
	return p.cutsWord(at.start) && isName(first) && hasWord(p.file, first) || p.cutsWord(at.end) && isName(last) && hasWord(p.file, last)
}

// balanced reports whether a text closes as many brackets as it opens, and its
// quotes.
func balanced(s string) bool {
	for _, pair := range [...]string{"()", "[]", "{}"} {
		if strings.Count(s, pair[:1]) != strings.Count(s, pair[1:]) {
			return false
		}
	}
	return strings.Count(s, `"`)%2 == 0 && strings.Count(s, "`")%2 == 0 && strings.Count(s, "'")%2 == 0
}
