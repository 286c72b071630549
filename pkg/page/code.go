package page

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// isCodeDivision reports whether a division is a block of code: generators write
// one without pre, and tables of which one column has the numbers of the lines.
func isCodeDivision(n *html.Node) bool {
	return n.DataAtom == atom.Div && hasClass(n, "fragment") && first(n, func(c *html.Node) bool { return c.DataAtom == atom.Pre }) == nil && first(n, func(c *html.Node) bool { return hasClass(c, "line") }) != nil
}

// pre renders a block of code.
func (r *renderer) pre(n *html.Node) {
	r.flush()
	text := codeText(n)
	if strings.TrimSpace(text) == "" {
		return
	}
	if r.cell != nil {
		for line := range strings.SplitSeq(text, "\n") {
			if strings.TrimSpace(line) != "" {
				r.line.code(line)
				r.flush()
			}
		}
		return
	}
	if r.gap > 0 || len(r.out) > 0 {
		r.gap = 2
	}
	if r.plain {
		r.lines([]byte(text))
		r.gap = 2
		return
	}
	fence := strings.Repeat("`", max(3, longestRun(text, '`')+1))
	if tildes := max(3, longestRun(text, '~')+1); len(fence) > 8 && tildes < len(fence) {
		fence = strings.Repeat("~", tildes)
	}
	r.verbatim(fence + language(n) + "\n" + text + "\n" + fence)
	r.gap = 2
}

// verbatim writes lines of which the empty ones stay empty.
func (r *renderer) verbatim(s string) {
	r.start()
	for {
		line, rest, more := strings.Cut(s, "\n")
		r.out = append(r.out, line...)
		if !more {
			return
		}
		r.out = append(r.out, '\n')
		if s = rest; s == "" || s[0] == '\n' {
			r.blank()
		} else {
			r.prefix()
		}
	}
}

// codeText is the text of a block of code, without what is no code: numbers of
// lines, buttons.
func codeText(n *html.Node) string {
	var b strings.Builder
	appendCode(&b, n, n.DataAtom != atom.Div)
	text := strings.ReplaceAll(b.String(), "\u00a0", " ")
	text = strings.Map(printable, text)
	text = strings.Trim(strings.ReplaceAll(text, "\r", ""), "\n")
	if strings.Contains(text, " \n") || strings.HasSuffix(text, " ") {
		lines := strings.Split(text, "\n")
		for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
			lines = lines[1:]
		}
		for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
			lines = lines[:len(lines)-1]
		}
		text = strings.Join(lines, "\n")
	}
	return text
}

// appendCode adds the text below n. Outside pre, white space between lines means nothing.
func appendCode(b *strings.Builder, n *html.Node, pre bool) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c.Type == html.TextNode:
			if pre || !isElement(n, atom.Div) || hasClass(n, "line") || strings.TrimSpace(c.Data) != "" {
				b.WriteString(c.Data)
			}
		case c.Type != html.ElementNode:
		case isNumber(c): // and the space behind it
			if next := c.NextSibling; next != nil && next.Type == html.TextNode && c.DataAtom == atom.Span && hasClass(c, "lineno") {
				next.Data = strings.TrimPrefix(next.Data, " ")
			}
		case c.DataAtom == atom.Br:
			b.WriteByte('\n')
		case c.DataAtom == atom.Button, c.DataAtom == atom.Script, c.DataAtom == atom.Style:
		case c.DataAtom == atom.Tr, c.DataAtom == atom.Div, c.DataAtom == atom.P, c.DataAtom == atom.Li, isLine(c):
			if s := b.String(); s != "" && !strings.HasSuffix(s, "\n") {
				b.WriteByte('\n')
			}
			at := b.Len()
			appendCode(b, c, pre)
			if s := b.String(); b.Len() == at && (c.DataAtom == atom.Div || c.DataAtom == atom.Li) || !strings.HasSuffix(s, "\n") && c.DataAtom != atom.Span && c.DataAtom != atom.Code && !beginsLine(c.NextSibling) {
				b.WriteByte('\n')
			}
		default:
			appendCode(b, c, pre)
		}
	}
}

// beginsLine reports whether a text begins with the end of the line before it.
func beginsLine(n *html.Node) bool {
	return n != nil && n.Type == html.TextNode && strings.HasPrefix(n.Data, "\n")
}

// isLine reports whether a span is a line of its own though no end of line is
// beside it.
func isLine(n *html.Node) bool {
	if n.DataAtom != atom.Span && n.DataAtom != atom.Code || !hasClass(n, "line", "token-line", "view-line", "code-line") {
		return false
	}
	prev := n.PrevSibling
	return isElement(prev, atom.Span, atom.Code) && hasClass(prev, "line", "token-line", "view-line", "code-line")
}

// isNumber reports whether an element in code is the number of a line.
func isNumber(n *html.Node) bool {
	for word := range strings.FieldsSeq(attr(n, "class")) {
		switch word {
		case "lineno", "linenos", "ln", "lnt", "line-numbers-rows", "linenumber", "line-number", "line-numbers", "hljs-ln-numbers", "rouge-gutter", "gutter", "blob-num", "linenodiv", "react-syntax-highlighter-line-number", "copybtn", "copy-button", "lnlinks", "sr-only", "visually-hidden":
			return n.DataAtom != atom.Pre && n.DataAtom != atom.Code || onlyDigits(textOf(n))
		}
	}
	return n.DataAtom == atom.Td && hasAttr(n, "data-line-number")
}

func onlyDigits(s string) bool {
	return strings.Trim(s, "0123456789 \n") == ""
}

// codeCell is the cell of a table that holds code beside the numbers of its lines,
// or nil.
func codeCell(table *html.Node) *html.Node {
	var rows, cells []*html.Node
	for c := range table.Descendants() {
		switch c.DataAtom {
		case atom.Tr:
			if rows = append(rows, c); len(rows) > 1 {
				return nil
			}
		case atom.Td, atom.Th:
			cells = append(cells, c)
		}
	}
	if len(cells) != 2 || !onlyDigits(textOf(cells[0])) || textOf(cells[0]) == "" {
		return nil
	}
	if first(cells[1], func(c *html.Node) bool { return c.DataAtom == atom.Pre }) == nil && !hasClass(cells[1], "code") {
		return nil
	}
	return cells[1]
}
