package page

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

const (
	maxValues = 100_000 // of a row of a table
	maxIndent = 100     // levels of JSON
)

// mostIndented is how long a body may become by being indented.
func mostIndented(body string) int { return 8*len(body) + 64<<10 }

// A rowReader gives a table to its reader, and ends where a row has more values than
// memory is for.
type rowReader struct {
	in    strings.Reader
	comma byte
	left  int // commas that this row may have
}

// errColumns ends a row of more than maxValues.
var errColumns = errors.New("a row has more than 100000 values")

func (r *rowReader) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	if r.left -= bytes.Count(p[:n], []byte{r.comma}); r.left < 0 {
		return 0, errColumns
	}
	return n, err
}

// convertTable makes a Markdown table of rows of values.
func convertTable(ctx context.Context, body string, comma rune) (*Document, error) {
	rest := &rowReader{in: *strings.NewReader(body), comma: byte(comma)}
	in := csv.NewReader(rest)
	in.Comma, in.FieldsPerRecord, in.LazyQuotes, in.ReuseRecord = comma, -1, true, true
	cells := strings.NewReplacer("|", `\|`, "\r\n", "<br>", "\n", "<br>", "\t", " ")
	var b strings.Builder
	rows, columns := 0, 0
	for ; ctx.Err() == nil; rows++ {
		rest.left = maxValues
		record, err := in.Read()
		if err == io.EOF {
			break
		}
		if err != nil { // it is no table: it is shown as it is
			d := native(body)
			d.Warnings = append(d.Warnings, "not shown as a table: "+err.Error())
			return d, nil
		}
		for i, field := range record {
			if i > 0 {
				b.WriteString(" | ")
			} else {
				b.WriteString("| ")
			}
			b.WriteString(cells.Replace(strings.TrimSpace(field)))
		}
		b.WriteString(" |\n")
		if rows == 0 {
			columns = len(record)
			b.WriteString("|" + strings.Repeat(" --- |", columns) + "\n")
		}
	}
	return &Document{Text: b.String(), Kind: "table", Confidence: 1}, ctx.Err()
}

// convertJSON indents JSON, as deep as that does not make it many times as long. What is
// none, stays as it is.
func convertJSON(body string) *Document {
	text := strings.TrimSpace(body)
	if len(body) > 2<<20 || !json.Valid([]byte(text)) {
		d := native(body)
		d.Outline, d.Title = nil, ""
		return d
	}
	var lines [maxIndent + 2]int // what the lines of each level take; in the last, those of all deeper
	walkJSON(text, maxIndent, func(string) {}, func(level, depth int) { lines[min(level, maxIndent+1)] += 1 + 2*depth })
	levels, left := 0, mostIndented(body)
	for levels < maxIndent && lines[levels+1] <= left {
		levels++
		left -= lines[levels]
	}
	var b strings.Builder
	walkJSON(text, levels, func(s string) { b.WriteString(s) }, func(level, depth int) {
		if level <= levels {
			indent(&b, depth)
		}
	})
	b.WriteByte('\n')
	d := &Document{Text: b.String(), Kind: "json", Confidence: 1}
	for _, n := range lines[levels+1:] {
		if n > 0 {
			d.Warnings = []string{fmt.Sprintf("what is nested deeper than %d levels is not indented", levels)}
			break
		}
	}
	return d
}

// walkJSON tells what valid JSON is written of, and where a line begins: in a value of
// which level, and how deep. Spaces that are deeper than levels are kept.
func walkJSON(text string, levels int, put func(string), line func(level, depth int)) {
	level := 0
	for i := 0; i < len(text); i++ {
		switch part := text[i : i+1]; part {
		case `"`:
			end := i + 1
			for ; text[end] != '"'; end++ {
				if text[end] == '\\' {
					end++
				}
			}
			put(text[i : end+1])
			i = end
		case " ", "\t", "\r", "\n":
			if level > levels {
				put(part)
			}
		case "[", "{":
			put(part)
			end := i + 1
			for strings.IndexByte(" \t\r\n", text[end]) >= 0 {
				end++
			}
			if text[end] == ']' || text[end] == '}' { // it is empty
				put(text[end : end+1])
				i = end
				continue
			}
			level++
			line(level, level)
		case "]", "}":
			line(level, level-1)
			level--
			put(part)
		case ",":
			put(part)
			line(level, level)
		case ":":
			put(part)
			if level <= levels {
				put(" ")
			}
		default:
			put(part)
		}
	}
}

// convertXML indents XML that is in one line. What is not well-formed, or has lines of
// its own, stays as it is, and so does what is nested so that it would become many times as long.
func convertXML(body string) *Document {
	asIs := &Document{Text: strings.TrimRight(body, "\n") + "\n", Kind: "xml", Confidence: 1}
	if strings.Count(body, "\n") > len(body)/200 || len(body) > 2<<20 {
		return asIs
	}
	var b strings.Builder
	in := xml.NewDecoder(strings.NewReader(body))
	in.Strict = false
	depth := 0
	inline := false // the element that is open has text only so far
	for from := int64(0); ; {
		t, err := in.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || depth > 200 || b.Len() > mostIndented(body) {
			return asIs
		}
		raw := body[from:in.InputOffset()]
		from = in.InputOffset()
		switch t := t.(type) {
		case xml.EndElement:
			if raw == "" { // of an element without content
				depth--
				continue
			}
			if depth--; !inline {
				indent(&b, depth)
			}
			inline = false
		case xml.CharData:
			if strings.TrimSpace(raw) == "" {
				continue
			}
			if !strings.HasSuffix(b.String(), ">") {
				indent(&b, depth)
			}
		case xml.StartElement:
			_ = t
			indent(&b, depth)
			depth++
			inline = !strings.HasSuffix(raw, "/>")
			b.WriteString(raw)
			continue
		default:
			indent(&b, depth)
			inline = false
		}
		b.WriteString(raw)
		if _, text := t.(xml.CharData); !text {
			inline = false
		}
	}
	b.WriteByte('\n')
	return &Document{Text: strings.TrimLeft(b.String(), "\n"), Kind: "xml", Confidence: 1}
}

func indent(b *strings.Builder, depth int) {
	b.WriteByte('\n')
	b.WriteString(strings.Repeat("  ", max(depth, 0)))
}
