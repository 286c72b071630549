// Package loss tells what a command takes away that is nowhere else: git does not have it as it is, and does not ignore it, and
// the session has not made it.
//
// [Find] tells it by the text, before the command runs. What the text does not tell, as that of a script, a recipe of
// make or code, a [Watcher] finds when a program starts, and when a file is emptied, replaced or removed. Nothing is kept here:
// whoever asks has a shelf of [change.History] for that, and [CopyAside] for what lies outside the root, where undo does not reach.
package loss

import (
	"context"
	"os"

	"github.com/agentkit-go/agentkit/pkg/change"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// Taken is what the text of a command tells that it takes away.
type Taken struct {
	Keep    map[string]bool // files to be kept before it runs: they are nowhere else
	Aside   []string        // what it takes away outside the root, to be copied before
	Doomed  Names           // all that it is known to take away
	Named   Names           // what is named to programs that may change it
	Watched []string        // programs of it whose words are known only when they start
}

// A Command is one of which the text was analyzed.
type Command struct {
	Dir   string          // where it starts
	Text  string          // its command line
	Needs []policy.Access // what the analysis found
}

// Find finds what a command takes away. It returns its accesses, of which those are dangerous then that lose
// what cannot be kept, with further ones, and what is to be kept before it runs.
func Find(ctx context.Context, env *tool.Env, c Command, kept Keeping) (needs []policy.Access, takes Taken) {
	l := losses{ctx: ctx, env: env, dir: c.Dir, text: c.Text, needs: c.Needs, keeping: kept}
	needs, takes.Keep = l.find()
	takes.Aside = l.aside
	if l.doom.keeps() {
		takes.Doomed, takes.Watched, takes.Named = l.doom.names, l.doom.watched(), l.doom.named()
	}
	return needs, takes
}

// InJob is what is kept for a job, not what git has or ignores, and whether some of it is certainly taken away. What an edit
// does to it meanwhile is no work of the job's.
func (t *Taken) InJob() (names []change.Doomed, sure bool) {
	left := int64(maxNamedBytes)
	for path, written := range t.Doomed {
		info, err := os.Lstat(path)
		switch {
		case t.Keep[path]:
		case safefile.InGit(path):
			names = append(names, change.Doomed{Path: path, Written: true})
		case written && err == nil && info.Mode().IsRegular() && info.Size() <= min(maxNamed, left): // a program edits it
			left -= info.Size()
			names = append(names, change.Doomed{Path: path, Written: true, Maybe: true})
		}
	}
	for path := range t.Keep {
		names = append(names, change.Doomed{Path: path, Written: true, Maybe: true})
	}
	return append(names, t.Named.List(true)...), len(names) > 0
}
