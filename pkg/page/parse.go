package page

import (
	"bytes"
	"context"
	"io"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const maxDepth = 500 // the parser itself refuses 512

// Parse returns the tree of a page, however hostile that is, and whether it holds the
// beginning of the page only: it has at most [maxTree] nodes, 500 levels deep. The error is
// that of the context.
func Parse(ctx context.Context, body string) (*html.Node, bool, error) {
	in := &meter{ctx: ctx, body: body}
	doc, err := html.Parse(in)
	if err != nil { // nested too deep
		in = &meter{ctx: ctx, body: body, flat: true}
		doc = parseFlat(in)
	}
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	return doc, in.cut, nil
}

// parseFlat builds a tree in which what is nested deeper than anybody reads lies
// beside its parent. It knows less of HTML's rules for unclosed elements than
// the parser, and takes every page.
func parseFlat(in io.Reader) *html.Node {
	doc := &html.Node{Type: html.DocumentNode}
	root := &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}
	doc.AppendChild(root)
	open := []*html.Node{root}
	dropped := 0 // elements that stand in open's last
	z := html.NewTokenizer(in)
	for {
		switch z.Next() {
		case html.ErrorToken:
			return doc
		case html.TextToken:
			open[len(open)-1].AppendChild(&html.Node{Type: html.TextNode, Data: string(z.Text())})
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			n := &html.Node{Type: html.ElementNode, Data: t.Data, DataAtom: t.DataAtom, Attr: t.Attr}
			if t.DataAtom == atom.Html || t.DataAtom == atom.Body {
				continue
			}
			if closes(t.DataAtom, open[len(open)-1].DataAtom) {
				open = open[:len(open)-1]
			}
			open[len(open)-1].AppendChild(n)
			switch {
			case t.Type == html.SelfClosingTagToken || isVoid(t.DataAtom):
			case len(open) < maxDepth/2:
				open = append(open, n)
			default:
				dropped++
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			a := atom.Lookup(name)
			if dropped > 0 {
				dropped--
				continue
			}
			for i := len(open) - 1; i > 0 && i > len(open)-16; i-- {
				if open[i].DataAtom == a && (a != 0 || open[i].Data == string(bytes.ToLower(name))) {
					open = open[:i]
					break
				}
			}
		}
	}
}

// closes reports whether the start of one element ends another that is open.
func closes(start, open atom.Atom) bool {
	switch start {
	case atom.Li, atom.Td, atom.Tr, atom.Option:
		return open == start || start == atom.Tr && open == atom.Td
	case atom.Dt, atom.Dd:
		return open == atom.Dt || open == atom.Dd
	case atom.P, atom.Div, atom.Ul, atom.Ol, atom.Table, atom.Pre, atom.H1, atom.H2, atom.H3:
		return open == atom.P
	}
	return false
}

func isVoid(a atom.Atom) bool {
	switch a {
	case atom.Area, atom.Base, atom.Br, atom.Col, atom.Embed, atom.Hr, atom.Img, atom.Input, atom.Link, atom.Meta, atom.Source, atom.Track, atom.Wbr:
		return true
	}
	return false
}
