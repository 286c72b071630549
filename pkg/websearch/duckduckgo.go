package websearch

import (
	"bytes"
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/html"

	htmlpage "github.com/agentkit-go/agentkit/pkg/page"
)

// duckDuckGo is the page of DuckDuckGo for browsers without scripts.
func duckDuckGo() Provider {
	return Provider{Name: "duckduckgo", Base: "https://html.duckduckgo.com", request: askDuckDuckGo("/html/"), read: readDuckDuckGo, bytes: 499, sites: true, periods: true}
}

// duckDuckGoLite is its page for text browsers.
func duckDuckGoLite() Provider {
	return Provider{Name: "duckduckgo-lite", Base: "https://lite.duckduckgo.com", request: askDuckDuckGo("/lite/"), read: readDuckDuckGoLite, bytes: 499, sites: true, periods: true}
}

// blockedFor is how long DuckDuckGo is left alone after it has shown its puzzle: more
// requests would only make it last longer.
const blockedFor = 10 * time.Minute

func askDuckDuckGo(path string) func(*Provider, Query) Request {
	return func(p *Provider, q Query) Request {
		form := url.Values{"q": {withSites(q)}, "b": {""}, "kl": {"wt-wt"}}
		if period := period(q.Since, time.Now()); period != "" {
			form.Set("df", period[:1])
		}
		return Request{Method: "POST", URL: p.Base + path, Body: []byte(form.Encode()), Header: map[string]string{
			"Content-Type": "application/x-www-form-urlencoded", "Accept": "text/html", "Accept-Language": "en-US,en;q=0.5",
			"Referer": p.Base + "/", "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
			"Sec-Fetch-Dest": "document", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Site": "same-origin", "Sec-Fetch-User": "?1",
		}}
	}
}

// parsed is the page, or the error that it is.
func parsed(p *Provider, res Response) (*html.Node, error) {
	for _, mark := range []string{"anomaly-modal", "/anomaly.js", "challenge-form", "bots use DuckDuckGo too"} {
		if res.Status == 202 || bytes.Contains(res.Body, []byte(mark)) {
			return nil, &Error{Kind: Blocked, Status: res.Status, Message: "DuckDuckGo takes this machine for a robot; do not repeat or rephrase the query there", RetryAfter: blockedFor}
		}
	}
	if e := failure(p, res, ""); e != nil {
		if e.Kind == Auth {
			e.Kind, e.RetryAfter = Blocked, blockedFor
		}
		return nil, e
	}
	doc, _, err := htmlpage.Parse(context.Background(), string(res.Body))
	return doc, err
}

func readDuckDuckGo(p *Provider, res Response) (page, error) {
	doc, err := parsed(p, res)
	if err != nil {
		return page{}, err
	}
	var out page
	empty := false
	for n := range doc.Descendants() {
		empty = empty || hasClass(n, "no-results")
		if !hasClass(n, "result") || hasClass(n, "result--ad") || hasClass(n, "result--no-result") {
			empty = empty || hasClass(n, "result--no-result")
			continue
		}
		link, snippet := find(n, "a", "result__a"), find(n, "", "result__snippet")
		if link != nil {
			out.add(link, snippet)
		}
	}
	return out.unlessChanged(res, empty)
}

func readDuckDuckGoLite(p *Provider, res Response) (page, error) {
	doc, err := parsed(p, res)
	if err != nil {
		return page{}, err
	}
	var out page
	empty, sponsored := strings.Contains(string(res.Body), "No results."), false
	var link *html.Node
	for n := range doc.Descendants() {
		switch {
		case n.Type == html.ElementNode && n.Data == "tr":
			sponsored = hasClass(n, "result-sponsored")
		case sponsored:
		case hasClass(n, "result-link"):
			if link != nil {
				out.add(link, nil)
			}
			link = n
		case hasClass(n, "result-snippet") && link != nil:
			out.add(link, n)
			link = nil
		}
	}
	if link != nil {
		out.add(link, nil)
	}
	return out.unlessChanged(res, empty)
}

// unlessChanged is the page, or the error for one on which nothing is known: neither a
// result, nor that there is none.
func (g page) unlessChanged(res Response, empty bool) (page, error) {
	if len(g.results) == 0 && !empty {
		return page{}, &Error{Kind: Malformed, Status: res.Status, Message: "its page has another form than it had"}
	}
	return g, nil
}

func (g *page) add(link, snippet *html.Node) {
	address := attribute(link, "href")
	if strings.Contains(address, "/y.js?") {
		return // an advertisement
	}
	if u, err := url.Parse(address); err == nil && strings.HasPrefix(u.Path, "/l/") && u.Query().Get("uddg") != "" {
		address = u.Query().Get("uddg")
	}
	g.results = append(g.results, Result{Title: text(link), URL: address, Snippet: text(snippet)})
}

// find is the first element below n of a name, or any, and a class.
func find(n *html.Node, name, class string) *html.Node {
	for d := range n.Descendants() {
		if (name == "" || d.Data == name) && hasClass(d, class) {
			return d
		}
	}
	return nil
}

func hasClass(n *html.Node, class string) bool {
	return n.Type == html.ElementNode && slices.Contains(strings.Fields(attribute(n, "class")), class)
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// text is what an element holds; "" for none.
func text(n *html.Node) string {
	if n == nil {
		return ""
	}
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}
