package page

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// A cleaner takes out of a tree what nobody is meant to read.
type cleaner struct {
	whole  bool // keep navigation
	hidden int
}

// clean removes scripts, what is hidden, and what belongs to the page rather than to
// its content, below n. Formulas become nodes of their own.
func (c *cleaner) clean(n *html.Node) {
	for child := n.FirstChild; child != nil; {
		next := child.NextSibling
		switch child.Type {
		case html.TextNode:
			c.text(child)
		case html.ElementNode:
			c.element(child)
		case html.CommentNode, html.DoctypeNode:
			remove(child)
		}
		child = next
	}
}

func (c *cleaner) element(n *html.Node) {
	for i := range n.Attr {
		if k := n.Attr[i].Key; k == "alt" || k == "title" { // which are shown as text
			text, hidden := visible(n.Attr[i].Val)
			n.Attr[i].Val = text
			c.hidden += hidden
		}
	}
	switch n.DataAtom {
	case atom.Script, atom.Math, atom.Span, atom.Div, 0:
		if tex, display := formula(n); tex != "" {
			replace(n, texNode(tex, display))
			return
		}
	}
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Template, atom.Noscript, atom.Svg, atom.Link, atom.Meta, atom.Head, atom.Canvas, atom.Textarea, atom.Select, atom.Datalist:
		remove(n)
		return
	case atom.Img:
		if isTracker(n) {
			remove(n)
			return
		}
	case atom.Html, atom.Body:
		c.clean(n)
		return
	}
	switch {
	case isHidden(n):
		if textUpTo(n, 16) != "" {
			c.hidden++
		}
		remove(n)
	case isDecoration(n), isDrawnFormula(n):
		passID(n)
		remove(n)
	case !c.whole && isChrome(n):
		remove(n)
	default:
		c.clean(n)
	}
}

// isDrawnFormula reports whether an element is what a script made of a formula whose
// TeX stands beside it.
func isDrawnFormula(n *html.Node) bool {
	return hasClass(n, "MathJax", "MathJax_Display", "MathJax_SVG", "MathJax_SVG_Display", "MathJax_CHTML", "MathJax_Preview") && first(n, func(c *html.Node) bool { return c.Data == "math" }) == nil
}

// passID leaves to a heading the name of a link in it that is removed.
func passID(n *html.Node) {
	id := attr(n, "id")
	if id == "" {
		id = attr(n, "name")
	}
	for p, i := n.Parent, 0; id != "" && p != nil && i < 3; p, i = p.Parent, i+1 {
		if level(p) > 0 && attr(p, "id") == "" {
			p.Attr = append(p.Attr, attribute("id", id))
			return
		}
	}
}

// text takes out of a text the characters that are not seen.
func (c *cleaner) text(n *html.Node) {
	text, hidden := visible(n.Data)
	n.Data = text
	c.hidden += hidden
}

// visible is a text without the characters that are not seen, and how many places had some that may
// hide words.
func visible(text string) (_ string, hidden int) {
	if strings.IndexFunc(text, isInvisible) < 0 {
		return text, 0
	}
	var b strings.Builder
	run := false
	for i, r := range text {
		if isInvisible(r) && !joins(r, text[i+utf8.RuneLen(r):]) {
			if !run && r != '\u00ad' && r != '\u200b' && r != '\ufeff' {
				hidden++
			}
			run = true
			continue
		}
		run = false
		b.WriteRune(r)
	}
	return b.String(), hidden
}

// isInvisible reports whether a character shows nothing, or changes the order in which
// others are shown.
func isInvisible(r rune) bool {
	switch {
	case r < 0xad:
		return false
	case r == 0xad, r == 0x061c, r == 0x180e, r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r == 0xfeff, r >= 0xe0000 && r <= 0xe007f:
		return true
	}
	return false
}

// joins reports whether an invisible character joins letters or signs of scripts that
// need it.
func joins(r rune, rest string) bool {
	next, _ := utf8.DecodeRuneInString(rest)
	return (r == '\u200d' || r == '\u200c') && next > 0x2ff && next != utf8.RuneError
}

// isHidden reports whether an element is not shown.
func isHidden(n *html.Node) bool {
	for i := range n.Attr {
		switch a := &n.Attr[i]; a.Key {
		case "hidden":
			if a.Val != "until-found" && attr(n, "role") != "tabpanel" {
				return true
			}
		case "aria-hidden":
			if a.Val == "true" && !isElement(n, atom.Pre, atom.Table, atom.Main, atom.Article) {
				return true
			}
		case "style":
			if a.Val != "" && hides(a.Val) && !isElement(n, atom.Main, atom.Article) && attr(n, "role") != "tabpanel" {
				return true
			}
		case "class":
			if unseenClass(a.Val) {
				return true
			}
		case "type":
			if n.DataAtom == atom.Input && a.Val == "hidden" {
				return true
			}
		}
	}
	return n.DataAtom == atom.Dialog && !hasAttr(n, "open")
}

// unseenClass reports whether a class is one for readers of screens only.
func unseenClass(class string) bool {
	for word := range strings.FieldsSeq(class) {
		switch word {
		case "sr-only", "visually-hidden", "visuallyhidden", "screen-reader-text", "screenreader-only", "assistive-text", "MJX_Assistive_MathML":
			return true
		}
	}
	return false
}

// hides reports whether a style makes an element invisible.
func hides(style string) bool {
	if len(style) > 4096 {
		style = style[:4096]
	}
	s := strings.ToLower(strings.Map(func(r rune) rune {
		if r == ' ' || r == '\n' || r == '\t' {
			return -1
		}
		return r
	}, style))
	moved := strings.Contains(s, "transform:") || strings.Contains(s, "transition:") || strings.Contains(s, "animation")
	for declaration := range strings.SplitSeq(s, ";") {
		name, value, _ := strings.Cut(declaration, ":")
		value = strings.TrimSuffix(value, "!important")
		switch name {
		case "display":
			if value == "none" {
				return true
			}
		case "visibility":
			if value == "hidden" || value == "collapse" {
				return true
			}
		case "opacity":
			if !moved && strings.Trim(value, "0.%") == "" {
				return true // what moves in later is shown then
			}
		case "font-size":
			if strings.Trim(strings.TrimRight(value, "abcdefghijklmnopqrstuvwxyz%"), "0.") == "" && value != "" && value[0] == '0' {
				return true
			}
		case "color":
			if value == "transparent" {
				return true
			}
		case "left", "top", "right", "text-indent", "margin-left", "margin-top":
			if strings.HasPrefix(value, "-999") || strings.HasPrefix(value, "-100000") || strings.HasPrefix(value, "-10000") {
				return true
			}
		case "clip", "clip-path":
			if strings.HasPrefix(value, "rect(0") || strings.HasPrefix(value, "rect(1px") || strings.HasPrefix(value, "inset(50%") || strings.HasPrefix(value, "inset(100%") {
				return true
			}
		case "width", "height", "max-height", "max-width":
			if strings.HasPrefix(value, "0") && strings.Trim(value, "0px.emr%") == "" && strings.Contains(s, "overflow:hidden") {
				return true
			}
		case "mso-hide":
			if value == "all" {
				return true
			}
		}
	}
	return false
}

// isTracker reports whether an image is there to be counted.
func isTracker(n *html.Node) bool {
	w, h := attr(n, "width"), attr(n, "height")
	return (w == "1" || w == "0") && (h == "1" || h == "0") || w == "0" || h == "0"
}

// isDecoration reports whether an element helps to use a page and says nothing: the
// sign that links to a heading, a button.
func isDecoration(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Button:
		return true
	case atom.A:
		return isPermalink(n)
	case atom.Span, atom.Div, atom.Summary, atom.Td:
	default:
		return false
	}
	for word := range strings.FieldsSeq(attr(n, "class")) {
		switch word {
		case "ttc": // what Doxygen shows of a name when the mouse is on it
			return n.DataAtom == atom.Div
		case "tooltip":
			return utf8.RuneCountInString(textUpTo(n, 16)) <= 2 // a sign that shows more
		case "permalink", "out-of-band", "rightside", "src-link":
			return n.DataAtom == atom.Span
		case "viewcode-link", "notable-traits", "notable-traits-tooltip", "mw-editsection", "method-click-advice", "copybtn", "copy-button", "hideme", "zeroclipboard-container", "octicon", "anchorjs-icon", "buttonGroup", "code-block-header__copy":
			return true
		case "lang":
			return isElement(n, atom.Span) && strings.Contains(attr(n.Parent, "class"), "language-")
		case "language-name":
			return hasClass(n.Parent, "example-header")
		}
	}
	return false
}

// isPermalink reports whether a link only leads to where it stands, or to the source.
func isPermalink(n *html.Node) bool {
	for word := range strings.FieldsSeq(attr(n, "class")) {
		switch word {
		case "headerlink", "hash-link", "viewcode-link", "viewcode-back", "test-arrow", "playground-button", "anchorjs-link", "srclink", "copybtn", "doc-anchor", "rustdoc-breadcrumbs-link":
			return true
		case "src", "srcLink":
			return utf8.RuneCountInString(textUpTo(n, 64)) < 10
		case "anchor", "header-anchor", "heading-anchor", "anchor-link", "permalink", "hover-link", "section-link", "deep-link", "heading-link", "direct-link":
			text := textUpTo(n, 512)
			if utf8.RuneCountInString(text) <= 2 || strings.HasPrefix(text, "Link to") || strings.HasPrefix(text, "Permalink") || strings.HasPrefix(text, "Direct link") || strings.HasPrefix(text, "Anchor") {
				return true
			}
		}
	}
	if !strings.Contains(attr(n, "href"), "#") {
		return false
	}
	switch textUpTo(n, 64) {
	case "":
		return strings.HasPrefix(attr(n, "href"), "#") && !hasAttr(n, "id") && !hasAttr(n, "name") // an arrow to the top
	case "¶", "#", "§", "🔗", "\uf0c1", "⚓":
		return true
	}
	return false
}
