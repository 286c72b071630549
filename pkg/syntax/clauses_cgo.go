//go:build cgo

package syntax

import sitter "github.com/smacker/go-tree-sitter"

// arity counts the parameters of the head of an Elixir function.
func (w *walker) arity(arguments *sitter.Node) int {
	if arguments == nil || arguments.NamedChildCount() == 0 {
		return 0
	}
	head := arguments.NamedChild(0)
	if head.Type() == "binary_operator" { // a guard
		if head = head.ChildByFieldName("left"); head == nil {
			return 0
		}
	}
	if head.Type() != "call" {
		return 0
	}
	if parameters := childOf(head, "arguments"); parameters != nil {
		return int(parameters.NamedChildCount())
	}
	return 0
}

// clause adds a clause to the function above it, of which it is a part.
func (w *walker) clause(s Symbol, n *sitter.Node) bool {
	if len(w.found.symbols) == 0 {
		return false
	}
	last := &w.found.symbols[len(w.found.symbols)-1]
	if last.arity != s.arity || last.Path() != s.Path() || last.Kind != s.Kind {
		return false
	}
	last.EndLine = int(n.EndPoint().Row) + 1
	return true
}

// attributes is the line where the @doc, @spec and the like above a function
// begin; 0 where there are none.
func (w *walker) attributes(n *sitter.Node) int {
	first := 0
	for range 50 {
		n = n.PrevNamedSibling()
		if n == nil || n.Type() != "unary_operator" && n.Type() != "comment" {
			break
		}
		if n.Type() == "unary_operator" {
			name := follow(n, "operand/target")
			if name == nil || !hasWord(w.found.lang.attributes, name.Content(w.src)) {
				break
			}
			first = int(n.StartPoint().Row) + 1
		}
	}
	return first
}
