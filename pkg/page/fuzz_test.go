package page

import (
	"context"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// FuzzHTML converts whatever it is given: nothing panics, what comes out is UTF-8 with
// fences that are closed, and its pages are, too.
func FuzzHTML(f *testing.F) {
	for _, seed := range []string{
		"<h1>a</h1><p>b<pre>c\n\n```\n</pre>", "<ul><li>a<ul><li><pre>x</pre></ul><li>b</ul>", "<table><tr><td rowspan=3>a<td><pre>|</pre><tr><td>`|`</table>",
		"<blockquote><pre>\n> ```\n</pre></blockquote>", "<p>*a* _b_ [c](d) <b> </b><code>`</code>", "<dl><dt>a<dd><pre>b</pre></dl>", "<math><mfrac><mi>a<mi>b", "\xff<p>\x00\x01*", "<a href='(x'>]</a>",
		"<ol start=9999999999><li value=-1>x<p>```</p></ol>", "<p>- a<br>~~~<br># b", strings.Repeat("<div>", 600) + "x", "<pre>~~~\n</pre><p>|a|b|<br>|--|--|",
		"<p>b <code>c\n\nssssssss```</code>", "<p>b <code>```</code> c <code>~~~ d</code>", // a page that began with one of these would begin with a fence
	} {
		f.Add(seed, uint16(7), uint8(0))
	}
	f.Fuzz(func(t *testing.T, body string, limit uint16, main uint8) {
		opts := Options{Main: []Main{Auto, Article, Docs, Full}[main%4], Format: []Format{Markdown, Text, HTML, Links, Outline}[main/4%5]}
		u := &url.URL{Scheme: "http", Host: "site.example", Path: "/a/b"}
		defer time.AfterFunc(10*time.Second, func() { panic("no end of " + body) }).Stop()
		d, err := Convert(context.Background(), Source{Body: []byte(body), Type: "text/html", URL: u}, opts)
		if err != nil {
			t.Fatal(err)
		}
		if !utf8.ValidString(d.Text) {
			t.Fatalf("not UTF-8: %q", d.Text)
		}
		if opts.Format != Markdown {
			return
		}
		checkWhole(t, d.Text)
		checkSlices(t, d.Text, int(limit)+1)
	})
}

// FuzzNative pages texts that others wrote, which need not be as ours are.
func FuzzNative(f *testing.F) {
	f.Add("# a\n\n- b\n  ```go\n  c\n  ```\n\n| a | b |\n|---|---|\n| c | d |\n\n> ```\n> x\n> ```\n", uint16(20))
	f.Add("```\nunclosed\n\n# no heading", uint16(5))
	f.Add("a | b\n--|--\nc | d", uint16(3))
	f.Fuzz(func(t *testing.T, body string, limit uint16) {
		for _, media := range []string{"text/plain", "text/markdown", "text/csv", "application/json", "application/xml", "application/rss+xml", "application/feed+json", ""} {
			d, err := Convert(context.Background(), Source{Body: []byte(body), Type: media}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !utf8.ValidString(d.Text) {
				t.Fatalf("%s: not UTF-8: %q", media, d.Text)
			}
			walk(t, d, int(limit)+1)
		}
	})
}

// walk reads a document page by page to its end, and returns the pages.
func walk(t *testing.T, d *Document, limit int) []string {
	t.Helper()
	limit = max(limit, len(d.Text)/100)
	var pages []string
	for at := 0; ; {
		text, next := d.Slice(at, limit)
		if !utf8.ValidString(text) {
			t.Fatalf("a page is not UTF-8: %q", text)
		}
		pages = append(pages, text)
		if next == 0 {
			return pages
		}
		if next <= at {
			t.Fatalf("the page at %d leads to %d", at, next)
		}
		at = next
	}
}

// checkSlices checks that each page has whole fences and tables with their heads, and
// that all pages together have every line.
func checkSlices(t *testing.T, text string, limit int) {
	t.Helper()
	pages := walk(t, &Document{Text: text}, limit)
	for _, page := range pages {
		checkWhole(t, page)
	}
	want, got := letters(text), letters(strings.Join(pages, ""))
	if !isSubsequence(want, got) {
		t.Fatalf("pages of %d lose text of %q: %q", limit, text, pages)
	}
}

func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if r > ' ' && r != '`' && r != '~' && r != '|' && r != '-' && r != '>' {
			return r
		}
		return -1
	}, s)
}

func isSubsequence(want, got string) bool {
	for _, r := range want {
		i := strings.IndexRune(got, r)
		if i < 0 {
			return false
		}
		got = got[i+utf8.RuneLen(r):]
	}
	return true
}

// checkWhole checks with a reader of its own that each fence is closed, and that each
// row of a table stands below a head.
func checkWhole(t *testing.T, text string) {
	t.Helper()
	open, head := "", false
	for line := range strings.SplitSeq(text, "\n") {
		bare := strings.TrimLeft(line, " >")
		for open == "" {
			if after, ok := strings.CutPrefix(bare, "- "); ok {
				bare = strings.TrimLeft(after, " >")
				continue
			}
			digits := strings.TrimLeft(bare, "0123456789")
			if after, ok := strings.CutPrefix(digits, ". "); ok && digits != bare {
				bare = strings.TrimLeft(after, " >")
				continue
			}
			break
		}
		run := bare[:len(bare)-len(strings.TrimLeft(bare, "`"))]
		switch {
		case open != "":
			if strings.HasPrefix(bare, open) && strings.Trim(bare, "` ") == "" {
				open = ""
			}
		case len(run) >= 3 && !strings.Contains(bare[len(run):], "`"):
			open = run
		case strings.HasPrefix(bare, "| ") && strings.HasSuffix(bare, " |"):
			if isRule(bare) {
				head = true
			} else if !head && strings.Count(text, "\n") > 2 {
				next := text[strings.Index(text, line)+len(line):]
				next, _, _ = strings.Cut(strings.TrimPrefix(next, "\n"), "\n")
				if !isRule(strings.TrimLeft(next, " >-")) && !isRule(strings.TrimLeft(next, " >")) {
					t.Fatalf("a row without a head: %q in %q", line, text)
				}
			}
		default:
			head = false
		}
	}
	if open != "" {
		t.Fatalf("a fence is not closed in %q", text)
	}
}

// TestSlices cuts a page of every kind of block at ten thousand places.
func TestSlices(t *testing.T) {
	body, err := os.ReadFile(filepath.Join("testdata", "blocks.html"))
	if err != nil {
		t.Fatal(err)
	}
	d := markdown(t, string(body), Options{Main: Full})
	if len(d.Text) < 3000 {
		t.Fatalf("only %d bytes of text", len(d.Text))
	}
	checkWhole(t, d.Text)
	random := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		offset, limit := random.IntN(len(d.Text)), 1+random.IntN(900)
		text, next := d.Slice(offset, limit)
		checkWhole(t, text)
		if next != 0 && next <= offset {
			t.Fatalf("the page at %d leads to %d", offset, next)
		}
	}
	for limit := 40; limit < 2000; limit += 37 {
		checkSlices(t, d.Text, limit)
	}
	// Within a line no page begins with what would open a fence there.
	within := markdown(t, "<p>"+strings.Repeat("b <code>```</code> c <code>~~~ ````` d</code> ", 30), Options{Main: Full})
	for limit := 1; limit < 300; limit++ {
		for _, page := range walk(t, within, limit) {
			if start := strings.TrimLeft(page, " "); strings.HasPrefix(start, "```") || strings.HasPrefix(start, "~~~") {
				t.Fatalf("a page of %d begins with a fence: %q", limit, page)
			}
		}
		checkSlices(t, within.Text, limit)
	}
	if text, next := d.Slice(0, 0); text != d.Text || next != 0 {
		t.Error("without a limit the page is not whole")
	}
	if text, next := d.Slice(len(d.Text), 10); text != "" || next != 0 {
		t.Errorf("after the end: %q, %d", text, next)
	}
}
