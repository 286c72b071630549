package files

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/agentkit-go/agentkit/pkg/lsp"
)

// replacing is a change of the server's.
func replacing(line, from, to int, text string) textEdit {
	return textEdit{lsp.Range{Start: lsp.Position{Line: line, Character: from}, End: lsp.Position{Line: line, Character: to}}, text}
}

func TestApplied(t *testing.T) {
	const text = "a old b old\n\U0001d4b3 old é old\n\nold"
	for _, c := range []struct {
		edits    []textEdit
		encoding string
		want     string // "" for an error
	}{
		{[]textEdit{replacing(0, 8, 11, "n"), replacing(0, 2, 5, "new")}, "utf-16", "a new b n\n\U0001d4b3 old é old\n\nold"},
		{[]textEdit{replacing(1, 3, 6, "n"), replacing(1, 9, 12, "m")}, "utf-16", "a old b old\n\U0001d4b3 n é m\n\nold"},
		{[]textEdit{replacing(1, 5, 8, "n"), replacing(1, 12, 15, "m")}, "utf-8", "a old b old\n\U0001d4b3 n é m\n\nold"},
		{[]textEdit{replacing(3, 0, 3, "n"), replacing(2, 0, 0, "x")}, "utf-16", "a old b old\n\U0001d4b3 old é old\nx\nn"},
		{[]textEdit{replacing(1, 1, 1, "n"), replacing(1, 3, 6, "m")}, "utf-16", "a old b old\n\U0001d4b3n m é old\n\nold"},
		{[]textEdit{replacing(0, 99, 99, "n"), replacing(0, 100, math.MaxInt, "m"), replacing(1, 0, 0, "x")}, "utf-16", "a old b old\nnmx\U0001d4b3 old é old\n\nold"},
		{[]textEdit{replacing(3, math.MaxInt, math.MaxInt, "n")}, "utf-8", text + "n"},
		{[]textEdit{replacing(0, -5, 1, "n")}, "utf-8", "n" + text[1:]},
		{[]textEdit{replacing(0, 2, 5, "n"), replacing(0, 4, 6, "m")}, "utf-16", ""},
		{[]textEdit{replacing(0, 5, 2, "n")}, "utf-16", ""},
		{[]textEdit{replacing(4, 0, 0, "n")}, "utf-16", ""},
		{[]textEdit{replacing(-1, 0, 0, "n")}, "utf-16", ""},
	} {
		got, err := applied([]byte(text), c.edits, c.encoding)
		if (err != nil) != (c.want == "") || string(got) != c.want {
			t.Errorf("%v: %q, %v", c.edits, got, err)
		}
	}
}

// TestAppliedToMuch: neither many lines nor many changes of one line take longer than each does.
func TestAppliedToMuch(t *testing.T) {
	begin := time.Now()
	var many []textEdit
	for i := range 50_000 {
		many = append(many, replacing(0, 10*i, 10*i+9, "x"))
	}
	for _, c := range []struct {
		text  string
		edits []textEdit
	}{
		{strings.Repeat("abcdefghi\n", 600_000), []textEdit{replacing(599_999, 0, 3, "x")}},
		{strings.Repeat("abcdefghi ", 50_000), many},
	} {
		if _, err := applied([]byte(c.text), c.edits, "utf-16"); err != nil {
			t.Error(err)
		}
	}
	if took := time.Since(begin); took > time.Minute { // a quarter of an hour, where each line takes what the file takes
		t.Errorf("it took %s", took)
	}
}
