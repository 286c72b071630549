//go:build cgo

package syntax

import (
	"context"
	"errors"
	"fmt"
	"strings"

	sitter "github.com/smacker/go-tree-sitter"
)

// maxFaults is how many mistakes of one file are looked for.
const maxFaults = 50

// maxCompared is how many are counted to see whether a mend leaves fewer.
const maxCompared = 1000

// checkTree lists what a grammar could not read, or why it does not read the file, such as
// that this takes too long.
func checkTree(ctx context.Context, lang *language, data []byte) (found []Problem, why string) {
	t, err := parseMended(ctx, lang, data)
	if partial, ok := errors.AsType[*PartialError](err); ok {
		return nil, partial.Reason
	}
	if err != nil {
		return nil, err.Error()
	}
	defer t.close()
	return faults(t.root, data, maxFaults), ""
}

// faults walks only into what has mistakes.
func faults(root *sitter.Node, src []byte, limit int) []Problem {
	if !root.HasError() {
		return nil
	}
	var found []Problem
	c := sitter.NewTreeCursor(root)
	defer c.Close()
	for range maxNodes {
		n := c.CurrentNode()
		p, whole := fault(n, src)
		if p.Message != "" {
			found = append(found, p)
			if len(found) == limit {
				return found
			}
		}
		if !whole && n.HasError() && c.GoToFirstChild() {
			continue
		}
		for !c.GoToNextSibling() {
			if !c.GoToParent() {
				return found
			}
		}
	}
	return found
}

// fault is the mistake that a node stands for, if any; whole says that those
// below it are the same.
func fault(n *sitter.Node, src []byte) (p Problem, whole bool) {
	at := n.StartPoint()
	p = Problem{Line: int(at.Row) + 1, Column: int(at.Column) + 1}
	switch {
	case n.IsMissing():
		p.Message = fmt.Sprintf("missing %q", n.Type())
		return p, true
	case n.IsError():
		text := string(src[min(int(n.StartByte()), len(src)):min(int(n.EndByte()), len(src))])
		text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
		p.Message = fmt.Sprintf("cannot be read: %q", strings.TrimSpace(clipTo(text, 60)))
		return p, true
	}
	return Problem{}, false
}
