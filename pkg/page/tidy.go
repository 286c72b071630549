package page

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// tidy removes from an article what is no text of it.
func (r *reader) tidy(n *html.Node) {
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		if c.Type == html.ElementNode {
			if r.clutter(c) {
				r.take(c)
			} else {
				r.tidy(c)
			}
		}
		c = next
	}
}

// clutter reports whether an element within an article does not belong to it.
func (r *reader) clutter(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Footer, atom.Aside, atom.Nav, atom.Input, atom.Select, atom.Iframe, atom.Object, atom.Embed:
		return !isAdmonition(n) && !isNotes(n) && first(n, isNotes) == nil
	case atom.H1, atom.H2, atom.H3:
		return classWeight(n) < 0
	case atom.Form, atom.Fieldset, atom.Table, atom.Ul, atom.Div, atom.Section, atom.Ol:
	default:
		return false
	}
	if isCodeDivision(n) || isNotes(n) || inside(n, atom.Pre, atom.Figure) || first(n, func(c *html.Node) bool { return isElement(c, atom.Pre, atom.Math) || c.Data == "tex" }) != nil {
		return false
	}
	weight := classWeight(n)
	s := r.at(n)
	if weight < 0 && (s.commas < 10 || isShare(n)) {
		return true
	}
	if s.commas >= 10 || s.text == 0 {
		return false
	}
	return r.sparse(n, s, weight)
}

// sparse reports whether an element holds too little text for its links, images and
// lists.
func (r *reader) sparse(n *html.Node, s *sizes, weight float64) bool {
	density := float64(s.links) / float64(s.text)
	var p, img, li, inputs, heads int
	seen := 0
	for c := range n.Descendants() {
		if seen++; seen > 5000 {
			return false
		}
		switch c.DataAtom {
		case atom.P:
			p++
		case atom.Img:
			img++
		case atom.Li:
			li++
		case atom.Input:
			inputs++
		case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
			heads += r.at(c).text
		}
	}
	list := isElement(n, atom.Ul, atom.Ol)
	if n.DataAtom == atom.Table && first(n, func(c *html.Node) bool { return isElement(c, atom.Th, atom.Caption, atom.Thead) }) != nil {
		return false
	}
	switch {
	case img > 1 && float64(p)/float64(img) < 0.5 && !list && s.text < 200,
		!list && li-100 > p,
		inputs > p/3,
		!list && float64(heads) < 0.9*float64(s.text) && s.text < 25 && (img == 0 || img > 2) && density > 0,
		!list && weight < 25 && density > 0.2,
		weight >= 25 && density > 0.5:
		return true
	}
	return false
}

func isShare(n *html.Node) bool {
	name := strings.ToLower(attr(n, "class") + " " + attr(n, "id"))
	return strings.Contains(name, "share") || strings.Contains(name, "social")
}
