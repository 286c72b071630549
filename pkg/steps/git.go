package steps

import (
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/programs"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// understood are the subcommands of git of which is known what they change. Those that only
// read are among them, for what they print may go to a file, and those that only add objects.
const understood = "add am apply branch checkout checkout-index cherry-pick clean commit config fetch merge mv notes pull read-tree rebase remote replace reset restore revert rm stash switch symbolic-ref tag update-ref worktree " +
	"annotate blame cat-file check-attr check-ignore check-mailmap check-ref-format cherry commit-tree count-objects describe diff diff-files diff-index diff-tree for-each-ref grep hash-object log ls-files ls-tree " +
	"merge-base mktag mktree name-rev range-diff rev-list rev-parse shortlog show show-branch show-ref status stripspace var verify-commit verify-tag version whatchanged write-tree"

// Git is the subcommand of a call of git, with the words behind it, also of an alias that the call sets; "" where
// an option has git work elsewhere.
func Git(argv []string) (sub string, words []string) {
	if sub, words, _, elsewhere := git(argv); !elsewhere {
		return sub, words
	}
	return "", nil
}

// git is Git; at is the index of the subcommand among all words, also where it is an alias.
func git(argv []string) (sub string, words []string, at int, elsewhere bool) {
	alias := map[string][]string{}
	for i := 1; i < len(argv); i++ {
		switch word := argv[i]; {
		case word == "-C":
			i++
		case word == "-c":
			if i++; i == len(argv) {
				return "", nil, 0, elsewhere
			}
			name, value, _ := strings.Cut(argv[i], "=")
			if name = strings.ToLower(name); name == "core.worktree" {
				elsewhere = true
			} else if name, ok := strings.CutPrefix(name, "alias."); ok && !strings.HasPrefix(value, "!") {
				alias[name] = strings.Fields(value)
			}
		case strings.HasPrefix(word, "--git-dir") || strings.HasPrefix(word, "--work-tree") || strings.HasPrefix(word, "--namespace"):
			if elsewhere = true; !strings.Contains(word, "=") {
				i++
			}
		case strings.HasPrefix(word, "-"):
		default:
			if words := alias[strings.ToLower(word)]; len(words) > 0 {
				return words[0], slices.Concat(words[1:], argv[i+1:]), i, elsewhere
			}
			return word, argv[i+1:], i, elsewhere
		}
	}
	return "", nil, 0, elsewhere
}

// UnderstandsGit reports whether it is known what a subcommand of git changes.
func UnderstandsGit(sub string) bool { return programs.Has(understood, sub) }

// Gits are the calls of git that do not only read.
func (l List) Gits() iter.Seq2[int, *policy.Access] {
	return l.where(func(a *policy.Access) bool { return isGit(a) && a.Class != policy.ReadOnly })
}

func isGit(a *policy.Access) bool { return a.Kind == policy.Exec && Name(a) == "git" }

// placing are the variables that have git work elsewhere, or with other settings; the last two leave it in its work tree.
var placing = [...]string{
	"GIT_DIR", "GIT_COMMON_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_CONFIG", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS",
	"GIT_CEILING_DIRECTORIES", "GIT_EXEC_PATH",
}

// sets reports whether the command sets one of some variables.
func (l List) sets(variables []string) bool {
	return slices.ContainsFunc(l.Accesses, func(a policy.Access) bool { return a.Kind == policy.Env && slices.Contains(variables, a.Name) })
}

// GitElsewhere reports whether options of a call of git, or variables of the command, have it work in another place than that where it is started.
func (l List) GitElsewhere(i int) bool {
	_, _, _, elsewhere := git(l.Accesses[i].Argv)
	return elsewhere || l.sets(placing[:len(placing)-2])
}

// GitUnderstood reports whether it is known what git changes in this command of the repository itself. What is kept of that does not
// hang on the words behind the subcommand: a revision, a message or an option may be one that is not known before it runs.
func (l List) GitUnderstood() bool {
	for _, a := range l.Gits() {
		sub, words, at, elsewhere := git(a.Argv)
		known := UnderstandsGit(sub) || !slices.Contains(a.Dynamic, true) && leaves(sub, words)
		if !known || elsewhere || slices.Contains(a.Dynamic[:min(at+1, len(a.Dynamic))], true) {
			return false
		}
	}
	return !l.sets(placing[:])
}

// GitOpen reports whether words behind the subcommand of a call of git are not known before it runs.
func GitOpen(a *policy.Access) bool {
	_, _, at, _ := git(a.Argv)
	return isGit(a) && at > 0 && slices.Contains(a.Dynamic[min(at+1, len(a.Dynamic)):], true)
}

// naming are the subcommands that change names of what the repository holds, and no file of the work tree.
const naming = "branch commit notes replace symbolic-ref tag update-ref"

// GitMayRename reports whether a call of git that changes no file may move or remove a name of what the repository holds by a word that
// is not known before it runs: it may be an option.
func (l List) GitMayRename(i int) bool {
	a := &l.Accesses[i]
	sub, _, at, _ := git(a.Argv)
	if !isGit(a) || !programs.Has(naming, sub) || l.GitElsewhere(i) {
		return false
	}
	for j := at + 1; j < len(a.Dynamic) && a.Argv[j] != "--"; j++ {
		if p := a.Parts[a.Argv[j]]; a.Dynamic[j] && !(p.One && (p.NoOption || p.Lead != "" && p.Lead[0] != '-')) {
			return true
		}
	}
	return false
}

// leaves reports whether a further subcommand, called so, leaves the repository as it is: it prints what that has, or makes a file of it.
func leaves(sub string, words []string) bool {
	first := ""
	if len(words) > 0 {
		first = words[0]
	}
	switch sub {
	case "format-patch":
		return true
	case "archive", "ls-remote", "request-pull": // another place may be reached by a program, which may be any
		return !spelled(words, "--exec", "--remote", "--upload-pack") && !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, "::") })
	case "bundle":
		return programs.Has("create list-heads verify", first)
	case "difftool":
		return len(words) == 1 && first == "--tool-help"
	case "gc": // as after a commit
		return slices.Contains(words, "--auto") && !slices.ContainsFunc(words, func(w string) bool { return !programs.Has("--auto -q --quiet", w) })
	case "help": // what shows a page in another way is a program that the settings name
		return !option(words, 'i', "--info") && !option(words, 'w', "--web")
	case "interpret-trailers":
		return !spelled(words, "--in-place")
	case "rerere":
		return programs.Has("diff remaining status", first)
	}
	return false
}

// spelled reports whether one of some words is an option of one of these names, be it shortened or with a value.
func spelled(words []string, names ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		w, _, _ = strings.Cut(w, "=")
		return len(w) > 2 && slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, w) })
	})
}

// LooksAnew reports whether a call of git looks anew at files that are not as its index has them.
func (l List) LooksAnew() bool {
	return slices.ContainsFunc(l.Accesses, func(a policy.Access) bool {
		sub, _, _, _ := git(a.Argv)
		return isGit(&a) && slices.Contains([]string{"add", "commit", "diff", "stage", "status", "update-index"}, sub)
	})
}

// An Addition is what calls of git put into the index, a stash or a commit, which git knows by the time that another takes it away.
type Addition struct {
	Any       bool     // it may be anything that git tracks
	Untracked bool     // also what git did not know before
	Ignored   bool     // and what it ignores
	paths     []string // of what git did not know; nil for all
}

// Has reports whether a file may be among what git did not know before.
func (a *Addition) Has(file string) bool {
	return a.paths == nil || slices.ContainsFunc(a.paths, func(path string) bool { return safefile.Below(path, file) })
}

// Added is what the calls of git but one add. Paths are those in one of dirs, where git may be started.
func (l List) Added(but int, dirs ...string) (added Addition) {
	all := false
	for i, a := range l.Gits() {
		if i == but {
			continue
		}
		switch sub, words := Git(a.Argv); sub {
		case "add", "stage":
			if added.Any = true; option(words, 'u', "--update") { // of what it knows
				continue
			}
			added.Untracked, added.Ignored = true, added.Ignored || option(words, 'f', "--force")
			named := operands(words)
			all = all || len(named) == 0 || slices.Contains(a.Dynamic, true)
			for _, name := range named {
				all = all || strings.ContainsAny(name, "*?[:")
				for _, dir := range dirs {
					added.paths = append(added.paths, filepath.Join(dir, name))
				}
			}
		case "stash":
			added.Any = true
			ignored := option(words, 'a', "--all")
			if ignored || option(words, 'u', "--include-untracked") {
				added.Untracked, added.Ignored, all = true, added.Ignored || ignored, true
			}
		case "commit":
			added.Any = true
		case "update-index", "":
			added.Any, added.Untracked, added.Ignored, all = true, true, true, true
		}
	}
	if all {
		added.paths = nil
	}
	return added
}

// option reports whether one of some words is an option, by its letter or by the beginning of its name.
func option(words []string, letter byte, name string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		if strings.HasPrefix(w, "--") {
			return len(w) > 3 && strings.HasPrefix(name, w)
		}
		return len(w) > 1 && w[0] == '-' && strings.IndexByte(w, letter) > 0
	})
}

// operands are the words of git add that are no options; none where one of the options has git take all.
func operands(words []string) (names []string) {
	for _, w := range words {
		switch name, long := strings.CutPrefix(w, "--"); {
		case long && (strings.HasPrefix(name, "a") || strings.HasPrefix(name, "pathspec")), !long && strings.HasPrefix(w, "-") && strings.Contains(w, "A"):
			return nil
		case !strings.HasPrefix(w, "-"):
			names = append(names, w)
		}
	}
	return names
}

// IgnoreFile reports whether a file says what git ignores.
func IgnoreFile(path string) bool {
	return filepath.Base(path) == ".gitignore" || strings.HasSuffix(filepath.ToSlash(path), "/info/exclude")
}

// IgnoresOtherwise says how the command may change what git ignores: it writes such a file itself, or it has one of these calls of git, which
// may bring one from another revision.
func (l List) IgnoresOtherwise() (writes bool, calls [][]string) {
	for _, a := range l.Gits() {
		if sub, _ := Git(a.Argv); !programs.Has("clean add commit tag branch push fetch config", sub) {
			calls = append(calls, a.Argv)
		}
	}
	return slices.ContainsFunc(l.Accesses, func(w policy.Access) bool {
		return w.Kind == policy.Write && !w.Guess && IgnoreFile(w.Path)
	}), calls
}
