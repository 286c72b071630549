package page

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	smallPage = 1500 // bytes of text, of which there is nothing to choose
	maxBared  = 3    // headings of an article that may lose what stands under them, less one

)

// A part is what of a page is kept.
type part struct {
	nodes      []*html.Node
	kind       string
	confidence float64
}

// pick chooses the part of a page that it was written for. The body has been cleaned. marked says
// that whoever made the page calls it an article.
func pick(body *html.Node, generator string, marked bool, main Main) part {
	if main == Full {
		return part{[]*html.Node{body}, "full", 1}
	}
	s := surveyOf(body)
	structural, rank := s.best()
	docs := part{[]*html.Node{structural}, "docs", 0.5}
	switch {
	case rank >= 8:
		docs.confidence = 0.95
	case rank >= 5:
		docs.confidence = 0.85
	case structural == body:
		docs.kind, docs.confidence = "full", 0.4
	}
	if main == Docs || main != Article && (rank >= 8 || isDocGenerator(generator)) {
		if docs.kind == "full" && main != Docs && isDocGenerator(generator) {
			docs.kind, docs.confidence = "docs", 0.8
		}
		return docs
	}
	if main != Article && s.text(body) < smallPage {
		return docs
	}
	if main != Article && !marked && s.articles == 0 && rank > 0 && s.isTechnical() && s.density(structural) < 0.3 {
		return docs
	}
	words := float64(s.text(structural)) * (1 - s.density(structural)) // before anything is removed
	r, article, ok := findArticle(body)
	switch {
	case !ok:
		return docs
	case main == Article:
		return article
	case r.inPieces(s, structural, article):
		return docs
	case r.leavesOut(s, structural, article):
		r.restore(r.dropped) // what by its name is no part of the text stays out
		return docs
	case !marked && s.articles == 0 && r.words(s, article) < keptOf(rank)*words:
		r.restore(0)
		return docs
	}
	return article
}

// isTechnical reports whether a page is about code or terms.
func (s *pageSurvey) isTechnical() bool { return s.pres >= 3 || s.codes >= 12 || s.terms >= 6 }

// keptOf is the share of its words that an article has to keep of a page that nobody calls one: whole sections
// of documentation look like clutter where they hold lists. It is larger where the page says what its main part is.
func keptOf(rank int) float64 {
	if rank > 5 {
		return 0.9
	}
	return 0.8
}

// words is the length of the text of an article that is no link.
func (r *reader) words(s *pageSurvey, article part) float64 {
	kept := 0.0
	for _, n := range article.nodes {
		kept += float64(s.text(n)) * (1 - s.density(n))
	}
	return kept
}

// inPieces reports whether an article is the smaller part of its page: it is none, or one in many pieces.
func (r *reader) inPieces(s *pageSurvey, structural *html.Node, article part) bool {
	kept := 0
	for _, n := range article.nodes {
		kept += s.text(n)
	}
	return float64(kept) < 0.5*float64(s.text(structural))*(1-s.density(structural))
}

// leavesOut reports whether an article lacks what its page is read for: code, terms, and tables and lists that
// headings are about.
func (r *reader) leavesOut(s *pageSurvey, structural *html.Node, article part) bool {
	pres, codes, terms := 0, 0, 0
	for _, n := range article.nodes {
		below := surveyOf(n)
		pres, codes, terms = pres+below.pres, codes+below.codes, terms+below.terms
	}
	return s.pres >= 3 && pres*5 < s.pres*4 || s.codes >= 12 && codes*5 < s.codes*4 || s.terms >= 6 && terms*5 < s.terms*4 && s.density(structural) < 0.3 ||
		r.bared >= maxBared && s.articles == 0
}

// isDocGenerator reports whether the program that made a page makes documentation.
func isDocGenerator(name string) bool {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return (r < 'a' || r > 'z') && r != '2' })
	for _, known := range []string{"sphinx", "docutils", "mkdocs", "docusaurus", "rustdoc", "mdbook", "javadoc", "doxygen", "docbook", "texi2any", "texi2html", "exdoc", "asciidoc", "asciidoctor", "texinfo", "makeinfo", "vitepress", "vuepress", "pandoc", "hevea", "latex2html", "typedoc", "jsdoc", "yard", "rdoc", "gitbook", "starlight", "nextra", "antora", "groff", "man2html", "publican", "ocamldoc", "odoc", "haddock", "ddoc", "qdoc", "crystal", "epydoc", "pdoc", "scaladoc", "dokka", "godoc", "mediawiki", "gtk", "documentation"} {
		if slices.Contains(words, known) {
			return true
		}
	}
	return false
}

// A survey counts what a page is made of.
type pageSurvey struct {
	body               *html.Node
	pres, terms, codes int
	articles           int
	candidates         map[int]*html.Node
}

func surveyOf(body *html.Node) *pageSurvey {
	s := &pageSurvey{body: body, candidates: map[int]*html.Node{}}
	for n := range body.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.DataAtom {
		case atom.Pre:
			s.pres++
		case atom.Dt:
			s.terms++
		case atom.Code:
			s.codes++
		case atom.Article:
			s.articles++
		}
		if rank := mainRank(n); rank > 0 && s.candidates[rank] == nil {
			s.candidates[rank] = n
		}
	}
	return s
}

// best is the element that holds the content, and how sure its name says so.
func (s *pageSurvey) best() (*html.Node, int) {
	all := -1
	for rank := 9; rank > 0; rank-- {
		n := s.candidates[rank]
		if n == nil || rank == 5 && s.articles > 1 {
			continue
		}
		if size := s.text(n); size < 250 {
			if all < 0 {
				all = s.text(s.body)
			}
			if size*4 < all {
				continue
			}
		}
		if rank < 5 && titled(n) {
			n = n.Parent
		}
		return n, rank
	}
	return s.body, 0
}

// titled reports whether the title of what is in n stands beside it.
func titled(n *html.Node) bool {
	if first(n, isTitle) != nil || n.Parent == nil {
		return false
	}
	title := func(c *html.Node) bool { return isTitle(c) || c.DataAtom == atom.H2 && hasClass(c, "title") } // javadoc's was an h2
	for c := range elements(n.Parent) {
		if title(c) || c != n && first(c, title) != nil {
			return true
		}
	}
	return false
}

// text is the length of the text below n.
func (s *pageSurvey) text(n *html.Node) int {
	size := 0
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			size += len(strings.TrimSpace(c.Data))
		}
	}
	return size
}

// density is the share of the text below n that is links.
func (s *pageSurvey) density(n *html.Node) float64 {
	links := 0
	for c := range n.Descendants() {
		if c.DataAtom == atom.A {
			links += s.text(c)
		}
	}
	return float64(links) / float64(max(1, s.text(n)))
}

// mainRank tells how surely an element holds the content of its page: 9 and 8 are
// what generators of documentation write, 7 to 5 what HTML says, below that habit.
func mainRank(n *html.Node) int {
	if !isElement(n, atom.Div, atom.Main, atom.Article, atom.Section, atom.Td) {
		return 0
	}
	rank := 0
	switch {
	case n.DataAtom == atom.Main:
		rank = 6
	case n.DataAtom == atom.Article:
		rank = 5
	}
	for i := range n.Attr {
		switch a := &n.Attr[i]; a.Key {
		case "role":
			if a.Val == "main" {
				rank = max(rank, 7)
			}
		case "id":
			rank = max(rank, idRank(a.Val))
		case "class":
			for word := range strings.FieldsSeq(a.Val) {
				rank = max(rank, classRank(word, n))
			}
		}
	}
	return rank
}

func idRank(id string) int {
	switch id {
	case "docContent", "doc-content", "apicontent":
		return 8
	case "main-content", "mainContent":
		return 7
	case "content", "main", "page-content", "bodyContent", "mw-content-text", "primary", "mainbar", "content-area":
		return 3
	}
	return 0
}

func classRank(word string, n *html.Node) int {
	switch word {
	case "markdown-body", "mw-parser-output", "theme-doc-markdown", "vp-doc", "td-content", "wiki-content", "main-page-content", "manual-text", "md-content__inner", "bd-article", "content-inner", "sl-markdown-content", "rst-content":
		return 8
	case "body":
		if isElement(n.Parent, atom.Div) && hasClass(n.Parent, "bodywrapper", "documentwrapper") {
			return 9
		}
	case "document":
		if hasClass(n.Parent, "rst-content", "content") || isElement(n.Parent, atom.Body) {
			return 4
		}
	case "contentContainer", "innertube":
		return 4
	case "entry-content", "post-content", "article-content", "article-body", "post-body", "main-content":
		return 4
	case "content":
		return 2
	}
	return 0
}
