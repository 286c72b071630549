package pdftext

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// A column is what the cells of a table have in common: where they lie on the page, and
// where they are written.
type column struct {
	x, right float64
	at       int
}

// linesOf are the rows as text. Where rows are those of a table that has empty cells,
// every cell is written below those of its column, so that one can tell which are empty.
func linesOf(rows []*row) []string {
	lines := make([]string, len(rows))
	for i, r := range rows {
		lines[i] = r.b.String()
	}
	for i := 0; i < len(rows); {
		n, columns := table(rows[i:])
		for k := range n {
			if len(columns) > 0 {
				lines[i+k] = rows[i+k].under(columns)
			}
		}
		i += max(n, 1)
	}
	return lines
}

// maxColumns bounds the columns of a table: cells are looked for among them one by one.
const maxColumns = 200

// table is how many rows belong to the table that begins here, and its columns; none
// where no cell is empty.
func table(rows []*row) (n int, columns []column) {
	if len(rows) == 0 || len(rows[0].cells) < 2 {
		return 0, nil
	}
	full, empty := 0, false
	for ; n < len(rows); n++ {
		r := rows[n]
		if n > 0 && (rows[n-1].y-r.y > 3*r.size || r.y > rows[n-1].y) {
			break
		}
		next, ok := joined(columns, r.cells)
		if !ok || len(r.cells) < 2 && (n == 0 || columnOf(next, r.cells[0]) == 0) {
			break
		}
		columns = next
	}
	for _, r := range rows[:n] {
		if len(r.cells) == len(columns) {
			full++
		} else {
			empty = true
		}
	}
	if !empty || full < 2 || n < 3 {
		return n, nil
	}
	arrange(rows[:n], columns)
	return n, columns
}

// joined are the columns with the cells of one more row; false where a cell lies in two
// of them, or two in one.
func joined(columns []column, cells []cell) ([]column, bool) {
	next := slices.Clone(columns)
	taken := -1
	for _, c := range cells {
		i := slices.IndexFunc(next, func(col column) bool { return c.x < col.right && col.x < c.right })
		if i < 0 {
			i, _ = slices.BinarySearchFunc(next, c.x, func(col column, x float64) int {
				if col.x < x {
					return -1
				}
				return 1
			})
			next = slices.Insert(next, i, column{x: c.x, right: c.right})
		}
		if len(next) > maxColumns || i <= taken || i+1 < len(next) && c.right > next[i+1].x {
			return nil, false
		}
		next[i].x, next[i].right, taken = min(next[i].x, c.x), max(next[i].right, c.right), i
	}
	return next, true
}

func columnOf(columns []column, c cell) int {
	return slices.IndexFunc(columns, func(col column) bool { return c.x < col.right && col.x < c.right })
}

// arrange says where each column is written: two spaces behind the longest cell of the
// one before.
func arrange(rows []*row, columns []column) {
	widths := make([]int, len(columns))
	for _, r := range rows {
		for k, c := range r.cells {
			i := columnOf(columns, c)
			widths[i] = max(widths[i], utf8.RuneCountInString(r.cell(k)))
		}
	}
	for i := 1; i < len(columns); i++ {
		columns[i].at = columns[i-1].at + widths[i-1] + 2
	}
}

// cell is the text of a cell of the row.
func (r *row) cell(k int) string {
	text := r.b.String()[r.cells[k].at:]
	if k+1 < len(r.cells) {
		text = text[:r.cells[k+1].at-r.cells[k].at]
	}
	return strings.TrimSpace(text)
}

// under is the row with each cell in its column.
func (r *row) under(columns []column) string {
	var b strings.Builder
	width := 0
	for k, c := range r.cells {
		if at := columns[columnOf(columns, c)].at; at > width {
			b.WriteString(strings.Repeat(" ", at-width))
			width = at
		}
		text := r.cell(k)
		b.WriteString(text)
		width += utf8.RuneCountInString(text)
	}
	return b.String()
}
