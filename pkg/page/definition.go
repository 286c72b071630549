package page

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// definitions renders a list of terms, each with what it means below it.
func (r *renderer) definitions(n *html.Node) {
	r.flush()
	outer := r.tight
	r.tight = false
	if r.gap = 2; outer {
		r.gap = 1
	}
	var terms func(n *html.Node)
	open := false
	terms = func(n *html.Node) {
		for c := n.FirstChild; c != nil && !r.over(); c = c.NextSibling {
			switch {
			case isElement(c, atom.Dt):
				if open {
					r.gap = 1
				}
				r.term(c)
				open = true
			case isElement(c, atom.Dd):
				r.gap, open = 1, true
				r.definition(c)
			case isElement(c, atom.Div, atom.Dl, atom.Section):
				terms(c)
			case c.Type == html.ElementNode:
				r.flush()
				r.children(wrap(c))
				r.flush()
			}
		}
	}
	terms(n)
	r.gap, r.tight = 2, outer
	if r.bullet = '-'; outer {
		r.gap = 1
	}
}

// term renders what is defined. The signature of a function is code.
func (r *renderer) term(n *html.Node) {
	if isSignature(n) {
		span := &html.Node{Type: html.ElementNode, Data: "dt", DataAtom: atom.Dt}
		code := &html.Node{Type: html.ElementNode, Data: "code", DataAtom: atom.Code}
		code.AppendChild(&html.Node{Type: html.TextNode, Data: rawText(n)})
		span.AppendChild(code)
		n = span
	}
	if r.cell != nil {
		r.emphasis(n, "strong")
		r.flush()
		return
	}
	if first(n, func(c *html.Node) bool {
		return isBlock(c) || isElement(c, atom.Code, atom.Tt, atom.Kbd, atom.B, atom.Strong, atom.A)
	}) == nil {
		bold := &html.Node{Type: html.ElementNode, Data: "b", DataAtom: atom.B, FirstChild: n.FirstChild, LastChild: n.LastChild}
		n = wrap(bold)
	}
	r.within(box{"- ", "  ", false}, n)
}

// isSignature reports whether a term is the signature of a function or a class.
func isSignature(n *html.Node) bool {
	return hasClass(n, "sig") || hasClass(n.Parent, "function", "class", "method", "attribute", "data", "exception", "describe", "c", "cpp", "py", "js") && first(n, func(c *html.Node) bool { return hasClass(c, "descname", "sig-name") }) != nil
}

// definition renders what a term means.
func (r *renderer) definition(n *html.Node) {
	if r.cell != nil {
		r.children(n)
		r.flush()
		return
	}
	r.within(box{"  ", "  ", false}, n)
}
