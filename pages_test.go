package main

import (
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// A page is a Markdown file that people read.
type page struct {
	name  string // its path from the root of the repository
	title string
	raw   []byte
	doc   ast.Node
	ids   map[string]bool // of its headings
}

// pages parses every page of the repository, by name.
func pages(t *testing.T) map[string]*page {
	t.Helper()
	found := map[string]*page{}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/tools/*.md", "examples/*/README.md"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatal(pattern, err)
		}
		for _, name := range names {
			raw, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			found[filepath.ToSlash(name)] = parsePage(filepath.ToSlash(name), raw)
		}
	}
	return found
}

func parsePage(name string, raw []byte) *page {
	p := &page{name: name, raw: raw, ids: map[string]bool{}}
	p.doc = markdown().Parser().Parse(text.NewReader(raw), parser.WithContext(parser.NewContext(parser.WithIDs(slugs(p.ids)))))
	for n := p.doc.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok && h.Level == 1 {
			p.title = plainText(h, raw)
			break
		}
	}
	return p
}

// markdown is the Markdown of our pages: with tables, and headings that have names.
func markdown() goldmark.Markdown {
	return goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
}

// slugs names headings as GitHub does, so that a link to one works there and here.
type slugs map[string]bool

func (s slugs) Generate(value []byte, _ ast.NodeKind) []byte {
	slug := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		}
		return -1
	}, string(value))
	s[slug] = true
	return []byte(slug)
}

func (s slugs) Put(value []byte) { s[string(value)] = true }

// plainText is the text of a node, without marks.
func plainText(n ast.Node, raw []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(util.UnescapePunctuations(t.Segment.Value(raw)))
			if t.SoftLineBreak() {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// target is where a link of a page leads: a file of the repository, or "" where it leads
// out of it, and a heading there.
func (p *page) target(dest string) (file, heading string) {
	u, err := url.Parse(dest)
	if err != nil || u.Scheme != "" {
		return "", ""
	}
	if u.Path == "" {
		return p.name, u.Fragment
	}
	return path.Join(path.Dir(p.name), u.Path), u.Fragment
}

// TestLinks checks that every link of a page leads to a file, directory or heading that
// is there, and that every page is reached from the README.
func TestLinks(t *testing.T) {
	t.Parallel()
	all := pages(t)
	links := 0
	reached, next := map[string]bool{}, []string{"README.md"}
	from := map[string][]string{}
	for _, p := range all {
		for _, wrong := range brokenLinks(p, all, func(file string) {
			links++
			from[p.name] = append(from[p.name], file)
		}) {
			t.Errorf("%s: %s", p.name, wrong)
		}
	}
	for len(next) > 0 {
		name := next[0]
		next = next[1:]
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			for _, pattern := range []string{"README.md", "*.md"} {
				inside, _ := filepath.Glob(filepath.Join(name, pattern))
				for _, file := range inside {
					next = append(next, filepath.ToSlash(file))
				}
			}
			continue
		}
		if !reached[name] {
			reached[name] = true
			next = append(next, from[name]...)
		}
	}
	for name := range all {
		if !reached[name] && name != "CHANGELOG.md" && name != "SECURITY.md" {
			t.Errorf("no way of links leads from the README to %s", name)
		}
	}
	if links < 100 {
		t.Errorf("only %d links were found", links)
	}
}

// TestNamedScripts checks that the scripts are there that pages tell their readers to run.
func TestNamedScripts(t *testing.T) {
	t.Parallel()
	named := 0
	for _, p := range pages(t) {
		for _, name := range regexp.MustCompile(`\btestdata/[\w/-]+\.(?:sh|py)\b`).FindAllString(string(p.raw), -1) {
			if _, err := os.Stat(name); err != nil {
				t.Errorf("%s: %v", p.name, err)
			}
			named++
		}
	}
	if named < 20 {
		t.Errorf("only %d scripts are named", named)
	}
}

// brokenLinks says which links of a page lead nowhere, and calls good with the others.
func brokenLinks(p *page, all map[string]*page, good func(file string)) (wrong []string) {
	_ = ast.Walk(p.doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		link, ok := n.(*ast.Link)
		if !ok || !entering {
			return ast.WalkContinue, nil
		}
		file, heading := p.target(string(link.Destination))
		if file == "" {
			return ast.WalkContinue, nil
		}
		switch _, err := fs.Stat(os.DirFS("."), file); {
		case err != nil && all[file] == nil:
			wrong = append(wrong, string(link.Destination)+" leads nowhere")
		case heading != "" && (all[file] == nil || !all[file].ids[heading]):
			wrong = append(wrong, string(link.Destination)+" leads to no heading")
		default:
			good(file)
		}
		return ast.WalkContinue, nil
	})
	return wrong
}

// TestBrokenLinks shows that a link that leads nowhere is noticed.
func TestBrokenLinks(t *testing.T) {
	t.Parallel()
	p := parsePage("docs/made.md", []byte("# A page\n\n## What a `call` returns\n\n[a](results.md) [b](#what-a-call-returns) [c](none.md)\n[d](#nowhere) [e](../README.md#nowhere) [f](https://example.org/none)\n"))
	wrong := brokenLinks(p, map[string]*page{p.name: p}, func(string) {})
	if want := []string{"none.md leads nowhere", "#nowhere leads to no heading", "../README.md#nowhere leads to no heading"}; !slices.Equal(wrong, want) {
		t.Errorf("%q", wrong)
	}
}
