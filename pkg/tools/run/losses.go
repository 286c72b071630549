package run

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/committed"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/programs"
	"github.com/agentkit-go/agentkit/pkg/rg"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// keepNames is how many names of a command's losses are kept, so that undo can bring them
// back. The policy says how many bytes.
const keepNames = 200_000

// losses finds what a command deletes or overwrites that is nowhere else: not in
// git's HEAD, not ignored by git, not made in a temporary directory since the
// session began. What can be kept for undo is noted, and what is dangerous for its
// losses alone is no longer; what cannot be kept makes the program dangerous that
// does it.
type losses struct {
	ctx     context.Context
	env     *tool.Env
	dir     string // where the command starts
	needs   []policy.Access
	keep    map[string]bool // absolute paths, in the root
	bytes   int64
	doom    *dooming
	lasting bool // the call sees the end of the command, so that what it lost is recorded then
}

// find judges every program of the command, and gives the accesses as they are
// then, with what has to be kept.
func (l *losses) find() (needs []policy.Access, keep map[string]bool) {
	n := len(l.needs)
	l.keep, l.doom = map[string]bool{}, newDooming(l.env, l.dir, slices.Clip(l.needs), l.lasting)
	for i := range n {
		if l.needs[i].Kind == policy.Exec {
			l.program(i, n)
		}
	}
	for j := range n {
		if a := &l.needs[j]; a.Parent == 0 && destroys(a, nil) {
			if i := l.follows(j, n); i >= 0 {
				l.endanger(i, l.file(j, ""))
			}
		}
	}
	l.doom.git()
	l.doom.beside()
	return l.needs, l.keep
}

// follows is the program whose redirection an access is: the first after it, or the
// last before; -1 for none.
func (l *losses) follows(j, n int) int {
	for i := j; i < n; i++ {
		if l.needs[i].Kind == policy.Exec {
			return i
		}
	}
	for i := j; i >= 0; i-- {
		if l.needs[i].Kind == policy.Exec {
			return i
		}
	}
	return -1
}

func (l *losses) endanger(i int, why string) {
	if a := &l.needs[i]; why != "" && a.Danger == "" {
		a.Danger = why
	}
}

// program judges what one program loses.
func (l *losses) program(i, n int) {
	a := l.needs[i]
	files, why := 0, ""
	for j := range n {
		if w := &l.needs[j]; w.Parent == i+1 && destroys(w, &a) {
			files++
			why = cmp.Or(why, l.file(j, a.Danger))
		}
	}
	switch {
	case !a.Loses:
		l.endanger(i, why)
		return
	case baseName(&a) == "git" && !programs.IsFileLoss(a.Danger):
		why = cmp.Or(why, l.git(i))
	case files == 0 && programs.LosesContent(a.Danger) && l.knownRedirections(n): // of these find judges each
	case files == 0:
		why = a.Danger // who knows of what
	}
	if why == "" && l.env.Policy.Holds() { // else the text alone says that it stays inside
		l.needs[i].Danger, l.needs[i].Loses = "", false
	}
}

// knownRedirections reports whether it is known where each redirection leads.
func (l *losses) knownRedirections(n int) bool {
	return !slices.ContainsFunc(l.needs[:n], func(a policy.Access) bool {
		return a.Kind == policy.Write && a.Parent == 0 && (a.Opaque != "" || a.Path == "")
	})
}

// file judges one write, and says why what it takes away is lost; "" when nothing
// is. The danger is that of its program.
func (l *losses) file(j int, danger string) string {
	w := &l.needs[j]
	root := l.env.Workspace.Root()
	inside := safefile.Below(root, w.Path)
	l.doom.write(w)
	switch {
	case w.Opaque == "" && w.File == policy.Missing:
		return ""
	case w.Opaque != "", !inside && l.env.Policy.Decide(w).Verdict != policy.Allow, w.Path == root && !w.Below:
		return danger
	}
	if slices.Contains(strings.Split(filepath.ToSlash(w.Path), "/"), ".git") {
		return cmp.Or(danger, "takes away a part of the history")
	}
	files, forbidden, err := l.below(w)
	l.needs = append(l.needs, forbidden...)
	w = &l.needs[j]
	if err != nil {
		return cmp.Or(danger, "deletes more than can be looked at")
	}
	l.doom.files(w, files)
	w.Each = true
	if !inside {
		if since := began(l.env); slices.ContainsFunc(files, func(path string) bool { return !bornSince(path, since) }) {
			return cmp.Or(danger, "deletes what this session has not made")
		}
		return ""
	}
	return l.keepAll(l.atRisk(w, files), danger)
}

// below lists the files of a write, and as accesses of their own those that the
// policy decides otherwise.
func (l *losses) below(w *policy.Access) (files []string, forbidden []policy.Access, err error) {
	if w.File != policy.Dir {
		return []string{w.Path}, nil, nil
	}
	only := patterns(w)
	for range 2 {
		files, forbidden = nil, nil
		split := false
		o := rg.WalkOptions{Root: w.Path, Hidden: true, NoIgnore: true, Links: true, MaxEntries: maxTreeEntries, Workers: 1}
		var res *rg.WalkResult
		res, err = rg.Walk(l.ctx, nil, o, func(e rg.Entry) error {
			file := *w
			file.Path, file.Named, file.File, file.Tree, file.Below = filepath.Join(w.Path, e.Path), "", policy.Regular, false, false
			if !matchesAny(only, filepath.Base(e.Path)) {
				return nil
			}
			split = split || w.Split && strings.ContainsAny(file.Path, " \t\n'\"\\")
			files = append(files, file.Path)
			if l.env.Policy.Decide(&file).Verdict != policy.Allow && len(forbidden) < maxForbidden {
				forbidden = append(forbidden, file)
			}
			return nil
		})
		if err == nil && res.Partial != "" {
			err = errors.New(res.Partial)
		}
		if only == nil || !split {
			break
		}
		only = nil // a name that is taken for several may stand for any other
	}
	return files, forbidden, err
}

// atRisk are those of a write's files that git neither has nor ignores. A secret
// that git ignores is nowhere else all the same.
func (l *losses) atRisk(w *policy.Access, files []string) []string {
	lost := map[string]bool{}
	top := filepath.Dir(w.Path)
	if w.Below || w.Path == l.env.Workspace.Root() {
		top = w.Path
	}
	for _, kind := range []committed.Kind{committed.Changed, committed.Untracked} {
		list, ok := l.env.Git.Lost(kind, top, w.Path)
		if !ok {
			return files
		}
		for _, path := range list {
			lost[path] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(files), func(path string) bool {
		read := policy.Access{Kind: policy.Read, Tool: "bash", Path: path, File: policy.Regular}
		return !lost[path] && !strings.Contains(filepath.ToSlash(path), "/.git/") && l.env.Policy.Decide(&read).Verdict == policy.Allow
	})
}

// keepAll notes files that are to be kept, and says why they cannot be.
func (l *losses) keepAll(files []string, danger string) string {
	for _, path := range files {
		info, err := os.Lstat(path)
		if err != nil || info.IsDir() || l.keep[path] {
			continue
		}
		l.bytes += info.Size()
		l.keep[path] = true
		if len(l.keep) > keepNames || l.bytes > int64(l.env.Policy.Undo().MaxBytes) {
			return cmp.Or(danger, "takes away what git does not have, too much to be kept for undo")
		}
	}
	switch {
	case len(l.keep) == 0:
	case !l.lasting:
		return cmp.Or(danger, "takes away what git does not have, and goes on after the call, so that it cannot be kept for undo")
	case !l.doom.keeps():
		return cmp.Or(danger, "takes away what git does not have, and the policy keeps nothing for undo")
	}
	return ""
}

// git judges what git itself takes away.
func (l *losses) git(i int) string {
	a := l.needs[i]
	top, repository := gitTop(l.needs, i, l.dir), l.doom.repository(i)
	flag := func(letters string) bool {
		return slices.ContainsFunc(a.Argv, func(word string) bool {
			return len(word) > 1 && word[0] == '-' && word[1] != '-' && strings.ContainsAny(word, letters)
		})
	}
	switch kind := committed.Changed; {
	case slices.Contains(a.Dynamic, true) || !safefile.Below(l.env.Workspace.Root(), top):
		return a.Danger
	case programs.LosesCommits(a.Danger) && l.doom.keepsGit(repository):
		return l.stashed(repository, a.Danger)
	case programs.LosesReference(a.Danger):
		return a.Danger
	case programs.LosesCommits(a.Danger):
		return l.branches(&a, top)
	case programs.LosesWork(a.Danger) && flag("BC") && !l.doom.keepsGit(repository): // of a branch, too
		return a.Danger
	default:
		if programs.LosesUntracked(a.Danger) {
			if kind = committed.Untracked; flag("xX") {
				kind = committed.Ignored
			}
		}
		files, ok := l.env.Git.Lost(kind, top)
		if !ok {
			return a.Danger
		}
		return l.keepAll(files, a.Danger)
	}
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

// stashed judges a call that drops a stash or a branch: what it holds stays in git's
// objects, and the names come back. What the same call puts into a stash is nowhere else
// by then, and has to be kept.
func (l *losses) stashed(top, danger string) string {
	stashes := slices.ContainsFunc(l.doom.needs, func(a policy.Access) bool {
		sub, rest := gitSub(a.Argv)
		return a.Kind == policy.Exec && baseName(&a) == "git" && sub == "stash" && (len(rest) == 0 || rest[0] == "push" || rest[0] == "save" || rest[0][0] == '-')
	})
	if !stashes {
		return ""
	}
	for _, kind := range []committed.Kind{committed.Changed, committed.Untracked} {
		files, ok := l.env.Git.Lost(kind, top)
		if !ok {
			return danger
		}
		if why := l.keepAll(files, danger); why != "" {
			return why
		}
	}
	return ""
}
