package policy

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/agentkit-go/agentkit/pkg/nearest"
)

// Limits of a policy file.
const (
	maxFile  = 1 << 20
	maxDepth = 20
	maxKeys  = 256 // of one map
)

// A Problem is one thing that is wrong with a policy file or rule.
type Problem struct {
	File string // "" for rules of the command line
	Line int    // 1-based; 0 when the file as a whole is meant
	What string
	Near string // the known name that was probably meant; often ""
}

// Error returns file:line: what.
func (p *Problem) Error() string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(p.File)
		b.WriteByte(':')
		if p.Line > 0 {
			fmt.Fprintf(&b, "%d:", p.Line)
		}
		b.WriteByte(' ')
	}
	b.WriteString(p.What)
	if p.Near != "" {
		b.WriteString("; did you mean " + p.Near + "?")
	}
	return b.String()
}

// Problems is everything wrong with the policy: it refuses every call.
type Problems []*Problem

// Error returns the problems, one a line.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// A node is a value of a policy file, whatever the format.
type node struct {
	kind  nodeKind
	text  string // of a scalar
	line  int
	at    int     // byte offset of a list's opening bracket; -1 where it has none
	items []*node // of a list; a map's values
	keys  []*node // a map's keys, beside items
}

type nodeKind uint8

const (
	nullNode nodeKind = iota
	stringNode
	numberNode
	boolNode
	listNode
	mapNode
)

func (k nodeKind) String() string {
	return [...]string{"nothing", "text", "a number", "true or false", "a list", "a map"}[k]
}

func (n *node) get(key string) *node {
	for i, k := range n.keys {
		if k.text == key {
			return n.items[i]
		}
	}
	return nil
}

// set adds a key and reports whether it is new, and not one too many.
func (n *node) set(key, value *node) bool {
	if n.get(key.text) != nil || len(n.keys) >= maxKeys {
		return false
	}
	n.keys, n.items = append(n.keys, key), append(n.items, value)
	return true
}

// A format is how a policy file is written.
type format uint8

const (
	formatYAML format = iota
	formatTOML
	formatJSON
)

// formatOf tells a file's format by its name, else by how it begins.
func formatOf(name string, data []byte) format {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".yaml", ".yml":
		return formatYAML
	case ".toml":
		return formatTOML
	case ".json":
		return formatJSON
	}
	for line := range bytes.Lines(data) {
		line = bytes.TrimSpace(line)
		switch {
		case len(line) == 0 || line[0] == '#':
			continue
		case line[0] == '{':
			return formatJSON
		case line[0] == '[':
			return formatTOML
		}
		eq, colon := bytes.IndexByte(line, '='), bytes.IndexByte(line, ':')
		if eq >= 0 && (colon < 0 || eq < colon) {
			return formatTOML
		}
		break
	}
	return formatYAML
}

// parse reads a file into a map node.
func parse(name string, data []byte) (*node, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if len(data) > maxFile {
		return nil, &Problem{File: name, What: "the file is larger than 1 MiB"}
	}
	if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return nil, &Problem{File: name, What: "the file is not UTF-8 text"}
	}
	var n *node
	var err *Problem
	switch formatOf(name, data) {
	case formatJSON:
		n, err = parseJSON(data)
	case formatTOML:
		n, err = parseTOML(data)
	default:
		n, err = parseYAML(data)
	}
	if err != nil {
		err.File = name
		return nil, err
	}
	if n.kind != mapNode {
		return nil, &Problem{File: name, Line: n.line, What: "want a map of settings, have " + n.kind.String()}
	}
	return n, nil
}

// lineAt returns the 1-based line of an offset.
func lineAt(data []byte, offset int) int {
	return 1 + bytes.Count(data[:min(max(offset, 0), len(data))], []byte("\n"))
}

func near(name string, known []string) string { return nearest.Word(name, known) }
