package gate

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
	"github.com/agentkit-go/agentkit/pkg/wall"
)

// A watch is what has to be known to find out, at the end of a command whose call
// is over, what it has made that it must not.
type watch struct {
	Sources policy.Sources
	Hash    string
	Wall    wall.Start
	Opened  wall.Opened
	Report  string // the command's
}

// Watch describes the wall of a command, and what was opened to it outside the root, for
// [Found]. Report is that of its sandbox.
func Watch(s *policy.Sources, p *policy.Policy, w *wall.Wall, opened wall.Opened, report string) (json.RawMessage, error) {
	o := watch{*s, p.Hash(), w.Start(), opened, report}
	o.Sources.Tested = true
	return safefile.EncodeJSON(o)
}

// Found finds what has come since [Watch]: what has appeared in the root and in what was opened outside
// it that the policy lets no command make, what has replaced a file that a mount held, and what calls of their
// own have written.
func Found(order json.RawMessage) (sandbox.Found, error) {
	var o watch
	if err := safefile.DecodeJSON(order, &o); err != nil {
		return sandbox.Found{}, fmt.Errorf("reading what is watched: %w", err)
	}
	p, err := policy.Load(&o.Sources)
	if err != nil || p.Hash() != o.Hash {
		// The command may have planted one. What is not the project's counts.
		o.Sources.Project = ""
		if p, err = policy.Load(&o.Sources); err != nil { // nor may a file that went keep everything from being found
			o.Sources.Files = nil
			p, err = policy.Load(&o.Sources)
		}
		if err != nil {
			return sandbox.Found{}, fmt.Errorf("loading the policy: %w", err)
		}
	}
	f := InRoot(wall.Since(p, o.Wall, func() bool { return sandbox.Alone(o.Report, o.Wall.Root) }))
	f.Appeared = append(f.Appeared, o.Opened.Planted(p)...)
	return f, nil
}

// InRoot is what a wall has found in its root.
func InRoot(w wall.Found) sandbox.Found {
	written := func() (list []sandbox.Written) {
		for _, w := range w.Written() {
			list = append(list, sandbox.Written{Path: w.Path, Was: w.Was, Sum: w.Sum})
		}
		return list
	}
	f := sandbox.Found{Appeared: w.Appeared, Replaced: w.Replaced, Written: sync.OnceValue(written), Knew: w.Knew}
	for _, a := range w.Away {
		f.Away = append(f.Away, sandbox.Away(a))
	}
	return f
}

// Written is what [Made] notes.
type Written = wall.Written

// Made notes that a call of its own has written a file of the root, which may be one that
// the policy lets no command make or change: [Found] knows of it, as long as it is as it
// was written. Where it cannot be noted it is taken for a command's. state is the state
// directory of the root.
func Made(p *policy.Policy, state, root string, w Written) {
	_ = wall.Note(p, wall.Dir(state), root, w)
}
