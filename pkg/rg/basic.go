package rg

import "strings"

// FromBasic reads a pattern as grep does without -E, where \| stands between
// alternatives and | is a character, and gives it in the syntax of this
// package. It is false for a pattern without \|, which says nothing of how it
// was meant.
func FromBasic(pattern string) (string, bool) {
	const swapped = "|(){}+?"
	var b strings.Builder
	bar, class := false, 0
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
	if !bar {
		return "", false
	}
	if _, err := parsePattern(b.String(), false, false, false, false, false, false); err != nil {
		return strings.ReplaceAll(pattern, `\|`, "|"), true // half in each syntax
	}
	return b.String(), true
}
