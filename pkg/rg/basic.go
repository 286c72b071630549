package rg

import "strings"

// FromBasic reads a pattern as grep does without -E, where \| stands between
// alternatives and | is a character, and gives it in the syntax of this
// package. It is false for a pattern without \|, which says nothing of how it
// was meant.
func FromBasic(pattern string) (string, bool) {
	read, bar, _ := fromBasic(pattern)
	if !bar {
		return "", false
	}
	if _, err := parsePattern(read, false, false, false, false, false, false); err != nil {
		return strings.ReplaceAll(pattern, `\|`, "|"), true // half in each syntax
	}
	return read, true
}

// MayBeBasic gives a pattern without \| but with \( and \), \{ and \}, \+ or \? as
// grep reads it without -E, where these are no characters. It is false where there
// are none, or where what comes out is no pattern: then they are characters.
func MayBeBasic(pattern string) (string, bool) {
	read, bar, other := fromBasic(pattern)
	if bar || !other {
		return "", false
	}
	_, err := parsePattern(read, false, false, false, false, false, false)
	return read, err == nil
}

// fromBasic is the pattern in the syntax of this package, and whether it has \|, or
// another escape that is an operator to grep.
func fromBasic(pattern string) (read string, bar, other bool) {
	const swapped = "|(){}+?"
	var b strings.Builder
	class := 0
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		switch {
		case i < class: // inside brackets nothing is special
			b.WriteByte(c)
		case c == '[':
			if n := classEnd(pattern[i:]); n > 0 {
				class = i + n + 1
			}
			b.WriteByte(c)
		case c == '\\' && i+1 < len(pattern):
			i++
			bar = bar || pattern[i] == '|'
			other = other || operator(pattern[i:])
			if strings.IndexByte(swapped, pattern[i]) < 0 {
				b.WriteByte(c)
			}
			b.WriteByte(pattern[i])
		case strings.IndexByte(swapped, c) >= 0:
			b.WriteString(`\` + string(c))
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), bar, other
}

// operator reports whether what follows a backslash is an operator to grep: a group
// that is not empty, a count, a repetition.
func operator(s string) bool {
	switch s[0] {
	case '(':
		return !strings.HasPrefix(s, `(\)`)
	case '{':
		return len(s) > 1 && s[1] >= '0' && s[1] <= '9'
	}
	return s[0] == '+' || s[0] == '?'
}
