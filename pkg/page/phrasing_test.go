package page

import (
	"strings"
	"testing"
)

// TestPieces shows that a paragraph which is rendered in pieces has the words, the links
// and the ends of lines of one that is not.
func TestPieces(t *testing.T) {
	for name, c := range map[string]struct{ html, markdown string }{
		"emphasis":          {"<b>a</b> <i>b</i> ", "**a** *b* "},
		"links":             {"<a href=/x>c</a> d ", "[c](http://site.example/x) d "},
		"lines":             {"e <b>f</b><br>", "e **f**  \n"},
		"code":              {"<code>g</code> h ", "`g` h "},
		"images":            {"<img alt=i src=/y>j ", "![i](http://site.example/y)j "},
		"within a word":     {"k<b>l</b>", "k**l**"},
		"words of one mark": {strings.Repeat("m ", 900) + "<b>n</b> ", strings.Repeat("m ", 900) + "**n** "},
	} {
		const times = 5000
		d := markdown(t, "<p>"+strings.Repeat(c.html, times)+"end", Options{Main: Full})
		if want := strings.Repeat(c.markdown, times) + "end\n"; d.Text != want {
			at := 0
			for at < min(len(want), len(d.Text)) && want[at] == d.Text[at] {
				at++
			}
			t.Errorf("%s: of %d bytes the one at %d differs: %.80q, want %.80q", name, len(want), at, d.Text[max(0, at-20):], want[max(0, at-20):])
		}
	}
}

// TestLongMarks shows what is lost where emphasis or a link is longer than a piece: none
// of the words, and no space between them.
func TestLongMarks(t *testing.T) {
	words := strings.Repeat("word ", 40_000) + "end"
	for _, tag := range []string{"b", "a href=/x", "s"} {
		d := markdown(t, "<p><"+tag+">"+words, Options{Main: Full})
		plain := strings.NewReplacer("*", "", "~", "", "[", "", "](http://site.example/x)", "").Replace(d.Text)
		if plain != words+"\n" || d.Text == plain {
			t.Errorf("%s: %d bytes of %d, %.40q", tag, len(plain), len(words), d.Text)
		}
	}
}
