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
// read are among them: what they print may go to a file.
const understood = "add am apply branch checkout checkout-index cherry-pick clean commit config fetch merge mv notes pull read-tree rebase remote replace reset restore revert rm stash switch symbolic-ref tag update-ref worktree " +
	"blame cat-file describe diff for-each-ref grep log ls-files ls-tree rev-list rev-parse shortlog show status"

// Git is the subcommand of a call of git, with the words behind it, also of an alias that the call sets; "" where
// an option has git work elsewhere.
func Git(argv []string) (sub string, words []string) {
	if sub, words, elsewhere := git(argv); !elsewhere {
		return sub, words
	}
	return "", nil
}

func git(argv []string) (sub string, words []string, elsewhere bool) {
	alias := map[string][]string{}
	for i := 1; i < len(argv); i++ {
		switch word := argv[i]; {
		case word == "-C":
			i++
		case word == "-c":
			if i++; i == len(argv) {
				return "", nil, elsewhere
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
				return words[0], slices.Concat(words[1:], argv[i+1:]), elsewhere
			}
			return word, argv[i+1:], elsewhere
		}
	}
	return "", nil, elsewhere
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
	_, _, elsewhere := git(l.Accesses[i].Argv)
	return elsewhere || l.sets(placing[:len(placing)-2])
}

// GitUnderstood reports whether all that git changes in this command is known.
func (l List) GitUnderstood() bool {
	for _, a := range l.Gits() {
		if sub, _ := Git(a.Argv); !UnderstandsGit(sub) || slices.Contains(a.Dynamic, true) {
			return false
		}
	}
	return !l.sets(placing[:])
}

// LooksAnew reports whether a call of git looks anew at files that are not as its index has them.
func (l List) LooksAnew() bool {
	return slices.ContainsFunc(l.Accesses, func(a policy.Access) bool {
		sub, _, _ := git(a.Argv)
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
