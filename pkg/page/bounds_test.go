package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// TestDataBounds shows that data takes memory by its length, however it is nested and however many values a row
// has. What cannot be shown in its form is shown as it came.
func TestDataBounds(t *testing.T) {
	r := strings.Repeat
	cases := map[string]struct{ media, body string }{
		"values deep in JSON":    {"application/json", r("[", 9000) + r("1,", 100_000) + `"x"` + r("]", 9000)},
		"levels of JSON":         {"application/json", r("[", 9900) + `"x"` + r("]", 9900)},
		"levels that fit":        {"application/json", r("[", 90) + r("1,", 900_000) + `"x"` + r("]", 90)},
		"elements deep in XML":   {"text/xml", r("<a>", 199) + r("<b/>", 400_000) + "x" + r("</a>", 199)},
		"values of a row":        {"text/csv", r(",", 5_000_000) + "x"},
		"a row of quoted breaks": {"text/csv", r("\"\n\",", 600_000) + "x"},
		"values with tabs":       {"text/tab-separated-values", r("\t", 5_000_000) + "x"},
		"levels of a feed":       {"application/rss+xml", "<rss><channel><title>x</title><item><a>" + r("<a>", 5000) + r("y", 1_000_000) + r("</a>", 5000) + "</a></item></channel></rss>"},
		"levels of a text":       {"application/rss+xml", "<rss><channel><title>x</title><item><content>" + r("<a>", 5000) + r("y", 1_000_000) + r("</a>", 5000) + "</content></item></channel></rss>"},
		"elements of an item":    {"application/rss+xml", "<rss><channel><title>x</title><item>" + r("<a/>", 1_200_000) + "</item></channel></rss>"},
		"items of a feed":        {"application/feed+json", `{"title":"x","items":[{}` + r(",{}", 1_600_000) + "]}"},
	}
	for name, c := range cases {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		d, err := Convert(t.Context(), Source{Body: []byte(c.body), Type: c.media}, Options{})
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !strings.Contains(d.Text, "x") {
			t.Errorf("%s: the text is lost: %.200q", name, d.Text)
		}
		if most := mostIndented(c.body); len(d.Text) > len(c.body)+most {
			t.Errorf("%s: %d bytes become %d", name, len(c.body), len(d.Text))
		}
		took := int(after.TotalAlloc-before.TotalAlloc) >> 20 // with what has been given back since
		t.Logf("%s: %d KiB take %d MiB", name, len(c.body)>>10, took)
		if took > 300 {
			t.Errorf("%s: %d KiB take %d MiB", name, len(c.body)>>10, took)
		}
	}
}

// TestIndentedJSON shows that JSON of a usual shape is indented as everybody does it, and what is nested too deep is
// the same value still, with a warning.
func TestIndentedJSON(t *testing.T) {
	r := strings.Repeat
	for _, body := range []string{
		`{"a":[1,2,{"b":"x, [y]: \"z\\"}],"c":{},"d":[ ],"e":{ "f" : null,"g":-1.5e3}}`, `[[],[[]],{"":[{}]}]`, `"x"`, " 12 ", "[true ,\n\tfalse]",
		r(`{"a":[`, 20) + r("1,", 300) + "2" + r(`]}`, 20),
		"[" + r(`{"name":"x","list":[1,2,3],"in":{"a":{"b":{"c":[{"d":1},{"e":2}]}}}},`, 500) + "0]",
	} {
		var want bytes.Buffer
		if err := json.Indent(&want, []byte(strings.TrimSpace(body)), "", "  "); err != nil {
			t.Fatal(err)
		}
		if d := convertJSON(body); d.Text != want.String()+"\n" || d.Kind != "json" || len(d.Warnings) > 0 {
			t.Errorf("%.80s becomes %.300s, %q", body, d.Text, d.Warnings)
		}
	}
	for body, levels := range map[string]int{
		r("[", 300) + `1, {"a" : 2}` + r("]", 300):               maxIndent,
		"[[1," + r("[", 60) + r("1,", 99_000) + "2" + r("]", 62): 61,
	} {
		d := convertJSON(body)
		var got, want bytes.Buffer
		if err := json.Compact(&got, []byte(d.Text)); err != nil {
			t.Fatal(err)
		}
		_ = json.Compact(&want, []byte(body))
		warning := fmt.Sprintf("what is nested deeper than %d levels is not indented", levels)
		if got.String() != want.String() || len(d.Warnings) != 1 || d.Warnings[0] != warning {
			t.Errorf("%.20s becomes %.300s, %q", body, d.Text, d.Warnings)
		}
	}
	if d := convertJSON("{"); d.Kind != "native" {
		t.Errorf("%+v", d)
	}
}
