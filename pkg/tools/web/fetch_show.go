package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/fetch"
	"github.com/agentkit-go/agentkit/pkg/notebook"
	"github.com/agentkit-go/agentkit/pkg/page"
	"github.com/agentkit-go/agentkit/pkg/pdftext"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

const (
	// maxImage is the size in bytes of the largest image that is attached: 5 MB in
	// base64, as the strictest maker of models has it.
	maxImage = 3_750_000

	// around is how many blocks are shown around one that is found.
	around = 1

	// pdfPatience bounds how long reading the text of a PDF file may take.
	pdfPatience = 15 * time.Second

	// maxHeadings bounds the outline in the metadata.
	maxHeadings = 100
)

// show makes the output of what came, by its type.
func (c *fetchCall) show(ctx context.Context, env *tool.Env, a *fetch.Response, meta *fetchMeta, res *tool.Result) error {
	text, media := []byte(nil), meta.ContentType
	switch media {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return c.image(a, meta, res)
	case "application/pdf":
		pages, err := pdf(ctx, a, meta)
		if err != nil {
			return err
		}
		text, media = []byte(pages), "text/plain"
	default:
		if !fetch.Textual(media) {
			return c.binary(a, meta)
		}
		text, meta.Charset = fetch.Text(a.Body, a.Header.Get("Content-Type"))
		if media == "application/x-ipynb+json" && c.Format != "raw" {
			if n, err := notebook.Parse(text); err == nil {
				text, media, meta.Extraction = []byte(cells(n)), "text/markdown", "notebook"
			}
		}
	}
	doc, err := c.convert(ctx, a, text, media, meta)
	if err != nil {
		return err
	}
	return c.paged(env, a, doc, meta, res)
}

// convert makes a document of a text, as the call wants it.
func (c *fetchCall) convert(ctx context.Context, a *fetch.Response, text []byte, media string, meta *fetchMeta) (*page.Document, error) {
	options := page.Options{Format: page.Format(c.Format), Main: page.Main(c.MainContent), Selector: c.Selector, Section: c.Section, Find: c.Find}
	if c.Find != "" {
		options.Context = around
	}
	doc, err := page.Convert(ctx, page.Source{Body: text, Type: media, URL: a.URL}, options)
	if missing, ok := errors.AsType[*page.NotFoundError](err); ok {
		return nil, tool.Errorf(tool.NoMatch, "%w", err).Suggest(missing.Near...).WithHint("{.format} can list its headings; without {.selector}, {.section} and {.find} the whole page is shown")
	}
	if wrong, ok := errors.AsType[*page.OptionError](err); ok {
		return nil, tool.Errorf(tool.BadInput, "%w", wrong).WithHint("correct it, or leave it out")
	}
	if err != nil {
		return nil, err
	}
	if meta.Extraction == "" {
		meta.Extraction, meta.Confidence = doc.Kind, doc.Confidence
	}
	meta.Title, meta.Language, meta.Author, meta.Published = doc.Title, doc.Language, doc.Author, doc.Published
	meta.Hidden, meta.Warnings = doc.HiddenRemoved, append(meta.Warnings, doc.Warnings...)
	return doc, nil
}

// paged puts the part of a document that the call wants into the result, whole lines
// within the limits of an output, between lines that nobody can guess.
func (c *fetchCall) paged(env *tool.Env, a *fetch.Response, doc *page.Document, meta *fetchMeta, res *tool.Result) error {
	const frame = 1 << 10 // bytes of what we say around it
	if c.Offset > 0 && c.Offset >= len(doc.Text) {
		return tool.Errorf(tool.BadInput, "offset %d is behind the end of the text, which has %d bytes", c.Offset, len(doc.Text)).
			WithHint("use an {.offset} from 0 to %d", max(len(doc.Text)-1, 0))
	}
	limit := min(c.Limit, max(env.Limits.Bytes-frame, 200))
	part, next := doc.Slice(c.Offset, limit)
	for lines := strings.Count(part, "\n"); lines > env.Limits.Lines-10 && limit > 200; lines = strings.Count(part, "\n") {
		limit = min(limit-1, len(part)) * max(1, env.Limits.Lines-10) / lines
		part, next = doc.Slice(c.Offset, limit)
	}
	meta.Offset, meta.NextOffset, meta.TotalBytes = c.Offset, next, len(doc.Text)
	meta.Truncated = meta.Truncated || next > 0
	for _, h := range doc.Outline[:min(len(doc.Outline), maxHeadings)] {
		if next > 0 || c.Offset > 0 {
			meta.Outline = append(meta.Outline, heading{h.Level, h.Text, h.Offset})
		}
	}
	res.Title = strings.TrimSpace(doc.Title)
	if res.Title == "" {
		res.Title = a.URL.Redacted()
	}
	if part == "" {
		res.Output = "[" + a.URL.Redacted() + " holds no text]\n"
	} else {
		res.Output, meta.Boundary = untrusted(meta.ContentType+" from "+a.URL.Redacted(), part)
	}
	c.say(a, meta, res)
	return nil
}

// say adds what a model has to know of what it reads.
func (c *fetchCall) say(a *fetch.Response, meta *fetchMeta, res *tool.Result) {
	note := func(format string, args ...any) {
		res.Notes = append(res.Notes, tool.Notef(format, args...))
	}
	if n := len(a.Redirects); n > 0 && a.URL.Hostname() != c.url.Hostname() {
		note("redirected to another host: %s", a.URL.Redacted())
	}
	if a.Truncated {
		note("only the first %d bytes of it came; a larger {.max_bytes} takes more", len(a.Body))
	}
	if a.Incomplete != "" {
		note("not all of it came: %s", a.Incomplete)
	}
	if a.Cached == "stale" {
		note("the server cannot be reached now: this is what it said %v ago", a.Age.Round(time.Minute))
	}
	for _, w := range meta.Warnings {
		note("%s", w)
	}
	if meta.NextOffset > 0 {
		note("bytes %d-%d of %d; go on with {.offset} %d, or choose a part with {.section} or {.find}", meta.Offset, meta.NextOffset, meta.TotalBytes, meta.NextOffset)
	}
}

// image attaches a picture as it is.
func (c *fetchCall) image(a *fetch.Response, meta *fetchMeta, res *tool.Result) error {
	if a.Truncated || a.Incomplete != "" || len(a.Body) > maxImage {
		return tool.Errorf(tool.TooLarge, "the image at %s is larger than %d bytes, or did not come whole", a.URL.Redacted(), maxImage).
			WithHint("put it in a file with {.save}, and look at the file with {read}, which makes it smaller")
	}
	name := path.Base(a.URL.Path)
	if name == "." || name == "/" {
		name = "image." + strings.TrimPrefix(meta.ContentType, "image/")
	}
	res.Attachments = []tool.Attachment{{Type: "image", Filename: name, MIMEType: meta.ContentType, Content: a.Body}}
	res.Title = name
	res.Output = fmt.Sprintf("%s of %d bytes, attached\n", meta.ContentType, len(a.Body))
	c.say(a, meta, res)
	return nil
}

// binary refuses what no model reads.
func (c *fetchCall) binary(a *fetch.Response, meta *fetchMeta) error {
	if len(a.Body) == 0 && a.Status != http.StatusOK {
		return nil // the status says it
	}
	return tool.Errorf(tool.Binary, "%s is %s, which is no text: %d bytes", a.URL.Redacted(), meta.ContentType, len(a.Body)).
		WithHint("put it in a file with {.save}, and look at that with {read} or {bash}")
}

// pdf is the text of a PDF file, page by page.
func pdf(ctx context.Context, a *fetch.Response, meta *fetchMeta) (string, error) {
	hint := "put it in a file with {.save}, and look at that with {read}"
	if a.Truncated || a.Incomplete != "" {
		return "", tool.Errorf(tool.TooLarge, "the PDF file at %s did not come whole: %d bytes of it", a.URL.Redacted(), len(a.Body)).WithHint("give a larger {.max_bytes}; or %s", hint)
	}
	doc, err := pdftext.Open(a.Body)
	if err != nil {
		return "", tool.Errorf(tool.Unsupported, "the PDF file at %s: %w", a.URL.Redacted(), err).Next(hint)
	}
	ctx, cancel := context.WithTimeout(ctx, pdfPatience)
	defer cancel()
	meta.Extraction = "pdf"
	var b strings.Builder
	pictures := 0
	for n := 1; n <= doc.Pages(); n++ {
		p, err := doc.Page(ctx, n)
		pictures += p.Pictures
		fmt.Fprintf(&b, "[page %d of %d]\n%s\n", n, doc.Pages(), strings.TrimRight(p.Text, "\n"))
		if err != nil {
			meta.Warnings = append(meta.Warnings, fmt.Sprintf("the text ends on page %d: %v", n, err))
			break
		}
	}
	if pictures > 0 {
		meta.Warnings = append(meta.Warnings, fmt.Sprintf("it has %s, whose letters are not in the text", tool.Count(int64(pictures), "picture")))
	}
	return b.String(), nil
}

// cells are the cells of a notebook in Markdown. Pictures are named, not shown.
func cells(n *notebook.Notebook) string {
	var b strings.Builder
	fenced := func(language, text string) {
		fence := "```"
		for strings.Contains(text, fence) {
			fence += "`"
		}
		fmt.Fprintf(&b, "%s%s\n%s\n%s\n\n", fence, language, strings.TrimRight(text, "\n"), fence)
	}
	for _, cell := range n.Cells {
		if cell.Type != "code" {
			b.WriteString(strings.TrimRight(cell.Source, "\n") + "\n\n")
			continue
		}
		fenced(n.Language, cell.Source)
		for _, o := range cell.Outputs {
			if o.Text != "" {
				fenced("output", string(bytes.ToValidUTF8([]byte(o.Text), []byte("\ufffd"))))
			}
			for _, picture := range o.Images {
				fmt.Fprintf(&b, "[a picture: %s of %d bytes]\n\n", picture.MIMEType, len(picture.Data))
			}
		}
	}
	return b.String()
}
