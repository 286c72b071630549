package page

import (
	"bytes"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	maxSpan    = 50      // cells that one is repeated to
	maxColumns = 200     // of a table
	maxFilled  = 100_000 // cells of a table that are repeated
	maxRepeat  = 200     // bytes of a cell that is repeated in the rows it spans
)

// table renders a table: as one where it holds data, its cells one after the other
// where it only arranges the page.
func (r *renderer) table(n *html.Node) {
	if code := codeCell(n); code != nil {
		if pre := first(code, func(c *html.Node) bool { return c.DataAtom == atom.Pre }); pre != nil {
			code = pre
		}
		r.pre(code)
		return
	}
	r.flush()
	if hasClass(n, "memname") { // Doxygen's declaration of a function
		r.line.code(declaration(n))
		r.flush()
		return
	}
	rows, caption := tableRows(n)
	if caption != nil {
		r.children(caption)
		r.flush()
	}
	if r.cell != nil || isLayout(n, rows) {
		for _, row := range rows {
			apart := first(row, func(c *html.Node) bool { return isBlock(c) && !isElement(c, atom.Td, atom.Th) }) != nil
			for cell := range elements(row) {
				r.children(cell)
				if r.line.space = true; apart {
					r.flush()
				}
			}
			r.flush()
		}
		return
	}
	grid, headed := r.grid(rows)
	if len(grid) == 0 {
		return
	}
	r.gap = 2
	if r.plain {
		r.rows(grid, "", "\t", "")
		return
	}
	columns := 0
	for _, row := range grid {
		columns = max(columns, len(row))
	}
	rule := make([][]byte, columns)
	for i := range rule {
		rule[i] = []byte("---")
	}
	if !headed {
		grid = append([][][]byte{make([][]byte, columns)}, grid...)
	}
	grid = append(grid[:1], append([][][]byte{rule}, grid[1:]...)...)
	r.rows(grid, "| ", " | ", " |")
}

// declaration is the text of a table whose cells are parts of a declaration.
func declaration(table *html.Node) string {
	var parts []string
	rows, _ := tableRows(table)
	for _, row := range rows {
		for cell := range elements(row) {
			if text := textOf(cell); text != "" {
				parts = append(parts, text)
			}
		}
	}
	return strings.NewReplacer(" ( ", "(", " )", ")", " ,", ",").Replace(strings.Join(parts, " "))
}

// rows writes a table.
func (r *renderer) rows(grid [][][]byte, before, between, after string) {
	for i, row := range grid {
		if i > 0 {
			r.gap = 1
		}
		r.start()
		r.out = append(r.out, before...)
		r.out = append(r.out, bytes.Join(row, []byte(between))...)
		r.out = append(r.out, after...)
		if r.over() {
			break
		}
	}
	r.gap = 2
}

// tableRows are the rows of a table, those of the head first, and its caption.
func tableRows(table *html.Node) (rows []*html.Node, caption *html.Node) {
	var head, body []*html.Node
	for c := range elements(table) {
		switch c.DataAtom {
		case atom.Tr:
			body = append(body, c)
		case atom.Caption:
			caption = c
		case atom.Thead, atom.Tbody, atom.Tfoot:
			for tr := range elements(c) {
				if tr.DataAtom != atom.Tr {
					continue
				}
				if c.DataAtom == atom.Thead {
					head = append(head, tr)
				} else {
					body = append(body, tr)
				}
			}
		}
	}
	return append(head, body...), caption
}

// isLayout reports whether a table arranges a page instead of holding data.
func isLayout(table *html.Node, rows []*html.Node) bool {
	switch attr(table, "role") {
	case "presentation", "none":
		return true
	}
	columns := 0
	for _, row := range rows {
		count := 0
		for cell := range elements(row) {
			if cell.DataAtom == atom.Th && !hasAttr(cell, "data-layout") {
				return holdsTables(table)
			}
			count++
		}
		columns = max(columns, count)
	}
	if columns <= 1 || first(table, func(c *html.Node) bool { return isElement(c, atom.Thead, atom.Caption) }) == nil && arranges(table) {
		return true
	}
	return holdsTables(table)
}

// holdsTables reports whether a table has others inside it that hold data.
func holdsTables(table *html.Node) bool {
	return first(table, func(c *html.Node) bool { return c.DataAtom == atom.Table }) != nil
}

// arranges reports whether the cells of a table hold what no cell of data does.
func arranges(table *html.Node) bool {
	return first(table, func(c *html.Node) bool {
		return level(c) > 0 || isElement(c, atom.Pre, atom.Form, atom.Article, atom.Section, atom.Hr)
	}) != nil
}

// A spanning cell is repeated in the rows below it.
type spanning struct {
	text []byte
	rows int
}

// grid is a table as rows of cells, with those that span others repeated where that
// helps to read a row by itself. It reports whether the first row is the head.
func (r *renderer) grid(rows []*html.Node) (grid [][][]byte, headed bool) {
	var carried []spanning
	filled := 0
	for i, tr := range rows {
		if r.over() {
			break
		}
		var row [][]byte
		header := true
		fill := func() {
			for len(row) < len(carried) && carried[len(row)].rows > 0 && filled < maxFilled {
				filled++
				carried[len(row)].rows--
				row = append(row, carried[len(row)].text)
			}
		}
		for cell := range elements(tr) {
			if fill(); len(row) >= maxColumns {
				break
			}
			header = header && cell.DataAtom == atom.Th
			text := r.cellText(cell)
			across, down := span(cell, "colspan", maxSpan), span(cell, "rowspan", len(rows)-i)
			for k := 0; k < across && len(row) < maxColumns; k++ {
				shown := text
				if k > 0 && (cell.DataAtom != atom.Th || len(text) > maxRepeat) {
					shown = nil
				}
				if down > 1 {
					for len(carried) <= len(row) {
						carried = append(carried, spanning{})
					}
					carried[len(row)] = spanning{shown, down - 1}
					if len(text) > maxRepeat {
						carried[len(row)].text = nil
					}
				}
				row = append(row, shown)
			}
		}
		fill()
		for len(row) < len(carried) && filled < maxFilled { // a gap before a cell that spans from above
			row = append(row, nil)
			fill()
		}
		for len(row) > 0 && len(row[len(row)-1]) == 0 && len(grid) > 0 && len(row) > len(grid[0]) {
			row = row[:len(row)-1]
		}
		if empty(row) {
			continue
		}
		if len(grid) == 0 {
			headed = header || isElement(tr.Parent, atom.Thead)
		}
		grid = append(grid, row)
	}
	return grid, headed
}

func empty(row [][]byte) bool {
	for _, cell := range row {
		if len(cell) > 0 {
			return false
		}
	}
	return true
}

// span is how many columns or rows a cell takes.
func span(cell *html.Node, name string, most int) int {
	n, err := strconv.Atoi(attr(cell, name))
	switch {
	case name == "rowspan" && err == nil && n == 0:
		return most // to the end
	case err != nil && attr(cell, name) != "" && len(attr(cell, name)) > 6:
		return most
	}
	return max(1, min(n, most))
}

// cellText is what is in a cell, in one line.
func (r *renderer) cellText(n *html.Node) []byte {
	var parts [][]byte
	held := r.line
	r.line = inline{plain: held.plain, md: held.md, cell: true, flat: true}
	r.cell = &parts
	r.children(n)
	r.flush()
	r.cell, r.line = nil, held
	if r.line.plain {
		return bytes.Join(parts, []byte(" "))
	}
	return bytes.Join(parts, []byte("<br>"))
}
