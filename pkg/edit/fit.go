package edit

import (
	"slices"
	"strings"
)

// A text that is quoted to the letter is replaced to the letter where it is a
// part of a line. Where it is made of whole lines, they stay whole lines: what
// follows and what precedes them is not joined to the new text, and new lines
// take the indentation of the old ones. This file holds that contract.

// fit is the stretch to replace for an exact occurrence of old, and the text
// that goes there.
func (p *planner) fit(at span, old, new string) (span, string) {
	if p.options.Exact && !p.options.fits || strings.Trim(old, "\n") == strings.Trim(new, "\n") {
		return at, new // the line endings themselves are what changes
	}
	head, tail := leadingLines(old), trailingLines(old)
	starts, ends := p.startsLine(at.start), tail != "" || p.endsLine(at.end)
	if blank(new) && !strings.Contains(new, "\n") && !blank(old) {
		return p.removal(at, new, head != "", tail != "")
	}
	trimmed := head != "" && leadingLines(new) == ""
	if trimmed {
		new = head + new
	}
	if tail != "" && trailingLines(new) == "" {
		new += tail
	}
	lines := leadingLines(new)
	body := new[len(lines):]
	switch {
	case !ends || blank(new):
	case trimmed:
		new = lines + p.fitted(at, old[len(head):], body, false)
	case lines == "" && head == "" && starts == behindBlanks:
		new = p.fittedBehind(at, p.indentBefore(at.start), old, new)
	}
	return at, new
}

// fittedBehind is fitted where the call leaves out the indentation before the
// first line, or a part of it.
func (p *planner) fittedBehind(at span, missing, old, new string) string {
	first, rest, more := strings.Cut(new, "\n")
	quoted := lead(old)
	switch {
	case lead(first) != quoted || !more:
		return new
	case quoted == "":
		return strings.TrimPrefix(p.fitted(at, missing+old, new, true), missing)
	case strings.Contains(strings.TrimSpace(old), "\n") || strings.HasPrefix(shallowest(rest), missing+quoted):
		return new
	}
	lines := strings.Split(rest, "\n")
	for i, l := range lines {
		if !blank(l) {
			lines[i] = missing + l
		}
	}
	return first + "\n" + strings.Join(lines, "\n")
}

// removal is fit for an edit that leaves no text.
func (p *planner) removal(at span, new string, head, tail bool) (span, string) {
	if new != "" {
		return at, new
	}
	starts, ends := p.startsLine(at.start), p.endsLine(at.end)
	switch {
	case head && (tail || !ends), tail && starts == insideLine:
		return at, "\n" // the text before and the text behind stay in lines of their own
	case starts > insideLine && (tail || ends):
		at.start -= len(p.indentBefore(at.start))
		if !tail {
			at.end, _ = lineEnd(p.file, at.end)
		}
	}
	return at, new
}

// leadingLines are the line endings that a text begins with, and the blanks
// between them.
func leadingLines(s string) string {
	blanks := s[:len(s)-len(strings.TrimLeft(s, " \t\n"))]
	return blanks[:strings.LastIndexByte(blanks, '\n')+1]
}

// trailingLines is what leadingLines is at the end of a text.
func trailingLines(s string) string {
	blanks := s[len(strings.TrimRight(s, " \t\n")):]
	if n := strings.IndexByte(blanks, '\n'); n >= 0 {
		return blanks[n:]
	}
	return ""
}

// indentBefore are the blanks between the start of the line and an offset.
func (p *planner) indentBefore(at int) string {
	from := at
	for from > 0 && (p.file[from-1] == ' ' || p.file[from-1] == '\t') {
		from--
	}
	return string(p.file[from:at])
}

// fitted is a new text with the indentation of the lines that it replaces,
// where its first line has none: of all its lines, or of the first alone where
// the others have it. quoted says that the call quotes the old lines as the
// file has them, but for the indentation of the first.
func (p *planner) fitted(at span, old, new string, quoted bool) string {
	indent := lead(old)
	first, rest, more := strings.Cut(new, "\n")
	if indent == "" || new == "" || lead(first) != "" {
		return new
	}
	_, oldRest, _ := strings.Cut(old, "\n")
	if !more || indentedAlready(indent, oldRest, first, rest, quoted) {
		return indent + new
	}
	lines := strings.Split(new, "\n")
	units := &indenter{fileUnit: p.text().indentUnit(p.line(at.start)), callUnit: indentUnit(len(lines), func(i int) string { return lines[i] })}
	for i, l := range lines {
		if x := lead(l); !blank(l) {
			if strings.Trim(indent, x) == indent { // the file is indented by other characters
				x = units.convert(x)
			}
			lines[i] = indent + x + l[len(lead(l)):]
		}
	}
	return strings.Join(lines, "\n")
}

// indentedAlready reports whether the lines behind the first are as deep as
// the file needs them, so that only the first has lost its indentation.
func indentedAlready(indent, oldRest, first, rest string, quoted bool) bool {
	least := shallowest(rest)
	switch want := shallowest(oldRest); {
	case blank(rest):
		return true
	case !blank(oldRest) && quoted:
		return len(want) < len(indent) || len(least) >= len(indent)
	case !blank(oldRest):
		return len(want) >= len(indent) && least == want
	case !strings.HasPrefix(least, indent):
		return false
	}
	second, _, _ := strings.Cut(strings.TrimLeft(rest, "\n"), "\n")
	return lead(second) != indent || !goesOn(first, strings.TrimSpace(second))
}

// goesOn reports whether the second line is of the block or the expression
// that the first begins, so that it is indented deeper.
func goesOn(first, second string) bool {
	first = strings.TrimRight(first, " \t")
	words := strings.Fields(first)
	return first != "" && strings.IndexByte(`{([:,=+-*/%&|<>?.\`, first[len(first)-1]) >= 0 ||
		second != "" && strings.IndexByte(".?:&|+*/=", second[0]) >= 0 ||
		len(words) > 0 && slices.Contains([]string{"and", "or", "not", "in", "do", "then", "else", "try", "begin"}, words[len(words)-1])
}

// shallowest is the least indentation of the lines that are not blank.
func shallowest(s string) string {
	least, found := "", false
	for l := range strings.Lines(s) {
		if x := lead(l); !blank(l) && (!found || len(x) < len(least)) {
			least, found = x, true
		}
	}
	return least
}
