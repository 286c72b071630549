package page

import (
	"iter"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// attr is the value of an attribute, or "".
func attr(n *html.Node, name string) string {
	for i := range n.Attr {
		if n.Attr[i].Key == name {
			return n.Attr[i].Val
		}
	}
	return ""
}

func hasAttr(n *html.Node, name string) bool {
	for i := range n.Attr {
		if n.Attr[i].Key == name {
			return true
		}
	}
	return false
}

// hasClass reports whether an element has one of the classes.
func hasClass(n *html.Node, names ...string) bool {
	class := attr(n, "class")
	if class == "" {
		return false
	}
	for word := range strings.FieldsSeq(class) {
		if slices.Contains(names, word) {
			return true
		}
	}
	return false
}

func isElement(n *html.Node, as ...atom.Atom) bool {
	return n != nil && n.Type == html.ElementNode && slices.Contains(as, n.DataAtom)
}

// elements yields the element children of n.
func elements(n *html.Node) iter.Seq[*html.Node] {
	return func(yield func(*html.Node) bool) {
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.Type == html.ElementNode && !yield(c) {
				return
			}
		}
	}
}

// onlyChild is the one child of n that is not white space, or nil.
func onlyChild(n *html.Node) *html.Node {
	var only *html.Node
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.TextNode && strings.TrimSpace(c.Data) == "" {
			continue
		}
		if only != nil {
			return nil
		}
		only = c
	}
	return only
}

// first is the first element below n, or nil. It looks at the first few thousand
// nodes: what decides how n is written stands there, and elements may be nested.
func first(n *html.Node, is func(*html.Node) bool) *html.Node {
	seen := 0
	for c := range n.Descendants() {
		if seen++; seen > 5000 {
			return nil
		}
		if c.Type == html.ElementNode && is(c) {
			return c
		}
	}
	return nil
}

// textOf is the text below n, its white space collapsed.
func textOf(n *html.Node) string { return textUpTo(n, 1<<30) }

// textUpTo is the beginning of that text, of some n bytes.
func textUpTo(n *html.Node, most int) string {
	var b strings.Builder
	add := func(text string) { // white space is not counted
		words := strings.TrimLeft(text, " \t\r\n")
		if len(words) < len(text) && b.Len() > 0 && b.String()[b.Len()-1] != ' ' {
			b.WriteByte(' ')
		}
		b.WriteString(words[:min(len(words), most)])
	}
	if n.Type == html.TextNode {
		add(n.Data)
	}
	seen := 0
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			add(c.Data)
		}
		if seen++; b.Len() > most || most < 1<<20 && seen > 5000 {
			break
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// remove takes a node out of its tree.
func remove(n *html.Node) {
	if n.Parent != nil {
		n.Parent.RemoveChild(n)
	}
}

// replace puts a text in the place of a node.
func replace(n *html.Node, with *html.Node) {
	if n.Parent != nil {
		n.Parent.InsertBefore(with, n)
		n.Parent.RemoveChild(n)
	}
}

// isBlock reports whether an element begins a new line.
func isBlock(n *html.Node) bool {
	if n.Type != html.ElementNode {
		return false
	}
	switch n.DataAtom {
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Body, atom.Center, atom.Dd, atom.Details, atom.Dialog, atom.Dir, atom.Div,
		atom.Dl, atom.Dt, atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer, atom.Form, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5,
		atom.H6, atom.Header, atom.Hgroup, atom.Hr, atom.Html, atom.Legend, atom.Li, atom.Listing, atom.Main, atom.Menu, atom.Nav, atom.Ol, atom.Optgroup, atom.Option, atom.P,
		atom.Plaintext, atom.Pre, atom.Search, atom.Section, atom.Summary, atom.Table, atom.Tbody, atom.Td, atom.Tfoot, atom.Th, atom.Thead, atom.Tr, atom.Ul, atom.Xmp:
		return true
	}
	return false
}

// level is the level of a heading, or 0.
func level(n *html.Node) int {
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return int(n.Data[1] - '0')
	}
	if n.Type == html.ElementNode && attr(n, "role") == "heading" {
		if l := attr(n, "aria-level"); len(l) == 1 && l >= "1" && l <= "6" {
			return int(l[0] - '0')
		}
		return 2
	}
	return 0
}

// textNode is an element that holds a text.
func textNode(name, text string) *html.Node {
	n := &html.Node{Type: html.ElementNode, Data: name, DataAtom: atom.Lookup([]byte(name))}
	n.AppendChild(&html.Node{Type: html.TextNode, Data: text})
	return n
}

func attribute(key, value string) html.Attribute { return html.Attribute{Key: key, Val: value} }
