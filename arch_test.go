package main

import (
	"go/ast"
	gobuild "go/build"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/cmd"
)

const module = "github.com/agentkit-go/agentkit"

// A layer says which packages a package of this module imports, and why it may
// import no others. docs/design.md draws the same picture.
type layer struct {
	ours   string // words, each a package of this module
	theirs string // words, each the beginning of other modules' paths
	why    string // the reason for the limit
}

const (
	engine = "an engine knows files and processes, not tools, flags or servers"
	leaf   = "everything builds on it, so it builds on nothing"
	family = "a family of tools uses engines, and no other family: what two share belongs below them"
	face   = "a face turns calls of another form into calls of tools, and back"
)

// layers lists exactly the arrows that there are: one that nothing uses fails
// the test as one too many does.
var layers = map[string]layer{
	"":              {"cmd pkg/gate pkg/job pkg/lsp pkg/sandbox pkg/script pkg/tool", "", "main decides nothing"},
	"cmd":           {"cmd/policycmd pkg/audit pkg/change pkg/committed pkg/dialect pkg/gate pkg/killtree pkg/machine pkg/mcp pkg/nearest pkg/param pkg/policy pkg/remote pkg/rg pkg/safefile pkg/sandbox pkg/serve pkg/serve/endpoint pkg/session pkg/shellparse pkg/syntax pkg/timeline pkg/tool pkg/tools/compose pkg/tools/files pkg/tools/plan pkg/tools/run pkg/tools/search pkg/tools/web pkg/truncate pkg/workspace", "github.com/pelletier/go-toml/v2 github.com/spf13/", "the command line is the only place that knows cobra and viper"},
	"cmd/policycmd": {"pkg/nearest pkg/policy pkg/safefile pkg/tool", "github.com/spf13/", "its commands see no more of a run than the run hands them"},

	"pkg/mcp":            {"pkg/param pkg/tool", "", face},
	"pkg/serve":          {"pkg/param pkg/serve/endpoint pkg/tool", "", face},
	"pkg/serve/endpoint": {"pkg/tool", "", face},
	"pkg/remote":         {"pkg/safefile pkg/serve pkg/tool", "", "it leads to another place, where the same tools are"},
	"pkg/dialect":        {"pkg/nearest pkg/param pkg/tool", "", face},

	"pkg/tools/run":     {"pkg/audit pkg/change pkg/committed pkg/confine pkg/gate pkg/job pkg/loss pkg/machine pkg/nearest pkg/overlay pkg/param pkg/policy pkg/programs pkg/rg pkg/safefile pkg/sandbox pkg/screen pkg/session pkg/shellparse pkg/steps pkg/tool pkg/treewalk pkg/truncate pkg/wall pkg/workspace pkg/world", "", family},
	"pkg/tools/files":   {"pkg/change pkg/edit pkg/job pkg/lsp pkg/machine pkg/notebook pkg/overlay pkg/param pkg/pdftext pkg/policy pkg/safefile pkg/syntax pkg/text pkg/tool pkg/truncate pkg/workspace", "", family},
	"pkg/tools/search":  {"pkg/nearest pkg/param pkg/policy pkg/rg pkg/syntax pkg/text pkg/tool pkg/truncate pkg/workspace", "", family},
	"pkg/tools/web":     {"pkg/change pkg/fetch pkg/notebook pkg/page pkg/param pkg/pdftext pkg/policy pkg/safefile pkg/session pkg/tool pkg/websearch pkg/workspace", "", family},
	"pkg/tools/plan":    {"pkg/param pkg/policy pkg/tool", "", family},
	"pkg/tools/compose": {"pkg/param pkg/policy pkg/script pkg/tool pkg/truncate pkg/workspace", "", family},
	"pkg/tool":          {"pkg/audit pkg/change pkg/committed pkg/machine pkg/nearest pkg/once pkg/param pkg/policy pkg/safefile pkg/session pkg/truncate pkg/workspace", "", "a tool is the same behind every face"},
	"pkg/machine":       {"pkg/killtree pkg/safefile pkg/sandbox", "github.com/mattn/go-isatty golang.org/x/sys/", "it tells what the machine offers, whoever asks"},

	"pkg/confine":     {"pkg/gate pkg/job pkg/machine pkg/policy pkg/programs pkg/safefile pkg/sandbox pkg/session pkg/steps pkg/tool pkg/wall pkg/world", "", "it makes the sandbox of a call, and starts nothing"},
	"pkg/loss":        {"pkg/change pkg/committed pkg/machine pkg/policy pkg/programs pkg/rg pkg/safefile pkg/sandbox pkg/session pkg/shellparse pkg/steps pkg/tool pkg/treewalk pkg/wall pkg/world", "", "it tells what a command takes away, and runs none"},
	"pkg/treewalk":    {"pkg/policy pkg/programs pkg/tool", "", "which files a program meets below a directory is told in one place"},
	"pkg/world":       {"pkg/machine pkg/policy pkg/safefile pkg/sandbox pkg/shellparse pkg/tool", "", "what the analysis may know of the machine it knows by this"},
	"pkg/wall":        {"pkg/gitindex pkg/gitsettings pkg/policy pkg/safefile", "golang.org/x/sys/", "it asks the policy about files, and knows of no sandbox"},
	"pkg/gate":        {"pkg/machine pkg/policy pkg/programs pkg/safefile pkg/sandbox pkg/shellparse pkg/wall pkg/workspace", "", "it joins the policy and the sandbox, and is the only place that does"},
	"pkg/job":         {"pkg/killtree pkg/safefile pkg/session", "github.com/creack/pty golang.org/x/sys/", engine},
	"pkg/lsp":         {"pkg/job pkg/safefile pkg/session", "", engine},
	"pkg/screen":      {"", "github.com/charmbracelet/x/", "what programs print reaches the terminal emulator through one fence"},
	"pkg/sandbox":     {"pkg/fork pkg/gitsettings pkg/killtree pkg/safefile", "golang.org/x/sys/", engine},
	"pkg/killtree":    {"pkg/fork", "golang.org/x/sys/", engine},
	"pkg/fork":        {"", "golang.org/x/sys/", leaf},
	"pkg/shellparse":  {"pkg/policy pkg/programs pkg/safefile", "github.com/smacker/go-tree-sitter mvdan.cc/sh/v3", "the shell's grammar is understood in one place"},
	"pkg/steps":       {"pkg/policy pkg/programs pkg/safefile", "", "it follows a command by its text, and looks at no file"},
	"pkg/rg":          {"pkg/safefile pkg/text pkg/workspace", "github.com/bmatcuk/doublestar/v4 golang.org/x/sys/", engine},
	"pkg/edit":        {"", "github.com/aymanbagabas/go-udiff golang.org/x/text/", engine},
	"pkg/change":      {"pkg/gitindex pkg/safefile pkg/session pkg/workspace", "golang.org/x/sys/", engine},
	"pkg/overlay":     {"pkg/change pkg/edit pkg/safefile pkg/session", "golang.org/x/sys/", engine},
	"pkg/syntax":      {"pkg/nearest", "github.com/pelletier/go-toml/v2 go.yaml.in/yaml/v3 github.com/smacker/go-tree-sitter", engine},
	"pkg/workspace":   {"pkg/nearest pkg/policy pkg/safefile", "golang.org/x/sys/", engine},
	"pkg/policy":      {"pkg/nearest pkg/programs pkg/safefile", "github.com/pelletier/go-toml/v2 go.yaml.in/yaml/v3 golang.org/x/", "a decision needs facts, not engines"},
	"pkg/programs":    {"pkg/gitindex pkg/gitsettings pkg/safefile", "", "what is known of programs is known without a shell or a policy"},
	"pkg/timeline":    {"pkg/audit", "", "it draws what is on record, and asks nobody else"},
	"pkg/audit":       {"pkg/safefile", "", engine},
	"pkg/committed":   {"pkg/gitindex pkg/safefile", "golang.org/x/sys/", engine},
	"pkg/once":        {"pkg/safefile pkg/session", "", engine},
	"pkg/session":     {"pkg/safefile", "", engine},
	"pkg/safefile":    {"", "golang.org/x/sys/", leaf},
	"pkg/truncate":    {"", "", leaf},
	"pkg/script":      {"", "github.com/yuin/gopher-lua", "it knows no tools: they are functions that it is given"},
	"pkg/param":       {"pkg/nearest", "", leaf},
	"pkg/nearest":     {"", "", leaf},
	"pkg/websearch":   {"pkg/page pkg/safefile", "golang.org/x/net/html", "it asks through a function that it is given, and knows no tools"},
	"pkg/fetch":       {"pkg/text pkg/zstd", "github.com/andybalholm/brotli golang.org/x/", "the network is reached in one place, and who may be reached is asked above it"},
	"pkg/page":        {"", "github.com/JohannesKaufmann/html-to-markdown/v2/ github.com/andybalholm/cascadia golang.org/x/net/html", engine},
	"pkg/gitindex":    {"", "", leaf},
	"pkg/gitsettings": {"", "", leaf},
	"pkg/notebook":    {"", "", leaf},
	"pkg/pdftext":     {"", "", leaf},
	"pkg/zstd":        {"", "", leaf},
	"pkg/text":        {"", "golang.org/x/text/", leaf},

	"examples/go": {"", "", "it is pasted into other programs"},
}

// coming are packages that have a place before they are there. Of these, what
// they may import need not be used; once a package is there, it moves to layers.
var coming = map[string]layer{}

// TestLayers checks every import of every package, on each system and with
// cgo on and off: a platform's file must not slip through.
func TestLayers(t *testing.T) {
	used := map[string]bool{} // "package word" for each word that an import needs
	for _, env := range [][]string{{"GOOS=linux", "CGO_ENABLED=1"}, {"GOOS=linux", "CGO_ENABLED=0"}, {"GOOS=darwin", "CGO_ENABLED=0"}, {"GOOS=windows", "CGO_ENABLED=0"}} {
		c := exec.Command("go", "list", "-e", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...")
		c.Env = append(c.Environ(), env...)
		out, err := c.Output()
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(out)) {
			checkImports(t, strings.Fields(line), used)
		}
	}
	for name, may := range layers {
		for word := range strings.FieldsSeq(may.ours + " " + may.theirs) {
			if !used[name+" "+word] {
				t.Errorf("%q may import %s, and does not: take it out of layers", name, word)
			}
		}
	}
}

func checkImports(t *testing.T, words []string, used map[string]bool) {
	name := strings.TrimPrefix(strings.TrimPrefix(words[0], module), "/")
	may, ok := layers[name]
	if planned, soon := coming[name]; !ok && soon {
		t.Errorf("%s has come: move it to layers, with exactly what it imports", name)
		may, ok = planned, soon
	}
	if !ok {
		t.Errorf("%s stands in no layer: give it one in arch_test.go and docs/design.md", words[0])
		return
	}
	for _, imp := range words[1:] {
		list, fits := may.theirs, strings.HasPrefix
		ours, mine := strings.CutPrefix(imp, module+"/")
		if mine {
			imp, list, fits = ours, may.ours, func(a, b string) bool { return a == b }
		} else if !strings.Contains(strings.SplitN(imp, "/", 2)[0], ".") {
			continue
		}
		i := slices.IndexFunc(strings.Fields(list), func(word string) bool { return fits(imp, word) })
		if i < 0 {
			t.Errorf("%s must not import %s: %s", words[0], imp, may.why)
			continue
		}
		used[name+" "+strings.Fields(list)[i]] = true
	}
}

// banned names what only main may use, because everything of the outside
// world reaches a call through its Env.
var banned = map[string]string{
	"os.Exit": "", "os.Getwd": "", "os.Chdir": "", "os.Stdin": "", "os.Stdout": "", "os.Stderr": "",
	"os.Getenv": "cmd/root.go", "os.Environ": "cmd/root.go", "os.LookupEnv": "",
	"fmt.Print": "", "fmt.Printf": "", "fmt.Println": "", "log.Fatal": "", "log.Print": "", "log.Printf": "",
}

// TestBanned checks that no product file outside main reaches for the process:
// streams, environment, exit, an init function, or state of a package.
func TestBanned(t *testing.T) {
	files, _ := parse(t)
	for name, f := range files {
		if name == "main.go" {
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
	files, _ := parse(t)
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
			declared(d, func(id string, _ ast.Expr) { vars[dir][id] = id != "_" }) // which asserts that a type has an interface
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
func parse(t *testing.T) (map[string]*ast.File, *token.FileSet) {
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
	return files, set
}

// TestToolsApart checks that no tool's file uses a name that another tool's
// file declares: what two tools share has a file of its own.
func TestToolsApart(t *testing.T) {
	tools := map[string]bool{} // files that declare a tool.Tool
	files, set := parse(t)
	dirs := map[string]bool{}
	for file, f := range files {
		for _, d := range f.Decls {
			declared(d, func(_ string, v ast.Expr) { tools[file] = tools[file] || isTool(v) })
		}
		if tools[file] {
			dirs[path.Dir(file)] = true
		}
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
	for dir := range dirs {
		if path.Dir(dir) != "pkg/tools" {
			t.Errorf("%s declares a tool: it belongs to a family in pkg/tools", dir)
		}
		for a, names := range arrows(dir, files, set) {
			if tools[a.from] && tools[a.to] {
				t.Errorf("%s uses %s of %s", a.from, strings.Join(names, ", "), a.to)
			}
		}
	}
}

// TestLayersOfFiles checks that files of a package do not use each other in a
// circle, so that a parameter can be followed from its flag to its effect in one
// direction.
func TestLayersOfFiles(t *testing.T) {
	files, set := parse(t)
	dirs := map[string][]string{}
	for name := range files {
		dirs[path.Dir(name)] = append(dirs[path.Dir(name)], name)
	}
	for dir, names := range dirs {
		if !strings.HasPrefix(dir, "cmd") && !strings.HasPrefix(dir, "pkg/tool") && !slices.Contains([]string{"pkg/confine", "pkg/loss", "pkg/machine", "pkg/treewalk", "pkg/world"}, dir) {
			continue // engines keep their own order
		}
		used := arrows(dir, files, set)
		leads := map[arrow]bool{} // by way of other files, too
		for a := range used {
			leads[a] = true
		}
		for _, by := range names {
			for _, from := range names {
				for _, to := range names {
					leads[arrow{from, to}] = leads[arrow{from, to}] || leads[arrow{from, by}] && leads[arrow{by, to}]
				}
			}
		}
		for a, what := range used {
			if leads[arrow{a.to, a.from}] {
				t.Errorf("%s uses %s of %s, which leads back to it", a.from, strings.Join(what, ", "), a.to)
			}
		}
	}
}

// TestDocsRoutes checks that the functions which docs/design.md follows are where
// it says.
func TestDocsRoutes(t *testing.T) {
	files, _ := parse(t)
	doc, err := os.ReadFile("docs/design.md")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for line := range strings.Lines(string(doc)) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 || !strings.HasSuffix(strings.TrimSpace(cells[1]), ".go`") {
			continue
		}
		name := strings.Trim(cells[1], " `")
		if files[name] == nil {
			t.Errorf("there is no %s", name)
			continue
		}
		for want := range strings.SplitSeq(cells[2], ",") {
			checked++
			if want = strings.Trim(want, " `"); !slices.Contains(functions(files[name]), want) {
				t.Errorf("%s declares no %s", name, want)
			}
		}
	}
	if checked < 30 {
		t.Errorf("only %d functions are followed", checked)
	}
}

// functions are the functions of a file, methods as Type.Method.
func functions(f *ast.File) []string {
	var list []string
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		switch {
		case !ok:
		case fn.Recv == nil:
			list = append(list, fn.Name.Name)
		default:
			list = append(list, root(fn.Recv.List[0].Type)+"."+fn.Name.Name)
		}
	}
	return list
}

// touching are the files of the command line that look at files or start programs
// themselves, and why. Everything else of the machine is an engine's.
var touching = map[string]string{
	"cmd/ask.go":              "it runs the program of --ask=cmd:",
	"cmd/bind.go":             "it looks whether a mistaken flag is a file's name",
	"cmd/consult.go":          "it reads the file of --answers",
	"cmd/fleet.go":            "it reads the file of --on @FILE",
	"cmd/config.go":           "it looks for the configuration",
	"cmd/doctorplace.go":      "it tries to write the state, and looks at who may read keys",
	"cmd/doctormachine.go":    "it starts this program a few times",
	"cmd/root.go":             "it hands on the environment",
	"cmd/live.go":             "it looks whether anybody reads standard output",
	"cmd/policycmd/cases.go":  "it reads files of cases",
	"cmd/policycmd/import.go": "it reads another agent's settings",
	"cmd/policycmd/init.go":   "it looks at a repository and writes its first policy",
}

// TestBannedInCommandLine checks that the command line leaves files and
// processes to the engines.
func TestBannedInCommandLine(t *testing.T) {
	files, _ := parse(t)
	touches := map[string]bool{}
	for name, f := range files {
		if !strings.HasPrefix(name, "cmd/") {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			pkg, ok := sel.X.(*ast.Ident)
			if !ok || pkg.Name != "os" && pkg.Name != "exec" {
				return true
			}
			if touches[name] = true; touching[name] == "" {
				t.Errorf("%s uses %s.%s: files and processes are for engines", name, pkg.Name, sel.Sel.Name)
			}
			return true
		})
	}
	for name := range touching {
		if !touches[name] {
			t.Errorf("%s touches nothing: take it out of the list", name)
		}
	}
}

// An arrow runs from a file that uses a function, method, type, variable or
// constant to the file of the same package that declares it.
type arrow struct{ from, to string }

// arrows returns those between the files of a package on Linux, with the names
// that are used. Other packages are not looked into: what is found are the names
// that this one declares.
func arrows(dir string, files map[string]*ast.File, set *token.FileSet) map[arrow][]string {
	here := gobuild.Default
	here.GOOS, here.GOARCH, here.CgoEnabled = "linux", "amd64", true
	var list []*ast.File
	for name, f := range files {
		if ok, err := here.MatchFile(dir, path.Base(name)); path.Dir(name) == dir && ok && err == nil {
			list = append(list, f)
		}
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: nothing{}, Error: func(error) {}} // what other packages declare is missed
	pkg, _ := conf.Check(dir, set, list, info)
	found := map[arrow][]string{}
	for id, obj := range info.Uses {
		v, variable := obj.(*types.Var)
		_, method := obj.(*types.Func)
		if obj.Pkg() != pkg || obj.Parent() != pkg.Scope() && !method || variable && v.IsField() {
			continue
		}
		a := arrow{filepath.ToSlash(set.Position(id.Pos()).Filename), filepath.ToSlash(set.Position(obj.Pos()).Filename)}
		if a.from != a.to && !slices.Contains(found[a], obj.Name()) {
			found[a] = append(found[a], obj.Name())
		}
	}
	return found
}

// nothing imports packages that declare nothing.
type nothing struct{}

func (nothing) Import(name string) (*types.Package, error) {
	p := types.NewPackage(name, path.Base(name))
	p.MarkComplete()
	return p, nil
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

// isTool reports whether v is tool.Tool{...}.
func isTool(v ast.Expr) bool {
	c, ok := v.(*ast.CompositeLit)
	if !ok {
		return false
	}
	sel, ok := c.Type.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "Tool"
}
