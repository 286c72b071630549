package syntax

import (
	"bytes"
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
)

// outlineGo reads Go with the standard library's parser. Of a broken file it
// reads each top-level declaration alone, so that one mistake hides no other.
func outlineGo(ctx context.Context, found *collector, data []byte) error {
	err := (&goOutline{found: found}).read(data)
	if err == nil {
		return nil
	}
	found.symbols = nil
	partial := &PartialError{Reason: "syntax errors"}
	if list, ok := errors.AsType[scanner.ErrorList](err); ok && len(list) > 0 {
		partial.Line = list[0].Pos.Line
	}
	for first := 0; first < len(found.lines); {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		next := first + 1
		for next < len(found.lines) && !declares(found.lines[next]) {
			next++
		}
		if declares(found.lines[first]) {
			part := bytes.Join(found.lines[first:next], []byte("\n"))
			from := len(found.symbols)
			failed := (&goOutline{found: found, skipped: first - 1}).read(append([]byte("package p\n"), part...))
			if list, ok := errors.AsType[scanner.ErrorList](failed); ok && len(list) > 0 {
				p := Problem{Line: min(list[0].Pos.Line+first-1, len(found.lines)), Message: list[0].Msg}
				partial.Faults = append(partial.Faults, p)
				for i := range found.symbols[from:] {
					found.symbols[from+i].Doubt = &p
				}
			}
		}
		first = next
	}
	return partial
}

func declares(line []byte) bool {
	for _, word := range [...]string{"func ", "type ", "const ", "var ", "const(", "var(", "type("} {
		if bytes.HasPrefix(line, []byte(word)) {
			return true
		}
	}
	return false
}

type goOutline struct {
	set     *token.FileSet
	found   *collector
	skipped int // lines before the part that is read
}

func (g *goOutline) read(data []byte) error {
	g.set = token.NewFileSet()
	file, err := parser.ParseFile(g.set, "", data, parser.SkipObjectResolution)
	if file != nil {
		for _, d := range file.Decls {
			g.decl(d)
		}
	}
	return err
}

func (g *goOutline) decl(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if owner := receiver(d); owner != "" {
			g.add(d.Name, Method, owner, d.Pos(), d.End())
		} else {
			g.add(d.Name, Function, "", d.Pos(), d.End())
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			start, end := s.Pos(), s.End()
			if !d.Lparen.IsValid() {
				start, end = d.Pos(), d.End()
			}
			g.spec(s, d.Tok, start, end)
		}
	}
}

func (g *goOutline) spec(s ast.Spec, tok token.Token, start, end token.Pos) {
	switch s := s.(type) {
	case *ast.TypeSpec:
		kind := Type
		switch t := s.Type.(type) {
		case *ast.StructType:
			kind = Struct
			defer g.fields(t.Fields, s.Name.Name)
		case *ast.InterfaceType:
			kind = Interface
			defer g.fields(t.Methods, s.Name.Name)
		}
		g.add(s.Name, kind, "", start, end)
	case *ast.ValueSpec:
		kind := Variable
		if tok == token.CONST {
			kind = Constant
		}
		for _, name := range s.Names {
			g.add(name, kind, "", start, end)
		}
	}
}

func (g *goOutline) fields(list *ast.FieldList, owner string) {
	if list == nil {
		return
	}
	for _, f := range list.List {
		kind := Field
		if _, ok := f.Type.(*ast.FuncType); ok && owner != "" && len(f.Names) == 1 && f.Names[0].End() == f.Type.Pos() {
			kind = Method // of an interface: "Name(…)"
		}
		for _, name := range f.Names {
			g.add(name, kind, owner, f.Pos(), f.End())
		}
	}
}

func (g *goOutline) add(name *ast.Ident, kind Kind, parent string, start, end token.Pos) {
	if name.Name == "_" || name.Name == "" {
		return
	}
	from, to := g.set.Position(start), g.set.Position(end)
	depth := 0
	if parent != "" {
		depth = 1
	}
	g.found.add(Symbol{Name: name.Name, Kind: kind, Parent: parent, Depth: depth, Line: from.Line + g.skipped, Column: from.Column, EndLine: to.Line + g.skipped})
}

// receiver is the name of a method's type, "" for a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return ""
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.ParenExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return "?"
		}
	}
}
