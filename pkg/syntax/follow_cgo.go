//go:build cgo

package syntax

import (
	"strings"

	sitter "github.com/smacker/go-tree-sitter"
)

// applies checks the conditions of a rule.
func (w *walker) applies(r rule, n *sitter.Node) bool {
	parent := ""
	if r.within != "" || r.unless != "" {
		parent = w.typeAt(len(w.path) - 1)
	}
	if r.within != "" && !hasWord(r.within, parent) || r.unless != "" && hasWord(r.unless, parent) {
		return false
	}
	if r.when == "" {
		return true
	}
	// "path" for a node that is there, "path:types", "path=texts".
	split := strings.IndexAny(r.when, ":=")
	if split < 0 {
		return follow(n, r.when) != nil
	}
	where, values := r.when[:split], r.when[split+1:]
	if r.when[split] == ':' {
		if chain, ok := strings.CutSuffix(where, "*"); ok {
			return anyInChain(n, chain, values)
		}
		node := follow(n, where)
		return node != nil && hasWord(values, node.Type())
	}
	node := follow(n, where)
	return node != nil && hasWord(values, strings.ToLower(node.Content(w.src)))
}

func anyInChain(n *sitter.Node, field, types string) bool {
	for range 100 {
		if n = inner(n, field); n == nil {
			return false
		}
		if n.Type() == "qualified_identifier" {
			if name := n.ChildByFieldName("name"); name != nil && name.Type() == "operator_cast" {
				n = name
			}
		}
		if hasWord(types, n.Type()) {
			// "(*f)(…)" is a variable that points to a function.
			next := inner(n, field)
			return next == nil || next.Type() != "parenthesized_declarator"
		}
	}
	return false
}

// inner goes one step down a chain of declarators.
func inner(n *sitter.Node, field string) *sitter.Node {
	if n.Type() == "operator_cast" {
		return nil
	}
	if next := n.ChildByFieldName(field); next != nil {
		return next
	}
	switch n.Type() {
	case "parenthesized_declarator", "reference_declarator", "attributed_declarator":
		return n.NamedChild(0)
	}
	return nil
}

// follow goes down a path: "name" is a field, "#type" the first child of a
// type, "field*" a field as often as it is there, "." the node.
func follow(n *sitter.Node, path string) *sitter.Node {
	for step := range strings.SplitSeq(path, "/") {
		if n == nil {
			return nil
		}
		switch {
		case step == ".":
		case strings.HasPrefix(step, "#"):
			n = childOf(n, step[1:])
		case strings.HasSuffix(step, "*"):
			for range 100 {
				next := inner(n, step[:len(step)-1])
				if next == nil {
					break
				}
				n = next
			}
		default:
			n = n.ChildByFieldName(step)
		}
	}
	return n
}

func childOf(n *sitter.Node, kind string) *sitter.Node {
	for i := 0; i < int(n.NamedChildCount()) && i < 100; i++ {
		if c := n.NamedChild(i); c.Type() == kind {
			return c
		}
	}
	return nil
}

// nameOf tries the paths of a rule, separated by "|", and cleans the text.
func (w *walker) nameOf(r rule, n *sitter.Node) string {
	for path := range strings.SplitSeq(r.name, "|") {
		node := follow(n, path)
		if node == nil {
			continue
		}
		if r.plain != "" && !hasWord(r.plain, node.Type()) {
			continue
		}
		text := node.Content(w.src[:min(len(w.src), int(node.EndByte()))])
		if len(text) > 4000 {
			text = text[:4000]
		}
		if at := strings.Index(text, "operator "); at >= 0 && node.Type() != "function_definition" && strings.Contains(r.name, "declarator*") {
			if paren := strings.IndexByte(text[at:], '('); paren > len("operator ") {
				text = text[:at+paren] // a conversion's name has its parameters
			}
		}
		if r.clean != nil {
			text = r.clean(text)
		}
		if text = strings.Trim(strings.Join(strings.Fields(text), " "), `"'`+"`"); text != "" {
			return r.prefix + text
		}
	}
	return ""
}
