package syntax

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
	"go.yaml.in/yaml/v3"
)

// maxNesting is how deep keys are listed.
const maxNesting = 100

// level is an open object or list of a JSON file.
type level struct {
	object bool
	key    *Symbol // awaits its value
	path   string
	keys   int // around
}

// deepestJSON is how many brackets JSON has in each other at most: what has more is made to be hard to read.
const deepestJSON = 100_000

// outlineJSON lists the keys of objects, not those within lists. Comments and
// trailing commas do not disturb it.
func outlineJSON(ctx context.Context, found *collector, data []byte) error {
	data = withoutComments(data)
	dec := json.NewDecoder(bytes.NewReader(data))
	place := placer{data: data}
	var open []level
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		token, err := dec.Token()
		line, column := place.at(int(dec.InputOffset()))
		if err == io.EOF && len(open) == 0 {
			return nil
		}
		if err != nil || len(open) == deepestJSON {
			for _, o := range slices.Backward(open) {
				if k := o.key; k != nil {
					k.EndLine = line
					found.add(*k)
				}
			}
			reason := "syntax errors"
			if err == nil {
				reason = fmt.Sprintf("brackets in %d others", deepestJSON)
			}
			return &PartialError{Reason: reason, Line: line}
		}
		top := func() *level { return &open[len(open)-1] }
		switch delim, isDelim := token.(json.Delim); {
		case isDelim && (delim == '{' || delim == '['):
			next := level{object: delim == '{'}
			if len(open) > 0 {
				k := top().key
				switch {
				case k == nil && !top().object, len(open) > maxNesting:
					next.object = false // within a list, or too deep
				case k != nil:
					next.path, next.keys = k.Path(), k.Depth+1
				}
			}
			open = append(open, next)
			continue
		case isDelim:
			open = open[:len(open)-1]
		case len(open) > 0 && top().object && top().key == nil:
			name, _ := token.(string)
			top().key = &Symbol{Name: name, Kind: Key, Parent: top().path, Depth: top().keys, Line: line, Column: max(1, column-len(name)-2)}
			continue
		}
		if len(open) > 0 && top().key != nil {
			top().key.EndLine = line
			found.add(*top().key)
			top().key = nil
		}
	}
}

// placer counts lines up to offsets that only grow.
type placer struct {
	data         []byte
	offset, line int
	start        int // of the line
}

func (p *placer) at(offset int) (line, column int) {
	for ; p.offset < min(offset, len(p.data)); p.offset++ {
		if p.data[p.offset] == '\n' {
			p.line, p.start = p.line+1, p.offset+1
		}
	}
	return p.line + 1, p.offset - p.start + 1
}

// withoutComments blanks comments and trailing commas outside of strings, so
// that offsets stay.
func withoutComments(data []byte) []byte {
	data = bytes.Clone(data)
	if bytes.HasPrefix(data, []byte("\ufeff")) {
		copy(data, "   ")
	}
	blank := func(from, to int) {
		for i := from; i < to; i++ {
			if data[i] != '\n' {
				data[i] = ' '
			}
		}
	}
	comma := -1
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			comma = -1
			for i++; i < len(data) && data[i] != '"' && data[i] != '\n'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
		case c == '/' && i+1 < len(data) && (data[i+1] == '/' || data[i+1] == '*'):
			end := len(data)
			if data[i+1] == '/' {
				if n := bytes.IndexByte(data[i:], '\n'); n >= 0 {
					end = i + n
				}
			} else if n := bytes.Index(data[i+2:], []byte("*/")); n >= 0 {
				end = i + n + 4
			}
			blank(i, end)
			i = end - 1
		case c == ',':
			comma = i
		case (c == '}' || c == ']') && comma >= 0:
			blank(comma, comma+1)
			comma = -1
		case c != ' ' && c != '\t' && c != '\n' && c != '\r':
			comma = -1
		}
	}
	return data
}

// outlineYAML lists the keys of mappings, not those within lists. Broken files
// and templates are read line by line.
func outlineYAML(ctx context.Context, found *collector, data []byte) error {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var documents []*yaml.Node
	for {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		node := &yaml.Node{}
		err := dec.Decode(node)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			scanYAML(found)
			return &PartialError{Reason: "syntax errors", Line: yamlProblem(err).Line}
		}
		documents = append(documents, node)
	}
	for i, d := range documents {
		end := len(found.lines)
		if i+1 < len(documents) && len(documents[i+1].Content) > 0 {
			end = documents[i+1].Content[0].Line - 1
		}
		if len(d.Content) > 0 {
			found.yaml(d.Content[0], "", 0, end)
		}
	}
	return nil
}

func (c *collector) yaml(n *yaml.Node, parent string, depth, end int) {
	if n.Kind != yaml.MappingNode || depth > maxNesting {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, last := n.Content[i], end
		if i+2 < len(n.Content) {
			last = n.Content[i+2].Line - 1
		}
		if key.Kind != yaml.ScalarNode {
			continue
		}
		s := Symbol{Name: key.Value, Kind: Key, Parent: parent, Depth: depth, Line: key.Line, Column: key.Column, EndLine: c.valueEnd(max(last, key.Line), key.Line)}
		c.add(s)
		c.yaml(n.Content[i+1], s.Path(), depth+1, max(last, key.Line))
	}
}

// valueEnd moves up over what belongs to no value: blank lines, comments and
// the marks between documents.
func (c *collector) valueEnd(line, first int) int {
	for line = min(line, len(c.lines)); line > first; line-- {
		t := strings.TrimSpace(string(c.lines[line-1]))
		if t != "" && t[0] != '#' && t != "---" && t != "..." {
			break
		}
	}
	return line
}

// scanYAML takes each "key:" at its indent.
func scanYAML(found *collector) {
	var open []Symbol
	var indents []int
	leave := func(indent, line int) {
		for len(open) > 0 && indents[len(indents)-1] >= indent {
			s := open[len(open)-1]
			s.EndLine = found.valueEnd(line, s.Line)
			found.add(s)
			open, indents = open[:len(open)-1], indents[:len(indents)-1]
		}
	}
	for i, raw := range found.lines {
		indent, rest := leading(strings.TrimRight(string(raw), "\r"))
		key, ok := scalarKey(rest)
		if !ok {
			continue
		}
		if leave(indent, i); len(open) > maxNesting {
			continue
		}
		s := Symbol{Name: key, Kind: Key, Line: i + 1, Column: indent + 1, Depth: len(open)}
		if len(open) > 0 {
			s.Parent = open[len(open)-1].Path()
		}
		open, indents = append(open, s), append(indents, indent)
	}
	leave(0, len(found.lines))
}

func scalarKey(text string) (string, bool) {
	key, rest, ok := strings.Cut(text, ":")
	key = strings.Trim(key, `"'`)
	if !ok || key == "" || rest != "" && rest[0] != ' ' || strings.ContainsAny(key, "#{[-&*!|>%@` ") && !strings.ContainsAny(key, "_") {
		return "", false
	}
	return key, true
}

// outlineTOML lists tables and keys. Behind a mistake it goes on with the next
// table.
func outlineTOML(ctx context.Context, found *collector, data []byte) error {
	t := &tomlOutline{found: found, place: placer{data: data}}
	var broken *PartialError
	for offset := 0; offset < len(data); {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		failed := t.read(data, offset)
		if failed < 0 {
			break
		}
		if broken == nil {
			line := 1 + bytes.Count(data[:failed], []byte("\n"))
			broken = &PartialError{Reason: "syntax errors", Line: line}
		}
		next := bytes.Index(data[failed:], []byte("\n["))
		if next < 0 {
			break
		}
		offset = failed + next + 1
	}
	t.finish(len(found.lines))
	if broken != nil {
		return broken
	}
	return validTOML(data)
}

// validTOML finds what only the whole file shows, such as a key twice.
func validTOML(data []byte) error {
	var v any
	if e, ok := errors.AsType[*toml.DecodeError](toml.Unmarshal(data, &v)); ok {
		line, _ := e.Position()
		return &PartialError{Reason: "syntax errors", Line: line}
	}
	return nil
}

type tomlOutline struct {
	found *collector
	place placer
	table *Symbol
	key   *Symbol
}

// read takes the expressions from an offset on, and returns where it failed,
// or -1.
func (t *tomlOutline) read(data []byte, offset int) int {
	p := &unstable.Parser{}
	p.Reset(data[offset:])
	last := offset
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind != unstable.Table && e.Kind != unstable.ArrayTable && e.Kind != unstable.KeyValue {
			continue
		}
		var names []string
		at := -1
		for k := e.Key(); k.Next(); {
			if at < 0 {
				at = offset + int(k.Node().Raw.Offset)
			}
			names = append(names, string(k.Node().Data))
		}
		if at >= last {
			last = at
		}
		line, column := t.place.at(last)
		t.take(e.Kind, strings.Join(names, "."), line, column)
	}
	if p.Error() == nil {
		return -1
	}
	return last
}

func (t *tomlOutline) take(kind unstable.Kind, name string, line, column int) {
	if kind == unstable.KeyValue {
		t.end(&t.key, line-1)
		t.key = &Symbol{Name: name, Kind: Key, Line: line, Column: column}
		if t.table != nil {
			t.key.Parent, t.key.Depth = t.table.Name, 1
		}
		return
	}
	t.finish(line - 1)
	t.table = &Symbol{Name: name, Kind: Table, Line: line, Column: 1}
}

func (t *tomlOutline) finish(line int) {
	t.end(&t.key, line)
	t.end(&t.table, line)
}

func (t *tomlOutline) end(s **Symbol, line int) {
	if *s != nil {
		(*s).EndLine = t.found.valueEnd(line, (*s).Line)
		t.found.add(**s)
		*s = nil
	}
}
