package page

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

// convertTable makes a Markdown table of rows of values.
func convertTable(ctx context.Context, body string, comma rune) (*Document, error) {
	in := csv.NewReader(strings.NewReader(body))
	in.Comma, in.FieldsPerRecord, in.LazyQuotes, in.ReuseRecord = comma, -1, true, true
	cells := strings.NewReplacer("|", `\|`, "\r\n", "<br>", "\n", "<br>", "\t", " ")
	var b strings.Builder
	rows, columns := 0, 0
	for ; ctx.Err() == nil; rows++ {
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

// convertJSON indents JSON. What is none, stays as it is.
func convertJSON(body string) *Document {
	var b bytes.Buffer
	if len(body) > 2<<20 || json.Indent(&b, []byte(strings.TrimSpace(body)), "", "  ") != nil {
		d := native(body)
		d.Outline, d.Title = nil, ""
		return d
	}
	b.WriteByte('\n')
	return &Document{Text: b.String(), Kind: "json", Confidence: 1}
}

// convertXML indents XML that is in one line. What is not well-formed, or has lines of
// its own, stays as it is.
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
		if err != nil || depth > 200 {
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
