package page

import (
	"math"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// An article is found by the density of its text, as browsers do for their reading
// view: paragraphs give their parents points for length and commas, links and the
// names of classes take them away, and the best parent is kept with those of its
// siblings that are like it.

// sizes are what is counted below an element, of its text.
type sizes struct {
	text, links, commas int
}

func (s *sizes) add(t sizes) {
	s.text += t.text
	s.links += t.links
	s.commas += t.commas
}

// A reader looks for the article of a page.
type reader struct {
	strict bool // leave out what by its name is none
	size   map[*html.Node]*sizes
	score  map[*html.Node]float64
	drop   map[*html.Node]bool
	taken  []taken

	dropped int // of taken, so many by drop
	bared   int // headings that have lost all that stood under them
}

// A taken node has been removed from a page, from where it can be put back.
type taken struct {
	node, parent, before *html.Node
}

// take removes a node.
func (r *reader) take(n *html.Node) {
	if n.Parent != nil {
		r.taken = append(r.taken, taken{n, n.Parent, n.NextSibling})
		remove(n)
	}
}

// restore puts back what was removed, but for the first few.
func (r *reader) restore(but int) {
	for _, t := range slices.Backward(r.taken[but:]) {
		t.parent.InsertBefore(t.node, t.before)
	}
	r.taken = r.taken[:but]
}

// findArticle returns the article of a page. What of it is no text, is removed: if the page is
// found not to be one, its reader restores that.
func findArticle(body *html.Node) (*reader, part, bool) {
	for _, strict := range []bool{true, false} {
		r := &reader{strict: strict, size: map[*html.Node]*sizes{}, score: map[*html.Node]float64{}, drop: map[*html.Node]bool{}}
		r.measure(body, false)
		top := r.top(body)
		if top == nil {
			continue
		}
		nodes := r.siblings(top)
		total := 0
		for _, n := range nodes {
			total += r.at(n).text
		}
		if total < 500 && strict || total < 140 {
			continue
		}
		confidence := 0.6 + 0.3*math.Min(1, float64(total)/3000)
		bare := bareHeadings(nodes)
		for n := range r.drop {
			r.take(n)
		}
		r.dropped = len(r.taken)
		for _, n := range nodes {
			r.tidy(n)
		}
		r.bared = bareHeadings(nodes) - bare
		return r, part{nodes, "article", confidence}, true
	}
	return nil, part{}, false
}

// bareHeadings counts the headings under which nothing stands: after one comes the next one of
// its level, or the end.
func bareHeadings(nodes []*html.Node) int {
	count, last := 0, (*html.Node)(nil) // the last heading, if nothing stands under it so far
	for _, n := range nodes {
		for c := range n.Descendants() {
			switch {
			case level(c) > 0:
				if last != nil && level(last) >= level(c) {
					count++
				}
				last = c
			case last != nil && c.Type == html.TextNode && strings.TrimSpace(c.Data) != "" && !holds([]*html.Node{last}, c):
				last = nil
			}
		}
	}
	if last != nil {
		count++
	}
	return count
}

// at are the sizes of an element.
func (r *reader) at(n *html.Node) *sizes {
	if s := r.size[n]; s != nil {
		return s
	}
	return &sizes{}
}

// measure counts the text below n, and gives points for paragraphs.
func (r *reader) measure(n *html.Node, link bool) sizes {
	var s, direct sizes // direct: what is in no block of its own
	blocks := false
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch c.Type {
		case html.TextNode:
			t := strings.TrimSpace(c.Data)
			here := sizes{text: len(t), commas: strings.Count(t, ",") + strings.Count(t, "，") + strings.Count(t, "、")}
			if link {
				here.links = len(t)
			}
			s.add(here)
			direct.add(here)
		case html.ElementNode:
			if r.strict && r.unlikely(c) {
				r.drop[c] = true
				continue
			}
			below := r.measure(c, link || c.DataAtom == atom.A && !strings.HasPrefix(attr(c, "href"), "#"))
			s.add(below)
			if isBlock(c) {
				blocks = true
			} else {
				direct.add(below)
			}
		}
	}
	if !isBlock(n) {
		return s
	}
	kept := s
	r.size[n] = &kept
	switch n.DataAtom {
	case atom.P, atom.Pre, atom.Td, atom.Section, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		r.points(n.Parent, s)
	case atom.Div, atom.Article, atom.Dd:
		if !blocks {
			r.points(n.Parent, s)
		} else {
			r.points(n, direct) // text beside the blocks is a paragraph, too
		}
	}
	return s
}

// points gives the parent of a paragraph what it is worth, and those above less.
func (r *reader) points(p *html.Node, s sizes) {
	if s.text < 25 {
		return
	}
	worth := 1 + float64(s.commas+1) + math.Min(float64(s.text/100), 3)
	for depth := 0; p != nil && depth < 5 && p.Type == html.ElementNode; depth++ {
		if _, ok := r.score[p]; !ok {
			r.score[p] = tagWeight(p) + classWeight(p)
		}
		switch depth {
		case 0:
			r.score[p] += worth
		case 1:
			r.score[p] += worth / 2
		default:
			r.score[p] += worth / float64(depth*3)
		}
		p = p.Parent
	}
}

// value is the score of an element, less the share of it that is links.
func (r *reader) value(n *html.Node) float64 {
	s := r.at(n)
	if s.text == 0 {
		return 0
	}
	return r.score[n] * (1 - float64(s.links)/float64(s.text))
}

// top is the element that the article is in.
func (r *reader) top(body *html.Node) *html.Node {
	var top *html.Node
	var best []*html.Node
	for n := range body.Descendants() {
		if _, ok := r.score[n]; !ok {
			continue
		}
		i := len(best)
		for i > 0 && r.value(best[i-1]) < r.value(n) {
			i--
		}
		if i < 5 {
			best = append(best[:i], append([]*html.Node{n}, best[i:]...)...)
			best = best[:min(len(best), 5)]
		}
	}
	if len(best) == 0 {
		if r.at(body).text < 140 {
			return nil
		}
		return body
	}
	top = best[0]
	if shared := r.shared(best, body); shared != nil {
		top = shared
	}
	for p, last := top.Parent, r.value(top); p != nil && p != body && p.Type == html.ElementNode; p = p.Parent {
		v := r.value(p)
		if v == 0 {
			continue
		}
		if v < last/3 {
			break
		}
		if v > last {
			top = p
			break
		}
		last = v
	}
	for top.Parent != nil && top.Parent != body && top.Parent.Type == html.ElementNode && onlyChild(top.Parent) == top {
		top = top.Parent
	}
	return top
}

// shared is an element that holds most of the best ones, where these are nearly equal:
// an article in pieces.
func (r *reader) shared(best []*html.Node, body *html.Node) *html.Node {
	count := map[*html.Node]int{}
	for _, n := range best[1:] {
		if r.value(n) < 0.75*r.value(best[0]) {
			continue
		}
		for p := n.Parent; p != nil && p != body; p = p.Parent {
			count[p]++
		}
	}
	for p := best[0].Parent; p != nil && p != body; p = p.Parent {
		if count[p] >= 3 {
			return p
		}
	}
	return nil
}

// siblings are the top element and those beside it that belong to the article.
func (r *reader) siblings(top *html.Node) []*html.Node {
	if top.Parent == nil || top.Parent.Type != html.ElementNode || isElement(top, atom.Body) {
		return []*html.Node{top}
	}
	threshold := math.Max(10, r.value(top)*0.2)
	var nodes []*html.Node
	for c := range elements(top.Parent) {
		if r.drop[c] {
			continue
		}
		s := r.at(c)
		bonus := 0.0
		if class := attr(top, "class"); class != "" && class == attr(c, "class") {
			bonus = r.value(top) * 0.2
		}
		density := float64(s.links) / float64(max(1, s.text))
		switch {
		case c == top, r.value(c)+bonus >= threshold,
			c.DataAtom == atom.P && (s.text > 80 && density < 0.25 || s.text > 0 && s.text <= 80 && s.links == 0 && strings.Contains(textOf(c), ". ")):
			nodes = append(nodes, c)
		}
	}
	return r.between(nodes, top.Parent)
}

// between are the nodes, and what stands among them and is neither links nor empty: code,
// lists and headings between paragraphs.
func (r *reader) between(nodes []*html.Node, parent *html.Node) []*html.Node {
	var all, waiting []*html.Node
	next := 0
	for c := range elements(parent) {
		switch s := r.at(c); {
		case next < len(nodes) && c == nodes[next]:
			next++
			all = append(append(all, waiting...), c)
			waiting = nil
		case r.drop[c], next == 0 && level(c) == 0, s.text == 0, s.links*3 > s.text:
		case isElement(c, atom.Pre, atom.Ul, atom.Ol, atom.Dl, atom.Table, atom.Blockquote, atom.Figure, atom.P) || level(c) > 0:
			if next == 0 {
				waiting = nil
			}
			waiting = append(waiting, c)
		}
	}
	return all
}

// tagWeight is what an element is worth by its name.
func tagWeight(n *html.Node) float64 {
	switch n.DataAtom {
	case atom.Div:
		return 5
	case atom.Pre, atom.Td, atom.Blockquote:
		return 3
	case atom.Address, atom.Ol, atom.Ul, atom.Dl, atom.Dd, atom.Dt, atom.Li, atom.Form:
		return -3
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Th:
		return -5
	}
	return 0
}

// classWeight is what an element is worth by its class and id.
func classWeight(n *html.Node) float64 {
	weight := 0.0
	for _, name := range []string{attr(n, "class"), attr(n, "id")} {
		if name == "" {
			continue
		}
		name = strings.ToLower(name)
		if containsAny(name, "hid", "banner", "combx", "comment", "com-", "contact", "footer", "gdpr", "masthead", "media", "meta", "outbrain", "promo", "related", "scroll", "share", "shoutbox", "sidebar", "skyscraper", "sponsor", "shopping", "tags", "widget", "newsletter") {
			weight -= 25
		}
		if containsAny(name, "article", "body", "content", "entry", "hentry", "h-entry", "main", "page", "pagination", "post", "text", "blog", "story") {
			weight += 25
		}
	}
	return weight
}

func containsAny(s string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// unlikely reports whether an element by its name is no part of an article.
func (r *reader) unlikely(n *html.Node) bool {
	if isElement(n, atom.Body, atom.A, atom.Article, atom.Main, atom.Pre, atom.Code, atom.Table, atom.Tr, atom.Td) {
		return false
	}
	switch attr(n, "role") {
	case "menu", "menubar", "complementary", "navigation", "alert", "alertdialog", "dialog":
		return true
	}
	class, id := attr(n, "class"), attr(n, "id")
	if class == "" && id == "" || inside(n, atom.Table, atom.Code, atom.Pre) {
		return false
	}
	name := strings.ToLower(class + " " + id)
	return containsAny(name, "-ad-", "ai2html", "banner", "breadcrumbs", "combx", "comment", "community", "cover-wrap", "disqus", "extra", "footer", "gdpr", "header", "legends", "menu", "related", "remark", "replies", "rss", "shoutbox", "sidebar", "skyscraper", "social", "sponsor", "supplemental", "ad-break", "agegate", "pagination", "pager", "popup", "yom-remote", "newsletter") &&
		!containsAny(name, "and", "article", "body", "column", "content", "main", "shadow", "mathjax")
}
