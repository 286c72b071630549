package policy

import (
	"bytes"
	"encoding/json"
	"errors"
)

// parseJSON reads one JSON value; keys stand once.
func parseJSON(data []byte) (*node, *Problem) {
	if !json.Valid(data) {
		var v any
		err := json.Unmarshal(data, &v)
		line := 1
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			line = lineAt(data, int(syntax.Offset)-1)
		}
		if err == nil {
			err = errors.New("the JSON is malformed")
		}
		return nil, &Problem{Line: line, What: err.Error()}
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	r := jsonReader{dec: dec, data: data, line: 1}
	return r.value(0)
}

type jsonReader struct {
	dec  *json.Decoder
	data []byte
	seen int
	line int
}

// here returns the line of the token just read.
func (r *jsonReader) here() int {
	at := int(r.dec.InputOffset())
	r.line += bytes.Count(r.data[r.seen:at], []byte("\n"))
	r.seen = at
	return r.line
}

func (r *jsonReader) value(depth int) (*node, *Problem) {
	if depth > maxDepth {
		return nil, &Problem{Line: r.line, What: "the file is nested too deeply"}
	}
	token, err := r.dec.Token()
	if err != nil {
		return nil, &Problem{Line: r.line, What: err.Error()}
	}
	n := &node{line: r.here(), at: -1}
	switch t := token.(type) {
	case json.Delim:
		n.at = int(r.dec.InputOffset()) - 1
		if t == '{' {
			n.kind = mapNode
			return n, r.fields(n, depth)
		}
		n.kind = listNode
		for r.dec.More() {
			item, err := r.value(depth + 1)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, item)
		}
		_, _ = r.dec.Token() // the closing bracket; the text is known to be valid
	case string:
		n.kind, n.text = stringNode, t
	case json.Number:
		n.kind, n.text = numberNode, t.String()
	case bool:
		n.kind, n.text = boolNode, map[bool]string{true: "true", false: "false"}[t]
	}
	return n, nil
}

func (r *jsonReader) fields(n *node, depth int) *Problem {
	for r.dec.More() {
		token, err := r.dec.Token()
		if err != nil {
			return &Problem{Line: r.line, What: err.Error()}
		}
		name, _ := token.(string)
		key := &node{kind: stringNode, text: name, line: r.here()}
		value, problem := r.value(depth + 1)
		if problem != nil {
			return problem
		}
		if !n.set(key, value) {
			return &Problem{Line: key.line, What: "the key " + name + " stands twice"}
		}
	}
	_, _ = r.dec.Token()
	return nil
}

// canonicalJSON returns a JSON value with sorted keys and without blanks. Two
// texts with the same result mean the same to every decoder: a key that
// stands twice is an error.
func canonicalJSON(data []byte) ([]byte, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return []byte("{}"), nil
	}
	n, problem := parseJSON(data)
	if problem != nil {
		return nil, problem
	}
	return json.Marshal(n.plain())
}

// plain returns the node as encoding/json has it.
func (n *node) plain() any {
	switch n.kind {
	case stringNode:
		return n.text
	case numberNode:
		return json.Number(n.text)
	case boolNode:
		return n.text == "true"
	case listNode:
		list := make([]any, len(n.items))
		for i, item := range n.items {
			list[i] = item.plain()
		}
		return list
	case mapNode:
		m := make(map[string]any, len(n.items))
		for i, key := range n.keys {
			m[key.text] = n.items[i].plain()
		}
		return m
	}
	return nil
}
