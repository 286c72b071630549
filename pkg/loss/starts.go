package loss

import (
	"context"
	"slices"

	"github.com/agentkit-go/agentkit/pkg/change"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
)

// Takes is what a program that starts takes away and that did not stand in the call, and what of that is nowhere else;
// false where not all of that can be kept.
func (l *Watcher) Takes(ctx context.Context, e *sandbox.Exec) (names, must []change.Doomed, ok bool) {
	if startedProgram(e) == "git" {
		return l.git(ctx, e)
	}
	return l.files(ctx, e)
}

// Starts is what else a program takes away when it starts: what words name that were not known before, and what is nowhere else of
// that which a script, make or code has rm, mv and the like take away. Much of that goes by a removal, a replacement or an opening that
// empties, which is seen by itself; not what truncate, sort -o and dd write where it is.
func (l *Watcher) Starts(e *sandbox.Exec) []change.Doomed {
	switch name := startedProgram(e); {
	case name == "git":
		return nil
	case slices.Contains(l.Watched, name):
		return l.names(e, l.accesses(e, environ(e)), false)
	default:
		return l.unsaved(e)
	}
}

// Unkept reports whether a git that starts takes something away that was not kept before the command began; part says that it
// does that for another git.
func (l *Watcher) Unkept(e *sandbox.Exec, part bool) bool {
	return l.Env.Git != nil && (l.elsewhere(e) || l.drops(e, part) || l.follows(e))
}
