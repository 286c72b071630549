package main

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/cmd"
	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// advising are the functions whose texts are advice for models, and which argument
// that is.
var advising = map[string]int{"WithHint": 0, "Next": 0, "Advise": 0, "Missing": 1, "Notef": 0, "note": 0, "state": 0, "fail": 1}

// plainWords are names of tools and parameters that are also words of English, and
// stand in advice as such: "read the file again" is understood whatever the tool is
// called. So is any of them behind an article, as in "part of the input".
const plainWords = "after all before calls change column command content context count description edit file find format hidden id last limit line lines list long mode pages path pattern patch question read shell signal since status text to try type until wait word write"

// TestHints checks that advice names tools and parameters in braces, so that the models
// which know them by other names are told those: every name in braces exists, and
// every word that can only be a name stands in them.
func TestHints(t *testing.T) {
	known, names := toolsAndParams()
	plain := strings.Fields(plainWords)
	files, set := parse(t)
	texts := 0
	for name, f := range files {
		if !strings.HasPrefix(name, "pkg/tool") && !strings.HasPrefix(name, "pkg/edit/") {
			continue // what the command line says is for whoever typed it
		}
		for pos, text := range advice(f) {
			texts++
			checkAdvice(t, set.Position(pos).String(), text, known, names, plain, strings.HasPrefix(name, "pkg/edit/"))
		}
	}
	if texts < 150 {
		t.Errorf("only %d texts were found", texts)
	}
}

// toolsAndParams are the tools with their parameters, and the names of both.
func toolsAndParams() (known map[string]map[string]bool, names map[string]bool) {
	known, names = map[string]map[string]bool{}, map[string]bool{}
	for _, one := range cmd.Tools {
		known[one.Name] = map[string]bool{}
		names[one.Name] = true
		for _, p := range param.Of(one.New()).Params {
			known[one.Name][p.Name], names[p.Name] = true, true
		}
	}
	return known, names
}

// TestUnfilled: a name in braces stands nowhere but in advice: elsewhere nobody fills it in,
// and the model reads the braces.
func TestUnfilled(t *testing.T) {
	known, names := toolsAndParams()
	files, set := parse(t)
	for name, f := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		told := advice(f)
		ast.Inspect(f, func(n ast.Node) bool {
			l, ok := n.(*ast.BasicLit)
			if !ok || l.Kind != token.STRING || told[l.Pos()] != "" {
				return true
			}
			text, _ := strconv.Unquote(l.Value)
			for rest := text; rest != ""; rest = rest[1:] {
				one, param, size := tool.Named(rest)
				if size > 0 && (known[one] != nil || one == "" && names[param]) {
					t.Errorf("%s: {%s.%s} is no part of a hint or a note: %q", set.Position(l.Pos()), one, param, text)
				}
			}
			return true
		})
	}
}

func checkAdvice(t *testing.T, where, text string, known map[string]map[string]bool, names map[string]bool, plain []string, engine bool) {
	bare := ""
	for rest := text; rest != ""; {
		one, param, size := tool.Named(rest)
		if size == 0 {
			bare, rest = bare+rest[:1], rest[1:]
			continue
		}
		rest, bare = rest[size:], bare+" "
		params, is := known[one]
		switch {
		case engine:
			t.Errorf("%s: an engine knows no tools: %q", where, text)
		case one != "" && !is, one != "" && param != "" && !params[param], one == "" && !names[param]:
			t.Errorf("%s: there is no {%s.%s}: %q", where, one, param, text)
		}
	}
	before := ""
	for _, word := range strings.FieldsFunc(bare, func(r rune) bool { return (r < 'a' || r > 'z') && r != '_' && r != '-' && r != '/' }) {
		noun := strings.Contains(" a every for no of standard the two ", " "+before+" ")
		if before = word; names[word] && !noun && !slices.Contains(plain, word) {
			t.Errorf("%s: %s belongs in braces, as {%s} or {.%s}, for models that call it something else: %q", where, word, word, word, text)
		}
	}
}

// advice finds the texts in f that are advice.
func advice(f *ast.File) map[token.Pos]string {
	found := map[token.Pos]string{}
	add := func(e ast.Expr) {
		ast.Inspect(e, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				text, _ := strconv.Unquote(l.Value)
				found[l.Pos()] = text
			}
			_, inner := n.(*ast.CallExpr)
			return !inner
		})
	}
	kept := map[string]bool{"hint": true} // variables that hold advice
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			name := ""
			switch fn := n.Fun.(type) {
			case *ast.SelectorExpr:
				name = fn.Sel.Name
			case *ast.Ident:
				name = fn.Name
			}
			if at, ok := advising[name]; ok && len(n.Args) > at {
				add(n.Args[at])
				if id, ok := n.Args[at].(*ast.Ident); ok {
					kept[id.Name] = true
				}
			}
			if name == "add" && len(n.Args) > 0 { // notes in a row
				add(n.Args[0])
			}
		case *ast.KeyValueExpr:
			if id, ok := n.Key.(*ast.Ident); ok && strings.EqualFold(id.Name, "hint") {
				add(n.Value)
			}
		case *ast.CompositeLit: // {error, code, hint}
			if n.Type == nil && len(n.Elts) == 3 {
				if l, ok := n.Elts[2].(*ast.BasicLit); ok {
					add(l)
				}
			}
		}
		return true
	})
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				if id, ok := left.(*ast.Ident); ok && kept[id.Name] && i < len(n.Rhs) {
					add(n.Rhs[i])
				}
			}
		case *ast.ValueSpec:
			for i, id := range n.Names {
				if kept[id.Name] && i < len(n.Values) {
					add(n.Values[i])
				}
			}
		}
		return true
	})
	return found
}
