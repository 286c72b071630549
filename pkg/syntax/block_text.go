package syntax

import "strings"

// maxText is how many lines a string may take; one that has no end in them
// is taken for something else.
const maxText = 500

// indentTexts takes the lines within strings of several lines, which may stand
// anywhere, for part of the statement that holds them. Those that are comments,
// such as docstrings, say nothing about nesting.
func (b *blocks) indentTexts() {
	for i := 0; i < len(b.lines); i++ {
		line := b.lines[i]
		n, rest := leading(line)
		end := b.textEnd(i, rest)
		if end <= i {
			continue
		}
		within := n + 1
		if b.indent[i] < 0 {
			within = -1
		}
		for j := i + 1; j <= end; j++ {
			b.indent[j] = within
		}
		i = end
	}
}

// textEnd is the line on which a string or here-document ends that is open at
// the end of line i; i where there is none.
func (b *blocks) textEnd(i int, line string) int {
	for _, mark := range [...]string{`"""`, "'''", "`"} {
		if strings.Count(line, mark)%2 == 0 || mark == "`" && (!b.curly || isComment(strings.TrimSpace(line)) || strings.HasPrefix(strings.TrimSpace(line), "*")) {
			continue
		}
		for j := i + 1; j < min(len(b.lines), i+maxText); j++ {
			if strings.Count(b.lines[j], mark)%2 == 1 {
				return j
			}
		}
	}
	_, rest, found := strings.Cut(line, "<<")
	if !found {
		return i
	}
	rest = strings.TrimLeft(rest, "<-~")
	quoted := strings.TrimLeft(rest, `"'`)
	tag := firstWord(quoted)
	if tag == "" || tag[0] >= '0' && tag[0] <= '9' || len(rest)-len(quoted) > 1 {
		return i
	}
	for j := i + 1; j < min(len(b.lines), i+maxText); j++ {
		if strings.TrimRight(strings.TrimSpace(b.lines[j]), ";,)") == tag {
			return j
		}
	}
	return i
}
