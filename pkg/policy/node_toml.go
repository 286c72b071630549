package policy

import (
	"bytes"
	"errors"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// parseTOML reads a TOML document. A table or key stands once.
func parseTOML(data []byte) (*node, *Problem) {
	r := tomlReader{data: data, root: &node{kind: mapNode, line: 1, at: -1}, headers: map[*node]bool{}, starts: lineStarts(data)}
	r.table = r.root
	r.parser.Reset(data)
	for r.parser.NextExpression() {
		if err := r.expression(r.parser.Expression()); err != nil {
			return nil, err
		}
	}
	if err := r.parser.Error(); err != nil {
		line := 0
		if pe, ok := errors.AsType[*unstable.ParserError](err); ok && len(pe.Highlight) > 0 {
			line = r.parser.Shape(r.parser.Range(pe.Highlight)).Start.Line
		}
		return nil, &Problem{Line: line, What: err.Error()}
	}
	return r.root, nil
}

type tomlReader struct {
	parser  unstable.Parser
	data    []byte
	root    *node
	table   *node          // where key = value goes
	headers map[*node]bool // tables that had a [header] of their own
	starts  []int          // of the lines
}

func (r *tomlReader) expression(e *unstable.Node) *Problem {
	switch e.Kind {
	case unstable.KeyValue:
		return r.keyValue(r.table, e, 0)
	case unstable.Table, unstable.ArrayTable:
		return r.header(e)
	}
	return nil
}

// header moves to the table of [a.b] or adds one to the list of [[a.b]].
func (r *tomlReader) header(e *unstable.Node) *Problem {
	keys := r.keys(e.Key())
	at, problem := r.walk(r.root, keys[:len(keys)-1])
	if problem != nil {
		return problem
	}
	last := keys[len(keys)-1]
	have := at.get(last.text)
	if e.Kind == unstable.Table {
		if have == nil {
			have = &node{kind: mapNode, line: last.line, at: -1}
			at.set(last, have)
		} else if have.kind != mapNode || r.headers[have] {
			return &Problem{Line: last.line, What: "the table " + last.text + " stands twice"}
		}
		r.headers[have], r.table = true, have
		return nil
	}
	if have == nil {
		have = &node{kind: listNode, line: last.line, at: -1}
		at.set(last, have)
		r.headers[have] = true
	} else if have.kind != listNode || !r.headers[have] {
		return &Problem{Line: last.line, What: "the key " + last.text + " stands twice"}
	}
	r.table = &node{kind: mapNode, line: last.line, at: -1}
	have.items = append(have.items, r.table)
	return nil
}

func (r *tomlReader) keys(it unstable.Iterator) (keys []*node) {
	for it.Next() {
		k := it.Node()
		keys = append(keys, &node{kind: stringNode, text: string(k.Data), line: r.line(k)})
	}
	return keys
}

func (r *tomlReader) line(n *unstable.Node) int {
	if n.Raw.Length == 0 {
		return 0
	}
	return r.parser.Shape(n.Raw).Start.Line
}

// walk follows dotted keys through maps, making them as needed.
func (r *tomlReader) walk(at *node, keys []*node) (*node, *Problem) {
	if len(keys) > maxDepth {
		return nil, &Problem{Line: keys[0].line, What: "the file is nested too deeply"}
	}
	for _, key := range keys {
		next := at.get(key.text)
		if next == nil {
			next = &node{kind: mapNode, line: key.line, at: -1}
			at.set(key, next)
		}
		if next.kind == listNode && len(next.items) > 0 && r.headers[next] {
			next = next.items[len(next.items)-1]
		}
		if next.kind != mapNode {
			return nil, &Problem{Line: key.line, What: "the key " + key.text + " stands twice"}
		}
		at = next
	}
	return at, nil
}

func (r *tomlReader) keyValue(into *node, e *unstable.Node, depth int) *Problem {
	keys := r.keys(e.Key())
	at, problem := r.walk(into, keys[:len(keys)-1])
	if problem != nil {
		return problem
	}
	last := keys[len(keys)-1]
	value, problem := r.value(e.Value(), last, depth)
	if problem != nil {
		return problem
	}
	if !at.set(last, value) {
		return &Problem{Line: last.line, What: "the key " + last.text + " stands twice"}
	}
	return nil
}

func (r *tomlReader) value(v *unstable.Node, key *node, depth int) (*node, *Problem) {
	if depth > maxDepth {
		return nil, &Problem{Line: key.line, What: "the file is nested too deeply"}
	}
	n := &node{line: max(r.line(v), key.line), at: -1, text: string(v.Data)}
	switch v.Kind {
	case unstable.String:
		n.kind = stringNode
	case unstable.Bool:
		n.kind = boolNode
	case unstable.Integer, unstable.Float:
		n.kind, n.text = numberNode, strings.ReplaceAll(n.text, "_", "")
	case unstable.Array:
		n.kind, n.text = listNode, ""
		n.at = r.bracket(key.line)
		for it := v.Children(); it.Next(); {
			if it.Node().Kind == unstable.Comment {
				continue
			}
			item, problem := r.value(it.Node(), &node{line: n.line}, depth+1)
			if problem != nil {
				return nil, problem
			}
			n.items = append(n.items, item)
		}
	case unstable.InlineTable:
		n.kind, n.text = mapNode, ""
		for it := v.Children(); it.Next(); {
			if problem := r.keyValue(n, it.Node(), depth+1); problem != nil {
				return nil, problem
			}
		}
	default:
		return nil, &Problem{Line: n.line, What: "dates are not used in policies"}
	}
	return n, nil
}

// bracket returns the offset of the first [ after the = on a line.
func (r *tomlReader) bracket(line int) int {
	if line < 1 || line > len(r.starts) {
		return -1
	}
	rest := r.data[r.starts[line-1]:]
	eq := bytes.IndexByte(rest, '=')
	if eq < 0 {
		return -1
	}
	open := bytes.IndexByte(rest[eq:], '[')
	if open < 0 {
		return -1
	}
	return r.starts[line-1] + eq + open
}
