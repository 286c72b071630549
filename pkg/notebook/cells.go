package notebook

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrOld says that a notebook has a format whose cells cannot be changed.
var ErrOld = errors.New("an older format than 4")

// A File is a notebook whose cells can be changed. Every byte that does not belong to
// what is changed stays as it is: spaces, the order of members, members nobody knows.
type File struct {
	before, after []byte // what stands in front of the first cell, and behind the last
	cells         []part
	ids           bool // new cells have an id, as the format wants it
	style         style
}

// A part is a cell as it stands in the file.
type part struct{ gap, raw []byte } // gap: the comma and the spaces in front of it

// A style is how a file is laid out.
type style struct {
	newline string // "" where all stands on one line
	unit    string // the indentation of one level
	colon   string // what stands between a name and its value
}

// Open reads a notebook whose cells are to be changed. What is none is [ErrFormat], one
// of an older format [ErrOld].
func Open(data []byte) (*File, error) {
	n, err := Parse(data)
	if err != nil {
		return nil, err
	}
	if !json.Valid(data) {
		return nil, fmt.Errorf("%w: it is no JSON", ErrFormat)
	}
	top, err := spans(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	f := &File{style: styleOf(data, top)}
	var major, minor int
	if _, err := fmt.Sscanf(n.Format, "%d.%d", &major, &minor); err != nil || major < 4 {
		return nil, ErrOld
	}
	f.ids = major > 4 || minor >= 5
	list := find(top, "cells")
	if list == nil || data[list.start] != '[' {
		return nil, fmt.Errorf("%w: its cells are no list", ErrFormat)
	}
	cells, err := spans(data[list.start:list.end])
	if err != nil {
		return nil, err
	}
	at := list.start + 1
	f.before = data[:at]
	for _, c := range cells {
		raw := data[list.start+c.start : list.start+c.end]
		if raw[0] != '{' {
			return nil, fmt.Errorf("%w: a cell is no object", ErrFormat)
		}
		f.cells = append(f.cells, part{data[at : list.start+c.start], raw})
		at = list.start + c.end
	}
	f.after = data[at:]
	return f, nil
}

// Size is how many bytes the file has.
func (f *File) Size() int {
	n := len(f.before) + len(f.after)
	for _, c := range f.cells {
		n += len(c.gap) + len(c.raw)
	}
	return n
}

// Bytes are the whole file.
func (f *File) Bytes() []byte {
	b := slices.Clone(f.before)
	for _, c := range f.cells {
		b = append(append(b, c.gap...), c.raw...)
	}
	return append(b, f.after...)
}

// IDs are those of the cells: see [Cell].
func (f *File) IDs() []string {
	list := make([]string, len(f.cells))
	for i := range f.cells {
		list[i] = string(f.member(i, "id"))
		if list[i] == "" {
			list[i] = nameOf(i)
		}
	}
	return list
}

// nameOf is the id of a cell that has none in the file.
func nameOf(i int) string { return fmt.Sprintf("cell-%d", i) }

// Type is that of a cell.
func (f *File) Type(i int) string { return string(f.member(i, "cell_type")) }

// Source is the text of a cell.
func (f *File) Source(i int) string { return string(f.member(i, "source")) }

// member is a member of a cell that is a text.
func (f *File) member(i int, name string) (t text) {
	raw := f.cells[i].raw
	list, _ := spans(raw) // which were read before
	if m := find(list, name); m != nil {
		_ = t.UnmarshalJSON(raw[m.start:m.end])
	}
	return t
}

// Replace gives a cell another source and another type; "" leaves that. A cell of code
// loses what the old source has printed. It reports whether there was anything of that.
func (f *File) Replace(i int, source, kind string) (cleared bool) {
	if kind == "" {
		kind = f.Type(i)
	}
	raw := f.cells[i].raw
	list, _ := spans(raw)
	if m := find(list, "outputs"); m != nil {
		inner, _ := spans(raw[m.start:m.end])
		cleared = len(inner) > 0
	}
	var now any = lines(source)
	if m := find(list, "source"); m != nil && raw[m.start] == '"' {
		now = source
	}
	if kind != f.Type(i) {
		f.set(i, "cell_type", kind)
	}
	if kind == "code" {
		f.set(i, "execution_count", nil)
		f.set(i, "outputs", []string{})
	} else {
		f.drop(i, "execution_count")
		f.drop(i, "outputs")
	}
	f.set(i, "source", now)
	return cleared
}

// Insert makes a new cell that is the one at i then, and returns its id.
func (f *File) Insert(i int, source, kind string) string {
	cell := struct {
		Type      string          `json:"cell_type"`
		Execution json.RawMessage `json:"execution_count,omitempty"`
		ID        string          `json:"id,omitempty"`
		Metadata  struct{}        `json:"metadata"`
		Outputs   json.RawMessage `json:"outputs,omitempty"`
		Source    []string        `json:"source"`
	}{Type: kind, Source: lines(source)}
	if f.ids {
		cell.ID = f.newID(i, source)
	}
	if kind == "code" {
		cell.Execution, cell.Outputs = json.RawMessage("null"), json.RawMessage("[]")
	}
	made := part{f.style.pad(2), f.style.encode(cell, 2)}
	switch {
	case len(f.cells) == 0:
		f.after = append(f.style.pad(1), bytes.TrimLeft(f.after, " \t\r\n")...)
	case i == 0:
		made.gap, f.cells[0].gap = f.cells[0].gap, append([]byte(","), f.style.pad(2)...)
	default:
		made.gap = append([]byte(","), f.style.pad(2)...)
	}
	f.cells = slices.Insert(f.cells, i, made)
	return f.IDs()[i]
}

// Delete takes a cell out.
func (f *File) Delete(i int) {
	if i == 0 && len(f.cells) > 1 {
		f.cells[1].gap = f.cells[0].gap
	}
	if f.cells = slices.Delete(f.cells, i, i+1); len(f.cells) == 0 {
		f.after = bytes.TrimLeft(f.after, " \t\r\n")
	}
}

// newID is an id that no cell has. It follows from the call, so that a dry run names
// the one that will be.
func (f *File) newID(i int, source string) string {
	ids := f.IDs()
	for n := 0; ; n++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %d %q %s", n, i, ids, source))
		if id := hex.EncodeToString(sum[:4]); !slices.Contains(ids, id) {
			return id
		}
	}
}

// set gives a member of a cell another value; one that is not there is added.
func (f *File) set(i int, name string, value any) {
	raw := f.cells[i].raw
	list, _ := spans(raw)
	encoded := f.style.encode(value, 3)
	if m := find(list, name); m != nil {
		f.cells[i].raw = slices.Concat(raw[:m.start], encoded, raw[m.end:])
		return
	}
	at, comma := 1, ""
	if n := len(list); n > 0 {
		at, comma = list[n-1].end, ","
	}
	f.cells[i].raw = slices.Concat(raw[:at], []byte(comma), f.style.pad(3), []byte(`"`+name+`"`+f.style.colon), encoded, raw[at:])
}

// drop takes a member of a cell away.
func (f *File) drop(i int, name string) {
	raw := f.cells[i].raw
	list, _ := spans(raw)
	at := slices.IndexFunc(list, func(s span) bool { return s.name == name })
	switch {
	case at < 0:
	case at > 0:
		f.cells[i].raw = slices.Concat(raw[:list[at-1].end], raw[list[at].end:])
	case len(list) > 1:
		f.cells[i].raw = slices.Concat(raw[:list[0].key], raw[list[1].key:])
	default:
		f.cells[i].raw = []byte("{}")
	}
}

// A span is a value within an array or object, and where its key begins.
type span struct {
	name            string
	key, start, end int
}

// find is the value of a name: the last one, as readers of JSON have it.
func find(list []span, name string) *span {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].name == name {
			return &list[i]
		}
	}
	return nil
}

// spans are the values that an array or an object holds.
func spans(raw []byte) ([]span, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	open, err := dec.Token()
	if err != nil {
		return nil, err
	}
	var list []span
	for end := int(dec.InputOffset()); dec.More(); end = list[len(list)-1].end {
		s := span{key: end + len(raw[end:]) - len(bytes.TrimLeft(raw[end:], ", \t\r\n"))}
		if open == json.Delim('{') {
			key, err := dec.Token()
			if err != nil {
				return nil, err
			}
			s.name, _ = key.(string)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		s.end = int(dec.InputOffset())
		s.start = s.end - len(value)
		list = append(list, s)
	}
	return list, nil
}

// mostUnit is how many blanks a notebook indents a level by at most; one that has more is not
// imitated, but gets what is new as Jupyter writes it.
const mostUnit = 32

// styleOf is the style of a file with these members.
func styleOf(data []byte, top []span) style {
	s := style{colon: ": "}
	if len(top) == 0 {
		return s
	}
	first := top[0]
	if name := data[first.key:first.start]; bytes.HasSuffix(name, []byte(`":`)) {
		s.colon = ":"
	}
	lead := string(data[:first.key])
	if at := strings.LastIndexByte(lead, '\n'); at >= 0 && strings.Trim(lead[at:], " \t\r\n") == "" {
		if s.newline, s.unit = "\n", lead[at+1:]; len(s.unit) > mostUnit {
			s.unit = " "
		}
		if strings.HasSuffix(lead[:at], "\r") {
			s.newline = "\r\n"
		}
	}
	return s
}

// pad is what stands in front of a line of a depth.
func (s style) pad(depth int) []byte {
	if s.newline == "" {
		return nil
	}
	return []byte(s.newline + strings.Repeat(s.unit, depth))
}

// encode is a value at a depth.
func (s style) encode(value any, depth int) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if s.newline != "" {
		enc.SetIndent(strings.Repeat(s.unit, depth), s.unit)
	}
	if enc.Encode(value) != nil {
		return []byte("null") // texts and lists of them can be encoded
	}
	raw := bytes.TrimRight(b.Bytes(), "\n")
	if s.newline == "\r\n" {
		raw = bytes.ReplaceAll(raw, []byte("\n"), []byte("\r\n"))
	}
	return raw
}

// lines is a text as notebooks hold it: a list of lines with their ends.
func lines(source string) []string {
	return append([]string{}, slices.Collect(strings.Lines(source))...)
}
