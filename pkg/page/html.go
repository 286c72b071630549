package page

import (
	"bytes"
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// convertHTML makes a document of a page in HTML.
func convertHTML(ctx context.Context, body string, base *url.URL, opts Options) (*Document, error) {
	doc, cut, err := Parse(ctx, body)
	if err != nil {
		return nil, err
	}
	d := &Document{}
	if cut {
		d.Warnings = append(d.Warnings, "the page has too many elements: it was read up to the limit")
	}
	generator := d.describe(doc, &base)
	for _, s := range []*string{&d.Title, &d.Author, &d.Published, &d.Language} {
		text, hidden := visible(*s)
		*s = text
		d.HiddenRemoved += hidden
	}
	scripts := countScripts(doc)
	var selected []*html.Node
	if opts.Selector != "" {
		if selected, err = selectInTime(ctx, doc, opts.Selector); err != nil {
			return nil, err
		}
	}
	c := &cleaner{whole: opts.Main == Full || opts.Selector != ""}
	root := bodyOf(doc)
	heading := titleHeading(root, d.Title)
	c.clean(root)
	d.HiddenRemoved += c.hidden
	var kept part
	if opts.Selector != "" {
		kept = part{attached(selected, doc), "selector", 1}
	} else {
		kept = pick(root, generator, d.marked, opts.Main)
	}
	d.Kind, d.Confidence = kept.kind, kept.confidence
	d.Warnings = append(d.Warnings, warnings(root, scripts)...)
	if to := (&renderer{base: base}).resolve(d.onward); to != "" && to[0] != '#' && len(textUpTo(root, 1000)) < 500 {
		d.Warnings = append(d.Warnings, "the page sends its readers on to "+to)
	}
	if opts.Format == HTML {
		d.Text, err = source(kept.nodes, base)
		return d, err
	}
	r := newRenderer(ctx, base, opts.Format == Text, len(body)+min(len(body), 1<<20)+1<<20)
	if heading != nil && opts.Selector == "" && !holds(kept.nodes, heading) && !hasTitle(kept.nodes, d.Title) {
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
			if n.Type != html.CommentNode || generator != "" {
				continue
			}
			switch {
			case len(n.Data) < 200 && strings.Contains(n.Data, "enerated by"):
				generator = n.Data
			case strings.HasPrefix(n.Data, " $$$"):
				generator = "qdoc"
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
			content := strings.TrimSpace(attr(n, "content"))
			if strings.EqualFold(attr(n, "http-equiv"), "refresh") {
				d.onward = refreshed(content)
			}
			if p := attr(n, "property"); strings.HasPrefix(p, "article:") || p == "og:type" && content == "article" {
				d.marked = true
			}
			if g := d.meta(attr(n, "name")+attr(n, "property"), content); g != "" {
				generator = g
			}
		}
	}
	return generator
}

// refreshed is the address that a refresh of a page leads to, as in "0; url=/docs/".
func refreshed(content string) string {
	to := strings.TrimLeft(content[max(0, strings.IndexAny(content, ";,")):], ";, \t\n")
	if len(to) < 4 || !strings.EqualFold(to[:3], "url") {
		return ""
	}
	to, found := strings.CutPrefix(strings.TrimSpace(to[3:]), "=")
	if !found {
		return ""
	}
	return strings.Trim(strings.TrimSpace(to), `"'`)
}

// generatorOf names the program that a page's script or style belongs to.
func generatorOf(file string) string {
	for _, known := range []string{"mkdocs", "_static/doctools", "_static/pygments", "_static/documentation_options", "rustdoc", "mdbook", "docusaurus", "doxygen", "elasticlunr", "typedoc", "haddock"} {
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

// titleHeading is the first heading of the page where the page's title holds it. Where a page
// has no h1, it may be an h2.
func titleHeading(root *html.Node, title string) *html.Node {
	var second *html.Node
	top := false
	for n := range root.Descendants() {
		switch n.DataAtom {
		case atom.H1:
			if top = true; isNamed(n, title) {
				return n
			}
		case atom.H2:
			if second == nil && isNamed(n, title) {
				second = n
			}
		}
	}
	if top {
		return nil
	}
	return second
}

// isNamed reports whether the title of a page holds the text of a heading.
func isNamed(heading *html.Node, title string) bool {
	text := strings.TrimRight(textUpTo(heading, 512), "¶#. ")
	return text != "" && strings.Contains(title, text)
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

// hasTitle reports whether there is an h1 in the nodes that is the title of their page; one that
// has a part of the title says so, and where there is only one, it is.
func hasTitle(nodes []*html.Node, title string) bool {
	count := 0
	for _, n := range nodes {
		named := func(c *html.Node) bool {
			if isTitle(c) {
				count++
			}
			return isTitle(c) && isNamed(c, title)
		}
		if named(n) || first(n, named) != nil {
			return true
		}
	}
	return count == 1
}

const (
	maxRelations     = 3               // of a selector: each may look at all elements, for each that the others look at
	selectorPatience = 3 * time.Second // and with two of them that takes minutes on a page of 5 MB
)

var (
	errRelations = errors.New("it relates too many elements to each other")
	errSlow      = errors.New("it takes too long on this page")
)

// selectInTime is selectNodes, as long as ctx and anybody's patience last. The library cannot be stopped: it
// goes on by itself when nobody waits any longer, in a tree that nobody else has.
func selectInTime(ctx context.Context, doc *html.Node, selector string) ([]*html.Node, error) {
	relations := 0
	for _, sign := range []string{"~", "+", ":has", ":contains", ":matches", ":nth", ":only", ":first", ":last"} {
		relations += strings.Count(selector, sign)
	}
	if relations > maxRelations {
		return nil, &OptionError{"selector", errRelations}
	}
	group, err := cascadia.ParseGroup(selector)
	if err != nil {
		return nil, &OptionError{"selector", err}
	}
	type outcome struct {
		nodes []*html.Node
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		nodes, err := selectNodes(ctx, doc, group, selector)
		done <- outcome{nodes, err}
	}()
	patience := time.NewTimer(selectorPatience)
	defer patience.Stop()
	select {
	case found := <-done:
		return found.nodes, found.err
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-patience.C:
		return nil, &OptionError{"selector", errSlow}
	}
}

// selectNodes are the outermost elements that match a selector.
func selectNodes(ctx context.Context, doc *html.Node, group cascadia.SelectorGroup, selector string) ([]*html.Node, error) {
	var found []*html.Node
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		for c := range elements(n) {
			if ctx.Err() != nil {
				return
			}
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
