//go:build !cgo

package syntax

import "context"

// grammar has no value in a build without cgo.
type grammar struct{}

func grammarOf(string) *grammar { return nil }

func outlineTree(context.Context, *collector, []byte) error { return ErrNoGrammar }

func checkTree(context.Context, *language, []byte) (found []Problem, why string) { return nil, "" }
