package syntax

import (
	"bytes"
	"context"
	"path"
	"slices"
	"strings"
)

// A Language is one that this build knows something of.
type Language struct {
	Name    string   `json:"name"`
	Endings []string `json:"endings"` // of file names, with their dots
	Outline bool     `json:"outline"` // Outline reads it
	Check   bool     `json:"check"`   // Check and New read it
}

// Languages lists what this build knows, by name.
func Languages() []Language {
	var all []Language
	for _, l := range languages() {
		known := Language{Name: l.name, Endings: strings.Fields(l.endings), Outline: l.outlined(), Check: l.checked()}
		if known.Outline || known.Check {
			all = append(all, known)
		}
	}
	slices.SortFunc(all, func(a, b Language) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// language is what the package knows of one language. Those with a pure
// parser are read alike in every build; the others need tree-sitter, and so
// cgo.
type language struct {
	name       string
	endings    string // of file names, separated by spaces
	files      string // whole names of files
	runs       string // programs that a #! line names
	pure       func(ctx context.Context, found *collector, data []byte) error
	check      func(data []byte) []Problem // without tree-sitter
	grammar    string                      // its name where it is not the language's
	second     string                      // the grammar to try where the first one fails
	page       bool                        // it holds scripts in other languages
	prepare    func(src []byte) prepared   // blanks what the grammar cannot read; nil for nothing
	mends      func() []mend               // rewrite it where a text cannot be read, and only if that helps; nil for nothing
	rules      func() []rule               // what counts in the tree
	attributes string                      // calls above a symbol that belong to it
	closures   string                      // node types whose variables are local
	reliable   bool                        // the grammar reads nearly all correct code, see TestFalseAlarms
	nested     bool                        // what a symbol holds stands further right than it does
	hash       bool                        // '#' begins a comment
	bare       bool                        // only comments above a symbol belong to it
	headless   bool                        // nothing above a symbol belongs to it
}

// tree is the name of its grammar.
func (l *language) tree() string {
	if l.grammar != "" {
		return l.grammar
	}
	return l.name
}

func (l *language) outlined() bool {
	return l.pure != nil || grammarOf(l.tree()) != nil && l.rules != nil
}

func (l *language) checked() bool {
	return l.check != nil || l.reliable && grammarOf(l.tree()) != nil
}

// languages says which grammars are reliable by measurement: files of correct
// code in which they find mistakes are 0 of 1,934 for Python, 1 of 2,624 for
// JavaScript, 0 of 1,500 for Java, 1 of 1,141 for Ruby, 0 of 283 for PHP,
// 0 of 502 for TypeScript without .d.ts files and 7 of 643 for Rust; but 3 of 40 for Lua, 28 of 757 for Bash, 29 of 169 for CSS
// and more for C, C++ and HTML. C#, Elixir and SQL were not measured.
//
// It is a function because the functions that it names need the list,
// too.
func languages() []language {
	return []language{
		{name: "Go", endings: ".go", pure: outlineGo, check: checkGo},
		{name: "JSON", endings: ".json .webmanifest .geojson", pure: outlineJSON, check: checkJSON, headless: true},
		{name: "Jupyter notebook", endings: ".ipynb", pure: outlineNotebook, check: checkJSON, headless: true},
		{name: "JSON with comments", endings: ".jsonc .json5 .code-workspace", pure: outlineJSON, headless: true},
		{name: "YAML", endings: ".yaml .yml", pure: outlineYAML, check: checkYAML, hash: true, bare: true},
		{name: "TOML", endings: ".toml", files: "Cargo.lock poetry.lock uv.lock Pipfile", pure: outlineTOML, check: checkTOML, hash: true, bare: true},
		{name: "Markdown", endings: ".md .markdown .mdx .mkd", pure: outlineMarkdown, headless: true},
		{name: "Python", endings: ".py .pyi .pyw", runs: "python python3 python2", rules: pythonRules, mends: pythonMends, closures: "lambda", reliable: true, hash: true, nested: true},
		{name: "JavaScript", endings: ".js .mjs .cjs .jsx", runs: "node nodejs", rules: scriptRules, mends: javaScriptMends, closures: scriptClosures, reliable: true, nested: true},
		{name: "TypeScript", endings: ".ts .mts .cts", runs: "deno bun ts-node", rules: scriptRules, mends: typeScriptMends, closures: scriptClosures, reliable: true, nested: true},
		{name: "TSX", endings: ".tsx", rules: scriptRules, mends: typeScriptMends, closures: scriptClosures, reliable: true, nested: true},
		{name: "Rust", endings: ".rs", rules: rustRules, mends: rustMends, closures: "closure_expression", reliable: true, hash: true, nested: true},
		{name: "Java", endings: ".java", rules: javaRules, mends: javaMends, closures: "lambda_expression", reliable: true, nested: true},
		{name: "C", endings: ".c", rules: cRules, prepare: prepareC, second: "C++", nested: true},
		{name: "C++", endings: ".cc .cpp .cxx .c++ .hh .hpp .hxx .h .inl .ipp .cu .ino", rules: cRules, prepare: prepareC, closures: "lambda_expression", nested: true},
		{name: "C#", endings: ".cs .csx", rules: csharpRules, prepare: prepareCSharp, closures: "lambda_expression", nested: true},
		{name: "Ruby", endings: ".rb .rake .gemspec .ru", files: "Rakefile Gemfile Vagrantfile Guardfile Brewfile", runs: "ruby", rules: rubyRules, mends: rubyMends, closures: "block do_block lambda", reliable: true, hash: true, nested: true},
		{name: "PHP", endings: ".php .phtml", runs: "php", rules: phpRules, mends: phpMends, closures: "anonymous_function_creation_expression anonymous_function arrow_function", reliable: true, hash: true, nested: true},
		{name: "Elixir", endings: ".ex .exs", runs: "elixir", rules: elixirRules, attributes: "doc typedoc spec impl deprecated since dialyzer derive enforce_keys", hash: true, nested: true, bare: true},
		{name: "Bash", endings: ".sh .bash .bats .ksh .ebuild", files: ".bashrc .bash_profile .profile PKGBUILD", runs: "sh bash dash ash ksh", rules: bashRules, hash: true, nested: true},
		{name: "Lua", endings: ".lua .rockspec", runs: "lua luajit", rules: luaRules, nested: true},
		{name: "SQL", endings: ".sql .ddl .psql", rules: sqlRules},
		{name: "HTML", endings: ".html .htm .xhtml", rules: htmlRules, page: true, headless: true},
		{name: "Vue", endings: ".vue", grammar: "HTML", rules: htmlRules, page: true, headless: true},
		{name: "CSS", endings: ".css", rules: cssRules, bare: true, nested: true},
	}
}

// languageNamed is nil for a language that is not in the list.
func languageNamed(name string) *language {
	all := languages()
	for i := range all {
		if all[i].name == name {
			return &all[i]
		}
	}
	return nil
}

// languageOf judges by the file's name and then by its #! line; nil for what
// is not in the list.
func languageOf(name string, data []byte) *language {
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	ending := strings.ToLower(path.Ext(base))
	run := ""
	if ending == "" {
		run = interpreter(data)
	}
	all := languages()
	for i := range all {
		l := &all[i]
		if ending != "" && hasWord(l.endings, ending) || hasWord(l.files, base) || run != "" && hasWord(l.runs, run) {
			if l.name == "C++" && ending == ".h" && !bytes.Contains(data, []byte("::")) && !bytes.Contains(data, []byte("class ")) && !bytes.Contains(data, []byte("template")) && !bytes.Contains(data, []byte("namespace ")) {
				continue // a C header: see below
			}
			return l
		}
	}
	if ending == ".h" {
		return languageOf("a.c", nil)
	}
	return nil
}

// interpreter is the program of a #! line, without its directory, and without
// a version behind a dot.
func interpreter(data []byte) string {
	if !bytes.HasPrefix(data, []byte("#!")) {
		return ""
	}
	line, _, _ := bytes.Cut(data[:min(len(data), 200)], []byte("\n"))
	words := strings.Fields(string(line[2:]))
	if len(words) > 0 && path.Base(words[0]) == "env" {
		words = slices.DeleteFunc(words[1:], func(w string) bool { return strings.HasPrefix(w, "-") || strings.Contains(w, "=") })
	}
	if len(words) == 0 {
		return ""
	}
	program, _, _ := strings.Cut(path.Base(words[0]), ".")
	return program
}

// hasWord looks for a word in a list separated by spaces.
func hasWord(list, word string) bool {
	for rest := list; rest != ""; {
		var first string
		first, rest, _ = strings.Cut(rest, " ")
		if first == word {
			return true
		}
	}
	return false
}

// Outlined are the names of the languages whose symbols this build reads.
func Outlined() []string {
	var names []string
	for _, l := range Languages() {
		if l.Outline {
			names = append(names, l.Name)
		}
	}
	return names
}
