package page

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// formula is the TeX of an element that shows a formula, in whatever way, or "". It is
// looked for before hidden elements are removed, because it is hidden itself.
func formula(n *html.Node) (tex string, display bool) {
	switch {
	case n.DataAtom == atom.Math:
		return mathML(n), attr(n, "display") == "block"
	case n.DataAtom == atom.Script && strings.HasPrefix(attr(n, "type"), "math/tex"):
		return textOf(n), strings.Contains(attr(n, "type"), "mode=display")
	case n.Data == "mjx-container", hasClass(n, "katex", "katex-display", "mwe-math-element", "katex-mathml"):
		m := first(n, func(c *html.Node) bool { return c.Data == "math" })
		if m == nil {
			return "", false
		}
		return mathML(m), attr(n, "display") == "true" || hasClass(n, "katex-display") || hasClass(n.Parent, "katex-display") || attr(m, "display") == "block"
	case hasClass(n, "math") && isElement(n, atom.Span, atom.Div):
		return delimited(textOf(n))
	}
	return "", false
}

// delimited is the TeX in a text that is marked as a formula for a script to show.
func delimited(s string) (tex string, display bool) {
	if t, ok := strings.CutPrefix(s, `\(`); ok && strings.HasSuffix(t, `\)`) {
		return strings.TrimSuffix(t, `\)`), false
	}
	if t, ok := strings.CutPrefix(s, `\[`); ok && strings.HasSuffix(t, `\]`) {
		return strings.TrimSuffix(t, `\]`), true
	}
	return "", false
}

// mathML is the TeX of a MathML element: the one that stands beside it, else what its
// own elements say.
func mathML(n *html.Node) string {
	if a := first(n, func(c *html.Node) bool {
		return strings.HasPrefix(c.Data, "annotation") && strings.Contains(attr(c, "encoding"), "tex")
	}); a != nil {
		return unstyled(textOf(a))
	}
	if alt := attr(n, "alttext"); alt != "" {
		return unstyled(alt)
	}
	var b strings.Builder
	appendTeX(&b, n)
	tex := strings.Join(strings.Fields(b.String()), " ")
	return strings.NewReplacer(" }", "}", " ]", "]", " ^", "^", " _", "_").Replace(tex)
}

func unstyled(tex string) string {
	tex = strings.TrimSpace(tex)
	if inner, ok := strings.CutPrefix(tex, `{\displaystyle `); ok && strings.HasSuffix(inner, "}") {
		return strings.TrimSpace(strings.TrimSuffix(inner, "}"))
	}
	return tex
}

func appendTeX(b *strings.Builder, n *html.Node) {
	var parts []*html.Node
	for c := range elements(n) {
		parts = append(parts, c)
	}
	group := func(i int) {
		b.WriteByte('{')
		if i < len(parts) {
			appendTeX(b, parts[i])
		}
		b.WriteByte('}')
	}
	switch n.Data {
	case "mi", "mn", "mo", "mtext", "ms":
		b.WriteString(textOf(n))
		b.WriteByte(' ')
	case "mfrac":
		b.WriteString(`\frac`)
		group(0)
		group(1)
	case "msqrt":
		b.WriteString(`\sqrt{`)
		for _, p := range parts {
			appendTeX(b, p)
		}
		b.WriteByte('}')
	case "mroot":
		b.WriteString(`\sqrt[`)
		if len(parts) > 1 {
			appendTeX(b, parts[1])
		}
		b.WriteByte(']')
		group(0)
	case "msup", "mover", "msub", "munder", "msubsup", "munderover":
		if len(parts) == 0 {
			return
		}
		appendTeX(b, parts[0])
		signs := map[bool]string{true: "_^", false: "^"}[strings.Contains(n.Data, "sub") || strings.Contains(n.Data, "under")]
		for i := 0; i < len(signs) && i+1 < len(parts); i++ {
			b.WriteByte(signs[i])
			group(i + 1)
		}
	case "mtr":
		for i, p := range parts {
			if i > 0 {
				b.WriteString(" & ")
			}
			appendTeX(b, p)
		}
		b.WriteString(` \\ `)
	default:
		for _, p := range parts {
			appendTeX(b, p)
		}
	}
}

// texNode stands for a formula in the tree.
func texNode(tex string, display bool) *html.Node {
	n := &html.Node{Type: html.ElementNode, Data: "tex"}
	if display {
		n.Attr = []html.Attribute{{Key: "display", Val: "block"}}
	}
	n.AppendChild(&html.Node{Type: html.TextNode, Data: tex})
	return n
}
