package page

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"net/url"
	"strings"
)

const (
	maxItems   = 200
	maxSummary = 2000 // bytes of an item's text
)

// A feed is one of news: RSS, RDF, Atom and JSON Feed have the same in other words.
type feed struct {
	Title, Link, Description string
	Items                    []feedItem
}

type feedItem struct {
	Title, Link, Date, Author, Body string
}

// An xmlNode is an element of a feed that is read, of whatever name. Of what is nested
// deeper there is only the text: a copy for each level would take memory without bound.
type xmlNode struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Text     string     `xml:",chardata"`
	Inner    string     `xml:",innerxml"`
	Children []struct {
		Text string `xml:",chardata"`
	} `xml:",any"`
}

// convertFeed makes a list of the items of RSS or Atom.
func convertFeed(ctx context.Context, body string, base *url.URL, opts Options) (*Document, error) {
	in := xml.NewDecoder(strings.NewReader(body))
	in.Strict, in.Entity = false, xml.HTMLEntity
	in.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // it is UTF-8 by now
	f, err := readFeed(in)
	if err != nil && len(f.Items) == 0 {
		return convertXML(body), nil
	}
	d, rerr := f.document(ctx, base, opts)
	if err != nil && rerr == nil {
		d.Warnings = append(d.Warnings, "the feed is broken after what is shown: "+err.Error())
	}
	return d, rerr
}

// readFeed reads items one by one, so that a feed which is cut short has those before.
func readFeed(in *xml.Decoder) (*feed, error) {
	f := &feed{}
	depth := 0
	for {
		t, err := in.Token()
		if errors.Is(err, io.EOF) {
			return f, nil
		}
		if err != nil {
			return f, err
		}
		switch t := t.(type) {
		case xml.EndElement:
			depth--
		case xml.StartElement:
			switch strings.ToLower(t.Name.Local) {
			case "rss", "feed", "rdf", "channel":
				if depth++; depth > 8 {
					return f, nil
				}
				continue
			}
			if err := f.element(in, &t); err != nil {
				return f, err
			}
		}
	}
}

// element reads an element of the channel.
func (f *feed) element(in *xml.Decoder, start *xml.StartElement) error {
	name := strings.ToLower(start.Name.Local)
	switch name {
	case "item", "entry":
		if len(f.Items) == maxItems {
			return in.Skip()
		}
		it, err := readItem(in)
		if err == nil {
			f.Items = append(f.Items, it)
		}
		return err
	case "title", "link", "description", "subtitle":
	default:
		return in.Skip()
	}
	var n xmlNode
	if err := in.DecodeElement(&n, start); err != nil {
		return err
	}
	switch name {
	case "title":
		f.Title = n.text()
	case "link":
		if l := n.link(); l != "" {
			f.Link = l
		}
	default:
		f.Description = n.text()
	}
	return nil
}

// readItem reads an item, whose start has been read, up to its end.
func readItem(in *xml.Decoder) (it feedItem, err error) {
	for {
		t, err := in.Token()
		if err != nil {
			return it, err
		}
		switch t := t.(type) {
		case xml.EndElement:
			return it, nil
		case xml.StartElement:
			switch strings.ToLower(t.Name.Local) {
			case "title", "link", "pubdate", "published", "date", "updated", "author", "creator", "summary", "description", "content", "encoded":
				var n xmlNode
				if err := in.DecodeElement(&n, &t); err != nil {
					return it, err
				}
				it.element(&n)
			default:
				if err := in.Skip(); err != nil {
					return it, err
				}
			}
		}
	}
}

// element takes over an element of the item.
func (it *feedItem) element(c *xmlNode) {
	switch strings.ToLower(c.XMLName.Local) {
	case "title":
		it.Title = c.text()
	case "link":
		if l := c.link(); l != "" && (it.Link == "" || c.attr("rel") == "alternate") {
			it.Link = l
		}
	case "pubdate", "published", "date":
		it.Date = c.text()
	case "updated":
		if it.Date == "" {
			it.Date = c.text()
		}
	case "author", "creator":
		if it.Author = c.text(); it.Author == "" && len(c.Children) > 0 {
			it.Author = strings.Join(strings.Fields(c.Children[0].Text), " ")
		}
	case "summary", "description":
		if it.Body == "" {
			it.Body = c.markup()
		}
	case "content", "encoded":
		if c.XMLName.Space != "http://search.yahoo.com/mrss/" {
			it.Body = c.markup()
		}
	}
}

func (n *xmlNode) text() string { return strings.Join(strings.Fields(n.Text), " ") }

// markup is the HTML of an item's text, which may stand as text or as elements.
func (n *xmlNode) markup() string {
	if n.attr("type") == "xhtml" {
		return n.Inner
	}
	return n.Text
}

func (n *xmlNode) attr(name string) string {
	for _, a := range n.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// link is where a link of RSS or Atom leads, or "" for one that is not to be read.
func (n *xmlNode) link() string {
	if href := n.attr("href"); href != "" {
		if rel := n.attr("rel"); rel != "" && rel != "alternate" {
			return ""
		}
		return href
	}
	return n.text()
}

type jsonItem struct {
	Title, URL, Summary string
	HTML                string `json:"content_html"`
	Text                string `json:"content_text"`
	Date                string `json:"date_published"`
	Authors             []struct{ Name string }
}

// jsonItems are the first items of a JSON Feed, as many as are shown.
type jsonItems []jsonItem

func (list *jsonItems) UnmarshalJSON(data []byte) error {
	in := json.NewDecoder(bytes.NewReader(data))
	if t, err := in.Token(); err != nil || t != json.Delim('[') {
		return err
	}
	for in.More() && len(*list) < maxItems {
		var it jsonItem
		if err := in.Decode(&it); err != nil {
			return err
		}
		*list = append(*list, it)
	}
	return nil
}

// convertJSONFeed makes a list of the items of a JSON Feed.
func convertJSONFeed(ctx context.Context, body string, base *url.URL, opts Options) (*Document, error) {
	var raw struct {
		Title, Description string
		Home               string `json:"home_page_url"`
		Items              jsonItems
	}
	if json.Unmarshal([]byte(body), &raw) != nil {
		return convertJSON(body), nil
	}
	f := &feed{Title: raw.Title, Link: raw.Home, Description: raw.Description}
	for i := range raw.Items {
		item := &raw.Items[i]
		it := feedItem{Title: item.Title, Link: item.URL, Date: item.Date, Body: item.HTML}
		if it.Body == "" {
			it.Body = strings.NewReplacer("&", "&amp;", "<", "&lt;").Replace(item.Text)
		}
		if it.Body == "" {
			it.Body = item.Summary
		}
		if len(item.Authors) > 0 {
			it.Author = item.Authors[0].Name
		}
		f.Items = append(f.Items, it)
	}
	return f.document(ctx, base, opts)
}

// document writes a feed as a heading for each item, with its text below.
func (f *feed) document(ctx context.Context, base *url.URL, opts Options) (*Document, error) {
	r := newRenderer(ctx, base, opts.Format == Text, 1<<24)
	d := &Document{Title: f.Title, Kind: "feed", Confidence: 1}
	title := func(level int, text, link string) {
		n := textNode("h"+string(rune('0'+level)), text)
		if link != "" {
			a := textNode("a", text)
			a.Attr = append(a.Attr, attribute("href", link))
			n.FirstChild, n.LastChild = nil, nil
			n.AppendChild(a)
		}
		r.heading(n, level)
	}
	if f.Title != "" {
		title(1, f.Title, f.Link)
	}
	if f.Description != "" {
		r.line.text(f.Description)
		r.flush()
	}
	for _, it := range f.Items {
		if it.Title == "" {
			it.Title = it.Link
		}
		title(2, it.Title, it.Link)
		if about := strings.Join(nonEmpty(it.Date, it.Author), " · "); about != "" {
			r.line.text(about)
			r.flush()
		}
		if it.Body == "" {
			continue
		}
		doc, _, err := Parse(ctx, it.Body)
		if err != nil {
			return nil, err
		}
		c := &cleaner{}
		root := bodyOf(doc)
		c.clean(root)
		d.HiddenRemoved += c.hidden
		most := r.most
		r.most = min(most, len(r.out)+maxSummary)
		r.children(root)
		r.flush()
		if len(r.out) > r.most {
			r.gap = 2
			r.lines([]byte("[…]"))
			r.gap = 2
		}
		r.most = most
	}
	d.Text, d.Outline, d.Links = r.markdown(), r.headings, r.links
	return d, r.stop
}

func nonEmpty(list ...string) []string {
	var kept []string
	for _, s := range list {
		if s != "" {
			kept = append(kept, s)
		}
	}
	return kept
}
