package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/pdftext"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

const (
	// maxPDF is the size in bytes of the largest PDF file whose text is read:
	// 64 MiB.
	maxPDF = 64 << 20

	// defaultPages is how many pages are read where the call names none.
	defaultPages = 20

	// pdfPatience bounds how long reading the text may take.
	pdfPatience = 20 * time.Second
)

// pdf shows the text of a PDF file, page by page, and attaches the file where
// the call does not choose pages or lines of it.
func (r *readCall) pdf(ctx context.Context, f *os.File, head []byte, meta *readMeta, res *tool.Result, env *tool.Env) error {
	if err := r.linesOnly("a PDF file", true); err != nil {
		return err
	}
	meta.Type = "pdf"
	if meta.TotalBytes > maxPDF {
		return tool.Errorf(tool.TooLarge, "%s has %d bytes, and PDF files of at most %d are read", meta.Path, meta.TotalBytes, maxPDF).
			WithHint("take out its text with {bash}, for example with pdftotext -f 1 -l 20 %s -", tool.QuoteFile(meta.Path))
	}
	rest, err := io.ReadAll(io.LimitReader(f, maxPDF))
	if err != nil {
		return r.readError(ctx, meta, err)
	}
	data := append(head, rest...)
	meta.Version, meta.TotalBytes = workspace.Version(data), int64(len(data))
	meta.PDF = &readPDF{Shown: []pdfPage{}}
	whole := len(r.pages) == 0 && len(r.ranges) == 0 && r.Tail == 0 && r.Offset == 1
	if whole && len(data) <= maxAttachment {
		meta.PDF.Attached = true
		res.Attachments = []tool.Attachment{{Type: "file", Filename: path.Base(meta.Path), MIMEType: meta.MIMEType, Content: data}}
		res.Output = fmt.Sprintf("%s of %d bytes, attached\n", meta.MIMEType, len(data))
	}
	if r.Raw && meta.PDF.Attached {
		return nil
	}
	if err := r.pdfText(ctx, data, meta); err != nil {
		return err
	}
	if len(meta.PDF.texts) == 0 {
		if meta.PDF.Attached {
			res.Output += fmt.Sprintf("[no text: %s]\n", meta.PDF.Error)
			return nil
		}
		return tool.Errorf(tool.Unsupported, "%s: %s", meta.Path, meta.PDF.Error).
			WithHint("try {bash}, for example pdftotext %s - or, for pictures of pages, pdftoppm -r 100 -png", tool.QuoteFile(meta.Path))
	}
	attached := res.Output
	if err := r.rendered(meta.PDF.render(), meta, res, env); err != nil {
		return err
	}
	meta.Truncated = meta.Truncated || meta.PDF.cut || meta.PDF.Error != "" || len(r.pages) == 0 && meta.PDF.NextPage > 0
	res.Output += attached + r.pdfFooter(meta.PDF)
	return nil
}

// pdfText reads the pages that are asked for. That a file cannot be read, or
// not wholly, stands in the metadata; that it has no such page is an error.
func (r *readCall) pdfText(ctx context.Context, data []byte, meta *readMeta) error {
	m := meta.PDF
	doc, err := pdftext.Open(data)
	if err != nil {
		m.Error = err.Error()
		return nil
	}
	m.Pages = doc.Pages()
	spans := r.pages
	if len(spans) == 0 {
		spans = []span{{1, min(defaultPages, int64(m.Pages))}}
	}
	limited, cancel := context.WithTimeout(ctx, pdfPatience)
	defer cancel()
	size := 0
	for _, s := range spans {
		if s.first > int64(m.Pages) {
			return tool.Errorf(tool.BadInput, "page %d is behind the end of %s, which has %s", s.first, meta.Path, tool.Count(int64(m.Pages), "page")).
				WithHint("use {.pages} from 1 to %d", m.Pages)
		}
		last := s.last
		if last == 0 || last > int64(m.Pages) {
			last = int64(m.Pages)
		}
		for n := int(s.first); n <= int(last); n++ {
			page, err := doc.Page(limited, n)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if size += len(page.Text); err != nil || size > wholeFile {
				m.NextPage, m.Error = n, "the time or room for reading pages is over"
				if errors.Is(err, pdftext.ErrTooMuch) {
					m.Error = err.Error()
				}
				return nil
			}
			m.add(n, page)
			m.NextPage = 0
			if n < m.Pages {
				m.NextPage = n + 1
			}
		}
	}
	return nil
}

func (m *readPDF) add(n int, page pdftext.Page) {
	var notes []string
	if page.Text == "" {
		notes = append(notes, "no text")
	}
	if page.Pictures > 0 {
		notes = append(notes, tool.Count(int64(page.Pictures), "picture"))
	}
	if page.Unknown > 0 {
		notes = append(notes, tool.Count(int64(page.Unknown), "character")+" without a meaning, shown as \ufffd")
	}
	if page.Cut {
		notes = append(notes, "not all of it was read")
		m.cut = true
	}
	note := ""
	if len(notes) > 0 {
		note = ": " + strings.Join(notes, ", ")
	}
	m.Shown = append(m.Shown, pdfPage{Page: n, Pictures: page.Pictures})
	m.texts = append(m.texts, pdfSource{page.Text, note})
}

// render writes the pages one after the other, each under its number.
func (m *readPDF) render() string {
	s := &sheet{}
	for i := range m.Shown {
		m.Shown[i].Line = s.lines + 1
		s.add(fmt.Sprintf("[page %d of %d%s]", m.Shown[i].Page, m.Pages, m.texts[i].note))
		if m.texts[i].text != "" {
			s.add(m.texts[i].text)
		}
	}
	return s.b.String()
}

func (r *readCall) pdfFooter(m *readPDF) string {
	switch {
	case m.Error != "":
		return fmt.Sprintf("[page %d and those behind it are not shown: %s; ask for them with pages]\n", m.NextPage, m.Error)
	case m.NextPage > 0:
		return fmt.Sprintf("[%s in all; go on with pages=[\"%d-%d\"]]\n", tool.Count(int64(m.Pages), "page"), m.NextPage, min(m.NextPage+defaultPages-1, m.Pages))
	}
	return ""
}
