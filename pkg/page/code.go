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
			if s := b.String(); b.Len() == at && (c.DataAtom == atom.Div || c.DataAtom == atom.Li) || !strings.HasSuffix(s, "\n") && c.DataAtom != atom.Span && c.DataAtom != atom.Code {
				b.WriteByte('\n')
			}
		default:
			appendCode(b, c, pre)
		}
	}
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

// language is that of a block of code, as its generator names it, or "".
func language(n *html.Node) string {
	if l := languageOf(n); l != "" {
		return known(l)
	}
	seen := 0
	for c := range n.Descendants() { // pre in pre, too
		if seen++; seen > 12 {
			break
		}
		if isElement(c, atom.Pre, atom.Code, atom.Div) {
			if l := languageOf(c); l != "" {
				return known(l)
			}
		}
	}
	for p, i := n.Parent, 0; p != nil && i < 7; p, i = p.Parent, i+1 {
		if isElement(p, atom.Body, atom.Article, atom.Main, atom.Section, atom.Li, atom.Dd, atom.Blockquote) {
			break
		}
		if l := languageOf(p); l != "" {
			return known(l)
		}
		if p.DataAtom == atom.Div && i > 0 && hasManyPre(p) {
			break
		}
	}
	return ""
}

func hasManyPre(n *html.Node) bool {
	count := 0
	for c := range n.Descendants() {
		if c.DataAtom == atom.Pre {
			if count++; count > 1 {
				return true
			}
		}
	}
	return false
}

// languageOf is the language that an element's own attributes name.
func languageOf(n *html.Node) string {
	for i := range n.Attr {
		a := &n.Attr[i]
		switch a.Key {
		case "data-lang", "data-language", "data-enlighter-language", "data-programming-language", "data-code-lang":
			if a.Val != "" {
				return a.Val
			}
		case "lang":
			if hasClass(n, "code", "highlight", "wp-block-code") && n.DataAtom != atom.Html {
				return a.Val
			}
		case "data-syntaxhighlighter-params":
			if l := brush(a.Val); l != "" {
				return l
			}
		}
	}
	class := attr(n, "class")
	if class == "" {
		return ""
	}
	if l := brush(class); l != "" {
		return l
	}
	mixed := n.DataAtom == atom.Div && first(n, func(c *html.Node) bool { return c.DataAtom == atom.P }) != nil
	return languageOfClass(class, mixed)
}

// languageOfClass is the language that a class names. Of an element that is mixed, with
// text beside the code, the class says less.
func languageOfClass(class string, mixed bool) string {
	prev := ""
	for word := range strings.FieldsSeq(class) {
		for _, prefix := range []string{"language-", "lang-", "highlight-source-", "highlight-text-", "highlight-", "src-", "sourceCode-", "crayon-lang-"} {
			if prefix == "highlight-" && mixed {
				continue
			}
			if l, ok := strings.CutPrefix(word, prefix); ok && l != "" && !isStyle(l) {
				return l
			}
		}
		switch prev {
		case "sourceCode", "src", "hljs", "makeup", "prettyprint", "codehilite", "code":
			if !isStyle(word) && !strings.Contains(word, "-") {
				return word
			}
		}
		prev = word
	}
	fields := strings.Fields(class)
	for i, word := range fields {
		switch word {
		case "rust", "makeup", "erlang", "shell", "console", "javascript", "js", "css", "brush":
			if len(fields) == 1 && word != "makeup" && word != "brush" && word != "console" && word != "shell" || word == "rust" {
				return word
			}
		case "hljs":
			if i > 0 && !isStyle(fields[i-1]) {
				return fields[i-1]
			}
		case "programlisting":
			if i+1 < len(fields) && !isStyle(fields[i+1]) {
				return fields[i+1]
			}
		}
	}
	return ""
}

// isStyle reports whether a word of a class says how code looks, not what it is.
func isStyle(word string) bool {
	switch word {
	case "highlight", "notranslate", "hljs", "literal-block", "line-numbers", "linenums", "copy", "lines", "source", "rouge", "highlighter-rouge", "highlighter", "chroma", "prettyprinted", "wrapper", "container", "block", "code", "snippet", "numberSource", "numberLines", "toolbar", "js-syntax-highlight", "text-white", "right", "left", "default", "doctestblock", "plain", "mono", "border":
		return word != "default"
	}
	return false
}

// brush is the language in the parameters of a highlighter, as in "brush: java; gutter: false".
func brush(s string) string {
	_, rest, ok := strings.Cut(s, "brush:")
	if !ok {
		return ""
	}
	l, _, _ := strings.Cut(strings.TrimLeft(rest, " "), ";")
	l, _, _ = strings.Cut(strings.TrimSpace(l), " ")
	return l
}

// known is a language as a fence names it, or "" for what is none.
func known(l string) string {
	l = strings.ToLower(strings.TrimSpace(l))
	l, _, _ = strings.Cut(l, ",")
	l, _, _ = strings.Cut(l, " ")
	switch l {
	case "none", "text", "plain", "plaintext", "txt", "nohighlight", "no-highlight", "default", "auto", "raw", "unknown", "en", "en-us", "literal":
		return ""
	case "python3", "py3", "py":
		return "python"
	case "pycon3":
		return "pycon"
	case "c++", "cxx":
		return "cpp"
	case "golang":
		return "go"
	case "html-basic", "html-erb":
		return "html"
	}
	for _, c := range l {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && !strings.ContainsRune("+#._-", c) {
			return ""
		}
	}
	if len(l) > 24 {
		return ""
	}
	return l
}
