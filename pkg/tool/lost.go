package tool

import (
	"slices"
	"sync"

	"github.com/agentkit-go/agentkit/pkg/committed"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// NowhereElse returns those of some files, by their absolute paths, that git neither has in
// HEAD nor ignores, of the repository that holds top; git looks at what lies at or below
// within, and at all of it without. A secret that git ignores is nowhere else all the same.
// All of them are where git cannot tell.
func (env *Env) NowhereElse(name, top string, files []string, within ...string) []string {
	lost, known := env.Uncommitted(top, within...)
	if !known {
		return files
	}
	return slices.DeleteFunc(slices.Clone(files), func(path string) bool {
		read := policy.Access{Kind: policy.Read, Tool: name, Path: path, File: policy.Regular}
		return !lost[path] && !safefile.BelowGit(path) && env.Policy.Decide(&read).Verdict == policy.Allow
	})
}

// Uncommitted gives the files that are not as git has them in HEAD, or that it neither has nor
// ignores, by their absolute paths, of the repository that holds top, at or below within. It is
// false where git cannot tell.
func (env *Env) Uncommitted(top string, within ...string) (files map[string]bool, known bool) {
	var untracked []string
	var told bool
	var asked sync.WaitGroup
	asked.Go(func() { untracked, told = env.Git.Lost(committed.Untracked, top, within...) })
	changed, ok := env.Git.Lost(committed.Changed, top, within...)
	asked.Wait()
	files = map[string]bool{}
	for _, path := range slices.Concat(changed, untracked) {
		files[path] = true
	}
	return files, ok && told
}

// TooMuchToKeep is why a file that a command takes away has to be asked about: with others
// it is more than the policy's undo.max_bytes, and nowhere else.
const TooMuchToKeep = "takes away what git does not have, too much to be kept for undo"
