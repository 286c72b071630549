//go:build cgo

package syntax

import (
	"context"
	"fmt"

	sitter "github.com/smacker/go-tree-sitter"
	"github.com/smacker/go-tree-sitter/bash"
	"github.com/smacker/go-tree-sitter/c"
	"github.com/smacker/go-tree-sitter/cpp"
	"github.com/smacker/go-tree-sitter/csharp"
	"github.com/smacker/go-tree-sitter/css"
	"github.com/smacker/go-tree-sitter/elixir"
	"github.com/smacker/go-tree-sitter/html"
	"github.com/smacker/go-tree-sitter/java"
	"github.com/smacker/go-tree-sitter/javascript"
	"github.com/smacker/go-tree-sitter/lua"
	"github.com/smacker/go-tree-sitter/php"
	"github.com/smacker/go-tree-sitter/python"
	"github.com/smacker/go-tree-sitter/ruby"
	"github.com/smacker/go-tree-sitter/rust"
	"github.com/smacker/go-tree-sitter/sql"
	"github.com/smacker/go-tree-sitter/typescript/tsx"
	"github.com/smacker/go-tree-sitter/typescript/typescript"
)

// grammar names a tree-sitter grammar, which is loaded when it is needed.
type grammar struct {
	name string // of the language
	load func() *sitter.Language
}

// grammars must not be sorted or computed: a literal of constants and
// functions costs nothing when the program starts.
var grammars = [...]grammar{
	{"Bash", bash.GetLanguage},
	{"C", c.GetLanguage},
	{"C#", csharp.GetLanguage},
	{"C++", cpp.GetLanguage},
	{"CSS", css.GetLanguage},
	{"Elixir", elixir.GetLanguage},
	{"HTML", html.GetLanguage},
	{"Java", java.GetLanguage},
	{"JavaScript", javascript.GetLanguage},
	{"Lua", lua.GetLanguage},
	{"PHP", php.GetLanguage},
	{"Python", python.GetLanguage},
	{"Ruby", ruby.GetLanguage},
	{"Rust", rust.GetLanguage},
	{"SQL", sql.GetLanguage},
	{"TSX", tsx.GetLanguage},
	{"TypeScript", typescript.GetLanguage},
}

func grammarOf(name string) *grammar {
	for i := range grammars {
		if grammars[i].name == name {
			return &grammars[i]
		}
	}
	return nil
}

// tree is a parsed file. Its parts live as long as it is open.
type tree struct {
	parser *sitter.Parser
	tree   *sitter.Tree
	lang   *sitter.Language
	root   *sitter.Node
}

func (t *tree) close() {
	t.tree.Close()
	t.parser.Close()
}

// parse gives the tree of a file; it ends with a [*PartialError] after two
// seconds and with the context's error when that ends.
//
// Tree-sitter looks at its limits between steps, and a single step at the end
// of a deeply broken file can take minutes ("do |x| " 8,000 times, read as
// Bash). So the parser runs beside us, and is left to finish and tidy up alone
// when it does not come back in time.
func parse(ctx context.Context, lang *language, data []byte) (*tree, error) {
	if reason := hazard(data); reason != "" {
		return nil, &PartialError{Reason: reason}
	}
	limited, cancel := context.WithTimeout(ctx, maxParse+maxParse/4)
	defer cancel()
	done, gone := make(chan *tree), make(chan struct{})
	defer close(gone)
	go func() {
		t := parseTree(ctx, lang, data)
		select {
		case done <- t:
		case <-gone:
			if t != nil {
				t.close()
			}
		}
	}()
	var t *tree
	select {
	case t = <-done:
	case <-limited.Done():
	}
	if err := ctx.Err(); t == nil && err != nil {
		return nil, err
	}
	if t == nil {
		return nil, &PartialError{Reason: fmt.Sprintf("reading it takes more than %s", maxParse)}
	}
	return t, nil
}

// parseTree is nil when the parser gave up.
func parseTree(ctx context.Context, lang *language, data []byte) *tree {
	t := &tree{parser: sitter.NewParser(), lang: grammarOf(lang.tree()).load()}
	t.parser.SetLanguage(t.lang)
	t.parser.SetOperationLimit(int(maxParse.Microseconds()))
	parsed, err := t.parser.ParseCtx(ctx, nil, data)
	if err != nil {
		t.parser.Close()
		return nil
	}
	t.tree, t.root = parsed, parsed.RootNode()
	return t
}

// hazard names what the grammars and their hand-written scanners were not made
// for.
func hazard(data []byte) string {
	word, depth := 0, 0
	for _, b := range data {
		switch b {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth = max(0, depth-1)
		}
		if depth > maxBrackets {
			return fmt.Sprintf("it opens more than %d brackets", maxBrackets)
		}
		if b == 0 {
			return "it holds NUL bytes"
		}
		if b == '_' || b >= '0' && b <= '9' || b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z' || b >= 0x80 {
			word++
		} else {
			word = 0
		}
		if word > maxWord {
			return fmt.Sprintf("it holds a word of more than %d bytes", maxWord)
		}
	}
	return ""
}

const (
	maxWord     = 1 << 20 // lets base64 data of common size pass
	maxBrackets = 5000    // open at once; strings count, too
)
