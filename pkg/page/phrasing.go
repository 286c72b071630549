package page

import (
	"bytes"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/strikethrough"
	"golang.org/x/net/html"
)

// codeSpan is the element of a code span. It is not HTML's, to which the library
// would add spaces that the page does not have.
const codeSpan = "code-span"

func isCode(n *html.Node) bool { return n != nil && n.Data == codeSpan }

// A phrasing renders the paragraphs of a page with html-to-markdown. That is made for
// the first one that has markup.
type phrasing struct {
	conv         *converter.Converter
	hides, shows *strings.Replacer
}

func (p *phrasing) start() {
	if p.conv != nil {
		return
	}
	p.conv = converter.NewConverter(
		converter.WithEscapeMode(converter.EscapeModeDisabled), // see escape
		converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), strikethrough.NewStrikethroughPlugin()),
	)
	p.conv.Register.Renderer(renderNode, converter.PriorityEarly)
	p.hides = strings.NewReplacer("<", "\x03", ">", "\x04", "\uf002", "\x05")
	p.shows = strings.NewReplacer("\x03", "<", "\x04", ">", "\x05", "\uf002")
}

// hide puts control characters, which no page has, in the place of what the library
// would replace: < and > by references, and its own sign for the end of a line in code.
func (p *phrasing) hide(s string) string {
	if !strings.ContainsAny(s, "<>") && !strings.Contains(s, "\uf002") { // most
		return s
	}
	p.start()
	return p.hides.Replace(s)
}

// render appends the Markdown of a tree of phrasing elements.
func (p *phrasing) render(to []byte, root *html.Node) ([]byte, error) {
	p.start()
	text, err := p.conv.ConvertNode(root)
	if err != nil {
		return to, err
	}
	if bytes.ContainsAny(text, "\x03\x04\x05") {
		text = []byte(p.shows.Replace(string(text)))
	}
	return append(to, text...), nil
}

// renderNode renders what the library would change: it writes the parameters of
// addresses anew, and adds backticks and backslashes that are not needed.
func renderNode(ctx converter.Context, w converter.Writer, n *html.Node) converter.RenderStatus {
	switch n.Data {
	case codeSpan:
		writeCode(w, n.FirstChild.Data)
	case "img":
		write(w, "!")
		writeLink(ctx, w, n)
	case "a":
		writeLink(ctx, w, n)
	default:
		return converter.RenderTryNext
	}
	return converter.RenderSuccess
}

func writeCode(w converter.Writer, s string) {
	ticks := strings.Repeat("`", longestRun(s, '`')+1)
	if len(ticks) > 1 && !strings.Contains(s, "``") {
		ticks = "``"
	}
	if s[0] == '`' || s[len(s)-1] == '`' {
		s = " " + s + " "
	}
	write(w, ticks+s+ticks)
}

func writeLink(ctx converter.Context, w converter.Writer, n *html.Node) {
	var b bytes.Buffer
	ctx.RenderChildNodes(ctx, &b, n)
	inner := b.Bytes()
	if !balanced(inner) {
		for i := 0; i+1 < len(inner); i++ {
			if inner[i] == guard && (inner[i+1] == '[' || inner[i+1] == ']') {
				inner[i] = force
			}
		}
	}
	write(w, "["+string(inner)+"]("+attr(n, "href")+")")
}

func write(w converter.Writer, s string) {
	_, _ = w.WriteString(s) // to memory
}

// balanced reports whether the brackets of a link's text that come from the page
// come in pairs.
func balanced(b []byte) bool {
	depth := 0
	for i := 0; i+1 < len(b); i++ {
		if b[i] != guard {
			continue
		}
		switch b[i+1] {
		case '[':
			depth++
		case ']':
			if depth--; depth < 0 {
				return false
			}
		}
	}
	return depth == 0
}
