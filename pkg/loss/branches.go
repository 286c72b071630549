package loss

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/committed"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/steps"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/treewalk"
	"github.com/agentkit-go/agentkit/pkg/wall"
)

// BroughtByGit finds what a switch of branches, a merge and the like would change
// that is not simply allowed, such as workflows and editors' settings: git itself
// would find out halfway, when HEAD has moved and the files have not, or the stash has them and they
// are still there. That a commit has them says nothing for them, as commands make commits too.
// What a link with a closed name leads to is closed as well: led gives that name.
func BroughtByGit(env *tool.Env, dir string, needs []policy.Access, led func(path string) string) (found []policy.Access) {
	for i := range needs {
		a := &needs[i]
		if a.Kind != policy.Exec || len(a.Argv) < 2 || filepath.Base(a.Argv[0]) != "git" || slices.Contains(a.Dynamic, true) {
			continue
		}
		top := gitTop(needs, i, dir)
		bring := func(sub string, paths []string) {
			write := policy.Access{Kind: policy.Write, Tool: "bash", Op: policy.Change, File: policy.Regular, Parent: i + 1, Source: "git " + sub}
			known := func(w policy.Access) bool {
				return slices.ContainsFunc(found, func(o policy.Access) bool { return o.Path == w.Path })
			}
			if w, ok := beyond(env, paths, write); ok && !known(w) {
				found = append(found, w)
			}
			for _, path := range paths {
				write.Path, write.Named = path, ""
				w, ok := closed(env, write)
				if name := led(path); !ok && name != "" {
					write.Named = name
					w, ok = write, env.Policy.Decide(&write).Verdict != policy.Allow
				}
				if ok && !known(w) && len(found) < treewalk.MaxForbidden {
					found = append(found, w)
				}
			}
		}
		if sub := leaves(env, dir, needs, i, top); sub != "" {
			bring(sub, committedBefore(env, dir, needs, i, top))
		}
		for _, pair := range revisions(a.Argv) {
			bring(pair.sub, env.Git.Between(top, pair.from, pair.to, pair.parted))
		}
		if sub := resets(a.Argv); sub != "" {
			changed, gone, _ := env.Git.LostAndGone(committed.Changed, top)
			paths := append(changed, gone...)
			if n := len(a.Argv); (a.Argv[n-1] == "." || a.Argv[n-1] == "./") && a.Argv[n-2] != "-m" && a.Argv[n-2] != "--message" { // no more than is below
				paths = slices.DeleteFunc(paths, func(path string) bool { return !safefile.Below(dir, path) })
			}
			bring(sub, paths)
		}
	}
	return found
}

// leaves is the subcommand of a call of git that leaves a commit which the same command makes before it: by a switch to another branch, a reset
// or a rebase; "" for every other.
func leaves(env *tool.Env, dir string, needs []policy.Access, call int, top string) string {
	sub, words := steps.Git(needs[call].Argv)
	to, news := target(words)
	switch {
	case to == "" || to == "HEAD" || slices.Contains(words, "--"):
		return ""
	case sub != "switch" && sub != "checkout" && sub != "rebase" && !(sub == "reset" && slices.Contains(words, "--hard")):
		return ""
	}
	const first = "" // the branch that the command begins on
	on, last := first, "-"
	var holds []string // the branches that have the commit
	list := steps.List{Root: env.Workspace.Root(), Accesses: needs[:call]}
	for i, a := range list.Gits() {
		if gitTop(needs, i, dir) != top {
			continue
		}
		before, words := steps.Git(a.Argv)
		switch to, news := target(words); {
		case before == "commit":
			holds = []string{on}
		case before != "switch" && before != "checkout" || slices.Contains(words, "--"):
		case news != "":
			if to == "" && slices.Contains(holds, on) {
				holds = append(holds, news)
			}
			on, last = news, on
		case to == "-":
			on, last = last, on
		case to != "":
			on, last = to, on
		}
	}
	if to == "-" {
		to = last
	}
	switch {
	case len(holds) == 0, slices.Contains(holds, to), news == "" && to == on:
		return ""
	case to != first && to != "-" && !env.Git.IsCommit(top, to), slices.Contains(holds, first) && to == env.Git.Branch(top):
		return ""
	}
	return sub
}

// target is the revision that a switch of branches goes to, or from which it makes a new branch, and the name of that.
func target(words []string) (to, news string) {
	for i := 0; i < len(words); i++ {
		switch word := words[i]; {
		case word == "-" || !strings.HasPrefix(word, "-"):
			if to == "" {
				to = word
			}
		case (word == "--orphan" || word == "--create" || word == "--force-create" || !strings.HasPrefix(word, "--") && strings.ContainsRune("bBcC", rune(word[len(word)-1]))) && i+1 < len(words):
			i++
			news = words[i]
		}
	}
	return to, news
}

// committedBefore are the files that git does not have yet as they are, and that calls of git before one add to what is committed.
func committedBefore(env *tool.Env, dir string, needs []policy.Access, call int, top string) (paths []string) {
	added := (steps.List{Root: env.Workspace.Root(), Accesses: needs[:call]}).Added(-1, dir, top)
	whole := slices.ContainsFunc(needs[:call], func(a policy.Access) bool { // git commit -a, git add -u
		sub, words := steps.Git(a.Argv)
		return a.Kind == policy.Exec && (sub == "commit" && hasLetter(words, "a") || sub == "add" && hasLetter(words, "u") || slices.Contains(words, "--all") || slices.Contains(words, "--update"))
	})
	if whole || added.Untracked {
		changed, _ := env.Git.Lost(committed.Changed, top)
		paths = slices.DeleteFunc(changed, func(path string) bool { return !whole && !added.Has(path) })
	}
	for _, kind := range []committed.Kind{committed.Untracked, committed.Ignored} {
		if kind == committed.Untracked && added.Untracked || kind == committed.Ignored && added.Ignored {
			more, _ := env.Git.Lost(kind, top)
			paths = append(paths, slices.DeleteFunc(more, func(path string) bool { return !added.Has(path) })...)
		}
	}
	return paths
}

// hasLetter reports whether one of some words is an option of one of these letters.
func hasLetter(words []string, letters string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		return len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.ContainsAny(w, letters)
	})
}

// resets is the subcommand of a call of git that makes all files of the work tree which have changed as they
// are in HEAD or in the index; "" for every other.
func resets(argv []string) string {
	i := slices.IndexFunc(argv, func(word string) bool {
		return slices.Contains([]string{"checkout", "restore", "reset", "stash", "rebase", "pull", "merge"}, word)
	})
	if i < 0 {
		return ""
	}
	sub, words := argv[i], argv[i+1:]
	has := func(options ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(options, w) })
	}
	all := has(".", ":/", "./")
	switch sub {
	case "checkout":
		all = all || has("-f", "--force")
	case "restore":
		all = all && (!has("-S", "--staged") || has("-W", "--worktree"))
	case "reset":
		all = has("--hard")
	case "stash":
		all = len(words) == 0 || words[0] == "push" || words[0] == "save" || strings.HasPrefix(words[0], "-")
		path := words[min(1, len(words)):] // of push, which takes what is named alone
		for n := 0; all && len(words) > 0 && words[0] == "push" && n < len(path); n++ {
			if path[n] == "-m" || path[n] == "--message" {
				n++
			} else if path[n] != "." && path[n] != "--" && !strings.HasPrefix(path[n], "-") {
				all = false
			}
		}
	default:
		all = has("--autostash")
	}
	if !all {
		return ""
	}
	return sub
}

// closed reports whether a write is not allowed, and gives the widest directory
// round it that is not either: git makes new files there, and puts others in the
// place of old ones.
func closed(env *tool.Env, w policy.Access) (policy.Access, bool) {
	ok := false
	for safefile.Below(env.Workspace.Root(), w.Path) && env.Policy.Decide(&w).Verdict != policy.Allow {
		ok = true
		up := w
		up.Path, up.File, up.Tree = filepath.Dir(w.Path), policy.Dir, false
		if up.Path == env.Workspace.Root() || env.Policy.Decide(&up).Verdict == policy.Allow {
			break
		}
		w = up
		w.Tree = true
	}
	return w, ok
}

// beyond makes of a write one of what git would change outside the root, in the repository around that, and reports
// whether there is such; where it is allowed, the sandbox has to open it. Git would find out halfway: the files there
// stay as they are while HEAD and the index go on, and the next commit takes others' work back. The access is of the
// directory that has them all, for git puts other files in the place of these.
func beyond(env *tool.Env, paths []string, w policy.Access) (policy.Access, bool) {
	w.File, w.Tree, w.Below, w.Each = policy.Dir, true, true, true
	for _, path := range paths {
		if safefile.Below(env.Workspace.Root(), path) {
			continue
		}
		if w.Path == "" {
			w.Path = filepath.Dir(path)
		}
		for !safefile.Below(w.Path, path) {
			w.Path = filepath.Dir(w.Path)
		}
	}
	return w, w.Path != ""
}

// gitTop is the directory whose repository a call of git is for.
func gitTop(needs []policy.Access, i int, dir string) string {
	for j := range needs {
		if w := &needs[j]; w.Parent == i+1 && w.Kind == policy.Write {
			if at, ok := strings.CutSuffix(filepath.ToSlash(w.Path), "/.git/index"); ok {
				return filepath.FromSlash(at)
			}
			if safefile.InGit(w.Path) && filepath.Base(w.Path) == "index" { // of a worktree or a submodule
				if top := wall.WorkTree(filepath.Dir(w.Path)); top != "" {
					return top
				}
			}
		}
	}
	return dir
}

// A step is from one commit to another.
type step struct {
	sub, from, to string
	parted        bool // from where both parted
}

// revisions are the steps that a call of git takes its files through, by what may be
// revisions among its words.
func revisions(argv []string) (list []step) {
	const takesOne = "cherry-pick revert stash"
	i := slices.IndexFunc(argv, func(word string) bool {
		return slices.Contains([]string{"switch", "checkout", "reset", "merge", "rebase", "cherry-pick", "revert", "stash"}, word)
	})
	if i < 0 || slices.Contains(argv, "--") {
		return nil
	}
	sub, words := argv[i], argv[i+1:]
	switch {
	case sub == "stash" && (len(words) == 0 || words[0] != "pop" && words[0] != "apply"):
		return nil
	case sub == "stash" && len(words) == 1:
		words = []string{"stash@{0}"}
	case sub == "reset" && !slices.ContainsFunc(words, func(w string) bool { return w == "--hard" || w == "--merge" || w == "--keep" }):
		return nil
	}
	for _, word := range words {
		from, to, isRange := strings.Cut(word, "..")
		switch {
		case strings.HasPrefix(word, "-") && word != "-":
		case strings.Contains(takesOne, sub) && isRange:
			list = append(list, step{sub, from, strings.TrimPrefix(to, "."), false})
		case strings.Contains(takesOne, sub):
			list = append(list, step{sub, word + "^", word, false})
		case word == "-":
			list = append(list, step{sub, "HEAD", "@{-1}", sub == "merge"})
		default:
			list = append(list, step{sub, "HEAD", word, sub == "merge"})
		}
	}
	return list
}
