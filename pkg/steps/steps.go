// Package steps follows how the programs of one command change the tree for one another.
//
// What a command takes away is judged before it runs, by the tree as it is then. By the time that a program of it runs, those before it have
// changed that tree: after `mv notes a`, `rm a` removes what is called notes now; after `git add .`, `git reset --hard`
// removes files that git does not know yet; and `cp -r` of a directory that the command makes itself overwrites files whose
// names nobody can list. So this package says what lies where by then: which files have come to a new name, which directories are
// filled with what is not known, what git has been told to keep and to ignore.
//
// It works on the accesses of the command's text alone, and looks at no file. Names are followed in the order of the text.
// What is written to a directory, and what git is told, counts wherever it stands: a loop or a function may run it first.
package steps

import (
	"iter"
	"path/filepath"
	"slices"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// A List is the programs of a command, each followed by what it reads and writes, in the order of the text.
type List struct {
	Root     string          // of the workspace
	Accesses []policy.Access // of one call
}

// Name is the name of the program that an access starts, without its directory; "" for none.
func Name(a *policy.Access) string {
	if len(a.Argv) == 0 {
		return ""
	}
	return filepath.Base(a.Argv[0])
}

// Program is the index of the program that makes an access. A redirection belongs to none: for that it is the
// first program after it, else the last before it, and -1 where there is none.
func (l List) Program(j int) int {
	if parent := l.Accesses[j].Parent; parent > 0 {
		return parent - 1
	}
	starts := func(a policy.Access) bool { return a.Kind == policy.Exec }
	if i := slices.IndexFunc(l.Accesses[j:], starts); i >= 0 {
		return j + i
	}
	for j >= 0 && !starts(l.Accesses[j]) {
		j--
	}
	return j
}

// Moved reports whether a write is mv's. It puts another file there and never writes to the one that it finds, which
// keeps its other names.
func (l List) Moved(w *policy.Access) bool {
	return w.Parent > 0 && Name(&l.Accesses[w.Parent-1]) == "mv"
}

// where gives the accesses that are so, with their indexes.
func (l List) where(is func(*policy.Access) bool) iter.Seq2[int, *policy.Access] {
	return func(yield func(int, *policy.Access) bool) {
		for i := range l.Accesses {
			if a := &l.Accesses[i]; is(a) && !yield(i, a) {
				return
			}
		}
	}
}

// of gives the accesses of a kind that a program makes, or may make.
func (l List) of(program int, kind policy.Kind) iter.Seq2[int, *policy.Access] {
	return l.where(func(a *policy.Access) bool { return a.Parent == program+1 && a.Kind == kind })
}
