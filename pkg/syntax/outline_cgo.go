//go:build cgo

package syntax

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	sitter "github.com/smacker/go-tree-sitter"
)

// outlineTree walks the tree, and in it only where the rules let it.
func outlineTree(ctx context.Context, found *collector, data []byte) error {
	ready := prepared{text: data}
	if found.lang.prepare != nil {
		ready = found.lang.prepare(data)
	}
	t, err := parseBest(ctx, found.lang, ready.text)
	if err != nil {
		return err
	}
	defer t.close()
	w := &walker{ctx: ctx, src: ready.text, found: found, lang: t.lang, seen: map[string]bool{}}
	w.index(found.lang)
	first := len(found.symbols)
	if err := w.walk(t.root); err != nil {
		return err
	}
	broken := append(faults(t.root, ready.text, maxFaults), w.odd...)
	found.doubt(found.symbols[first:], broken, ready.uneven)
	if len(broken) > 0 {
		return &PartialError{Reason: "syntax errors", Line: slices.MinFunc(broken, func(a, b Problem) int { return a.Line - b.Line }).Line, Faults: broken}
	}
	return nil
}

// parseBest tries the second grammar of a language where its first one fails,
// and takes what fails less.
func parseBest(ctx context.Context, lang *language, data []byte) (*tree, error) {
	t, err := parseMended(ctx, lang, data)
	if err != nil || lang.second == "" || !t.root.HasError() {
		return t, err
	}
	other := *lang
	other.grammar = lang.second
	u, err := parse(ctx, &other, data)
	if err != nil {
		return t, ctx.Err()
	}
	if len(faults(u.root, data, maxFaults)) < len(faults(t.root, data, maxFaults)) {
		t, u = u, t
	}
	u.close()
	return t, nil
}

// mostMending is for how long mends are begun: a text that takes the grammar longer is no everyday one, and may be made to.
const mostMending = maxParse / 8

// parseMended reads a text as it is and, where the grammar cannot, with each of lang.mends
// that leaves fewer mistakes, or that makes something of what was one as a whole. The tree's
// places are those of data. No mend is begun after mostMending.
func parseMended(ctx context.Context, lang *language, data []byte) (*tree, error) {
	began := time.Now()
	t, err := parse(ctx, lang, data)
	if err != nil || lang.mends == nil || !t.root.HasError() {
		return t, err
	}
	left := len(faults(t.root, data, maxCompared))
	reads := func(text string) bool {
		if time.Since(began) > mostMending {
			return false
		}
		u, err := parse(ctx, lang, []byte(text))
		if err != nil {
			return false
		}
		defer u.close()
		return !u.root.HasError()
	}
	for _, mend := range lang.mends() {
		if time.Since(began) > mostMending {
			break
		}
		mended := mend(data, reads)
		if mended == nil {
			continue
		}
		u, err := parse(ctx, lang, mended)
		if err != nil {
			if ctx.Err() != nil {
				t.close()
				return nil, ctx.Err()
			}
			continue
		}
		n := len(faults(u.root, mended, maxCompared))
		if t.root.IsError() && !u.root.IsError() || n < left {
			t, u, data, left = u, t, mended, n
		}
		if u.close(); left == 0 {
			break
		}
	}
	return t, nil
}

// walker turns a tree into symbols.
type walker struct {
	ctx      context.Context
	src      []byte
	found    *collector
	lang     *sitter.Language
	rules    [][]rule // by the symbol of a node
	closures []bool   // by the symbol of a node
	path     []step   // from the root to the node's parent
	scopes   []scope
	seen     map[string]bool // paths of variables
	odd      []Problem       // mistakes that the grammar lets pass
}

// step is a node on the way to the present one.
type step struct {
	node    *sitter.Node
	kind    string // its type; "" until it is asked for
	closure bool   // it or one above is a closure
	scoped  bool   // it opened a scope
}

type scope struct {
	path  string // names joined by dots
	kind  Kind
	depth int
}

func (w *walker) index(l *language) {
	count := int(w.lang.SymbolCount())
	w.rules, w.closures = make([][]rule, count), make([]bool, count)
	byType := map[string][]rule{}
	for _, r := range l.rules() {
		byType[r.node] = append(byType[r.node], r)
	}
	for s := range count {
		if w.lang.SymbolType(sitter.Symbol(s)) != sitter.SymbolTypeRegular {
			continue
		}
		name := w.lang.SymbolName(sitter.Symbol(s))
		w.rules[s], w.closures[s] = byType[name], hasWord(l.closures, name)
	}
}

func (w *walker) walk(root *sitter.Node) error {
	c := sitter.NewTreeCursor(root)
	defer c.Close()
	for n := 1; ; n++ {
		if n > maxNodes {
			return &PartialError{Reason: fmt.Sprintf("more than %d nodes", maxNodes)}
		}
		if n%1024 == 0 && w.ctx.Err() != nil {
			return w.ctx.Err()
		}
		node := c.CurrentNode()
		inside, scoped := w.visit(node)
		if inside && c.GoToFirstChild() {
			w.path = append(w.path, step{node: node, closure: w.closed() || w.at(w.closures, node), scoped: scoped})
			continue
		}
		if scoped {
			w.scopes = w.scopes[:len(w.scopes)-1]
		}
		for !c.GoToNextSibling() {
			if !c.GoToParent() || len(w.path) == 0 {
				return nil
			}
			if w.path[len(w.path)-1].scoped {
				w.scopes = w.scopes[:len(w.scopes)-1]
			}
			w.path = w.path[:len(w.path)-1]
		}
	}
}

func (w *walker) at(table []bool, n *sitter.Node) bool {
	s := int(n.Symbol())
	return s < len(table) && table[s]
}

func (w *walker) closed() bool { return len(w.path) > 0 && w.path[len(w.path)-1].closure }

func (w *walker) scope() scope {
	if len(w.scopes) == 0 {
		return scope{}
	}
	return w.scopes[len(w.scopes)-1]
}

// visit records the node if a rule says so; inside says whether to look at
// its children, scoped whether they are named below it.
func (w *walker) visit(n *sitter.Node) (inside, scoped bool) {
	s := int(n.Symbol())
	if s >= len(w.rules) { // broken code
		return true, false
	}
	for _, r := range w.rules[s] {
		if !w.applies(r, n) {
			continue
		}
		if r.fault {
			at := n.StartPoint()
			w.odd = append(w.odd, Problem{Line: int(at.Row) + 1, Column: int(at.Column) + 1, Message: fmt.Sprintf("cannot be read: %q", clipTo(n.Content(w.src), 60))})
			return false, false
		}
		if r.skip {
			return false, false
		}
		name := w.nameOf(r, n)
		if name == "" || len(name) > 300 && !r.pattern {
			continue
		}
		if r.pattern {
			w.names(r, n, follow(n, r.name), 0)
			return false, false
		}
		inside, scoped = w.record(r, n, name)
		if r.each != "" {
			inner := w.scopes
			if scoped {
				w.scopes = inner[:len(inner)-1]
			}
			w.others(r, n, name)
			w.scopes = inner
		}
		return inside, scoped
	}
	return true, false
}

// names records a, c and d of "const {a, b: c, ...d} = x" and of "a, (c, d) = x".
func (w *walker) names(r rule, n, pattern *sitter.Node, depth int) {
	for i := 0; i < int(pattern.NamedChildCount()) && i < 1000; i++ {
		c := pattern.NamedChild(i)
		switch c.Type() {
		case "object_assignment_pattern", "assignment_pattern":
			c = c.ChildByFieldName("left")
		case "pair_pattern":
			c = c.ChildByFieldName("value")
			if c != nil && c.Type() == "assignment_pattern" {
				c = c.ChildByFieldName("left")
			}
		}
		switch {
		case c == nil || depth > 20:
		case hasWord("identifier shorthand_property_identifier_pattern", c.Type()):
			if name := c.Content(w.src); len(name) <= 300 {
				w.record(r, n, name)
			}
		case hasWord("object_pattern array_pattern rest_pattern pattern_list tuple_pattern list_pattern list_splat_pattern", c.Type()):
			w.names(r, n, c, depth+1)
		}
	}
}

// others records b and c of "int a, b, c;".
func (w *walker) others(r rule, n *sitter.Node, first string) {
	for _, within := range [...]string{"variable_declaration", "argument_list"} {
		if list := childOf(n, within); list != nil {
			n = list
		}
	}
	for i := 0; i < int(n.ChildCount()) && i < 1000; i++ {
		if n.FieldNameForChild(i) != r.each && n.Child(i).Type() != r.each {
			continue
		}
		one := r
		one.name = "name|#identifier|."
		node := n.Child(i)
		if r.name == r.each+"*" {
			one.name = "."
			if inner(node, r.each) != nil {
				one.name = r.name
			}
		}
		if name := w.nameOf(one, node); name != "" && name != first && len(name) <= 300 {
			one.leaf = true
			w.record(one, n, name)
		}
	}
}

func (w *walker) record(r rule, n *sitter.Node, name string) (inside, scoped bool) {
	outer := w.scope()
	name, parent, qualified := qualify(r, name, outer.path)
	if r.rename != nil {
		name = r.rename(w.heading(n), name)
	}
	s := Symbol{Name: name, Kind: kindIn(r.kind, outer.kind, qualified), Parent: parent, Depth: outer.depth}
	if r.kind == Variable && isConstant(name) {
		s.Kind = Constant
	}
	deeper := scope{path: s.Path(), kind: s.Kind, depth: outer.depth + 1}
	if r.lends != nil {
		lent := s
		lent.Name = r.lends(name)
		deeper.path, deeper.kind = lent.Path(), Type
	}
	switch {
	case s.Kind == "": // only a place for names
		deeper.kind, deeper.depth = Type, outer.depth
	case r.kind == Variable:
		if w.closed() {
			return true, false
		}
		if w.seen[s.Path()] { // only where it first gets a value
			return false, false
		}
		w.seen[s.Path()] = true
		w.emit(s, n)
	case r.clauses != "":
		s.arity = 1 + w.arity(follow(n, r.clauses))
		if !w.clause(s, n) {
			w.emit(s, n)
		}
	default:
		w.emit(s, n)
	}
	if r.leaf {
		return false, false
	}
	if r.flat {
		return true, false
	}
	w.scopes = append(w.scopes, deeper)
	return true, true
}

// qualify splits a name such as "Shape::area", "Shape:area" or
// "exports.run" into what it belongs to and what it is called.
func qualify(r rule, name, outer string) (last, parent string, qualified bool) {
	if r.split == "" {
		return name, outer, false
	}
	parts := strings.Split(strings.NewReplacer("::", "\x00", ":", "\x00", ".", "\x00").Replace(name), "\x00")
	last = strings.TrimSpace(parts[len(parts)-1])
	var owners []string
	for _, p := range parts[:len(parts)-1] {
		p, _, _ = strings.Cut(strings.TrimSpace(p), "<")
		if p != "" && !hasWord(r.split, p) {
			owners = append(owners, p)
		}
	}
	qualified = len(owners) > 0
	if outer != "" {
		owners = append([]string{outer}, owners...)
	}
	return last, strings.Join(owners, "."), qualified
}

// isConstant knows LIMIT and MAX_SIZE.
func isConstant(name string) bool {
	return len(name) > 1 && strings.ToUpper(name) == name && name[0] >= 'A' && name[0] <= 'Z'
}

func kindIn(k, outer Kind, qualified bool) Kind {
	typed := qualified || outer == Class || outer == Interface || outer == Struct || outer == Type || outer == Enum
	switch {
	case typed && (k == Function || k == Prototype):
		return Method
	case typed && !qualified && k == Variable:
		return Field
	}
	return k
}

func (w *walker) emit(s Symbol, n *sitter.Node) {
	start := declared(n)
	end := n.EndPoint()
	line := int(start.Row) + 1
	column := int(start.Column) + 1
	// Some grammars count the space before a word to it.
	if text := w.src[min(int(n.StartByte()), len(w.src)):]; start == n.StartPoint() {
		for len(text) > 0 && (text[0] == '\n' || text[0] == '\r' || text[0] == ' ' || text[0] == '\t') && len(text) > 1 {
			column++
			if text[0] == '\n' {
				line, column = line+1, 1
			}
			text = text[1:]
		}
	}
	s.Line, s.Column, s.EndLine = line, column, int(end.Row)+1
	if end.Column == 0 && s.EndLine > s.Line {
		s.EndLine--
	}
	if s.EndLine == s.Line {
		s.endColumn = int(end.Column) + 1
	}
	if line == int(start.Row)+1 {
		s.First = min(line, w.wrapped(n))
	}
	if w.found.lang.attributes != "" {
		if first := w.attributes(n); first > 0 {
			s.First = first
		}
	}
	w.found.add(s)
}

// declared is where a declaration begins behind its decorators.
func declared(n *sitter.Node) sitter.Point {
	for i := 0; i < int(n.ChildCount()) && i < 100; i++ {
		child := n.Child(i)
		switch child.Type() {
		case "decorator", "attribute_list", "attribute_item", "annotation", "marker_annotation", "comment", "block_comment", "line_comment":
			continue
		case "modifiers":
			if p := declared(child); p != child.EndPoint() {
				return p
			}
			continue
		}
		return child.StartPoint()
	}
	return n.EndPoint()
}

// wrapped is the first line of the node or of the node around it that adds
// decorators, an export or type parameters to it alone.
func (w *walker) wrapped(n *sitter.Node) int {
	first := int(n.StartPoint().Row) + 1
	for i, v := range slices.Backward(w.path) {
		switch w.typeAt(i) {
		case "decorated_definition", "export_statement", "template_declaration", "ambient_declaration", "lexical_declaration":
			first = int(v.node.StartPoint().Row) + 1
			continue
		}
		break
	}
	return first
}

// heading is the text of a declaration up to its name, with its decorators.
func (w *walker) heading(n *sitter.Node) string {
	end := n.EndByte()
	if name := n.ChildByFieldName("name"); name != nil {
		end = name.StartByte()
	}
	start := n.StartByte()
	if i := len(w.path) - 1; w.typeAt(i) == "decorated_definition" {
		start = w.path[i].node.StartByte()
	}
	return string(w.src[min(start, end):min(end, start+4000)])
}

func (w *walker) typeAt(i int) string {
	if i < 0 || i >= len(w.path) {
		return ""
	}
	if w.path[i].kind == "" {
		w.path[i].kind = w.path[i].node.Type()
	}
	return w.path[i].kind
}
