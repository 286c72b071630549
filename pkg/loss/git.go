package loss

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/programs"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/steps"
)

// repository is the directory whose repository a call of git is for; "" where that is not
// sure.
func (d *dooming) repository(i int) string {
	if top := gitTop(d.needs, i, ""); top != "" {
		return top
	}
	if top := filepath.FromSlash(d.needs[i].Top); top != "" && !d.relocates(i) && hasHead(filepath.Join(top, ".git")) {
		return top
	}
	if slices.ContainsFunc(d.needs, func(a policy.Access) bool {
		return a.Kind == policy.Exec && (slices.Contains([]string{"cd", "pushd", "popd"}, steps.Name(&a)) || steps.Name(&a) == "git" && slices.Contains(a.Argv, "-C"))
	}) {
		return ""
	}
	return d.around()
}

// around is the directory whose repository the call begins in; "" where there is none in the root.
func (d *dooming) around() string {
	for dir := range safefile.Up(d.env.Workspace.Root(), d.dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
	}
	return ""
}

// elsewhere reports whether a call of git may be for another repository than that in which the call begins, and for
// which is not known. One that the call itself makes is none where something can be lost.
func (d *dooming) elsewhere(i int) bool {
	if d.repository(i) != "" || d.needs[i].Top != "" && filepath.FromSlash(d.needs[i].Top) == d.around() {
		return false
	}
	return d.relocates(i) || slices.ContainsFunc(d.needs[:i+1], d.leads)
}

// leads reports whether a program may lead to a directory that is there already: the shell, or git.
func (d *dooming) leads(a policy.Access) bool {
	if a.Kind != policy.Exec {
		return false
	}
	to := []string(nil)
	switch at := slices.Index(a.Argv, "-C"); steps.Name(&a) {
	case "popd":
		return true
	case "cd", "pushd":
		if to = a.Argv[1:]; len(to) == 0 {
			return true
		}
	case "git":
		if at < 0 || at+1 == len(a.Argv) {
			return false
		}
		to = a.Argv[at+1 : at+2]
	default:
		return false
	}
	return slices.Contains(a.Dynamic, true) || slices.ContainsFunc(to, func(dir string) bool {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(d.dir, dir)
		}
		return safefile.Exists(dir)
	})
}

// relocates reports whether a program before another one may have its directory be of another repository by the time
// that it starts: by a link, by moving or unpacking directories, or in whatever way.
func (d *dooming) relocates(i int) bool {
	above := map[int]bool{} // what runs the git: what else it does stands in the list
	for p := d.needs[i].Parent; p > 0 && p <= i; p = d.needs[p-1].Parent {
		above[p-1] = true
	}
	for j, a := range d.needs[:i] {
		if above[j] && programs.Has("bash sh dash zsh eval source .", steps.Name(&a)) {
			continue
		}
		if a.Kind == policy.Exec && steps.Name(&a) != "git" && (a.Class == policy.Unknown || programs.Has("ln mv cp rsync install tar gtar bsdtar unzip cpio rm", steps.Name(&a))) {
			return true
		}
	}
	return false
}

// hasHead reports whether a repository's HEAD is as git wants it.
func hasHead(git string) bool {
	text, err := safefile.ReadRegular(filepath.Join(git, "HEAD"), 4<<10)
	return err == nil && safefile.GitHead(text)
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
	"REBASE_HEAD", "rebase-merge", "rebase-apply", "sequencer", "logs", "COMMIT_EDITMSG",
}

// HoldsGit reports whether what git keeps of a repository is among the names.
func (d Names) HoldsGit() bool {
	for path := range d {
		if filepath.Base(path) == "HEAD" && safefile.InGit(path) {
			return true
		}
	}
	return false
}

// git notes what git takes away, where one of the call's programs is a git that does.
func (d *dooming) git() {
	loses := d.lossy
	for i, a := range d.steps.Gits() {
		taken := func(w policy.Access) bool { return w.Parent == i+1 && destroys(&w, a) }
		loses = loses || a.Drops || d.steps.GitMayRename(i) || slices.ContainsFunc(d.needs, taken) || d.overwrites(i)
	}
	for i, a := range d.steps.Gits() {
		if top := d.repository(i); loses && d.keepsGit(top) {
			d.doomRepository(top)
			d.doomWork(a, top)
		}
	}
}

// overwrites reports whether a call of git brings a file of another revision to where one lies that git ignores: it
// has no word for that.
func (d *dooming) overwrites(i int) bool {
	sub, rest := steps.Git(d.needs[i].Argv)
	top := d.repository(i)
	if !slices.Contains([]string{"merge", "rebase", "cherry-pick", "pull", "checkout", "switch"}, sub) || !d.keepsGit(top) {
		return false
	}
	return slices.ContainsFunc(revisionWords(rest), func(word string) bool {
		return slices.ContainsFunc(d.env.Git.Added(top, cherryBase(sub, word), word), safefile.Exists)
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
	for _, name := range gitFiles {
		if name == "config" && top != d.env.Workspace.Root() && !d.env.Policy.MayWrite(filepath.Join(top, ".git", name), policy.Regular) {
			continue // of a repository in the root: undo may not write it, and brings back the rest
		}
		d.names.add(true, filepath.Join(top, ".git", name)) // logs are appended to; of a file with a second name the wall is wary
	}
}

// addsNone reports whether nothing of the call makes a commit, or gives a branch another name.
func (d *dooming) addsNone() bool {
	return !slices.ContainsFunc(d.needs, func(a policy.Access) bool {
		if a.Kind != policy.Exec || a.Builtin {
			return false
		}
		if steps.Name(&a) != "git" {
			return a.Class == policy.Unknown || a.Opaque != ""
		}
		sub, rest := steps.Git(a.Argv)
		return slices.Contains(a.Dynamic, true) || sub == "branch" && (hasLetter(rest, "mM") || slices.ContainsFunc(rest, func(w string) bool { return strings.HasPrefix(w, "--m") })) || !programs.Has("add branch checkout diff log ls-files reset restore rev-parse show status switch tag worktree", sub)
	})
}

// doomWork notes the files of a repository that a call of git may change.
func (d *dooming) doomWork(a *policy.Access, top string) {
	sub, rest := steps.Git(a.Argv)
	open := steps.GitOpen(a) // a word may be any option
	copied := byTimes(sub, rest) || open && byTimes(sub, []string{"--abort", "--keep"})
	doom := func(paths []string) {
		for _, path := range paths {
			if up := filepath.Dir(path); up != top && safefile.Below(top, up) {
				if info, err := os.Lstat(up); err == nil && !info.IsDir() { // it makes way for a directory
					path = up
				}
			}
			d.names.add(copied, path)
		}
	}
	switch sub {
	case "clean":
		list, _ := d.env.Git.Others(top, hasLetter(rest, "xX") || open && programs.PathsAlone(a.Argv, a.Dynamic) == 0 || d.ignoresOtherwise(top))
		doom(list)
	case "merge", "rebase", "cherry-pick", "revert", "am", "pull":
		if !a.Drops {
			for _, word := range revisionWords(rest) {
				doom(d.env.Git.Between(top, cherryBase(sub, word), word, false))
			}
			if !open {
				break
			}
		}
		doom(d.changed(top))
		for _, orig := range []string{"ORIG_HEAD", "REBASE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"} {
			doom(d.env.Git.Between(top, "HEAD", orig, false))
		}
	case "symbolic-ref":
		if len(rest) > 1 {
			doom(d.env.Git.Between(top, "HEAD", rest[len(rest)-1], false))
		}
	case "checkout", "checkout-index", "read-tree", "switch", "reset", "restore", "stash", "rm":
		doom(d.changed(top))
		option := func(w string) bool { return strings.HasPrefix(w, "-") }
		if sub == "stash" && (open || slices.ContainsFunc(rest, option)) { // it may take more, and remove empty directories
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

// ignoresOtherwise reports whether the call changes what git ignores in a repository, or has git do so.
func (d *dooming) ignoresOtherwise(top string) bool {
	writes, calls := d.steps.IgnoresOtherwise()
	return writes || slices.ContainsFunc(calls, func(argv []string) bool {
		sub, rest := steps.Git(argv)
		return slices.ContainsFunc(d.changed(top), steps.IgnoreFile) || slices.ContainsFunc(revisionWords(rest), func(word string) bool {
			return slices.ContainsFunc(d.env.Git.Between(top, cherryBase(sub, word), word, false), steps.IgnoreFile)
		})
	})
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
