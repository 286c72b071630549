package page

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const smallPage = 1500 // bytes of text, of which there is nothing to choose

// A part is what of a page is kept.
type part struct {
	nodes      []*html.Node
	kind       string
	confidence float64
}

// pick chooses the part of a page that it was written for. The body has been cleaned.
func pick(body *html.Node, generator string, main Main) part {
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
	article, ok := findArticle(body)
	if !ok {
		return docs
	}
	if main == Article {
		return article
	}
	kept, pres, codes, terms := 0, 0, 0, 0
	for _, n := range article.nodes {
		kept += s.text(n)
		below := surveyOf(n)
		pres, codes, terms = pres+below.pres, codes+below.codes, terms+below.terms
	}
	if s.pres >= 3 && pres*5 < s.pres*4 || s.codes >= 12 && codes*5 < s.codes*4 || s.terms >= 6 && terms*5 < s.terms*4 && s.density(structural) < 0.3 {
		return docs // code is what it is read for
	}
	if float64(kept) < 0.5*float64(s.text(structural))*(1-s.density(structural)) {
		return docs // it is no article, or one in many pieces
	}
	return article
}

// isDocGenerator reports whether the program that made a page makes documentation.
func isDocGenerator(name string) bool {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return (r < 'a' || r > 'z') && r != '2' })
	for _, known := range []string{"sphinx", "docutils", "mkdocs", "docusaurus", "rustdoc", "mdbook", "javadoc", "doxygen", "docbook", "exdoc", "asciidoc", "asciidoctor", "texinfo", "makeinfo", "vitepress", "vuepress", "pandoc", "hevea", "latex2html", "typedoc", "jsdoc", "yard", "rdoc", "gitbook", "starlight", "nextra", "antora", "groff", "man2html", "publican", "ocamldoc", "odoc", "haddock", "ddoc", "epydoc", "pdoc", "scaladoc", "dokka", "godoc", "mediawiki", "gtk", "documentation"} {
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
	for c := range elements(n.Parent) {
		if isTitle(c) || c != n && first(c, isTitle) != nil {
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
	case "content", "main", "bodyContent", "mw-content-text", "primary", "mainbar", "content-area":
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
