package policy

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// parseYAML reads one document without anchors, aliases, merge keys or tags:
// a policy is read by people, and says what it says where it says it.
func parseYAML(data []byte) (*node, *Problem) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return &node{kind: mapNode, at: -1, line: 1}, nil
	} else if err != nil {
		return nil, yamlProblem(err)
	}
	var next yaml.Node
	if err := dec.Decode(&next); err == nil {
		return nil, &Problem{Line: next.Line, What: "a policy is one document"}
	} else if !errors.Is(err, io.EOF) {
		return nil, yamlProblem(err)
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		return nil, &Problem{Line: doc.Line, What: "want a map of settings"}
	}
	y := yamlReader{data: data, starts: lineStarts(data)}
	n, err := y.node(doc.Content[0], 0)
	if n != nil && n.kind == nullNode {
		return &node{kind: mapNode, at: -1, line: 1}, nil
	}
	return n, err
}

func yamlProblem(err error) *Problem {
	what, line := err.Error(), 0
	if m := regexp.MustCompile(`line (\d+)`).FindStringSubmatch(what); m != nil {
		line, _ = strconv.Atoi(m[1])
	}
	return &Problem{Line: line, What: what}
}

func lineStarts(data []byte) []int {
	starts := []int{0}
	for i, c := range data {
		if c == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

type yamlReader struct {
	data   []byte
	starts []int
}

func (y *yamlReader) node(n *yaml.Node, depth int) (*node, *Problem) {
	switch {
	case depth > maxDepth:
		return nil, &Problem{Line: n.Line, What: "the file is nested too deeply"}
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return nil, &Problem{Line: n.Line, What: "anchors and aliases are not allowed; a word that begins with * or & needs quotes"}
	case n.Style&yaml.TaggedStyle != 0:
		return nil, &Problem{Line: n.Line, What: "tags are not allowed; a word that begins with ! needs quotes"}
	}
	out := &node{line: n.Line, at: -1}
	switch n.Kind {
	case yaml.ScalarNode:
		out.kind, out.text = scalarKind(n.ShortTag()), n.Value
		return out, nil
	case yaml.SequenceNode:
		out.kind = listNode
		if n.Style&yaml.FlowStyle != 0 {
			out.at = y.offset(n.Line, n.Column)
		}
	default:
		out.kind = mapNode
		return out, y.fields(out, n, depth)
	}
	for _, item := range n.Content {
		next, err := y.node(item, depth+1)
		if err != nil {
			return nil, err
		}
		out.items = append(out.items, next)
	}
	return out, nil
}

func (y *yamlReader) fields(out *node, n *yaml.Node, depth int) *Problem {
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode || key.Anchor != "" || key.ShortTag() == "!!merge" {
			return &Problem{Line: key.Line, What: "a key is a plain word"}
		}
		value, err := y.node(n.Content[i+1], depth+1)
		if err != nil {
			return err
		}
		if !out.set(&node{kind: stringNode, text: key.Value, line: key.Line}, value) {
			return &Problem{Line: key.Line, What: "the key " + key.Value + " stands twice"}
		}
	}
	return nil
}

// offset returns the byte of a 1-based line and column, in characters.
func (y *yamlReader) offset(line, column int) int {
	if line < 1 || line > len(y.starts) {
		return -1
	}
	rest := y.data[y.starts[line-1]:]
	at := 0
	for i := range string(rest[:min(len(rest), 4*column)]) {
		if at++; at == column {
			return y.starts[line-1] + i
		}
	}
	return -1
}

func scalarKind(tag string) nodeKind {
	switch tag {
	case "!!null":
		return nullNode
	case "!!bool":
		return boolNode
	case "!!int", "!!float":
		return numberNode
	}
	return stringNode
}
