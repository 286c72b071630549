//go:build cgo

package shellparse

import (
	"context"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/programs"

	sitter "github.com/smacker/go-tree-sitter"
	"github.com/smacker/go-tree-sitter/bash"
)

// maxNodes bounds the walk of the second tree.
const maxNodes = 60_000

// secondLimit is how long the second reading may take. It needs about a
// millisecond for 4 kB; but at the end of deeply broken text tree-sitter has a
// step that heeds neither its operation limit nor its cancellation.
const secondLimit = time.Second

// Readings is how many parsers read the text of a command: the shell parser and tree-sitter.
const Readings = 2

// secondReading is secondRead within its limit; late says that it was left to
// finish by itself.
func secondReading(ctx context.Context, src string) (found []finding, clean, late bool) {
	type answer struct {
		found []finding
		clean bool
	}
	done := make(chan answer, 1)
	go func() {
		defer func() {
			if recover() != nil {
				done <- answer{}
			}
		}()
		f, c := secondRead(ctx, src)
		done <- answer{f, c}
	}()
	timer := time.NewTimer(secondLimit)
	defer timer.Stop()
	select {
	case a := <-done:
		return a.found, a.clean, false
	case <-timer.C:
		return nil, false, true
	}
}

// secondRead lists the commands that tree-sitter's bash grammar finds,
// those beside parts that it could not read included; clean says that there
// are no such parts.
func secondRead(ctx context.Context, src string) (found []finding, clean bool) {
	p := sitter.NewParser()
	defer p.Close()
	lang := bash.GetLanguage()
	p.SetLanguage(lang)
	p.SetOperationLimit(200_000)
	text := []byte(src)
	tree, err := p.ParseCtx(ctx, nil, text)
	if err != nil {
		return nil, false
	}
	defer tree.Close()
	clean = !tree.RootNode().HasError()
	c := sitter.NewTreeCursor(tree.RootNode())
	defer c.Close()
	kinds := kindsOf(lang)
	for range maxNodes {
		node := c.CurrentNode()
		if node.Symbol() == kinds.command {
			if f, ok := reading(node, text); ok {
				found = append(found, f)
			}
		}
		if node.Symbol() != kinds.word && node.Symbol() != kinds.raw && c.GoToFirstChild() {
			continue
		}
		for !c.GoToNextSibling() {
			if !c.GoToParent() {
				return found, clean
			}
		}
	}
	return found, clean
}

type nodeKinds struct{ command, word, raw sitter.Symbol }

// symbolHints are the numbers in the grammar at hand; they are checked by name.
var symbolHints = nodeKinds{command: 208, word: 1, raw: 105}

func kindsOf(lang *sitter.Language) nodeKinds {
	k := symbolHints
	if lang.SymbolName(k.command) == "command" && lang.SymbolName(k.word) == "word" && lang.SymbolName(k.raw) == "raw_string" {
		return k
	}
	return scanKinds(lang)
}

// scanKinds finds the symbols by their names.
func scanKinds(lang *sitter.Language) nodeKinds {
	var k nodeKinds
	for i := range lang.SymbolCount() {
		s := sitter.Symbol(i)
		if lang.SymbolType(s) != sitter.SymbolTypeRegular {
			continue
		}
		switch lang.SymbolName(s) {
		case "command":
			k.command = s
		case "word":
			if k.word == 0 {
				k.word = s
			}
		case "raw_string":
			k.raw = s
		}
	}
	return k
}

// reading gives a command whose name is one plain word.
func reading(n *sitter.Node, text []byte) (finding, bool) {
	name := n.ChildByFieldName("name")
	if name == nil {
		return finding{}, false
	}
	s := name.Content(text)
	if s == "" || strings.ContainsAny(s, "\\*?[]{}~$`'\"()<>|&;= \t\n\x00!#") {
		return finding{}, false
	}
	rest := text[min(int(name.EndByte()), len(text)):min(int(n.EndByte()), len(text))]
	return finding{name: s, rest: programs.Cut(string(rest)), at: int(name.StartByte())}, true
}
