package page

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"
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
	d := markdown(t, strings.Repeat("<i>", maxTags+10_000)+"the end", Options{})
	if len(d.Warnings) == 0 || strings.Contains(d.Text, "the end") {
		t.Errorf("%q, %q", d.Warnings, d.Text)
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
