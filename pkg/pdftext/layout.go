package pdftext

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// A row is one line of text.
type row struct {
	b           strings.Builder
	x, y, right float64
	size        float64
	blank       bool   // it ends with a space
	cells       []cell // its parts with wide gaps between them
}

// A cell is a part of a row, which may be that of a table.
type cell struct {
	at       int // where it begins in the row's text
	x, right float64
}

// layout writes the text of a page: line by line in the order in which the
// page draws them, which keeps columns apart. A page that draws its lines in no
// order at all is sorted from top to bottom. Text that is turned follows the
// rest.
func layout(glyphs []glyph) string {
	var out strings.Builder
	for turn := range 4 {
		var rows []*row
		var at *row
		for i := range glyphs {
			g := &glyphs[i]
			if g.turn != turn {
				continue
			}
			if at == nil || !at.takes(g) {
				at = &row{x: g.x, y: g.y, right: g.x, size: g.size}
				rows = append(rows, at)
			}
			at.add(g)
		}
		write(&out, arranged(rows))
	}
	return out.String()
}

// takes reports whether a glyph goes on with the row: on about the same
// baseline, not far back.
func (r *row) takes(g *glyph) bool {
	size := max(r.size, g.size)
	return math.Abs(g.y-r.y) < 0.5*size && g.x > r.right-0.7*size
}

// add puts a glyph behind the row, with the space between them.
func (r *row) add(g *glyph) {
	gap := g.x - r.right
	size := min(r.size, g.size)
	space := strings.TrimSpace(g.text) == ""
	wide := gap > 1.5*size
	if r.b.Len() > 0 && !r.blank && !space && gap > 0.15*size {
		n := 1
		if wide {
			n = min(max(int(gap/(0.6*size)), 2), 40)
		}
		r.b.WriteString(strings.Repeat(" ", n))
	}
	switch n := len(r.cells); {
	case space:
	case n == 0 || wide:
		r.cells = append(r.cells, cell{r.b.Len(), g.x, g.x + g.width})
	default:
		r.cells[n-1].right = max(r.cells[n-1].right, g.x+g.width)
	}
	r.b.WriteString(expanded(g.text))
	r.blank = space
	if g.size > r.size && !space {
		r.size, r.y = g.size, g.y // small print begins the row
	}
	r.right = max(r.right, g.x+g.width)
}

// expanded is text with ligatures as their letters, and without characters
// that do not print.
func expanded(s string) string {
	for _, r := range s {
		if r < ' ' || r >= 0x7f && r <= 0xa0 || r == 0xad || r >= 0xfb00 && r <= 0xfb06 || r == 0xfeff {
			return strings.Map(printable, ligatures().Replace(s))
		}
	}
	return s
}

func ligatures() *strings.Replacer {
	return strings.NewReplacer("ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "st", "ﬆ", "st")
}

func printable(r rune) rune {
	switch {
	case r == '\t', r == '\n', r == '\r', r == 0xa0:
		return ' '
	case r == 0xad:
		return '-'
	case r < ' ', r >= 0x7f && r < 0xa0, r == 0xfeff:
		return -1
	}
	return r
}

// arranged joins what stands on one line although it was not drawn in one go,
// and sorts the rows where their order says nothing.
func arranged(rows []*row) []*row {
	jumps := 0
	for i := 1; i < len(rows); i++ {
		if rows[i].y > rows[i-1].y+0.5*rows[i].size {
			jumps++
		}
	}
	if jumps <= 4 || jumps*4 <= len(rows) {
		return rows
	}
	slices.SortStableFunc(rows, func(a, b *row) int {
		// By bands of half a point: the order has to be transitive.
		if d := cmp.Compare(math.Round(2*b.y), math.Round(2*a.y)); d != 0 {
			return d
		}
		return cmp.Compare(a.x, b.x)
	})
	var joined []*row
	for _, r := range rows {
		if n := len(joined); n > 0 {
			last := joined[n-1]
			if g := (glyph{text: r.b.String(), x: r.x, y: r.y, width: r.right - r.x, size: r.size}); last.takes(&g) {
				last.add(&g)
				continue
			}
		}
		joined = append(joined, r)
	}
	return joined
}

// write prints the rows, with an empty line where the page leaves room for
// one.
func write(out *strings.Builder, rows []*row) {
	lines := linesOf(rows)
	for i, r := range rows {
		if i > 0 {
			if down := rows[i-1].y - r.y; down > 1.9*max(r.size, rows[i-1].size) || down < -r.size {
				out.WriteByte('\n')
			}
		}
		if line := strings.TrimRight(lines[i], " "); line != "" {
			out.WriteString(line + "\n")
		}
	}
}
