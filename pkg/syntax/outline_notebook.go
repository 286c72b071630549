package syntax

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// outlineNotebook lists the cells of a Jupyter notebook, by their number and
// with their first line, and what the code of a cell declares. The lines are
// those of the file, in which each line of a cell's source is one of its own.
// A file that is no notebook is read as JSON.
func outlineNotebook(ctx context.Context, found *collector, data []byte) error {
	var notebook struct {
		Format   *int              `json:"nbformat"`
		Cells    []json.RawMessage `json:"cells"`
		Metadata struct {
			Language struct {
				Name string `json:"name"`
			} `json:"language_info"`
			Kernel struct {
				Language string `json:"language"`
			} `json:"kernelspec"`
		} `json:"metadata"`
	}
	if json.Unmarshal(data, &notebook) != nil || notebook.Format == nil || notebook.Cells == nil {
		return outlineJSON(ctx, found, data)
	}
	name := notebook.Metadata.Language.Name
	if name == "" {
		name = notebook.Metadata.Kernel.Language
	}
	lang := languageOf("cell", []byte("#!"+strings.ToLower(name)+"\n"))
	place := placer{data: data}
	at := 0
	for i, raw := range notebook.Cells {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		n := bytes.Index(data[at:], raw)
		if n < 0 {
			return outlineJSON(ctx, found, data)
		}
		start := at + n
		line, column := place.at(start)
		source := bytes.Index(raw, []byte(`"source"`))
		from, _ := place.at(start + max(source, 0))
		at = start + len(raw)
		end, _ := place.at(at)
		found.cell(ctx, i+1, raw, lang, Symbol{Line: line, Column: column, EndLine: end}, from)
	}
	return nil
}

// cell adds a cell, whose source begins behind line from, and its parts.
func (c *collector) cell(ctx context.Context, number int, raw []byte, lang *language, s Symbol, from int) {
	var cell struct {
		Type   string          `json:"cell_type"`
		Source json.RawMessage `json:"source"`
	}
	if json.Unmarshal(raw, &cell) != nil {
		return
	}
	var lines []string
	if json.Unmarshal(cell.Source, &lines) != nil {
		var text string
		if json.Unmarshal(cell.Source, &text) != nil {
			return
		}
		lines, from = strings.SplitAfter(text, "\n"), 0
	}
	first := ""
	for _, l := range lines {
		if first = strings.TrimSpace(l); first != "" {
			break
		}
	}
	s.Name, s.Kind = fmt.Sprintf("cell %d", number), Cell
	if c.add(s); c.full {
		return
	}
	c.symbols[len(c.symbols)-1].Signature = clip(fmt.Sprintf("cell %d, %s: %s", number, cell.Type, first))
	if cell.Type != "code" || lang == nil || from == 0 || s.Line+len(lines) > s.EndLine {
		return
	}
	inner := &collector{lines: bytes.Split([]byte(strings.Join(lines, "")), []byte("\n")), lang: lang}
	if lang.pure != nil || !lang.outlined() || outlineTree(ctx, inner, []byte(strings.Join(lines, ""))) != nil {
		return
	}
	for _, part := range inner.symbols {
		part.First, part.Line, part.EndLine = part.First+from, part.Line+from, part.EndLine+from
		part.Depth++
		if part.Parent = strings.Trim(s.Name+"."+part.Parent, "."); len(c.symbols) < maxSymbols {
			c.symbols = append(c.symbols, part)
		}
	}
}
