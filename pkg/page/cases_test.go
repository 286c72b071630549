package page

import (
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what the cases give into them")

// TestCases converts the small pages of testdata/cases: each is a line with its name
// and options, a page, a line of dashes, and what is to come of it.
func TestCases(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "cases", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		for section := range strings.SplitSeq(strings.TrimPrefix(string(data), "== "), "\n== ") {
			head, body, _ := strings.Cut(section, "\n")
			body, want, _ := strings.Cut(body, "\n----\n")
			body = strings.TrimRight(body, "\n")
			count++
			got := convertCase(t, head, body)
			fmt.Fprintf(&out, "== %s\n%s\n----\n%s\n", head, body, got)
			if want = strings.TrimRight(want, "\n"); strings.TrimRight(got, "\n") != want && !*update {
				t.Errorf("%s: %s\ngot\n%s\nwant\n%s", filepath.Base(file), head, got, want)
			}
		}
		if *update {
			if err := os.WriteFile(file, []byte(strings.TrimRight(out.String(), "\n")+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if count < 150 {
		t.Errorf("only %d cases", count)
	}
}

func convertCase(t *testing.T, head, body string) string {
	t.Helper()
	opts, media := Options{}, "text/html"
	for word := range strings.FieldsSeq(head) {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "format":
			opts.Format = Format(value)
		case "main":
			opts.Main = Main(value)
		case "section":
			opts.Section = value
		case "find":
			opts.Find = value
		case "selector":
			opts.Selector = value
		case "type":
			media = value
		}
	}
	u := &url.URL{Scheme: "http", Host: "site.example", Path: "/docs/page.html"}
	d, err := Convert(t.Context(), Source{Body: []byte(body), Type: media, URL: u}, opts)
	if err != nil {
		t.Fatalf("%s: %v", head, err)
	}
	text := d.Text
	if d.HiddenRemoved > 0 {
		text += fmt.Sprintf("(%d hidden)\n", d.HiddenRemoved)
	}
	return text
}
