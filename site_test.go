package main

import (
	"bytes"
	"cmp"
	"flag"
	"html/template"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark/ast"
)

var siteDir = flag.String("site", "", "write the documentation as a site into this directory")

// TestSite makes the documentation a site of plain files that opens offline, in the
// directory that -site names:
//
//	go test -run '^TestSite$' . -site DIR
//
// and follows every link in it. testdata/site.sh looks at it in a browser.
func TestSite(t *testing.T) {
	t.Parallel()
	dir := cmp.Or(*siteDir, t.TempDir())
	all := pages(t)
	for _, p := range all {
		writePage(t, dir, sitePath(p.name), renderSite(t, p, all))
	}
	style, err := os.ReadFile("testdata/site/style.css")
	if err != nil {
		t.Fatal(err)
	}
	writePage(t, dir, "style.css", style)
	followLinks(t, dir, len(all))
}

func writePage(t *testing.T, dir, name string, content []byte) {
	t.Helper()
	name = filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// sitePath is where a page stands in the site.
func sitePath(name string) string {
	if path.Base(name) == "README.md" {
		return path.Join(path.Dir(name), "index.html")
	}
	return strings.TrimSuffix(name, ".md") + ".html"
}

// relative is the link from one file of the site to another.
func relative(from, to string) string {
	link, err := filepath.Rel(path.Dir(from), to)
	if err != nil {
		panic(err) // both are relative
	}
	return filepath.ToSlash(link)
}

// An entry is a link of the list of pages.
type entry struct {
	Title, Link string
	Here        bool
}

// A chapter is a part of the list of pages.
type chapter struct {
	Title   string
	Entries []entry
}

// chapters are the pages in the order in which they are read.
func chapters(p *page, all map[string]*page) []chapter {
	begin := []string{"README.md", "docs/tour.md"}
	reference := []string{"docs/commands.md", "docs/configuration.md", "docs/results.md", "docs/dialects.md", "docs/troubleshooting.md"}
	list := []chapter{{Title: "Begin"}, {Title: "Guides"}, {Title: "Reference"}, {Title: "Tools"}, {Title: "Examples"}, {Title: "The project"}}
	for _, name := range slices.Concat(begin, reference, slices.Sorted(maps.Keys(all))) {
		one := all[name]
		if one == nil {
			continue
		}
		at := 1
		switch {
		case slices.Contains(begin, name):
			at = 0
		case slices.Contains(reference, name):
			at = 2
		case strings.HasPrefix(name, "docs/tools/"):
			at = 3
		case strings.HasPrefix(name, "examples/"):
			at = 4
		case !strings.HasPrefix(name, "docs/"), name == "docs/design.md", name == "docs/scorecards.md":
			at = 5
		}
		e := entry{strings.TrimPrefix(one.title, "agentkit "), relative(sitePath(p.name), sitePath(name)), one == p}
		if !slices.ContainsFunc(list[at].Entries, func(have entry) bool { return have.Link == e.Link }) {
			list[at].Entries = append(list[at].Entries, e)
		}
	}
	return list
}

var siteTemplate = template.Must(template.New("page").Parse(`<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{.Title}}</title>
<link rel="stylesheet" href="{{.Style}}">
<a class="skip" href="#pages">All pages</a>
<div class="sheet">
<main>
{{.Body}}</main>
<nav id="pages" aria-label="All pages">
{{range .Chapters}}<h2>{{.Title}}</h2>
<ul>
{{range .Entries}}<li><a href="{{.Link}}"{{if .Here}} aria-current="page"{{end}}>{{.Title}}</a></li>
{{end}}</ul>
{{end}}</nav>
</div>
</html>
`))

// typed marks what a person types in an example.
var typed = regexp.MustCompile(`(?m)(^|<code class="language-console">)((?:\$|&gt;) .*)$`)

// renderSite is the HTML of a page.
func renderSite(t *testing.T, p *page, all map[string]*page) []byte {
	t.Helper()
	again := parsePage(p.name, p.raw) // its links are changed
	_ = ast.Walk(again.doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if link, ok := n.(*ast.Link); ok && entering {
			link.Destination = []byte(siteLink(again, string(link.Destination), all))
		}
		return ast.WalkContinue, nil
	})
	var body, out bytes.Buffer
	if err := markdown().Renderer().Render(&body, p.raw, again.doc); err != nil {
		t.Fatal(err)
	}
	html := strings.NewReplacer("<table>", "<div class=\"wide\"><table>", "</table>", "</table></div>").Replace(body.String())
	html = consoleCode.ReplaceAllStringFunc(html, func(block string) string { return typed.ReplaceAllString(block, "$1<b>$2</b>") })
	html = deadLink.ReplaceAllString(html, "$1")
	err := siteTemplate.Execute(&out, map[string]any{
		"Title": p.title, "Style": relative(sitePath(p.name), "style.css"), "Chapters": chapters(p, all),
		"Body": template.HTML(html), //nolint:gosec // it is made of our own pages
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

var (
	consoleCode = regexp.MustCompile(`(?s)<code class="language-console">.*?</code>`)
	deadLink    = regexp.MustCompile(`(?s)<a href="">(.*?)</a>`)
)

// siteLink is a link of a page as the site has it: empty where what it leads to is a file
// of the repository that the site leaves out.
func siteLink(p *page, dest string, all map[string]*page) string {
	file, heading := p.target(dest)
	if file == "" {
		return dest
	}
	if heading != "" {
		heading = "#" + heading
	}
	if all[file] == nil {
		file = path.Join(file, "README.md")
	}
	if file == "docs/tools/README.md" {
		file, heading = p.name, "#pages"
	}
	if all[file] == nil {
		return ""
	}
	return relative(sitePath(p.name), sitePath(file)) + heading
}

var (
	linkOf = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	idOf   = regexp.MustCompile(`\bid="([^"]*)"`)
)

// followLinks checks that every link of the site leads to a file of it, and to what has
// that name there.
func followLinks(t *testing.T, dir string, want int) {
	t.Helper()
	count, links := 0, 0
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".html" {
			return err
		}
		count++
		raw, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for _, m := range linkOf.FindAllStringSubmatch(string(raw), -1) {
			if strings.HasPrefix(m[1], "https://") || strings.HasPrefix(m[1], "http://") {
				continue
			}
			links++
			file, id, _ := strings.Cut(m[1], "#")
			to := name
			if file != "" {
				to = filepath.Join(filepath.Dir(name), filepath.FromSlash(file))
			}
			there, err := os.ReadFile(to)
			if err != nil || id != "" && !slices.ContainsFunc(idOf.FindAllStringSubmatch(string(there), -1), func(found []string) bool { return found[1] == id }) {
				t.Errorf("%s: %s leads nowhere (%v)", name, m[1], err)
			}
		}
		return nil
	})
	if err != nil || count != want || links < 20*want {
		t.Errorf("%d pages of %d, %d links, %v", count, want, links, err)
	}
}
