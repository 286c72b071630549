package page

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// footnotes finds the notes of a page: what a reference in the text leads to, below a
// list of notes. It returns the name of each by the id of its element.
func footnotes(root *html.Node) map[string]string {
	notes := map[string]string{}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode || !isNotes(n) {
			continue
		}
		number := 0
		for c := range n.Descendants() {
			if !isElement(c, atom.Li) || attr(c, "id") == "" {
				continue
			}
			number++
			notes[attr(c, "id")] = noteName(attr(c, "id"), number)
		}
	}
	return notes
}

// isNotes reports whether an element is a list of notes.
func isNotes(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Section, atom.Div, atom.Ol, atom.Aside, atom.Footer:
		return hasClass(n, "footnotes", "footnote-list", "references") || attr(n, "role") == "doc-endnotes" || hasAttr(n, "data-footnotes")
	}
	return false
}

// noteName is what follows the prefix of a note's id where that is a number, else its
// place in the list.
func noteName(id string, number int) string {
	i := len(id)
	for i > 0 && id[i-1] >= '0' && id[i-1] <= '9' {
		i--
	}
	if i < len(id) && len(id)-i < 5 {
		return id[i:]
	}
	return strconv.Itoa(number)
}

// note is the name of the note that a link refers to, or "".
func (r *renderer) note(n *html.Node, href string) string {
	id, ok := strings.CutPrefix(href, "#")
	if !ok || r.line.plain {
		return ""
	}
	name, ok := r.notes[id]
	if !ok || !hasClass(n, "footnote-ref", "footnote-reference") && attr(n, "role") != "doc-noteref" && !isElement(n.Parent, atom.Sup) && !hasAttr(n, "data-footnote-ref") {
		return ""
	}
	return name
}

// noteItem renders a note. It reports false for other items of lists.
func (r *renderer) noteItem(n *html.Node) bool {
	name, ok := r.notes[attr(n, "id")]
	if !ok || r.line.plain || r.cell != nil || attr(n, "id") == "" {
		return false
	}
	for c := range n.Descendants() {
		if c.DataAtom == atom.A && isBackReference(c) {
			c.Data, c.DataAtom, c.FirstChild, c.LastChild = "wbr", atom.Wbr, nil, nil
		}
	}
	r.within(box{"[^" + name + "]: ", "    ", false}, n)
	return true
}

// isBackReference reports whether a link leads from a note back to the text.
func isBackReference(n *html.Node) bool {
	if hasClass(n, "footnote-backref", "footnote-back", "fn-backref", "data-footnote-backref") || attr(n, "role") == "doc-backlink" || hasAttr(n, "data-footnote-backref") || attr(n, "rev") == "footnote" {
		return true
	}
	switch strings.Trim(textUpTo(n, 64), "\ufe0e\ufe0f ") {
	case "↩", "^", "↑", "⤴":
		return strings.HasPrefix(attr(n, "href"), "#")
	}
	return false
}
