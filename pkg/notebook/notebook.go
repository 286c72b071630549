// Package notebook reads Jupyter notebooks, so that they can be shown as the
// cells and outputs that people see in them, and changes single cells.
//
// It reads formats 3 and 4, which is every notebook since 2011. What is
// missing or of an unexpected type is passed over: a notebook that a program
// has half written still shows what it holds.
package notebook

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrFormat says that a file is no notebook.
var ErrFormat = errors.New("not a notebook")

// A Notebook is the cells of one file.
type Notebook struct {
	Format   string // such as "4.5"
	Language string // of the code, in lower case; "" where the file does not say
	Cells    []Cell
}

// A Cell is a piece of text or code, and what running it has printed.
type Cell struct {
	ID        string // of one that has none, as before format 4.5, cell-N, counted from 0
	Type      string // "code", "markdown", "raw" or "heading"
	Source    string
	Execution int // the number in In[…]; 0 for a cell that was not run
	Outputs   []Output
}

// An Output is one thing that a cell has printed.
type Output struct {
	Type   string  // "stream", "display_data", "execute_result" or "error"
	Stream string  // "stdout" or "stderr" of a stream
	Text   string  // what can be read of it, without terminal sequences
	Images []Image // what can be looked at
	Other  []string
}

// An Image is a picture that a cell has shown.
type Image struct {
	MIMEType string
	Data     []byte
}

// text is a string that a notebook may break into a list of lines.
type text string

// UnmarshalJSON implements json.Unmarshaler.
func (t *text) UnmarshalJSON(raw []byte) error {
	var list []string
	switch {
	case len(raw) > 0 && raw[0] == '"':
		return json.Unmarshal(raw, (*string)(t))
	case json.Unmarshal(raw, &list) == nil:
		*t = text(strings.Join(list, ""))
	}
	return nil // JSON data and the like show nothing
}

// number is one that may be null or something else.
type number int

// UnmarshalJSON implements json.Unmarshaler.
func (n *number) UnmarshalJSON(raw []byte) error {
	var v int
	if json.Unmarshal(raw, &v) == nil {
		*n = number(v)
	}
	return nil
}

type rawNotebook struct {
	Format   *number `json:"nbformat"`
	Minor    number  `json:"nbformat_minor"`
	Metadata struct {
		Kernel struct {
			Language text `json:"language"`
		} `json:"kernelspec"`
		Language struct {
			Name text `json:"name"`
		} `json:"language_info"`
	} `json:"metadata"`
	Cells      json.RawMessage `json:"cells"`
	Worksheets []struct {
		Cells json.RawMessage `json:"cells"`
	} `json:"worksheets"` // format 3
}

type rawCell struct {
	ID        text            `json:"id"`
	Type      text            `json:"cell_type"`
	Source    text            `json:"source"`
	Input     text            `json:"input"` // format 3
	Execution number          `json:"execution_count"`
	Prompt    number          `json:"prompt_number"` // format 3
	Level     number          `json:"level"`         // of a heading, format 3
	Language  text            `json:"language"`      // format 3
	Outputs   json.RawMessage `json:"outputs"`
}

type rawOutput struct {
	Type      text                       `json:"output_type"`
	Name      text                       `json:"name"`
	Stream    text                       `json:"stream"` // format 3
	Text      text                       `json:"text"`
	Data      map[string]json.RawMessage `json:"data"`
	Error     text                       `json:"ename"`
	Value     text                       `json:"evalue"`
	Traceback []text                     `json:"traceback"`
	PNG       text                       `json:"png"`  // format 3
	JPEG      text                       `json:"jpeg"` // format 3
	SVG       text                       `json:"svg"`  // format 3
	HTML      text                       `json:"html"` // format 3
}

// Parse reads a notebook. What is no JSON object with a format and cells is
// [ErrFormat].
func Parse(data []byte) (*Notebook, error) {
	var raw rawNotebook
	if err := json.Unmarshal(data, &raw); err != nil {
		if _, mistyped := errors.AsType[*json.UnmarshalTypeError](err); !mistyped {
			return nil, fmt.Errorf("%w: %w", ErrFormat, err)
		}
	}
	if raw.Format == nil || !isList(raw.Cells) && raw.Worksheets == nil {
		return nil, fmt.Errorf("%w: it has no nbformat or no cells", ErrFormat)
	}
	n := &Notebook{Format: fmt.Sprintf("%d.%d", *raw.Format, raw.Minor)}
	n.Language = strings.ToLower(string(raw.Metadata.Language.Name))
	if n.Language == "" {
		n.Language = strings.ToLower(string(raw.Metadata.Kernel.Language))
	}
	room := maxParts
	add := func(one json.RawMessage) {
		var c rawCell
		_ = json.Unmarshal(one, &c) // a part of another type is passed over
		cell := c.cell(&room)
		if cell.ID == "" {
			cell.ID = nameOf(len(n.Cells))
		}
		n.Cells = append(n.Cells, cell)
		if n.Language == "" {
			n.Language = strings.ToLower(string(c.Language))
		}
	}
	each(raw.Cells, &room, add)
	for _, sheet := range raw.Worksheets {
		each(sheet.Cells, &room, add)
	}
	if room < 0 {
		return nil, fmt.Errorf("%w: it has more than %d cells and outputs", ErrFormat, maxParts)
	}
	return n, nil
}

// maxParts bounds the cells and outputs of a notebook: an empty one takes two bytes of the
// file, and a hundred times as many in memory.
const maxParts = 100_000

func isList(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '[' }

// each hands on what a list holds, as far as there is room.
func each(raw json.RawMessage, room *int, do func(json.RawMessage)) {
	if !isList(raw) {
		return
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	_, _ = dec.Token() // what is valid JSON makes no errors
	for dec.More() {
		var one json.RawMessage
		if *room--; *room < 0 || dec.Decode(&one) != nil {
			return
		}
		do(one)
	}
}

func (c *rawCell) cell(room *int) Cell {
	cell := Cell{
		ID: string(c.ID), Type: string(c.Type), Source: string(c.Source + c.Input),
		Execution: int(c.Execution + c.Prompt),
	}
	if cell.Type == "" {
		cell.Type = "raw"
	}
	if cell.Type == "heading" {
		cell.Source = strings.Repeat("#", min(max(int(c.Level), 1), 6)) + " " + cell.Source
	}
	each(c.Outputs, room, func(one json.RawMessage) {
		var o rawOutput
		_ = json.Unmarshal(one, &o)
		cell.Outputs = append(cell.Outputs, o.output())
	})
	return cell
}

func (o *rawOutput) output() Output {
	out := Output{Type: string(o.Type)}
	switch out.Type {
	case "stream":
		out.Stream = string(o.Name + o.Stream)
		out.Text = plain(string(o.Text))
		return out
	case "error", "pyerr":
		out.Type = "error"
		var lines []string
		for _, l := range o.Traceback {
			lines = append(lines, string(l))
		}
		if len(lines) == 0 {
			lines = []string{fmt.Sprintf("%s: %s", o.Error, o.Value)}
		}
		out.Text = plain(strings.Join(lines, "\n"))
		return out
	case "pyout":
		out.Type = "execute_result"
	}
	bundle := map[string]text{"text/plain": o.Text, "image/png": o.PNG, "image/jpeg": o.JPEG, "image/svg+xml": o.SVG, "text/html": o.HTML}
	for mime, raw := range o.Data {
		var t text
		_ = t.UnmarshalJSON(raw) // it never fails on what is valid JSON
		bundle[mime] = t
		if t == "" {
			bundle[mime] = text(raw)
		}
	}
	out.take(bundle)
	return out
}

// take chooses from the forms of one output: pictures, and of the texts the
// plainest.
func (o *Output) take(bundle map[string]text) {
	readable := []string{"text/plain", "text/markdown", "text/latex", "text/html", "application/json", "image/svg+xml"}
	for _, mime := range readable {
		if t := bundle[mime]; o.Text == "" && t != "" {
			o.Text = plain(string(t))
		}
	}
	for mime, t := range bundle {
		switch {
		case t == "" || slices.Contains(readable, mime):
		case mime == "image/png", mime == "image/jpeg", mime == "image/gif", mime == "image/webp":
			data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(string(t)), ""))
			if err == nil && len(data) > 0 {
				o.Images = append(o.Images, Image{mime, data})
				continue
			}
			o.Other = append(o.Other, mime)
		default:
			o.Other = append(o.Other, mime)
		}
	}
	slices.Sort(o.Other)
	slices.SortFunc(o.Images, func(a, b Image) int { return strings.Compare(a.MIMEType, b.MIMEType) })
}

// plain is text as a terminal would have left it: without the sequences that
// colour it, and where a line was written over, its last state.
func plain(s string) string {
	var b bytes.Buffer
	for line := range strings.Lines(s) {
		end := strings.TrimRight(line, "\r\n")
		b.WriteString(overwritten(unstyled(end)))
		if strings.HasSuffix(line, "\n") {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// overwritten is what is left to see of a line that returned to its beginning,
// as progress bars do.
func overwritten(line string) string {
	if at := strings.LastIndexByte(line, '\r'); at >= 0 {
		return line[at+1:]
	}
	return line
}

// unstyled is a line without terminal sequences: ESC [ … letter, and ESC with
// one more byte.
func unstyled(line string) string {
	if !strings.ContainsRune(line, '\x1b') {
		return line
	}
	var b strings.Builder
	for i := 0; i < len(line); i++ {
		if line[i] != '\x1b' {
			b.WriteByte(line[i])
			continue
		}
		if i++; i < len(line) && line[i] == '[' {
			i++
			for i < len(line) && (line[i] < 0x40 || line[i] > 0x7e) {
				i++
			}
		}
	}
	return b.String()
}
