package page

import (
	"bytes"
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// convertHTML makes a document of a page in HTML.
func convertHTML(ctx context.Context, body string, base *url.URL, opts Options) (*Document, error) {
	doc, cut, err := parse(ctx, body)
	if err != nil {
		return nil, err
	}
	d := &Document{}
	if cut {
		d.Warnings = append(d.Warnings, "the page has too many elements: it was read up to the limit")
	}
	generator := d.describe(doc, &base)
	scripts := countScripts(doc)
	var selected []*html.Node
	if opts.Selector != "" {
		if selected, err = selectNodes(doc, opts.Selector); err != nil {
			return nil, err
		}
	}
	c := &cleaner{whole: opts.Main == Full || opts.Selector != ""}
	root := bodyOf(doc)
	heading := titleHeading(root, d.Title)
	c.clean(root)
	d.HiddenRemoved = c.hidden
	var kept part
	if opts.Selector != "" {
		kept = part{attached(selected, doc), "selector", 1}
	} else {
		kept = pick(root, generator, opts.Main)
	}
	d.Kind, d.Confidence = kept.kind, kept.confidence
	d.Warnings = append(d.Warnings, warnings(root, scripts)...)
	if opts.Format == HTML {
		d.Text, err = source(kept.nodes, base)
		return d, err
	}
	r := newRenderer(ctx, base, opts.Format == Text, 2*len(body)+1<<20)
	if heading != nil && opts.Selector == "" && !holds(kept.nodes, heading) && !hasTitle(kept.nodes) {
		r.heading(heading, 1)
	}
	for _, n := range kept.nodes {
		r.notes = footnotes(n)
		r.render(n)
	}
	if r.stop != nil {
		return nil, r.stop
	}
	d.Text, d.Outline, d.Links = r.markdown(), r.headings, r.links
	if len(r.out) > r.most {
		d.Warnings = append(d.Warnings, "the page grows without end when it is written out: it was cut short")
	}
	return d, nil
}

// render writes one of the elements that are kept.
func (r *renderer) render(n *html.Node) {
	if isElement(n, atom.Tr, atom.Td, atom.Th, atom.Tbody, atom.Body, atom.Li, atom.Dd, atom.Dt) {
		r.children(n)
	} else if !r.inlineElement(n) {
		r.blockElement(n)
	}
	r.flush()
}

// describe takes from a page's head what it says of itself, and returns the program
// that made it. A base in it replaces the address that links are resolved against.
func (d *Document) describe(doc *html.Node, base **url.URL) (generator string) {
	based := false
	for n := range doc.Descendants() {
		switch n.DataAtom {
		case 0:
			if n.Type == html.CommentNode && generator == "" && len(n.Data) < 200 && strings.Contains(n.Data, "enerated by") {
				generator = n.Data
			}
		case atom.Html:
			d.Language = attr(n, "lang")
		case atom.Title:
			if d.Title == "" && n.Namespace == "" {
				d.Title = textOf(n)
			}
		case atom.Script, atom.Link:
			switch rel := strings.ToLower(attr(n, "rel")); rel {
			case "contents", "toc", "up", "chapter", "section", "glossary", "start":
				generator += " documentation" // only a book has these
			}
			if generator == "" {
				generator = generatorOf(attr(n, "src") + attr(n, "href"))
			}
		case atom.Base:
			if u, err := url.Parse(strings.TrimSpace(attr(n, "href"))); err == nil && !based && attr(n, "href") != "" {
				based = true
				if *base != nil {
					u = (*base).ResolveReference(u)
				}
				*base = u
			}
		case atom.Meta:
			if g := d.meta(attr(n, "name")+attr(n, "property"), strings.TrimSpace(attr(n, "content"))); g != "" {
				generator = g
			}
		}
	}
	return generator
}

// generatorOf names the program that a page's script or style belongs to.
func generatorOf(file string) string {
	for _, known := range []string{"mkdocs", "_static/doctools", "_static/pygments", "_static/documentation_options", "rustdoc", "mdbook", "docusaurus", "doxygen", "elasticlunr", "typedoc"} {
		if strings.Contains(file, known) {
			if strings.HasPrefix(known, "_static") {
				return "sphinx"
			}
			return known
		}
	}
	return ""
}

func (d *Document) meta(name, content string) (generator string) {
	if content == "" {
		return ""
	}
	switch strings.ToLower(name) {
	case "generator":
		return content
	case "author", "article:author", "dc.creator":
		if d.Author == "" && !strings.HasPrefix(content, "http") {
			d.Author = content
		}
	case "article:published_time", "date", "dc.date", "datepublished":
		if d.Published == "" {
			d.Published = content
		}
	case "og:title":
		if d.Title == "" {
			d.Title = content
		}
	}
	return ""
}

func bodyOf(doc *html.Node) *html.Node {
	for n := range doc.Descendants() {
		if isElement(n, atom.Body, atom.Frameset) {
			return n
		}
	}
	return doc
}

// titleHeading is the first heading of the page where the page's title holds it.
func titleHeading(root *html.Node, title string) *html.Node {
	for n := range root.Descendants() {
		if n.DataAtom != atom.H1 {
			continue
		}
		if text := textUpTo(n, 512); text != "" && strings.Contains(title, strings.TrimRight(text, "¶# ")) {
			return n
		}
	}
	return nil
}

// holds reports whether one of the nodes is above n.
func holds(nodes []*html.Node, n *html.Node) bool {
	for p := n; p != nil; p = p.Parent {
		if slices.Contains(nodes, p) {
			return true
		}
	}
	return false
}

func hasTitle(nodes []*html.Node) bool {
	for _, n := range nodes {
		if isTitle(n) || first(n, isTitle) != nil {
			return true
		}
	}
	return false
}

// selectNodes are the outermost elements that match a selector.
func selectNodes(doc *html.Node, selector string) ([]*html.Node, error) {
	group, err := cascadia.ParseGroup(selector)
	if err != nil {
		return nil, &OptionError{"selector", err}
	}
	var found []*html.Node
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		for c := range elements(n) {
			if group.Match(c) {
				found = append(found, c)
			} else {
				walk(c)
			}
		}
	}
	walk(doc)
	if len(found) == 0 {
		return nil, &NotFoundError{What: "element for the selector", Name: selector}
	}
	return found, nil
}

// attached are the nodes that are still in the tree.
func attached(nodes []*html.Node, doc *html.Node) []*html.Node {
	var kept []*html.Node
	for _, n := range nodes {
		if holds([]*html.Node{doc}, n) {
			kept = append(kept, n)
		}
	}
	return kept
}

func countScripts(doc *html.Node) int {
	count := 0
	for n := range doc.Descendants() {
		if n.DataAtom == atom.Script {
			count++
		}
	}
	return count
}

// warnings tell why a page may hold less than it shows.
func warnings(root *html.Node, scripts int) []string {
	if scripts > 0 && len(textUpTo(root, 400)) < 200 {
		return []string{"the page has scripts and nearly no text: it may show its content only where scripts run"}
	}
	return nil
}

// source is the HTML of nodes, with the attributes that carry meaning and with
// absolute links.
func source(nodes []*html.Node, base *url.URL) (string, error) {
	var b bytes.Buffer
	r := &renderer{base: base}
	for _, n := range nodes {
		plainAttributes(n, r)
		for c := range n.Descendants() {
			plainAttributes(c, r)
		}
		if err := html.Render(&b, n); err != nil && !errors.Is(err, context.Canceled) {
			return "", err
		}
		b.WriteByte('\n')
	}
	return b.String(), nil
}

func plainAttributes(n *html.Node, r *renderer) {
	if n.Type != html.ElementNode {
		return
	}
	var kept []html.Attribute
	for _, a := range n.Attr {
		switch a.Key {
		case "href", "src":
			if target := r.resolve(strings.TrimSpace(a.Val)); target != "" && r.linkBytes < maxLinkBytes {
				r.linkBytes += len(target) - len(a.Val) // by which the page grows
				a.Val = target
				kept = append(kept, a)
			}
		case "alt", "title", "id", "colspan", "rowspan", "start", "datetime", "lang", "class", "checked", "type", "cite", "abbr", "name", "value", "display":
			kept = append(kept, a)
		}
	}
	n.Attr = kept
}
