package page

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// isChrome reports whether an element is what a site has around its pages.
func isChrome(n *html.Node) bool {
	switch attr(n, "role") {
	case "navigation", "search", "contentinfo", "dialog", "alertdialog", "menubar", "menu", "banner":
		return n.DataAtom != atom.Header || first(n, isTitle) == nil
	}
	switch n.DataAtom {
	case atom.Nav:
		return true
	case atom.Footer:
		return !inside(n, atom.Blockquote, atom.Figure) && !isNotes(n) && first(n, isNotes) == nil
	case atom.Header:
		return isElement(n.Parent, atom.Body) && first(n, isTitle) == nil
	case atom.Form:
		return len(textUpTo(n, 512)) < 200 && first(n, func(c *html.Node) bool { return isElement(c, atom.P, atom.Pre, atom.Table) }) == nil
	case atom.Div, atom.Section, atom.Aside, atom.Ul, atom.P, atom.Span, atom.A, atom.Table, atom.Ol:
		return chromeClass(n)
	case atom.H2: // of a list of contents that is left out
		next := n.NextSibling
		for next != nil && next.Type != html.ElementNode {
			next = next.NextSibling
		}
		return hasClass(n, "contents-heading") && isElement(next, atom.Div) && chromeClass(next)
	}
	return false
}

func isTitle(n *html.Node) bool { return n.DataAtom == atom.H1 }

// inside reports whether an element is in another, not far up.
func inside(n *html.Node, as ...atom.Atom) bool {
	for p, i := n.Parent, 0; p != nil && i < 6; p, i = p.Parent, i+1 {
		if isElement(p, as...) {
			return true
		}
	}
	return false
}

// chromeClass reports whether the class or id of an element is one that generators
// give to what is around the content.
func chromeClass(n *html.Node) bool {
	for i := range n.Attr {
		if k := n.Attr[i].Key; k != "class" && k != "id" {
			continue
		}
		for word := range strings.FieldsSeq(n.Attr[i].Val) {
			switch word {
			case "related": // Sphinx's; Apache's is a table of modules
				return n.DataAtom != atom.Table
			case "sphinxsidebar", "sphinxsidebarwrapper", "navheader", "navfooter", "breadcrumbs", "breadcrumb", "theme-doc-breadcrumbs", "pagination-nav",
				"prev-next-area", "prev-next-footer", "rst-footer-buttons", "rst-versions", "wy-nav-side", "wy-nav-top", "wy-breadcrumbs", "md-header", "md-sidebar", "md-footer", "md-source-file", "md-tabs",
				"bd-sidebar", "bd-sidebar-primary", "bd-sidebar-secondary", "bd-header", "bd-footer", "headerlink", "theme-doc-toc-mobile", "theme-doc-footer", "theme-edit-this-page", "table-of-contents",
				"site-header", "site-footer", "page-footer", "skip-link", "skiplink", "skip-nav", "skip-to-content", "cookie-banner", "cookie-consent", "cc-window", "onetrust-consent-sdk", "CybotCookiebotDialog",
				"share-buttons", "social-share", "sharedaddy", "addtoany_share_save_container", "nav-panel", "navpath", "topNav", "bottomNav", "subNav", "top-nav", "sub-nav", "nav-bar", "navBar", "navbar", "mw-jump-link", "mw-navigation", "mw-hidden-catlinks", "catlinks", "printfooter", "navbox", "vertical-navbox", "sistersitebox",
				"disqus_thread", "edit-this-page", "edit-page-link", "td-page-meta", "nav-wrapper", "nav-chapters", "mobile-nav-chapters", "sidebar-resize-handle", "rustdoc-toc", "sidebar-elems", "search-results", "content-footer", "bottom-actions", "vp-doc-footer", "VPDocFooter", "VPDocAside", "VPNav", "VPSidebar", "page-actions", "bc-data", "titlearea", "spirit-nav", "tocRoot", "searchInputDiv", "global-links", "theme-switch-wrapper", "t-navbar", "siteSub", "contentSub", "mbrsel", "main-nav", "nav-path", "MSearchSelectWindow", "MSearchResultsWindow", "article-footer", "newsletter-signup", "jw-footer":
				return !isElement(n, atom.A) || word == "skip-link" || word == "skiplink"
			case "toc", "toc-box", "localtoc", "toctree-local", "contents":
				return isLocal(n) || word == "toc" && isEmptyContents(n)
			case "tabs", "tabs2", "tabs3", "tablist", "noprint":
				return first(n, func(c *html.Node) bool { return isElement(c, atom.P, atom.Pre, atom.Table) }) == nil && len(textUpTo(n, 1024)) < 1000
			case "summary":
				return hasClass(n.Parent, "header") // Doxygen's links to its sections
			case "header", "nav", "footer":
				if n.DataAtom == atom.Div && (isPager(n) || word == "footer" && len(textUpTo(n, 512)) < 400) {
					return true
				}
			}
		}
	}
	return false
}

// isLocal reports whether all links in an element lead to its own page, as those of a
// table of its contents do.
func isLocal(n *html.Node) bool {
	links, seen := 0, 0
	for c := range n.Descendants() {
		if seen++; seen > 5000 {
			return false
		}
		switch c.DataAtom {
		case atom.A:
			if href := attr(c, "href"); href != "" && !strings.HasPrefix(href, "#") {
				return false
			}
			links++
		case atom.P, atom.Pre, atom.Table, atom.Dl:
			if c.DataAtom != atom.P || first(c, func(a *html.Node) bool { return a.DataAtom == atom.A }) == nil && len(textUpTo(c, 128)) > 40 {
				return false
			}
		}
	}
	return links > 1
}

// isEmptyContents reports whether an element is a table of contents that a script would fill.
func isEmptyContents(n *html.Node) bool {
	return len(textUpTo(n, 64)) < 30 && first(n, func(c *html.Node) bool { return c.DataAtom == atom.A }) == nil
}

// isPager reports whether a short element leads to the next and the previous page.
func isPager(n *html.Node) bool {
	text := strings.Trim(strings.ToLower(textUpTo(n, 512)), "«»<>←→| ")
	if len(text) > 400 {
		return false
	}
	for _, word := range []string{"next:", "previous:", "up:", "[contents]", "[index]", "next", "prev"} {
		if strings.HasPrefix(text, word) || strings.HasSuffix(text, word) {
			return first(n, func(c *html.Node) bool { return c.DataAtom == atom.A }) != nil
		}
	}
	return false
}
