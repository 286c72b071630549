package run

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/committed"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/programs"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/steps"
)

// git judges what git itself takes away.
func (l *losses) git(i int) string {
	a := l.needs[i]
	top, repository := gitTop(l.needs, i, l.dir), l.doom.repository(i)
	kind := committed.Changed
	switch {
	case slices.Contains(a.Dynamic, true) && programs.PathsAlone(a.Argv, a.Dynamic) == 0 || !safefile.Below(l.env.Workspace.Root(), top):
		return a.Danger
	case programs.LosesCommits(a.Danger) && l.doom.keepsGit(repository):
		// What a stash or a branch holds stays in git's objects, and the names come back. What the same call puts into one is nowhere
		// else by then.
		if top = repository; !l.doom.steps.Added(i).Any {
			return ""
		}
	case programs.LosesReference(a.Danger):
		return a.Danger
	case programs.LosesCommits(a.Danger):
		return l.branches(&a, top)
	case programs.LosesWork(a.Danger) && hasLetter(a.Argv, "BC") && !l.doom.keepsGit(repository): // of a branch, too
		return a.Danger
	case programs.LosesUntracked(a.Danger):
		if kind = committed.Untracked; hasLetter(a.Argv, "xX") || l.doom.ignoresOtherwise(top) {
			kind = committed.Ignored
		}
		if passesRepositories(a.Argv) {
			kind |= committed.Alone
		}
	}
	why, ok := l.keepIn(top, kind, a.Danger, func(string) bool { return true })
	if added := l.doom.steps.Added(i, l.dir, top); ok && added.Untracked { // which git knows before it takes it away
		kind = committed.Untracked | committed.Alone
		if added.Ignored {
			kind = committed.Ignored | committed.Alone
		}
		more, _ := l.keepIn(top, kind, a.Danger, added.Has)
		why = cmp.Or(why, more)
	}
	return why
}

// keepIn notes those files of a kind in a repository that are to be kept, and says why they cannot be; it is false where they are not known.
func (l *losses) keepIn(top string, kind committed.Kind, danger string, among func(path string) bool) (why string, ok bool) {
	lost := l.doom.lost(kind, top)
	if !lost.ok {
		return danger, false
	}
	return l.keepAll(slices.DeleteFunc(slices.Clone(lost.list), func(path string) bool { return !among(path) }), danger), true
}

// passesRepositories reports whether a call is git clean of all that is there with one -f at most,
// which leaves the repositories in it as they are.
func passesRepositories(argv []string) bool {
	sub, rest := steps.Git(argv)
	forced := 0
	for i := 0; i < len(rest); i++ {
		switch word := rest[i]; {
		case word == "-e" || word == "--exclude":
			i++
		case strings.HasPrefix(word, "--f"):
			forced++
		case strings.HasPrefix(word, "--"):
		case strings.HasPrefix(word, "-"):
			forced += strings.Count(word, "f")
		default:
			return false // git has looked into a repository that a path leads into
		}
	}
	return sub == "clean" && forced < 2
}

// branches judges git branch -D: what another branch has is not lost.
func (l *losses) branches(a *policy.Access, top string) string {
	i := slices.Index(a.Argv, "branch")
	if i < 0 || slices.ContainsFunc(a.Argv[i:], func(word string) bool { return strings.HasPrefix(word, "-") && word != "-D" && word != "-q" }) {
		return a.Danger
	}
	for _, word := range a.Argv[i+1:] {
		if !strings.HasPrefix(word, "-") && !l.env.Git.Reachable(top, word) {
			return a.Danger
		}
	}
	return ""
}
