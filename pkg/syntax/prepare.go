package syntax

import (
	"bytes"
	"strings"
)

// A prepared text has what the grammars cannot read blanked out; every other
// byte stays where it was.
type prepared struct {
	text   []byte
	uneven []int // lines of conditionals of which no choice of branches is sure to fit
}

// prepareC serves C and C++: macros that stand for a namespace, an attribute
// or an export, and conditionals that cut a statement.
func prepareC(src []byte) prepared {
	p := &preparer{src: src, out: bytes.Clone(src)}
	p.tokens, p.directives = scanC(src)
	p.guard()
	p.conditionals()
	p.definitions()
	p.tokens, _ = scanC(p.out)
	p.macros()
	return prepared{p.out, p.uneven}
}

// prepareCSharp blanks all directives, which its grammar reads in few places.
func prepareCSharp(src []byte) prepared {
	p := &preparer{src: src, out: bytes.Clone(src)}
	p.tokens, p.directives = scanC(src)
	if len(p.directives) == 0 {
		return prepared{text: src}
	}
	p.conditionals()
	for _, d := range p.directives {
		p.blank(d.start, d.end)
	}
	return prepared{p.out, p.uneven}
}

// maxOptional is how many tokens an #if without #else may leave out.
const maxOptional = 100

type preparer struct {
	src, out   []byte
	tokens     []lexeme
	directives []directive
	uneven     []int
}

func (p *preparer) blank(from, to int) {
	for i := from; i < min(to, len(p.out)); i++ {
		if p.out[i] != '\n' && p.out[i] != '\r' {
			p.out[i] = ' '
		}
	}
}

func (p *preparer) text(i int) string {
	if i < 0 || i >= len(p.tokens) {
		return ""
	}
	return string(p.src[p.tokens[i].start:p.tokens[i].end])
}

// guard blanks the #define of a header's guard, which is no symbol.
func (p *preparer) guard() {
	for i := 0; i+1 < len(p.directives) && p.directives[i+1].before == 0; i++ {
		a, b := p.directives[i], p.directives[i+1]
		if a.name == "ifndef" && b.name == "define" && strings.TrimSpace(a.args) == strings.TrimSpace(b.args) {
			p.blank(b.start, b.end)
		}
	}
}

// definitions leaves of the directives those that define macros, where the
// grammars read them, without the comments that end them for the grammars.
func (p *preparer) definitions() {
	for _, d := range p.directives {
		if d.name != "define" || !p.statement(d.before-1) {
			p.blank(d.start, d.end)
			continue
		}
		for i := d.start; i < d.end; i++ {
			switch {
			case p.src[i] == '"' || p.src[i] == '\'':
				i = quotedEnd(p.src[:d.end], i) - 1
			case p.src[i] == '/' && i+1 < d.end && p.src[i+1] == '*':
				p.blank(i, min(commentEnd(p.src, i), d.end))
			}
		}
	}
}

// statement reports whether a statement or member may begin behind a token.
func (p *preparer) statement(i int) bool {
	for i >= 0 && p.out[p.tokens[i].start] == ' ' {
		i--
	}
	return i < 0 || hasWord("; } : >", p.text(i)) || p.text(i) == "{" && p.text(i-1) != "=" && p.text(i-1) != "enum" && p.text(i-2) != "enum" ||
		p.tokens[i].last && (p.tokens[i].first && isMacroName(p.src[p.tokens[i].start:p.tokens[i].end]) || p.text(i) == ")")
}

// A branch is what stands between two directives of a conditional.
type branch struct {
	opens    int // the directive above it
	closes   int // the directive below it
	from, to int // its tokens
	depth    int // braces that it opens more than it closes
}

// conditionals keeps every branch of an #if that holds whole declarations or
// statements. Of another it keeps the first, or none where there is no #else,
// as for extern "C" { in a header for both languages.
func (p *preparer) conditionals() {
	var open [][]int // directives of the conditionals around
	for i, d := range p.directives {
		switch d.name {
		case "if", "ifdef", "ifndef":
			open = append(open, []int{i})
		case "elif", "else", "elifdef", "elifndef":
			if n := len(open); n > 0 {
				open[n-1] = append(open[n-1], i)
			}
		case "endif":
			if n := len(open); n > 0 {
				p.conditional(append(open[n-1], i))
				open = open[:n-1]
			}
		}
	}
}

func (p *preparer) conditional(marks []int) {
	var branches []branch
	whole, otherwise := true, false
	for k := 0; k+1 < len(marks); k++ {
		b := branch{opens: marks[k], closes: marks[k+1], from: p.directives[marks[k]].before, to: p.directives[marks[k+1]].before}
		b.depth = p.depth(b.from, b.to)
		whole = whole && b.depth == 0 && p.boundary(b)
		otherwise = otherwise || p.directives[marks[k]].name == "else"
		branches = append(branches, b)
	}
	p.directivesOf(marks)
	if whole {
		return
	}
	keep := 0
	if small := branches[0].to-branches[0].from <= maxOptional; !otherwise && branches[0].depth != 0 && small || strings.TrimSpace(p.directives[marks[0]].args) == "0" {
		keep = -1
		if otherwise {
			keep = len(branches) - 1
		}
	}
	for k, b := range branches {
		if otherwise && b.depth != branches[max(keep, 0)].depth {
			p.uneven = append(p.uneven, 1+bytes.Count(p.src[:p.directives[b.opens].start], []byte("\n")))
		}
		if k != keep {
			p.blank(p.directives[b.opens].end, p.directives[b.closes].start)
		}
	}
}

func (p *preparer) directivesOf(marks []int) {
	for _, m := range marks {
		p.blank(p.directives[m].start, p.directives[m].end)
	}
}

// depth counts the braces of tokens that are not blank yet.
func (p *preparer) depth(from, to int) int {
	depth := 0
	for _, t := range p.tokens[from:to] {
		switch p.out[t.start] {
		case '{':
			depth++
		case '}':
			depth--
		}
	}
	return depth
}

// boundary reports whether a branch begins and ends where a statement, a
// member or an item of a list does.
func (p *preparer) boundary(b branch) bool {
	return b.from == b.to || p.ended(b.from-1) && p.ended(b.to-1)
}

// ended reports whether a statement may end with a token. A macro alone on its
// line counts.
func (p *preparer) ended(i int) bool {
	for i >= 0 && p.out[p.tokens[i].start] == ' ' {
		i--
	}
	if i < 0 {
		return true
	}
	t := p.tokens[i]
	switch p.src[t.start] {
	case ';', '{', '}', ',', ']':
		return true
	case ':':
		return t.end == t.start+1
	}
	return t.first && t.last && isMacroName(p.src[t.start:t.end])
}

// isMacroName knows NAMES_LIKE_THIS.
func isMacroName(word []byte) bool {
	letters := 0
	for _, c := range word {
		switch {
		case c >= 'A' && c <= 'Z':
			letters++
		case c != '_' && (c < '0' || c > '9'):
			return false
		}
	}
	return letters >= 3 && (word[0] < '0' || word[0] > '9')
}
