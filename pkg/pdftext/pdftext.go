// Package pdftext takes the text out of PDF files.
//
// It reads what the PDF standard calls text: characters with a font, in the
// order in which the file draws them, as lines from left to right. It does not
// recognise letters in pictures. Files that are damaged are read as far as they
// go; those with an empty password are decrypted. A [Document] does a bounded
// amount of work, whatever the file asks for.
package pdftext

import (
	"bytes"
	"context"
	"errors"
	"fmt"
)

// The errors that a caller may want to tell apart.
var (
	ErrFormat    = errors.New("not a PDF file that can be read")
	ErrEncrypted = errors.New("the file is encrypted with a password")
	ErrTooMuch   = errors.New("the file is too large or too deep to be read")
)

// Limits of one document.
const (
	maxObjects = 20_000_000 // objects and operators read
	maxBytes   = 256 << 20  // bytes unpacked
	maxPages   = 100_000
	maxPlaces  = 1 << 20 // objects that there are: tables of a few bytes can name millions
	maxDepth   = 40      // of whatever lies in or leads to each other
)

// A Document is one PDF file. It must not be used by several goroutines at
// once.
type Document struct {
	data    []byte
	work    *work
	places  map[int]place
	trailer dict
	objects map[int]any // that were read
	loading map[int]bool
	packs   map[int]*pack // object streams that were read
	crypt   *crypt        // nil for a file that is not encrypted
	pages   []dict
	fonts   map[ref]*font
	codes   int // that fonts name
	rebuilt bool
	cut     bool // a stream was unpacked only in part
}

// A place is where an object is.
type place struct {
	offset int // in the file; -1 for an object in an object stream
	pack   int // number of the object stream
	index  int // in the object stream
}

// A pack is an object stream.
type pack struct {
	data    []byte
	numbers []int
	offsets []int
}

// Open reads what a file says about itself. The data must stay as it is. The
// error is ErrFormat, ErrEncrypted or ErrTooMuch.
func Open(data []byte) (*Document, error) {
	if at := bytes.Index(data[:min(len(data), 2048)], []byte("%PDF-")); at > 0 {
		data = data[at:]
	}
	d := &Document{
		data: data, work: &work{objects: maxObjects, bytes: maxBytes}, places: map[int]place{}, trailer: dict{},
		objects: map[int]any{}, loading: map[int]bool{}, packs: map[int]*pack{}, fonts: map[ref]*font{},
	}
	tables := d.readTables()
	if err := d.unlock(); err != nil && tables {
		return nil, err
	}
	if !tables || d.root() == nil {
		d.rebuild()
	}
	if err := d.unlock(); err != nil {
		return nil, err
	}
	if d.findPages(); len(d.pages) == 0 && !d.rebuilt {
		d.rebuild()
		d.findPages()
	}
	switch {
	case d.work.objects < 0:
		return nil, ErrTooMuch
	case len(d.pages) == 0:
		return nil, fmt.Errorf("%w: it has no pages", ErrFormat)
	}
	return d, nil
}

// Pages is the number of pages.
func (d *Document) Pages() int { return len(d.pages) }

func (d *Document) root() dict {
	root, _ := d.resolve(d.trailer["Root"]).(dict)
	if _, ok := d.resolve(root["Pages"]).(dict); !ok {
		return nil
	}
	return root
}

// list is an array, or one thing as a list of one.
func (d *Document) list(v any) array {
	switch v := d.resolve(v).(type) {
	case nil:
		return nil
	case array:
		return v
	default:
		return array{v}
	}
}

func (d *Document) number(v any, otherwise int) int {
	switch v := d.resolve(v).(type) {
	case int:
		return v
	case float64:
		return int(v)
	}
	return otherwise
}

func (d *Document) real(v any, otherwise float64) float64 {
	switch v := d.resolve(v).(type) {
	case int:
		return float64(v)
	case float64:
		return v
	}
	return otherwise
}

func (d *Document) dict(v any) dict {
	switch v := d.resolve(v).(type) {
	case dict:
		return v
	case *stream:
		return v.dict
	}
	return nil
}

// findPages lists the pages in their order.
func (d *Document) findPages() {
	d.pages = nil
	seen := map[ref]bool{}
	if root := d.root(); root != nil {
		d.pagesBelow(root["Pages"], dict{}, seen, 0)
	}
	if len(d.pages) > 0 {
		return
	}
	for _, num := range d.numbers() {
		if page, ok := d.resolve(ref{num, 0}).(dict); ok && page["Type"] == name("Page") && len(d.pages) < maxPages {
			d.pages = append(d.pages, page)
		}
	}
}

func (d *Document) pagesBelow(v any, inherited dict, seen map[ref]bool, depth int) {
	if r, ok := v.(ref); ok {
		if seen[r] {
			return
		}
		seen[r] = true
	}
	node := d.dict(v)
	if node == nil || depth > maxDepth || len(d.pages) >= maxPages || !d.work.spend(1) {
		return
	}
	resources := inherited["Resources"]
	if own, ok := node["Resources"]; ok {
		resources = own
	}
	kids, isTree := d.resolve(node["Kids"]).(array)
	if !isTree || node["Type"] == name("Page") {
		page := dict{"Contents": node["Contents"], "Resources": resources}
		d.pages = append(d.pages, page)
		return
	}
	for _, kid := range kids {
		d.pagesBelow(kid, dict{"Resources": resources}, seen, depth+1)
	}
}

// A Page is what one page says.
type Page struct {
	Text     string // lines, each with its end
	Pictures int    // that were drawn; their letters are not in Text
	Unknown  int    // characters of which the file does not say what they mean
	Cut      bool   // it holds more than is read
}

// Page reads one page, counted from 1. The error is ErrTooMuch, or that of the
// context; what was read until then is in the Page.
func (d *Document) Page(ctx context.Context, n int) (Page, error) {
	if n < 1 || n > len(d.pages) {
		return Page{}, fmt.Errorf("%w: there is no page %d", ErrFormat, n)
	}
	page := d.pages[n-1]
	d.cut = false
	p := &painter{d: d, ctx: ctx}
	var content []byte
	for _, part := range d.list(page["Contents"]) {
		if s, ok := d.resolve(part).(*stream); ok {
			data, err := d.unpack(s)
			if errors.Is(err, ErrTooMuch) {
				return Page{}, err
			}
			if content = append(append(content, data...), '\n'); len(content) > maxStream {
				return Page{}, ErrTooMuch
			}
		}
	}
	p.run(content, d.dict(page["Resources"]), newState(), 0)
	out := Page{Text: layout(p.glyphs), Pictures: p.pictures, Unknown: p.unknown, Cut: d.cut}
	switch {
	case ctx.Err() != nil:
		return out, ctx.Err()
	case d.work.objects < 0 || p.full:
		return out, ErrTooMuch
	}
	return out, nil
}
