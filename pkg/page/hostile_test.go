package page

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// TestHostile converts pages that make converters slow or large, small ones here;
// testdata/web/speed.py does so with 5 MB and measures.
func TestHostile(t *testing.T) {
	r := strings.Repeat
	cases := map[string]string{
		"nesting":                r("<div>", 5000) + "x",
		"unclosed bold":          r("<b>", 5000) + "x",
		"spans":                  "<table><tr><td colspan=100000 rowspan=60000>x</table>",
		"many spans":             "<table><tr>" + r("<th colspan=1000 rowspan=65534>xyz", 20) + r("<tr><td>x", 300),
		"escapes":                "<p>x" + r("*_[", 20_000),
		"long addresses":         "<base href='http://h.example/" + r("b", 4000) + "/'>x" + r("<a href=x>y</a> ", 1000),
		"an attribute":           "<p title='" + r("a", 200_000) + "'>x",
		"lists in lists":         r("<ul><li>x", 300) + r("y<br>", 3000),
		"quotes in quotes":       r("<blockquote>", 300) + r("x<br>", 3000),
		"code in code":           r("<code>", 300) + r("x`", 3000),
		"headings in headings":   r("<h1><div>", 200) + r("x<br>", 3000),
		"tables in tables":       r("<table><tr><td>x", 300),
		"fractions in fractions": "x<math>" + r("<mfrac><mi>a</mi>", 300),
		"brackets":               "x" + r("<", 50_000),
	}
	for name, body := range cases {
		for _, format := range []Format{Markdown, Text, HTML} {
			d, err := Convert(t.Context(), Source{Body: []byte(body), Type: "text/html"}, Options{Format: format})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if !strings.Contains(d.Text, "x") || !utf8.ValidString(d.Text) {
				t.Errorf("%s as %s: the text is lost: %.200q", name, format, d.Text)
			}
			if len(d.Text) > 3*len(body)+2<<20 {
				t.Errorf("%s as %s: %d bytes become %d", name, format, len(body), len(d.Text))
			}
		}
	}
}

// TestTooManyTags shows that a page with more elements than memory is for is cut short,
// and says so.
func TestTooManyTags(t *testing.T) {
	d := markdown(t, strings.Repeat("<i>", maxTree+10_000)+"the end", Options{})
	if len(d.Warnings) == 0 || strings.Contains(d.Text, "the end") {
		t.Errorf("%q, %q", d.Warnings, d.Text)
	}
}

// TestMeter shows that no page, however short, becomes a tree of many more nodes than the
// limit: inline elements that a block closes are opened again in the next, with all they hold.
func TestMeter(t *testing.T) {
	r := strings.Repeat
	many := func(n int, each string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, each, i)
		}
		return b.String()
	}
	bold := many(250, "<b a%d>")
	cases := map[string]string{
		"opened again":        "<p>" + bold + r("<p>x", 8_000),
		"attributes":          "<p><b " + many(2000, "a%d ") + ">" + r("<p>x", 8_000),
		"in a title":          "<svg><title><p>" + bold + "</title></svg>" + r("<p>x", 8_000),
		"in a choice":         "<select><title></select><p>" + bold + r("<p>x", 8_000),
		"cleared by a cell":   "<p>" + bold + "x<td></td>" + r("<p>x", 8_000),
		"closed by a span":    "<p>" + r("<span>", 20) + many(200, "<b a%d>") + r("</span><span>x", 20_000),
		"links in blocks":     r("<a href=x><div><p>y", 20_000),
		"ends in wrong order": r("<p><b><i><u>x</p></b>", 60_000),
		"tables without rows": r("<table><td>x", 120_000),
		"ends of paragraphs":  r("</p>", 700_000),
	}
	for name, body := range cases {
		doc, _, err := Parse(t.Context(), body)
		if err != nil {
			t.Fatal(err)
		}
		size := 0
		for n := range doc.Descendants() {
			size += 1 + len(n.Attr)/2
		}
		if size > 2*maxTree {
			t.Errorf("%s: %d bytes become a tree of %d", name, len(body), size)
		}
	}
}

// TestMeterKeeps shows that the parser gets a page as it is, but for the attributes of a tag that has
// too many.
func TestMeterKeeps(t *testing.T) {
	pages := []string{
		"a < b <3 </ > <> <!> <!---> x --> <!-- a --!> b --> <!doctype html><?php echo '>' ?>", "<", "</", "<a", "<a b='", "<!--", "<script>",
		"<script>if (a<b && c > '</p') \"</SCRIPT ><p title='>' class=\"<b>\" hidden/>x<title><b></title ><plaintext></plaintext><p>",
		"<svg><title><p a=1>x</title><style>p>b{}</style></svg><textarea><p></textarea>", "<p =a = b=\n'c' / d=e/f>y</P\n x='>'>",
	}
	for _, page := range pages {
		if got, err := io.ReadAll(&meter{ctx: t.Context(), body: page}); err != nil || string(got) != page {
			t.Errorf("%q becomes %q, %v", page, got, err)
		}
	}
	page := "<p" + strings.Repeat(" a='>'", maxAttributes+9) + ">the <b>end</b>"
	want := "<p" + strings.Repeat(" a='>'", maxAttributes) + " >the <b>end</b>"
	if got, err := io.ReadAll(&meter{ctx: t.Context(), body: page}); err != nil || string(got) != want {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestStopped shows that a conversion ends with its context, at whatever step.
func TestStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, media := range []string{"text/html", "text/csv", "application/rss+xml", "text/plain"} {
		body := "<rss><channel><item><description>&lt;p&gt;a</description></item></channel></rss>"
		if _, err := Convert(ctx, Source{Body: []byte(body), Type: media}, Options{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", media, err)
		}
	}
	for steps := range 25 { // it is cancelled when it is asked for the nth time
		c := &counted{Context: t.Context(), left: steps}
		body := strings.Repeat("<p>a<table><tr><td>b</table>", 2000)
		if _, err := Convert(c, Source{Body: []byte(body), Type: "text/html"}, Options{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after %d looks: %v", steps, err)
		}
	}
}

// A counted context is over when it has been looked at a number of times.
type counted struct {
	context.Context
	left int
}

func (c *counted) Err() error {
	if c.left--; c.left < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// TestSelectorsInTime shows that no selector takes longer than the call, however many elements it looks at.
func TestSelectorsInTime(t *testing.T) {
	body := strings.Repeat("<p>a", 100_000)
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	begun := time.Now()
	_, err := Convert(ctx, Source{Body: []byte(body), Type: "text/html"}, Options{Selector: "p ~ div, div ~ p"})
	if took := time.Since(begun); !errors.Is(err, context.DeadlineExceeded) || took > 2*time.Minute {
		t.Errorf("%v, after %v", err, took)
	}
	_, err = Convert(t.Context(), Source{Body: []byte(body), Type: "text/html"}, Options{Selector: "p:has(a) ~ p:has(b) ~ p"})
	if wrong, ok := errors.AsType[*OptionError](err); !ok || !errors.Is(wrong, errRelations) {
		t.Errorf("%v", err)
	}
	d, err := Convert(t.Context(), Source{Body: []byte("<h2>a</h2><p>b<p>c"), Type: "text/html"}, Options{Selector: "h2 + p, p:last-child"})
	if err != nil || d.Text != "b\n\nc\n" {
		t.Errorf("%v, %v", d, err)
	}
}

// TestErrors shows what is said of a part that the page does not have.
func TestErrors(t *testing.T) {
	u := &url.URL{Scheme: "http", Host: "site.example"}
	src := Source{Body: []byte("<h1>One</h1><p>text</p><h2>Two</h2>"), Type: "text/html", URL: u}
	for _, opts := range []Options{{Section: "nine"}, {Section: "3"}, {Section: "#x"}, {Find: "zebra"}, {Selector: ".none"}} {
		_, err := Convert(t.Context(), src, opts)
		missing, ok := errors.AsType[*NotFoundError](err)
		if !ok {
			t.Fatalf("%+v: %v", opts, err)
		}
		if opts.Section != "" && !slices.Equal(missing.Near, []string{"One", "Two"}) {
			t.Errorf("%+v: near are %q", opts, missing.Near)
		}
	}
	for _, opts := range []Options{{Find: "("}, {Selector: "p["}} {
		_, err := Convert(t.Context(), src, opts)
		if _, ok := errors.AsType[*OptionError](err); !ok {
			t.Errorf("%+v: %v", opts, err)
		}
	}
}

// TestOutline shows that headings are where the outline says, with the names by which
// links lead to them.
func TestOutline(t *testing.T) {
	d := markdown(t, `<h1 id="a">One</h1><p>x</p><section id="s"><h2>Two <code>c</code></h2><p>ü</p></section><ul><li><h3><a name="n"></a>Three</h3></li></ul>`, Options{})
	var got []string
	for _, h := range d.Outline {
		line, _, _ := strings.Cut(d.Text[h.Offset:], "\n")
		got = append(got, line+" "+h.ID+" "+h.Text)
	}
	want := []string{"# One a One", "## Two `c` s Two c", "### Three n Three"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
