package page

import (
	"bytes"
	"context"
	"net/url"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const maxBoxes = 24 // lists and quotes within each other that are indented

// A box is a list item or a quote: it begins each of its lines.
type box struct {
	first, rest string
	begun       bool
}

// A renderer writes a tree as Markdown, or as text without markup.
type renderer struct {
	ctx       context.Context
	base      *url.URL
	plain     bool
	out       []byte
	most      int // bytes of out, so that a small page cannot grow without end
	boxes     []box
	gap       int // ends of lines owed before the next block
	line      inline
	cell      *[][]byte // in a table: the lines of the cell
	tight     bool      // in a list whose items are not apart
	bullet    byte      // of the list that has just ended, 0 after anything else
	inHeading bool
	notes     map[string]string
	headings  []Heading
	links     []Link
	known     map[string]bool // addresses in links
	linkBytes int             // of the links that were kept
	visited   int
	stop      error
}

func newRenderer(ctx context.Context, base *url.URL, plain bool, most int) *renderer {
	return &renderer{ctx: ctx, base: base, plain: plain, most: most, line: inline{plain: plain, md: &phrasing{}}, known: map[string]bool{}}
}

// markdown is what was rendered.
func (r *renderer) markdown() string {
	r.flush()
	if len(r.out) == 0 {
		return ""
	}
	r.out = append(r.out, '\n')
	return string(r.out)
}

// over reports whether there is no use in going on.
func (r *renderer) over() bool {
	if r.visited++; r.visited%512 == 0 && r.stop == nil {
		r.stop = r.ctx.Err()
	}
	return r.stop != nil || len(r.out)+len(r.line.done)+r.line.size > r.most
}

// children renders what is in n.
func (r *renderer) children(n *html.Node) {
	for c := n.FirstChild; c != nil && !r.over(); c = c.NextSibling {
		switch c.Type {
		case html.TextNode:
			r.line.text(c.Data)
		case html.ElementNode:
			if !r.inlineElement(c) {
				r.blockElement(c)
			}
		}
	}
}

// flush writes the paragraph that was collected.
func (r *renderer) flush() {
	p := r.line.finish()
	if r.stop == nil {
		r.stop = r.line.err
	}
	if len(p) == 0 {
		return
	}
	if r.cell != nil {
		*r.cell = append(*r.cell, bytes.ReplaceAll(p, []byte("\n"), []byte(" ")))
		return
	}
	r.lines(p)
	r.gap = 2
}

// lines writes a block.
func (r *renderer) lines(p []byte) {
	r.start()
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			break
		}
		r.out = append(r.out, p[:i+1]...)
		if p = p[i+1:]; len(p) > 0 && p[0] == '\n' {
			r.blank()
		} else {
			r.prefix()
		}
	}
	r.out = append(r.out, p...)
}

// start begins a block: with the line ends owed, and what its boxes begin lines with.
func (r *renderer) start() {
	if len(r.out) > 0 {
		for i := max(r.gap, 1); i > 0; i-- {
			r.out = append(r.out, '\n')
			if i > 1 {
				r.blank()
			}
		}
	}
	r.gap, r.bullet = 0, 0
	r.prefix()
}

func (r *renderer) prefix() {
	for i := range r.boxes {
		b := &r.boxes[i]
		if !b.begun {
			b.begun = true
			r.out = append(r.out, b.first...)
		} else {
			r.out = append(r.out, b.rest...)
		}
	}
}

// blank begins an empty line, which in a quote has its sign.
func (r *renderer) blank() {
	from := len(r.out)
	for _, b := range r.boxes {
		if !b.begun {
			break
		}
		r.out = append(r.out, b.rest...)
	}
	r.out = append(r.out[:from], bytes.TrimRight(r.out[from:], " ")...)
}

// within renders what is in n inside a box.
func (r *renderer) within(b box, n *html.Node) {
	r.flush()
	if r.plain && b.first == "> " {
		b = box{"", "", false}
	}
	if len(r.boxes) >= maxBoxes {
		b.rest = ""
	}
	r.boxes = append(r.boxes, b)
	r.children(n)
	r.flush()
	r.boxes = r.boxes[:len(r.boxes)-1]
}

// inlineElement renders an element of running text. It reports false for others.
func (r *renderer) inlineElement(n *html.Node) bool {
	switch n.DataAtom {
	case atom.A:
		r.anchor(n)
	case atom.Strong, atom.B:
		r.emphasis(n, "strong")
	case atom.Em, atom.I, atom.Cite, atom.Dfn, atom.Var:
		r.emphasis(n, "em")
	case atom.Del, atom.S, atom.Strike:
		r.emphasis(n, "del")
	case atom.Code, atom.Kbd, atom.Samp, atom.Tt:
		r.code(n)
	case atom.Sup, atom.Sub:
		r.script(n)
	case atom.Q:
		r.line.raw(`"`)
		r.children(n)
		r.line.space = false
		r.line.raw(`"`)
	case atom.Br:
		r.lineBreak()
	case atom.Wbr:
	case atom.Img:
		r.image(n)
	case atom.Input:
		r.checkbox(n)
	case atom.Ruby:
		r.children(n)
	case atom.Rt:
		r.line.raw("(")
		r.children(n)
		r.line.raw(")")
	case atom.Rp:
	case atom.Abbr, atom.Bdi, atom.Bdo, atom.Big, atom.Font, atom.Ins, atom.Label, atom.Mark, atom.Small, atom.Span, atom.Time, atom.U:
		r.span(n)
	case 0:
		if n.Data == "tex" {
			r.math(n)
			return true
		}
		r.span(n)
	default:
		return !isBlock(n) && r.embedded(n)
	}
	return true
}

// embedded renders what is neither text nor a block.
func (r *renderer) embedded(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Iframe, atom.Embed, atom.Video, atom.Audio, atom.Object:
		r.frame(n)
	case atom.Script, atom.Style, atom.Template, atom.Noscript, atom.Head, atom.Title, atom.Svg, atom.Canvas, atom.Select, atom.Textarea, atom.Button, atom.Datalist, atom.Link, atom.Meta, atom.Map, atom.Area, atom.Progress, atom.Meter, atom.Frameset, atom.Noframes:
		if n.DataAtom == atom.Button || n.DataAtom == atom.Title {
			r.children(n)
		}
	default:
		r.children(n)
	}
	return true
}

// span renders an element that only matters by its role or class.
func (r *renderer) span(n *html.Node) {
	if l := level(n); l > 0 {
		r.heading(n, l)
		return
	}
	if hasClass(n, "structfield") { // rustdoc's: a line of its own
		r.flush()
		r.children(n)
		r.flush()
		return
	}
	if r.line.begun && (hasClass(n, "sep") && n.FirstChild == nil || hasClass(n.Parent, "t-lines")) { // apart by a style
		r.line.space = true
	}
	if hasClass(n, "pre", "code", "mono", "typewriter", "computeroutput", "tt", "literal") && !hasClass(n.Parent, "literal") && n.Data == "span" && !r.inCode(n) {
		r.code(n)
		return
	}
	r.children(n)
}

func (r *renderer) inCode(n *html.Node) bool {
	return isElement(n.Parent, atom.Code, atom.Tt, atom.Pre, atom.A, atom.Span) || first(n, isBlock) != nil
}

// blockElement renders an element that begins a line.
func (r *renderer) blockElement(n *html.Node) {
	if l := level(n); l > 0 {
		r.heading(n, l)
		return
	}
	switch n.DataAtom {
	case atom.Pre, atom.Listing, atom.Xmp, atom.Plaintext:
		r.pre(n)
	case atom.Ul, atom.Ol, atom.Menu, atom.Dir:
		r.list(n)
	case atom.Li:
		r.item(n, "- ")
	case atom.Dl:
		r.definitions(n)
	case atom.Blockquote:
		r.quote(n)
	case atom.Table:
		r.table(n)
	case atom.Hr:
		r.flush()
		if r.cell == nil && len(r.out) > 0 {
			r.lines([]byte("---"))
			r.gap = 2
		}
	case atom.Summary:
		r.flush()
		if first(n, func(c *html.Node) bool { return isBlock(c) }) != nil {
			r.children(n)
		} else {
			r.emphasis(n, "strong")
		}
		r.flush()
	default:
		r.division(n)
	}
}

// division renders a block without a meaning of its own, unless its class gives it one.
func (r *renderer) division(n *html.Node) {
	switch {
	case isCodeDivision(n):
		r.pre(n)
	case isAdmonition(n):
		r.quote(n)
	case hasClass(n, "title") && hasClass(n.Parent, "headertitle"), hasClass(n, "caption") && attr(n.Parent, "id") == "module-header": // Doxygen's and Haddock's
		r.heading(n, 1)
	case hasClass(n, "method-heading") && hasClass(n.Parent, "method-detail", "method-header"): // RDoc's
		r.heading(n, 4)
	case isAdmonitionTitle(n):
		r.flush()
		r.emphasis(n, "strong")
		r.flush()
	case hasClass(n, "line") && hasClass(n.Parent, "line-block"):
		r.children(n)
		r.lineBreak()
	default:
		r.flush()
		r.children(n)
		r.flush()
	}
}
