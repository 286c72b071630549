package syntax

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// predeclared are the names that stand for something without a declaration: https://go.dev/ref/spec#Predeclared_identifiers.
const predeclared = " any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint uint8 uint16 uint32 uint64 uintptr" +
	" true false iota nil append cap clear close complex copy delete imag len make max min new panic print println real recover "

// Removed lists the names that a change takes away from the package level of a
// Go file: those of functions, types, variables and constants, sorted, but for what the
// language declares itself. It is
// empty for other languages, and for what cannot be parsed.
func Removed(name string, before, after []byte) []string {
	if !strings.HasSuffix(name, ".go") || before == nil {
		return nil
	}
	was, old := topLevel(before)
	_, now := topLevel(after)
	if was == nil || now == nil {
		return nil
	}
	var gone []string
	for n := range old {
		if !now[n] && n != "_" && n != "init" && !strings.Contains(predeclared, " "+n+" ") {
			gone = append(gone, n)
		}
	}
	slices.Sort(gone)
	return gone
}

// Dangling returns where a Go file of the same package uses names that nothing
// declares any more. The others are all files of the package, after the change,
// by path; a name that one of them declares is not missed.
func Dangling(pkg []byte, names []string, others map[string][]byte) map[string][]Problem {
	home, _ := topLevel(pkg)
	if home == nil {
		return nil
	}
	files := map[string]*ast.File{}
	sets := map[string]*token.FileSet{}
	missing := map[string]bool{}
	for _, n := range names {
		missing[n] = true
	}
	for path, data := range others {
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, data, 0)
		if err != nil || f.Name.Name != home.Name.Name {
			continue
		}
		files[path], sets[path] = f, set
		for n := range declaredIn(f) {
			delete(missing, n)
		}
	}
	found := map[string][]Problem{}
	for path, f := range files {
		lines := bytes.Split(others[path], []byte("\n"))
		for _, id := range f.Unresolved {
			if !missing[id.Name] {
				continue
			}
			at := sets[path].Position(id.Pos())
			found[path] = append(found[path], Problem{
				Line: at.Line, Column: at.Column, Message: "undefined: " + id.Name, Text: clip(string(bytes.TrimRight(lines[at.Line-1], "\r"))),
			})
		}
	}
	return found
}

// topLevel parses a file and lists what it declares; nil when it is broken.
func topLevel(data []byte) (*ast.File, map[string]bool) {
	f, err := parser.ParseFile(token.NewFileSet(), "", data, 0)
	if err != nil {
		return nil, nil
	}
	return f, declaredIn(f)
}

func declaredIn(f *ast.File) map[string]bool {
	names := map[string]bool{}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				names[d.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					names[s.Name.Name] = true
				case *ast.ValueSpec:
					for _, n := range s.Names {
						names[n.Name] = true
					}
				}
			}
		}
	}
	return names
}
