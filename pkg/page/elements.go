package page

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const maxLinkBytes = 1 << 20 // of the links that are listed

// emphasis renders bold, italic or struck text.
func (r *renderer) emphasis(n *html.Node, tag string) {
	if text := textUpTo(n, 80); len(text) <= 80 && strings.ContainsAny(text, "_*") && !strings.Contains(text, " ") && first(n, func(c *html.Node) bool { return isElement(c, atom.A, atom.Code, atom.Img) }) == nil {
		r.line.code(text) // the name of a variable, whose signs emphasis would need to escape
		return
	}
	marked := r.line.begin(tag, "")
	r.children(n)
	if marked {
		r.line.end()
	}
}

// anchor renders a link.
func (r *renderer) anchor(n *html.Node) {
	href := strings.TrimSpace(attr(n, "href"))
	if id := r.note(n, href); id != "" {
		r.line.space = false
		r.line.raw("[^" + id + "]")
		return
	}
	target := r.resolve(href)
	if target == "" || r.inHeading && target[0] == '#' || !r.line.begin("a", target) {
		r.children(n)
		return
	}
	r.children(n)
	r.line.end()
	if text := textUpTo(n, 500); text != "" && !strings.HasPrefix(target, "#") && !r.known[target] && r.linkBytes < maxLinkBytes {
		r.linkBytes += len(target)
		r.known[target] = true
		r.links = append(r.links, Link{Text: text, URL: target})
	}
}

// resolve is the address that a link names, as it stands between the brackets of
// Markdown, or "" where it leads nowhere.
func (r *renderer) resolve(href string) string {
	href = strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return -1
		}
		return c
	}, href)
	if href == "" || href == "#" {
		return ""
	}
	if len(href) > 8192 {
		return ""
	}
	if strings.HasPrefix(href, "#") {
		return bracket(href)
	}
	u, err := url.Parse(href)
	if err != nil {
		return ""
	}
	switch strings.ToLower(u.Scheme) {
	case "", "http", "https", "mailto", "ftp", "tel", "irc", "git", "ssh", "magnet", "news", "sftp", "xmpp", "matrix", "doi":
	default:
		return ""
	}
	if r.base != nil {
		u = r.base.ResolveReference(u)
		if u.Fragment != "" && u.Host == r.base.Host && u.Path == r.base.Path && u.RawQuery == r.base.RawQuery && u.Scheme == r.base.Scheme {
			return bracket("#" + u.EscapedFragment())
		}
	}
	return bracket(u.String())
}

// bracket writes an address so that Markdown finds its end.
func bracket(u string) string {
	if strings.ContainsAny(u, " <>") || strings.Count(u, "(") > 1 || strings.Count(u, "(") != strings.Count(u, ")") {
		u = strings.NewReplacer(" ", "%20", "<", "%3C", ">", "%3E", "(", "%28", ")", "%29").Replace(u)
	}
	return u
}

// code renders a code span. Where all of it is one link, the link is outside.
func (r *renderer) code(n *html.Node) {
	if first(n, func(c *html.Node) bool { return isBlock(c) || c.DataAtom == atom.Br }) != nil {
		if r.cell == nil {
			r.pre(n)
			return
		}
	}
	if c := onlyChild(n); isElement(c, atom.A) {
		r.anchor(rewrapped(n, c))
		return
	}
	if img := first(n, func(c *html.Node) bool { return c.DataAtom == atom.Img }); img != nil && textOf(n) == "" {
		r.children(n)
		return
	}
	r.line.code(rawText(n))
}

// rewrapped is a copy of the link within a code span, with its text as code.
func rewrapped(code, link *html.Node) *html.Node {
	a := &html.Node{Type: html.ElementNode, Data: "a", DataAtom: atom.A, Attr: link.Attr}
	c := &html.Node{Type: html.ElementNode, Data: code.Data, DataAtom: code.DataAtom}
	c.AppendChild(&html.Node{Type: html.TextNode, Data: rawText(link)})
	a.AppendChild(c)
	return a
}

// rawText is the text below n as it stands.
func rawText(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		switch {
		case c.Type == html.TextNode:
			b.WriteString(c.Data)
		case c.DataAtom == atom.Br:
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// script renders what stands above or below the line.
func (r *renderer) script(n *html.Node) {
	if r.line.plain || first(n, func(c *html.Node) bool { return c.DataAtom == atom.A }) != nil {
		r.children(n)
		return
	}
	text := textOf(n)
	if text == "" {
		return
	}
	sign := "^"
	if n.DataAtom == atom.Sub {
		sign = "_"
	}
	switch strings.ToLower(text) {
	case "tm", "®", "™", "©", "st", "nd", "rd", "th", "er", "e":
		r.children(n)
		return
	}
	r.line.space = false
	if n := utf8.RuneCountInString(text); n > 1 && strings.ContainsAny(text, " +-*/,=") {
		text = "(" + text + ")"
	}
	r.line.text(sign + text)
}

// lineBreak ends a line within a paragraph.
func (r *renderer) lineBreak() {
	switch {
	case !r.line.begun:
	case r.cell != nil, r.line.fresh && !r.plain: // two in a row are a paragraph's end
		r.flush()
	default:
		r.line.lineBreak()
	}
}

// image renders an image that has a description. One that has none says nothing
// to who cannot see it.
func (r *renderer) image(n *html.Node) {
	alt := strings.Join(strings.Fields(attr(n, "alt")), " ")
	if alt == "" {
		return
	}
	src := strings.TrimSpace(attr(n, "src"))
	if src == "" || strings.HasPrefix(src, "data:") {
		src = strings.TrimSpace(attr(n, "data-src"))
	}
	target := ""
	if src != "" {
		target = r.resolve(src)
	}
	if r.line.plain || target == "" || hasClass(n, "emoji") {
		r.line.text(alt)
		return
	}
	r.line.begin("img", target)
	r.line.text(alt)
	r.line.end()
}

// checkbox renders the box of a task.
func (r *renderer) checkbox(n *html.Node) {
	if attr(n, "type") != "checkbox" {
		return
	}
	for p, i := n.Parent, 0; p != nil && i < 3; p, i = p.Parent, i+1 {
		if p.DataAtom == atom.Li {
			box := "[ ]"
			if hasAttr(n, "checked") {
				box = "[x]"
			}
			r.line.raw(box)
			r.line.space = true
			return
		}
	}
}

// frame names what is shown in a frame of its own.
func (r *renderer) frame(n *html.Node) {
	title, src := strings.TrimSpace(attr(n, "title")), attr(n, "src")
	if target := r.resolve(src); title != "" && strings.HasPrefix(target, "http") {
		if r.line.begin("a", target) {
			r.line.text(title)
			r.line.end()
		}
		return
	}
	if isElement(n, atom.Object, atom.Video, atom.Audio) {
		r.children(n)
	}
}

// math renders a formula, whose TeX was found before.
func (r *renderer) math(n *html.Node) {
	tex := strings.TrimSpace(textOf(n))
	switch {
	case tex == "":
	case r.line.plain:
		r.line.text(tex)
	case attr(n, "display") == "":
		r.line.raw("$" + tex + "$")
	case r.cell != nil:
		r.line.raw("$$" + tex + "$$")
	default:
		r.flush()
		r.line.raw("$$" + tex + "$$")
		r.flush()
	}
}
