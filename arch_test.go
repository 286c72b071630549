package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/cmd"
)

const module = "github.com/agentkit-go/agentkit"

// A layer says which packages a package of this module may import, and why no
// others. docs/design.md draws the same picture.
type layer struct {
	ours   []string // by pattern
	theirs []string // by prefix
	why    string   // the reason for the limit
}

const (
	engine = "an engine knows files and processes, not tools, flags or servers"
	leaf   = "everything builds on it, so it builds on nothing"
)

// foundation is what engines may build on.
var foundation = []string{"pkg/policy", "pkg/workspace", "pkg/truncate", "pkg/text", "pkg/session", "pkg/killtree", "pkg/nearest"}

var layers = map[string]layer{
	"":              {ours: []string{"cmd", "pkg/tool", "pkg/early"}, why: "main decides nothing"},
	"pkg/gate":      {ours: []string{"pkg/policy", "pkg/sandbox", "pkg/shellparse", "pkg/workspace"}, why: "it joins the policy and the sandbox, and is the only place that does"},
	"pkg/early":     {ours: []string{"pkg/gate", "pkg/job", "pkg/sandbox"}, why: "it runs before everything else, for the stages of a command"},
	"cmd":           {ours: []string{"pkg/*"}, theirs: []string{"github.com/spf13/", "github.com/mattn/go-isatty", "golang.org/x/"}, why: "the command line is the only place that knows cobra and viper"},
	"pkg/nearest":   {why: leaf},
	"pkg/param":     {ours: []string{"pkg/nearest"}, why: leaf},
	"pkg/tool":      {ours: []string{"pkg/param", "pkg/policy", "pkg/workspace", "pkg/truncate", "pkg/audit", "pkg/session", "pkg/change", "pkg/nearest"}, why: "a tool is the same behind every face"},
	"pkg/policy":    {ours: []string{"pkg/nearest"}, theirs: []string{"github.com/bmatcuk/doublestar/v4", "github.com/pelletier/go-toml/v2", "go.yaml.in/yaml/v3", "golang.org/x/"}, why: "a decision needs facts, not engines"},
	"pkg/truncate":  {ours: []string{"pkg/text"}, why: leaf},
	"pkg/text":      {theirs: []string{"golang.org/x/text/"}, why: leaf},
	"pkg/workspace": {ours: []string{"pkg/policy", "pkg/nearest", "pkg/text"}, theirs: []string{"golang.org/x/sys/", "golang.org/x/text/"}, why: engine},
	"pkg/session":   {ours: []string{"pkg/nearest"}, theirs: []string{"golang.org/x/sys/"}, why: engine},
	"pkg/audit":     {ours: []string{"pkg/session"}, theirs: []string{"golang.org/x/sys/"}, why: engine},
	"pkg/fork":      {theirs: []string{"golang.org/x/sys/"}, why: leaf},
	"pkg/killtree":  {ours: []string{"pkg/fork"}, theirs: []string{"golang.org/x/sys/"}, why: leaf},
	"pkg/job":       {ours: foundation, theirs: []string{"golang.org/x/sys/", "github.com/creack/pty"}, why: engine},
	"pkg/sandbox":   {ours: append([]string{"pkg/fork"}, foundation...), theirs: []string{"golang.org/x/sys/"}, why: engine},
	"pkg/syntax":    {ours: foundation, theirs: []string{"github.com/pelletier/go-toml/v2", "go.yaml.in/yaml/v3", "github.com/smacker/go-tree-sitter"}, why: engine},
	"pkg/notebook":  {why: leaf},
	"pkg/pdftext":   {why: leaf},
	"pkg/change":    {ours: append([]string{"pkg/edit"}, foundation...), theirs: []string{"golang.org/x/sys/"}, why: engine},
	"pkg/rg":        {ours: foundation, theirs: []string{"github.com/bmatcuk/doublestar/v4", "golang.org/x/"}, why: engine},
	"pkg/edit":      {ours: foundation, theirs: []string{"github.com/aymanbagabas/go-udiff", "golang.org/x/"}, why: engine},
	"pkg/shellparse": {
		ours: foundation, theirs: []string{"mvdan.cc/sh/v3", "github.com/smacker/go-tree-sitter", "golang.org/x/"},
		why: "the shell's grammar is understood in one place",
	},
}

// TestLayers checks every import of every package, on each system and with
// cgo on and off: a platform's file must not slip through.
func TestLayers(t *testing.T) {
	for _, env := range [][]string{{"GOOS=linux", "CGO_ENABLED=1"}, {"GOOS=linux", "CGO_ENABLED=0"}, {"GOOS=darwin", "CGO_ENABLED=0"}, {"GOOS=windows", "CGO_ENABLED=0"}} {
		c := exec.Command("go", "list", "-e", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...")
		c.Env = append(c.Environ(), env...)
		out, err := c.Output()
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(out)) {
			checkImports(t, strings.Fields(line))
		}
	}
}

func checkImports(t *testing.T, words []string) {
	name := strings.TrimPrefix(strings.TrimPrefix(words[0], module), "/")
	may, ok := layers[name]
	if !ok {
		t.Errorf("%s stands in no layer: give it one in arch_test.go and docs/design.md", words[0])
		return
	}
	for _, imp := range words[1:] {
		ours, mine := strings.CutPrefix(imp, module+"/")
		theirs := !mine && strings.Contains(strings.SplitN(imp, "/", 2)[0], ".")
		switch {
		case mine && slices.ContainsFunc(may.ours, func(p string) bool { ok, _ := path.Match(p, ours); return ok }):
		case theirs && slices.ContainsFunc(may.theirs, func(p string) bool { return strings.HasPrefix(imp, p) }):
		case mine || theirs:
			t.Errorf("%s must not import %s: %s", words[0], imp, may.why)
		}
	}
}

// banned names what only main may use, because everything of the outside
// world reaches a call through its Env.
var banned = map[string]string{
	"os.Exit": "", "os.Getwd": "", "os.Stdin": "", "os.Stdout": "", "os.Stderr": "",
	"os.Getenv": "cmd/root.go", "os.Environ": "cmd/root.go", "os.LookupEnv": "",
	"fmt.Print": "", "fmt.Printf": "", "fmt.Println": "", "log.Fatal": "", "log.Print": "", "log.Printf": "",
}

// TestBanned checks that no product file outside main reaches for the process:
// streams, environment, exit, an init function, or state of a package.
func TestBanned(t *testing.T) {
	for name, f := range parse(t) {
		if name == "main.go" || name == "pkg/early/early.go" {
			continue // the program's beginning
		}
		ast.Inspect(f, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if pkg, ok := sel.X.(*ast.Ident); ok {
				if home, bad := banned[pkg.Name+"."+sel.Sel.Name]; bad && home != name {
					t.Errorf("%s uses %s.%s: it comes in through Env or an argument", name, pkg.Name, sel.Sel.Name)
				}
			}
			return true
		})
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s has an init function: start-up time is every call's time", name)
			}
		}
	}
}

// TestNoPackageState checks that no package-level variable outside main is
// ever assigned to: two calls in one process must not see each other.
func TestNoPackageState(t *testing.T) {
	vars := map[string]map[string]bool{} // by directory
	files := parse(t)
	for name, f := range files {
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			dir := path.Dir(name)
			if vars[dir] == nil {
				vars[dir] = map[string]bool{}
			}
			declared(d, func(id string, _ ast.Expr) { vars[dir][id] = true })
		}
	}
	for name, f := range files {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			local := locals(fn)
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				var targets []ast.Expr
				switch n := n.(type) {
				case *ast.AssignStmt:
					if n.Tok != token.DEFINE {
						targets = n.Lhs
					}
				case *ast.IncDecStmt:
					targets = []ast.Expr{n.X}
				}
				for _, target := range targets {
					if id := root(target); id != "" && !local[id] && vars[path.Dir(name)][id] {
						t.Errorf("%s: %s assigns to the package's variable %s", name, fn.Name.Name, id)
					}
				}
				return true
			})
		}
	}
}

// root is the name at the beginning of an expression that is assigned to.
func root(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.IndexExpr:
		return root(e.X)
	case *ast.SelectorExpr:
		return root(e.X)
	case *ast.StarExpr:
		return root(e.X)
	case *ast.ParenExpr:
		return root(e.X)
	}
	return ""
}

// locals are the names that a function declares itself.
func locals(fn *ast.FuncDecl) map[string]bool {
	names := map[string]bool{}
	fields := func(l *ast.FieldList) {
		if l == nil {
			return
		}
		for _, f := range l.List {
			for _, id := range f.Names {
				names[id.Name] = true
			}
		}
	}
	fields(fn.Recv)
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncType:
			fields(n.Params)
			fields(n.Results)
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				for _, e := range n.Lhs {
					names[root(e)] = true
				}
			}
		case *ast.RangeStmt:
			for _, e := range []ast.Expr{n.Key, n.Value} {
				if e != nil && n.Tok == token.DEFINE {
					names[root(e)] = true
				}
			}
		case *ast.GenDecl:
			declared(n, func(id string, _ ast.Expr) { names[id] = true })
		}
		return true
	})
	return names
}

// parse reads every product file of the module.
func parse(t *testing.T) map[string]*ast.File {
	t.Helper()
	set := token.NewFileSet()
	files := map[string]*ast.File{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "examples"):
			return fs.SkipDir
		case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			files[filepath.ToSlash(name)], err = parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestToolsApart checks that no tool's file uses a name that another tool's
// file declares: what two tools share belongs in pkg/.
func TestToolsApart(t *testing.T) {
	home := map[string]string{} // package-level name to its file
	tools := map[string]bool{}  // files that declare a *tool.Tool
	parsed := map[string]*ast.File{}
	for name, f := range parse(t) {
		if path.Dir(name) != "cmd" {
			continue
		}
		parsed[name] = f
		for _, d := range f.Decls {
			declared(d, func(id string, v ast.Expr) {
				home[id] = name
				tools[name] = tools[name] || isTool(v)
			})
		}
	}
	for name, f := range parsed {
		if !tools[name] {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if _, ok := n.X.(*ast.Ident); ok {
					return false
				}
			case *ast.KeyValueExpr:
				ast.Inspect(n.Value, func(ast.Node) bool { return true })
			case *ast.Ident:
				if at := home[n.Name]; n.Name != "_" && at != "" && at != name && tools[at] {
					t.Errorf("%s uses %s of %s", name, n.Name, at)
				}
			}
			return true
		})
	}
	count := 0
	for _, is := range tools {
		if is {
			count++
		}
	}
	if count != len(cmd.Tools) {
		t.Errorf("%d files declare a tool, and cmd.Tools lists %d: one file and one line each", count, len(cmd.Tools))
	}
}

// declared calls yield for each package-level name of d and its value.
func declared(d ast.Decl, yield func(string, ast.Expr)) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			yield(d.Name.Name, nil)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				yield(s.Name.Name, nil)
			case *ast.ValueSpec:
				for i, id := range s.Names {
					var v ast.Expr
					if i < len(s.Values) {
						v = s.Values[i]
					}
					yield(id.Name, v)
				}
			}
		}
	}
}

// isTool reports whether v is &tool.Tool{...}.
func isTool(v ast.Expr) bool {
	u, ok := v.(*ast.UnaryExpr)
	if !ok {
		return false
	}
	c, ok := u.X.(*ast.CompositeLit)
	if !ok {
		return false
	}
	sel, ok := c.Type.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "Tool"
}
