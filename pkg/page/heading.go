package page

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

func isAdmonitionTitle(n *html.Node) bool {
	return hasClass(n, "admonition-title", "markdown-alert-title", "admonition-heading", "custom-block-title") || strings.HasPrefix(attr(n, "class"), "admonitionHeading")
}

// isAdmonition reports whether a block is a note or a warning beside the text.
func isAdmonition(n *html.Node) bool {
	if !isElement(n, atom.Div, atom.Aside, atom.Section) {
		return false
	}
	for word := range strings.FieldsSeq(attr(n, "class")) {
		switch word {
		case "admonition", "theme-admonition", "alert", "notecard", "callout", "custom-block", "markdown-alert", "admonitionblock", "hint", "confluence-information-macro", "docs-alert":
			return attr(n, "role") != "alertdialog"
		}
	}
	return false
}

// quote renders a quotation, or a note whose title is its first line.
func (r *renderer) quote(n *html.Node) {
	r.flush()
	r.gap = 2
	tight := r.tight
	r.tight = false
	if r.cell != nil {
		r.children(n)
		r.flush()
	} else {
		r.within(box{"> ", "> ", false}, n)
	}
	r.tight = tight
	r.gap = 2
}

// heading renders a heading, in one line.
func (r *renderer) heading(n *html.Node, l int) {
	r.flush()
	if r.cell != nil {
		r.emphasis(n, "strong")
		r.flush()
		return
	}
	held := r.cell
	r.inHeading, r.line.flat = true, true
	var parts [][]byte
	r.cell = &parts
	r.children(n)
	r.flush()
	r.cell, r.inHeading, r.line.flat = held, false, false
	text := bytes.TrimSpace(bytes.Join(parts, []byte(" ")))
	if len(text) == 0 {
		return
	}
	r.gap = 2
	r.start()
	at := len(r.out)
	if !r.plain {
		r.out = append(r.out, "######"[:l]...)
		r.out = append(r.out, ' ')
	}
	r.out = append(r.out, text...)
	if !r.plain && bytes.HasSuffix(text, []byte("#")) {
		r.out = append(r.out[:len(r.out)-1], `\#`...)
	}
	r.gap = 2
	r.headings = append(r.headings, Heading{Level: l, Text: textOf(n), ID: headingID(n), Offset: at})
}

// headingID is the name by which a link leads to a heading.
func headingID(n *html.Node) string {
	if id := attr(n, "id"); id != "" {
		return id
	}
	if a := first(n, func(c *html.Node) bool { return attr(c, "id") != "" || c.DataAtom == atom.A && attr(c, "name") != "" }); a != nil {
		if id := attr(a, "id"); id != "" {
			return id
		}
		return attr(a, "name")
	}
	for p, i := n.Parent, 0; p != nil && i < 3; p, i = p.Parent, i+1 {
		if isElement(p, atom.Section, atom.Div, atom.Header, atom.Article) && attr(p, "id") != "" {
			return attr(p, "id")
		}
	}
	return ""
}
