package page

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// list renders a list of items.
func (r *renderer) list(n *html.Node) {
	r.flush()
	outer, before := r.tight, r.bullet
	r.tight = isTight(n)
	if r.gap = 2; outer {
		r.gap = 1
	}
	ordered := n.DataAtom == atom.Ol
	sign := byte('-')
	switch {
	case ordered && before == '.':
		sign = ')' // or both lists would be one
	case ordered:
		sign = '.'
	case before == '-' && r.cell == nil:
		sign = '*'
	}
	number := numberOf(n, "start", 1)
	begun := false
	for c := n.FirstChild; c != nil && !r.over(); c = c.NextSibling {
		if c.Type != html.ElementNode && strings.TrimSpace(c.Data) == "" || c.Type == html.CommentNode {
			continue
		}
		if begun {
			if r.gap = 2; r.tight {
				r.gap = 1
			}
		}
		begun = true
		item := c
		switch {
		case isElement(c, atom.Ul, atom.Ol): // it belongs to the item before it
			r.within(box{"  ", "  ", false}, wrap(c))
			continue
		case !isElement(c, atom.Li):
			item = wrap(c)
		}
		if r.noteItem(item) {
			continue
		}
		if !ordered {
			r.item(item, string(sign)+" ")
			continue
		}
		number = numberOf(item, "value", number)
		r.item(item, strconv.Itoa(number)+string(sign)+" ")
		number++
	}
	if r.gap = 2; outer {
		r.gap = 1
	}
	r.tight, r.bullet = outer, sign
}

// numberOf is the number that an attribute holds.
func numberOf(n *html.Node, name string, otherwise int) int {
	if v, err := strconv.Atoi(attr(n, name)); err == nil && v >= 0 && v < 999_999_999 {
		return v
	}
	return otherwise
}

// wrap is a node that has c as its only child, without moving c.
func wrap(c *html.Node) *html.Node {
	copied := *c
	copied.NextSibling, copied.PrevSibling = nil, nil
	w := &html.Node{Type: html.ElementNode, Data: "li", DataAtom: atom.Li, FirstChild: &copied, LastChild: &copied}
	copied.Parent = w
	return w
}

// isTight reports whether the items of a list have a paragraph each at most.
func isTight(list *html.Node) bool {
	for li := range elements(list) {
		blocks := 0
		for c := range elements(li) {
			switch c.DataAtom {
			case atom.P:
				blocks++
			case atom.Pre, atom.Blockquote, atom.Table, atom.Dl, atom.H1, atom.H2, atom.H3, atom.H4:
				return false
			case atom.Div:
				if isCodeDivision(c) || isAdmonition(c) || first(c, func(x *html.Node) bool { return isElement(x, atom.Pre, atom.Table) }) != nil {
					return false
				}
				blocks++
			}
		}
		if blocks > 1 {
			return false
		}
	}
	return true
}

// item renders an item of a list.
func (r *renderer) item(n *html.Node, sign string) {
	r.flush()
	if r.cell != nil {
		r.line.raw(strings.ReplaceAll(sign, ". ", `. `))
		r.children(n)
		r.flush()
		return
	}
	r.within(box{sign, strings.Repeat(" ", len(sign)), false}, n)
}
