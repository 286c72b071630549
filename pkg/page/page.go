// Package page turns what a web server sent into text that is worth reading:
// Markdown of the part of a page that it was written for, whole tables and
// fences with their language, without scripts and hidden text.
//
// The rules: what is kept is never reworded. Time and memory grow linearly with
// the body, whatever it holds. Hidden text is removed and counted.
package page

import (
	"context"
	"fmt"
	"mime"
	"net/url"
	"runtime/debug"
	"strings"
	"unicode/utf8"
)

// Source is a body as a server sent it, decoded.
type Source struct {
	Body []byte   // UTF-8; what is not, is replaced
	Type string   // its media type, with or without parameters
	URL  *url.URL // where it was found: links are resolved against it; nil leaves them as they are
}

// Format is what Convert makes of a page.
type Format string

// The formats. The zero value means Markdown.
const (
	Markdown Format = "markdown"
	Text     Format = "text"
	HTML     Format = "html"
	Links    Format = "links"   // a list of the links
	Outline  Format = "outline" // a list of the headings
	Raw      Format = "raw"     // as it is
)

// Main says which part of a page is kept.
type Main string

// The parts. The zero value means Auto.
const (
	Auto    Main = "auto"    // the better of the next two
	Article Main = "article" // the running text, by its density
	Docs    Main = "docs"    // the main part, by the structure of the page
	Full    Main = "full"    // everything that is visible
)

// Options say what to keep and how to write it.
type Options struct {
	Format   Format
	Main     Main
	Selector string // CSS: only the elements that match, instead of Main
	Section  string // only below this heading: its text, its number in the outline, or #id
	Find     string // a regular expression: only the blocks that match
	Context  int    // with Find: blocks around each match
}

// Heading is a line of the outline.
type Heading struct {
	Level  int    `json:"level"`
	Text   string `json:"text"`
	ID     string `json:"id,omitempty"` // what a link after # names
	Offset int    `json:"offset"`       // in Document.Text
}

// Link is where a page leads to.
type Link struct {
	Text string `json:"text"`
	URL  string `json:"url"`
}

// Document is a page, converted.
type Document struct {
	Title         string
	Text          string // in the format that was asked for
	Outline       []Heading
	Links         []Link // absolute, each once, in the order of the page
	HiddenRemoved int    // elements and characters that no reader sees
	Kind          string // what was kept: docs, article, full, selector; or native, feed, table, json, xml
	Confidence    float64
	Language      string
	Author        string
	Published     string
	Warnings      []string

	cuts   []block // of Text, made at the first Slice
	onward string  // where the page leads by itself
	marked bool    // as an article, by who made the page
}

// NotFoundError says that a page has no such part.
type NotFoundError struct {
	What string // selector, section or text
	Name string
	Near []string // names that the page has
}

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("the page has no %s %q", e.What, e.Name)
}

// OptionError says that an option means nothing.
type OptionError struct {
	Option string
	Err    error
}

func (e *OptionError) Error() string { return e.Option + ": " + e.Err.Error() }

func (e *OptionError) Unwrap() error { return e.Err }

// largeBody is a page for whose tree memory is saved, in bytes.
const largeBody = 1 << 20

// Convert makes a document of a page. It ends early when ctx does.
func Convert(ctx context.Context, src Source, opts Options) (*Document, error) {
	find, err := compileFind(opts.Find)
	if err != nil {
		return nil, err
	}
	if len(src.Body) > largeBody {
		// The tree of a page is what the process holds most of. Twice that, as usual, is too much; it costs a
		// third more of processor time. Where two calls do this at a time, it stays so.
		defer debug.SetGCPercent(debug.SetGCPercent(40))
	}
	d, err := convert(ctx, src, opts)
	if err != nil {
		return nil, err
	}
	if opts.Section != "" {
		if err := d.section(opts.Section); err != nil {
			return nil, err
		}
	}
	if find != nil {
		if err := d.find(find, opts.Context); err != nil {
			return nil, err
		}
	}
	switch opts.Format {
	case Links:
		d.listLinks()
	case Outline:
		d.listOutline()
	}
	return d, ctx.Err()
}

// convert makes a document by the type of the source, the whole of it.
func convert(ctx context.Context, src Source, opts Options) (*Document, error) {
	body := strings.TrimPrefix(string(src.Body), "\ufeff")
	if !utf8.ValidString(body) {
		body = strings.ToValidUTF8(body, "\ufffd")
	}
	if opts.Format == Raw {
		return native(body), nil
	}
	what := kind(src.Type, body)
	if what == "html" {
		return convertHTML(ctx, body, src.URL, opts)
	}
	body, hidden := visible(body)
	d, err := convertText(ctx, what, body, src.URL, opts)
	if d != nil {
		d.HiddenRemoved += hidden
	}
	return d, err
}

// convertText makes a document of what is no page.
func convertText(ctx context.Context, what, body string, base *url.URL, opts Options) (*Document, error) {
	switch what {
	case "feed":
		return convertFeed(ctx, body, base, opts)
	case "jsonfeed":
		return convertJSONFeed(ctx, body, base, opts)
	case "csv":
		return convertTable(ctx, body, ',')
	case "tsv":
		return convertTable(ctx, body, '\t')
	case "json":
		return convertJSON(body), nil
	case "xml":
		return convertXML(body), nil
	}
	return native(body), nil
}

// kind names what a body is, by its media type and, where that says little, by
// its beginning.
func kind(mediaType, body string) string {
	media, _, err := mime.ParseMediaType(mediaType)
	if err != nil {
		media, _, _ = strings.Cut(mediaType, ";")
		media = strings.ToLower(strings.TrimSpace(media))
	}
	head := strings.ToLower(strings.TrimLeft(body[:min(len(body), 1024)], " \t\r\n"))
	switch {
	case media == "text/html", media == "application/xhtml+xml":
		if strings.HasPrefix(head, "<?xml") && isFeed(head) {
			return "feed"
		}
		return "html"
	case media == "application/feed+json":
		return "jsonfeed"
	case media == "text/csv":
		return "csv"
	case media == "text/tab-separated-values":
		return "tsv"
	case media == "application/json", strings.HasSuffix(media, "+json"):
		if strings.Contains(head, "jsonfeed.org/version") {
			return "jsonfeed"
		}
		return "json"
	case strings.HasSuffix(media, "xml"):
		switch {
		case isFeed(head):
			return "feed"
		case strings.Contains(head, "<html"):
			return "html"
		}
		return "xml"
	case media == "", media == "application/octet-stream":
		switch {
		case isFeed(head):
			return "feed"
		case strings.HasPrefix(head, "<!doctype html"), strings.HasPrefix(head, "<html"), strings.HasPrefix(head, "<!--"):
			return "html"
		case strings.HasPrefix(head, "<?xml") && strings.Contains(head, "<html"):
			return "html"
		}
	}
	return "native"
}

// isFeed reports whether a document that begins like this is RSS or Atom.
func isFeed(head string) bool {
	for strings.HasPrefix(head, "<?") || strings.HasPrefix(head, "<!--") {
		end := "?>"
		if head[1] == '!' {
			end = "-->"
		}
		_, rest, ok := strings.Cut(head, end)
		if !ok {
			return false
		}
		head = strings.TrimLeft(rest, " \t\r\n")
	}
	return strings.HasPrefix(head, "<rss") || strings.HasPrefix(head, "<feed") || strings.HasPrefix(head, "<rdf:rdf")
}

// native is a text that is shown as it is.
func native(body string) *Document {
	d := &Document{Text: strings.TrimRight(strings.ReplaceAll(body, "\r\n", "\n"), "\n") + "\n", Kind: "native", Confidence: 1}
	if strings.TrimSpace(d.Text) == "" {
		d.Text = ""
	}
	d.Outline = outlineOf(d.Text)
	if len(d.Outline) > 0 && d.Outline[0].Level == 1 {
		d.Title = d.Outline[0].Text
	}
	return d
}
