//go:build cgo

package shellparse

import (
	"testing"

	"github.com/smacker/go-tree-sitter/bash"
)

// The hints save a search of the grammar's names at every analysis; a wrong
// one costs only time.
func TestSymbolHints(t *testing.T) {
	k := scanKinds(bash.GetLanguage())
	if k != symbolHints {
		t.Errorf("the grammar has %+v, the hints say %+v", k, symbolHints)
	}
}
