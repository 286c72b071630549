package rg

import (
	"slices"
	"unicode"
)

// A runeSet is a sorted list of disjoint inclusive ranges: lo, hi, lo, hi and so on.
type runeSet []rune

// normal sorts the ranges and joins those that touch.
func (s runeSet) normal() runeSet {
	type span struct{ lo, hi rune }
	spans := make([]span, 0, len(s)/2)
	for i := 0; i+1 < len(s); i += 2 {
		spans = append(spans, span{s[i], s[i+1]})
	}
	slices.SortFunc(spans, func(a, b span) int { return int(a.lo - b.lo) })
	out := make(runeSet, 0, len(s))
	for _, r := range spans {
		if n := len(out); n > 0 && r.lo <= out[n-1]+1 {
			out[n-1] = max(out[n-1], r.hi)
			continue
		}
		out = append(out, r.lo, r.hi)
	}
	return out
}

func (s runeSet) negate() runeSet {
	var out runeSet
	next := rune(0)
	for i := 0; i+1 < len(s); i += 2 {
		if s[i] > next {
			out = append(out, next, s[i]-1)
		}
		next = s[i+1] + 1
	}
	if next <= unicode.MaxRune {
		out = append(out, next, unicode.MaxRune)
	}
	return out
}

func (s runeSet) intersect(t runeSet) runeSet {
	var out runeSet
	for i, j := 0, 0; i < len(s) && j < len(t); {
		lo, hi := max(s[i], t[j]), min(s[i+1], t[j+1])
		if lo <= hi {
			out = append(out, lo, hi)
		}
		if s[i+1] < t[j+1] {
			i += 2
		} else {
			j += 2
		}
	}
	return out
}

func (s runeSet) union(t runeSet) runeSet {
	return append(slices.Clone(s), t...).normal()
}

// fold adds every rune that equals one of the set when case is ignored.
func (s runeSet) fold() runeSet {
	const last = 0x1E943 // no later rune has another case
	var more runeSet
	for i := 0; i+1 < len(s); i += 2 {
		for r := max(s[i], 'A'); r <= min(s[i+1], last); r++ {
			for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
				more = append(more, f, f)
			}
		}
	}
	if len(more) == 0 {
		return s
	}
	return s.union(more)
}

func (s runeSet) has(r rune) bool {
	i, found := slices.BinarySearch(s, r)
	return found || i%2 == 1
}

// size counts the runes of the set.
func (s runeSet) size() int {
	n := 0
	for i := 0; i+1 < len(s); i += 2 {
		n += int(s[i+1]-s[i]) + 1
	}
	return n
}

func tableSet(tables ...*unicode.RangeTable) runeSet {
	var out runeSet
	add := func(lo, hi, stride rune) {
		if stride == 1 {
			out = append(out, lo, hi)
			return
		}
		for r := lo; r <= hi; r += stride {
			out = append(out, r, r)
		}
	}
	for _, t := range tables {
		for _, r := range t.R16 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range t.R32 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
	}
	return out.normal()
}

// perlSet is the class of \d, \s or \w.
func perlSet(c byte, ascii bool) runeSet {
	switch {
	case c == 'd' && ascii:
		return runeSet{'0', '9'}
	case c == 'd':
		return tableSet(unicode.Nd)
	case c == 's' && ascii:
		return runeSet{'\t', '\r', ' ', ' '}
	case c == 's':
		return tableSet(unicode.White_Space)
	case ascii:
		return runeSet{'0', '9', 'A', 'Z', '_', '_', 'a', 'z'}
	}
	return tableSet(unicode.L, unicode.Nl, unicode.Other_Alphabetic, unicode.M, unicode.Nd, unicode.Pc, unicode.Join_Control)
}

// isWordRune says whether \w has r.
func isWordRune(r rune) bool {
	if r < 0x80 {
		return isWordByte(byte(r))
	}
	return unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Nl, unicode.Pc, unicode.Other_Alphabetic, unicode.Join_Control)
}

func isWordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}

func isLetter(c byte) bool {
	c |= 0x20
	return c >= 'a' && c <= 'z'
}

var posixClasses = [...]struct {
	name string
	set  string // pairs of ASCII bytes
}{
	{"alnum", "09AZaz"},
	{"alpha", "AZaz"},
	{"ascii", "\x00\x7f"},
	{"blank", "\t\t  "},
	{"cntrl", "\x00\x1f\x7f\x7f"},
	{"digit", "09"},
	{"graph", "!~"},
	{"lower", "az"},
	{"print", " ~"},
	{"punct", "!/:@[`{~"},
	{"space", "\t\r  "},
	{"upper", "AZ"},
	{"word", "09AZ__az"},
	{"xdigit", "09AFaf"},
}

func posixSet(name string) (runeSet, bool) {
	for _, c := range posixClasses {
		if c.name == name {
			return runeSet([]rune(c.set)), true
		}
	}
	return nil, false
}

// propertySet is the class of \p{name}: a general category or a script by
// its short or long name, or one of the common properties.
func propertySet(name string) (runeSet, bool) {
	want := looseName(name)
	if kind, value, ok := cutAny(want, "=:"); ok {
		switch kind {
		case "script", "sc":
			return scriptSet(value)
		case "generalcategory", "gc":
			return categorySet(value)
		}
		return nil, false
	}
	switch want {
	case "any":
		return runeSet{0, unicode.MaxRune}, true
	case "ascii":
		return runeSet{0, 0x7f}, true
	case "alphabetic", "alpha":
		return tableSet(unicode.L, unicode.Nl, unicode.Other_Alphabetic), true
	case "uppercase", "upper":
		return tableSet(unicode.Lu, unicode.Other_Uppercase), true
	case "lowercase", "lower":
		return tableSet(unicode.Ll, unicode.Other_Lowercase), true
	case "space":
		return tableSet(unicode.White_Space), true
	}
	if s, ok := categorySet(want); ok {
		return s, true
	}
	if s, ok := scriptSet(want); ok {
		return s, true
	}
	return namedTable(unicode.Properties, want)
}

func categorySet(want string) (runeSet, bool) {
	switch want {
	case "lc", "casedletter":
		return tableSet(unicode.Lu, unicode.Ll, unicode.Lt), true
	case "assigned":
		return unassigned().negate(), true
	case "cn", "unassigned":
		return unassigned(), true
	case "c", "other":
		return unassigned().union(tableSet(unicode.C)), true
	}
	for long, short := range unicode.CategoryAliases {
		if looseName(long) == want {
			want = looseName(short)
			break
		}
	}
	return namedTable(unicode.Categories, want)
}

func unassigned() runeSet {
	return tableSet(unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.C).negate()
}

func scriptSet(want string) (runeSet, bool) { return namedTable(unicode.Scripts, want) }

func namedTable(tables map[string]*unicode.RangeTable, want string) (runeSet, bool) {
	for name, t := range tables {
		if looseName(name) == want {
			return tableSet(t), true
		}
	}
	return nil, false
}

// looseName drops what the names of properties do not distinguish.
func looseName(s string) string {
	out := make([]byte, 0, len(s))
	for i := range len(s) {
		c := s[i]
		if c == ' ' || c == '_' || c == '-' {
			continue
		}
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		out = append(out, c)
	}
	return string(out)
}

func cutAny(s, chars string) (before, after string, found bool) {
	for i := range len(s) {
		for j := range len(chars) {
			if s[i] == chars[j] {
				return s[:i], s[i+1:], true
			}
		}
	}
	return s, "", false
}
