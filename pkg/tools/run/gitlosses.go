package run

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/committed"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// gitWords are the subcommands of git of which is known what they change. Those that only
// read are among them: what they print may go to a file.
const gitWords = " add am apply branch checkout checkout-index cherry-pick clean commit config fetch merge mv notes pull read-tree rebase remote replace reset restore revert rm stash switch symbolic-ref tag update-ref" +
	" blame cat-file describe diff for-each-ref grep log ls-files ls-tree rev-list rev-parse shortlog show status "

// gitSub is the subcommand of a call of git, with the words behind it, also of an alias that the call sets; "" where
// an option has git work elsewhere.
func gitSub(argv []string) (sub string, rest []string) {
	sub, rest, elsewhere := gitCall(argv)
	if elsewhere {
		return "", nil
	}
	return sub, rest
}

func gitCall(argv []string) (sub string, rest []string, elsewhere bool) {
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

// ofGitsPlaces are the variables that have git work elsewhere, or with other settings.
var ofGitsPlaces = [...]string{"GIT_DIR", "GIT_COMMON_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_CEILING_DIRECTORIES", "GIT_EXEC_PATH", "GIT_CONFIG", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS"}

// placesGit reports whether an assignment is of such a variable.
func placesGit(a *policy.Access) bool {
	return a.Kind == policy.Env && slices.Contains(ofGitsPlaces[:], a.Name)
}

// losesElsewhere is why a call of git is dangerous that takes something away where options or variables have it
// work: what that is, nobody looks at; "" for any other.
func (d *dooming) losesElsewhere(i int) string {
	a := &d.needs[i]
	_, _, elsewhere := gitCall(a.Argv)
	elsewhere = elsewhere || slices.ContainsFunc(d.needs, func(v policy.Access) bool {
		return placesGit(&v) && v.Name != "GIT_CEILING_DIRECTORIES" && v.Name != "GIT_EXEC_PATH"
	})
	if elsewhere && a.Class != policy.ReadOnly && a.Drops {
		return "takes away what is in a work tree, or an index, that its options or variables name"
	}
	return ""
}

// understandsGit reports whether all that git changes in this call is known.
func (d *dooming) understandsGit() bool {
	for i := range d.needs {
		a := &d.needs[i]
		switch {
		case placesGit(a):
			return false
		case a.Kind != policy.Exec || baseName(a) != "git" || a.Class == policy.ReadOnly:
			continue
		}
		if sub, _ := gitSub(a.Argv); sub == "" || slices.Contains(a.Dynamic, true) || !strings.Contains(gitWords, " "+sub+" ") {
			return false
		}
	}
	return true
}

// repository is the directory whose repository a call of git is for; "" where that is not
// sure.
func (d *dooming) repository(i int) string {
	if top := gitTop(d.needs, i, ""); top != "" {
		return top
	}
	moves := slices.ContainsFunc(d.needs, func(a policy.Access) bool {
		return a.Kind == policy.Exec && (slices.Contains([]string{"cd", "pushd", "popd"}, baseName(&a)) || baseName(&a) == "git" && slices.Contains(a.Argv, "-C"))
	})
	if moves {
		return ""
	}
	for dir := range safefile.Up(d.env.Workspace.Root(), d.dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
	}
	return ""
}

// updatesIndex reports whether a command has a git look anew at files that are not as its index has them.
func updatesIndex(needs []policy.Access) bool {
	return slices.ContainsFunc(needs, func(a policy.Access) bool {
		if a.Kind != policy.Exec || baseName(&a) != "git" {
			return false
		}
		sub, _, _ := gitCall(a.Argv)
		return slices.Contains([]string{"add", "commit", "diff", "stage", "status", "update-index"}, sub)
	})
}

// keepsGit reports whether what git itself keeps of a repository can be kept.
func (d *dooming) keepsGit(top string) bool {
	if !d.gitKept || top == "" {
		return false
	}
	info, err := os.Lstat(filepath.Join(top, ".git"))
	return err == nil && info.IsDir() && safefile.Below(d.env.Workspace.Root(), top)
}

// gitFiles are what git keeps of where it is, beside the objects: those only grow.
var gitFiles = [...]string{
	"HEAD", "index", "config", "packed-refs", "refs", "ORIG_HEAD", "MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "AUTO_MERGE", "CHERRY_PICK_HEAD", "REVERT_HEAD", "SQUASH_MSG",
	"rebase-merge", "rebase-apply", "sequencer", "logs", "COMMIT_EDITMSG",
}

// git notes what git takes away, where one of the call's programs is a git that does.
func (d *dooming) git() {
	loses := false
	for i := range d.needs {
		a := &d.needs[i]
		loses = loses || a.Kind == policy.Exec && baseName(a) == "git" && a.Class != policy.ReadOnly && (d.gitLoses(i) || d.overwrites(i))
	}
	if !loses {
		return
	}
	for i := range d.needs {
		a := &d.needs[i]
		if a.Kind != policy.Exec || baseName(a) != "git" || a.Class == policy.ReadOnly {
			continue
		}
		if top := d.repository(i); d.keepsGit(top) {
			d.doomRepository(top)
			d.doomWork(a, top)
		}
	}
}

// gitLoses reports whether a call of git takes something away.
func (d *dooming) gitLoses(i int) bool {
	a := &d.needs[i]
	return a.Drops || slices.ContainsFunc(d.needs, func(w policy.Access) bool { return w.Parent == i+1 && destroys(&w, a) })
}

// overwrites reports whether a call of git brings a file of another revision to where one lies that git ignores: it
// has no word for that.
func (d *dooming) overwrites(i int) bool {
	sub, rest := gitSub(d.needs[i].Argv)
	if !d.gitKept || !slices.Contains([]string{"merge", "rebase", "cherry-pick", "pull", "checkout", "switch"}, sub) {
		return false
	}
	top := d.repository(i)
	if !d.keepsGit(top) {
		return false
	}
	return slices.ContainsFunc(revisionWords(rest), func(word string) bool {
		return slices.ContainsFunc(d.env.Git.Added(top, cherryBase(sub, word), word), exists)
	})
}

// maxRevisions bounds the words of a call of git that are tried as revisions.
const maxRevisions = 8

// revisionWords are the words that may name revisions.
func revisionWords(words []string) (list []string) {
	for _, word := range words {
		if word == "--" {
			break
		}
		if word != "" && word != "." && word[0] != '-' && len(list) < maxRevisions {
			list = append(list, word)
		}
	}
	return list
}

// cherryBase is what a revision brings its changes since.
func cherryBase(sub, revision string) string {
	if sub == "cherry-pick" || sub == "revert" {
		return revision + "^"
	}
	return "HEAD"
}

func (d *dooming) doomRepository(top string) {
	git := filepath.Join(top, ".git")
	for _, name := range gitFiles {
		d.names.add(filepath.Join(git, name), true) // logs are appended to; of a file with a second name the wall is wary
	}
}

// doomWork notes the files of a repository that a call of git may change.
func (d *dooming) doomWork(a *policy.Access, top string) {
	sub, rest := gitSub(a.Argv)
	copied := byTimes(sub, rest)
	doom := func(paths []string) {
		for _, path := range paths {
			if up := filepath.Dir(path); up != top && safefile.Below(top, up) {
				if info, err := os.Lstat(up); err == nil && !info.IsDir() { // it makes way for a directory
					path = up
				}
			}
			d.names.add(path, copied)
		}
	}
	switch sub {
	case "clean":
		ignored := slices.ContainsFunc(rest, func(w string) bool { return len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.ContainsAny(w, "xX") })
		list, _ := d.env.Git.Others(top, ignored || d.ignoresOtherwise(top))
		doom(list)
	case "merge", "rebase", "cherry-pick", "revert", "am", "pull":
		if !a.Drops {
			for _, word := range revisionWords(rest) {
				doom(d.env.Git.Between(top, cherryBase(sub, word), word, false))
			}
			break
		}
		lost := d.lost(committed.Changed, top)
		doom(lost.list)
		doom(lost.gone)
		for _, orig := range []string{"ORIG_HEAD", "REBASE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"} {
			doom(d.env.Git.Between(top, "HEAD", orig, false))
		}
	case "symbolic-ref":
		if len(rest) > 1 {
			doom(d.env.Git.Between(top, "HEAD", rest[len(rest)-1], false))
		}
	case "checkout", "checkout-index", "read-tree", "switch", "reset", "restore", "stash", "rm":
		lost := d.lost(committed.Changed, top)
		doom(lost.list)
		doom(lost.gone)
		option := func(w string) bool { return strings.HasPrefix(w, "-") }
		if sub == "stash" && slices.ContainsFunc(rest, option) { // it may take more, and remove empty directories
			list, _ := d.env.Git.Others(top, true)
			doom(list)
		}
		for _, word := range rest {
			if word == "--" {
				break
			}
			word = strings.TrimPrefix(word, "--source=")
			if sub == "restore" && len(word) > 2 && strings.HasPrefix(word, "-s") { // as one word
				word = word[2:]
			}
			if word != "" && word[0] != '-' {
				doom(d.env.Git.Between(top, "HEAD", word, false))
			}
		}
		if sub == "stash" {
			doom(d.env.Git.Between(top, "stash@{0}^", "stash@{0}", false))
		}
		if slices.Contains(rest, "-") {
			doom(d.env.Git.Between(top, "HEAD", "@{-1}", false))
		}
	}
}

// An adding is what other calls of git put into the index, a stash or a commit, which git knows by the time that one
// takes it away.
type adding struct {
	some      bool     // it may be anything that git tracks
	untracked bool     // also what git did not know before
	ignored   bool     // and what it ignores
	within    []string // the paths of what it did not know; none for all
}

// adds finds it for a call of git.
func (d *dooming) adds(i int, top string) (found adding) {
	all := false
	for j := range d.needs {
		a := &d.needs[j]
		if j == i || a.Kind != policy.Exec || baseName(a) != "git" || a.Class == policy.ReadOnly {
			continue
		}
		sub, words := gitSub(a.Argv)
		option := func(letter byte, names ...string) bool {
			return slices.ContainsFunc(words, func(w string) bool {
				if strings.HasPrefix(w, "--") {
					return len(w) > 3 && slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, w) })
				}
				return len(w) > 1 && w[0] == '-' && strings.IndexByte(w, letter) > 0
			})
		}
		switch sub {
		case "add", "stage":
			if found.some = true; option('u', "--update") { // of what it knows
				continue
			}
			found.untracked, found.ignored = true, found.ignored || option('f', "--force")
			named := plainWords(words)
			all = all || len(named) == 0 || slices.Contains(a.Dynamic, true)
			for _, name := range named {
				all = all || name == "." || strings.ContainsAny(name, "*?[:")
				found.within = append(found.within, filepath.Join(d.dir, name), filepath.Join(top, name))
			}
		case "stash":
			all = all || option('u', "--include-untracked") || option('a', "--all")
			found.some, found.untracked, found.ignored = true, found.untracked || all, found.ignored || option('a', "--all")
		case "commit":
			found.some = true
		case "update-index", "":
			found.some, found.untracked, found.ignored, all = true, true, true, true
		}
	}
	if all {
		found.within = nil
	}
	return found
}

// plainWords are those that are no options; none where one of the options has git take all.
func plainWords(words []string) (plain []string) {
	for _, w := range words {
		switch {
		case w == "--":
		case strings.HasPrefix(w, "-"):
			if strings.HasPrefix(w, "--a") || strings.HasPrefix(w, "--pathspec") || !strings.HasPrefix(w, "--") && strings.Contains(w, "A") {
				return nil
			}
		default:
			plain = append(plain, w)
		}
	}
	return plain
}

// ignoresOtherwise reports whether the call changes what git ignores in a repository, or has git do so.
func (d *dooming) ignoresOtherwise(top string) bool {
	says := func(path string) bool {
		return filepath.Base(path) == ".gitignore" || strings.HasSuffix(filepath.ToSlash(path), "/info/exclude")
	}
	for i := range d.needs {
		switch a := &d.needs[i]; {
		case a.Kind == policy.Write && !a.Guess && says(a.Path):
			return true
		case a.Kind != policy.Exec || baseName(a) != "git" || a.Class == policy.ReadOnly:
			continue
		}
		sub, rest := gitSub(d.needs[i].Argv)
		if slices.Contains([]string{"clean", "add", "commit", "tag", "branch", "push", "fetch", "config"}, sub) {
			continue
		}
		if lost := d.lost(committed.Changed, top); slices.ContainsFunc(lost.list, says) || slices.ContainsFunc(lost.gone, says) {
			return true
		}
		for _, word := range revisionWords(rest) {
			if slices.ContainsFunc(d.env.Git.Between(top, cherryBase(sub, word), word, false), says) {
				return true
			}
		}
	}
	return false
}

// byTimes reports whether git, called so, takes a file for changed, and gives up, whose time of the last change
// of any kind is not that of the index, without looking at what it holds: a link to it sets that, too.
func byTimes(sub string, words []string) bool {
	var options []string
	switch sub {
	case "read-tree":
		return true
	case "reset":
		options = []string{"--merge", "--keep"}
	case "merge", "cherry-pick", "revert":
		options = []string{"--abort", "--skip"}
	}
	return slices.ContainsFunc(words, func(word string) bool {
		return len(word) > 3 && slices.ContainsFunc(options, func(option string) bool { return strings.HasPrefix(option, word) })
	})
}
