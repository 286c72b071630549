package lsp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// A Server is a language server that there is a use for.
type Server struct {
	Name     string // of the program
	Args     []string
	Language string // for people
	Install  string // how one gets it

	ids     string // endings of file names with the language of each: ".ts=typescript"
	watched string // names of other files that it wants to hear of
	options string // what it is told when it starts, and when it asks for settings
}

// Servers lists them. Of those that know one language the first that is installed is
// used. None is told to run what the workspace says: build scripts, plugins and programs
// of its own are off where a server has a setting for it.
func Servers() []Server {
	return []Server{
		{
			Name: "gopls", Args: []string{"serve"}, Language: "Go", Install: "go install golang.org/x/tools/gopls@latest",
			ids: ".go=go .mod=go.mod .work=go.work", watched: "go.mod go.sum go.work",
			options: `{"diagnosticsDelay":"50ms","completeUnimported":false,"semanticTokens":false,"symbolScope":"workspace"}`,
		},
		{
			Name: "pyright-langserver", Args: []string{"--stdio"}, Language: "Python", Install: "npm install -g pyright",
			ids: ".py=python .pyi=python", watched: "pyproject.toml pyrightconfig.json", options: pythonOptions,
		},
		{
			Name: "basedpyright-langserver", Args: []string{"--stdio"}, Language: "Python", Install: "npm install -g basedpyright",
			ids: ".py=python .pyi=python", watched: "pyproject.toml pyrightconfig.json", options: pythonOptions,
		},
		{
			Name: "typescript-language-server", Args: []string{"--stdio"}, Language: "TypeScript and JavaScript", Install: "npm install -g typescript typescript-language-server",
			ids:     ".ts=typescript .mts=typescript .cts=typescript .tsx=typescriptreact .js=javascript .mjs=javascript .cjs=javascript .jsx=javascriptreact",
			watched: "tsconfig.json jsconfig.json package.json", options: `{"disableAutomaticTypingAcquisition":true,"plugins":[],"tsserver":{"path":"TSSERVER"}}`,
		},
		{
			Name: "rust-analyzer", Language: "Rust", Install: "rustup component add rust-analyzer",
			ids: ".rs=rust", watched: "Cargo.toml Cargo.lock",
			options: `{"cargo":{"buildScripts":{"enable":false}},"procMacro":{"enable":false},"checkOnSave":false,"cachePriming":{"enable":false}}`,
		},
		{
			Name: "clangd", Args: []string{"--background-index=false", "--clang-tidy=false"}, Language: "C and C++", Install: "apt install clangd",
			ids:     ".c=c .h=c .cc=cpp .cpp=cpp .cxx=cpp .hh=cpp .hpp=cpp .hxx=cpp .m=objective-c .mm=objective-cpp",
			watched: "compile_commands.json compile_flags.txt",
		},
	}
}

const pythonOptions = `{"python":{"analysis":{"diagnosticMode":"workspace","autoSearchPaths":true,"useLibraryCodeForTypes":true}},"basedpyright":{"analysis":{"diagnosticMode":"workspace"}}}`

// For returns the servers that know a file.
func For(path string) (list []Server) {
	for _, s := range Servers() {
		if s.id(path) != "" {
			list = append(list, s)
		}
	}
	return list
}

// named is the server of a name; nil for none.
func named(name string) *Server {
	for _, s := range Servers() {
		if s.Name == name {
			return &s
		}
	}
	return nil
}

// id is what the protocol calls the language of a file; "" for one that is not the
// server's.
func (s *Server) id(path string) string {
	ending := strings.ToLower(filepath.Ext(path))
	for pair := range strings.FieldsSeq(s.ids) {
		if end, id, _ := strings.Cut(pair, "="); end == ending {
			return id
		}
	}
	return ""
}

// hears reports whether the server wants to know of changes of a file.
func (s *Server) hears(name string) bool {
	if s.id(name) != "" {
		return true
	}
	for w := range strings.FieldsSeq(s.watched) {
		if w == name {
			return true
		}
	}
	return false
}

// Missing is why the installed program cannot be used; "" where it can.
func (s *Server) Missing(program string) string {
	if strings.Contains(s.options, "TSSERVER") && beside(program) == "" {
		return "the package typescript is not installed beside " + s.Name
	}
	return ""
}

// settings are the server's options, as JSON has them.
func (s *Server) settings(program string) (v map[string]any) {
	path, _ := json.Marshal(beside(program))
	_ = json.Unmarshal([]byte(strings.ReplaceAll(s.options, `"TSSERVER"`, string(path))), &v)
	return v
}

// beside is the compiler that is installed beside typescript-language-server. Told of
// it, the server does not run the one that the workspace brings along.
func beside(program string) string {
	file, err := filepath.EvalSymlinks(program)
	if err != nil {
		return ""
	}
	for dir := filepath.Dir(file); filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
		name := filepath.Join(dir, "node_modules", "typescript", "lib", "tsserver.js")
		if _, err := os.Stat(name); err == nil {
			return name
		}
	}
	return ""
}

// setting is what a server asks for by a name such as python.analysis; nil for nothing.
func setting(v map[string]any, section string) any {
	var at any = v
	for name := range strings.SplitSeq(section, ".") {
		m, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = m[name]
	}
	if at == nil && (section == "gopls" || section == "rust-analyzer") {
		return v // theirs are not below their name
	}
	return at
}
