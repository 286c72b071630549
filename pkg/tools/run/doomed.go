package run

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/change"
	"github.com/agentkit-go/agentkit/pkg/committed"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/programs"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// doomed are the names that a command takes away, replaces or overwrites, as far as its
// text tells, whether git has them or not: they are kept before it runs. True is what may
// be written where it is.
type doomed map[string]bool

func (d doomed) add(path string, written bool) { d[path] = d[path] || written }

// list is for the shelf.
func (d doomed) list() []change.Doomed { return d.as(false) }

// maxLookedAt bounds the names that some looks at.
const maxLookedAt = 2000

// some reports whether what stands at one of the names, or lies in it, is so, as far as it looks.
func (d doomed) some(is func(path string, i fs.FileInfo) bool) (found bool) {
	left := maxLookedAt
	for path := range d {
		_ = filepath.WalkDir(path, func(path string, e fs.DirEntry, err error) error {
			if left--; left < 0 || found {
				return fs.SkipAll
			}
			if err == nil {
				i, err := e.Info()
				found = err == nil && is(path, i)
			}
			return nil
		})
	}
	return found
}

// as is for the shelf; maybe says that they may stay as they are.
func (d doomed) as(maybe bool) (names []change.Doomed) {
	for path, written := range d {
		names = append(names, change.Doomed{Path: path, Written: written, Maybe: maybe})
	}
	return names
}

// A dooming finds the names that are doomed.
type dooming struct {
	env     *tool.Env
	dir     string // where the command starts
	text    string // of the command
	needs   []policy.Access
	names   doomed
	asked   []lostFiles
	gitKept bool         // what git does in this call is understood, and can be taken back
	work    map[int]bool // the calls of git that may take uncommitted work
	lasting bool         // the call sees the end of the command, so that what it lost is recorded then
}

func newDooming(env *tool.Env, dir, text string, needs []policy.Access, lasting bool) *dooming {
	d := &dooming{env: env, dir: dir, text: text, needs: needs, names: doomed{}, work: map[int]bool{}, lasting: lasting}
	for i := range needs {
		d.work[i] = programs.LosesWork(needs[i].Danger) // as long as nobody has found that nothing is lost
	}
	d.gitKept = d.keeps() && d.understandsGit()
	return d
}

// keeps reports whether what the call takes away is kept.
func (d *dooming) keeps() bool {
	return d.lasting && d.env.Policy.Undo().Commands != policy.UndoOff
}

// write notes a write that takes something away, where that is all that is to be known.
func (d *dooming) write(w *policy.Access) {
	root := d.env.Workspace.Root()
	if w.Op == policy.Delete { // of a link, it is the link that goes
		d.link(w)
	}
	switch {
	case w.Opaque != "" || !safefile.Below(root, w.Path):
	case w.File == policy.Dir:
		if inGit := safefile.InGit(w.Path); inGit && w.Tree && !w.Below {
			d.names.add(w.Path, false)
		}
	default:
		d.names.add(w.Path, w.Op == policy.Change && !d.moved(w))
	}
}

// link notes the link by which a write names what it is about.
func (d *dooming) link(w *policy.Access) {
	if w.Named == "" || w.Opaque != "" {
		return
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(w.Named))
	if err != nil || !safefile.Below(d.env.Workspace.Root(), dir) {
		return
	}
	link := filepath.Join(dir, filepath.Base(w.Named))
	if info, err := os.Lstat(link); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		d.names.add(link, false)
	}
}

// replacers are programs that put another file in the place of a link that they are given,
// or may: they do not write to what it leads to.
var replacers = [...]string{"mv", "ln", "cp", "install", "sed", "perl", "git", "rsync"}

// replaced notes the links that such a program puts something else in the place of.
func (d *dooming) replaced() {
	for j := range d.needs {
		w := &d.needs[j]
		if w.Kind == policy.Write && !w.Guess && w.Parent > 0 && slices.Contains(replacers[:], baseName(&d.needs[w.Parent-1])) {
			d.link(w)
		}
	}
}

// moved reports whether a write is mv's, which puts another file there and never writes to
// the one that it finds: that comes back with its other names.
func (d *dooming) moved(w *policy.Access) bool {
	return w.Parent > 0 && baseName(&d.needs[w.Parent-1]) == "mv"
}

// files notes a directory, or the files of it that go.
func (d *dooming) files(w *policy.Access, files []string) {
	root := d.env.Workspace.Root()
	if w.File != policy.Dir || !safefile.Below(root, w.Path) {
		return
	}
	switch {
	case !w.Tree: // rmdir: of what is empty, or will be
		entries, err := os.ReadDir(w.Path)
		if err == nil && len(entries) == 0 || d.below(w.Path) {
			d.names.add(w.Path, false)
		}
	case w.Names != "":
		for _, path := range files {
			d.names.add(path, false)
		}
	case w.Below || w.Path == root:
		entries, _ := os.ReadDir(w.Path)
		for _, e := range entries {
			if e.Name() != ".git" {
				d.names.add(filepath.Join(w.Path, e.Name()), false)
			}
		}
	default:
		d.names.add(w.Path, false)
		d.linked(files)
	}
}

// maxLink bounds what is read of a .git file, in bytes.
const maxLink = 64 << 10

// linked notes what the repository keeps of the worktrees that go: git worktree remove and prune
// take it away.
func (d *dooming) linked(files []string) {
	root := d.env.Workspace.Root()
	for _, path := range files {
		if filepath.Base(path) != ".git" {
			continue
		}
		text, err := safefile.ReadRegular(path, maxLink)
		dir, ok := safefile.GitDir(text)
		if err == nil && ok && filepath.Dir(dir) == filepath.Join(root, ".git", "worktrees") && exists(dir) {
			d.names.add(dir, false)
		}
	}
}

// Bounds of what is copied of files that are no more than named to a program: the size of one, and of all.
const (
	maxNamed      = 4 << 20 // bytes
	maxNamedBytes = 16 << 20
)

// named are the files that the text gives programs to write, or that it names to programs of which
// nothing is known, and which nothing else keeps: a formatter's, an editor's, a converter's, an archive's. It may be
// that nothing of them is lost, so they are not many bytes, and no question hangs on their being kept.
func (d *dooming) named() doomed {
	named := doomed{}
	if !d.keeps() {
		return named
	}
	left := min(maxNamedBytes, int64(d.env.Policy.Undo().MaxBytes)/4)
	note := func(path string, unlinked bool) {
		_, kept := d.names[path]
		if _, twice := named[path]; kept || twice || !safefile.Below(d.env.Workspace.Root(), path) {
			return
		}
		info, err := os.Lstat(path)
		switch {
		case err != nil || !info.Mode().IsRegular():
			if unlinked {
				named.add(path, true)
			}
		case info.Size() <= min(maxNamed, left):
			named.add(path, true)
			left -= info.Size()
		case unlinked:
			named.add(path, false)
		}
	}
	for j := range d.needs {
		if w := &d.needs[j]; w.File == policy.Regular && w.Parent > 0 && !safefile.BelowGit(w.Path) && mayChange(w, &d.needs[w.Parent-1]) && d.allowed(w.Path) {
			note(w.Path, false)
		}
	}
	for _, path := range unpacked(d.env.Workspace.Root(), d.needs) {
		if d.allowed(path) {
			note(path, true)
		}
	}
	return named
}

// allowed reports whether a file may be changed just so: what is protected the sandbox holds.
func (d *dooming) allowed(path string) bool {
	w := policy.Access{Kind: policy.Write, Tool: "bash", Op: policy.Change, File: policy.Regular, Path: path}
	return d.env.Policy.Decide(&w).Verdict == policy.Allow
}

// mayChange reports whether a program writes to the file of an access, or nothing says that it does not.
func mayChange(w, program *policy.Access) bool {
	switch {
	case w.Opaque != "" && !w.Guess:
		return false
	case w.Kind == policy.Write:
		return w.Op == policy.Change && !strings.HasPrefix(w.Source, ">>")
	}
	return w.Kind == policy.Read && !w.Guess && program.Class == policy.Unknown
}

func (d *dooming) below(dir string) bool {
	for path := range d.names {
		if safefile.Below(dir, path) {
			return true
		}
	}
	return false
}

// rewriters are programs that write a file anew of which they read a part or all, or put
// what they make of one beside it or in its place.
var rewriters = [...]string{"sed", "perl", "patch", "sort", "uniq", "gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd", "compress", "uncompress"}

// rewritten notes the files that such a program changes in their place. They are not lost
// as those are that a command empties, so that no question hangs on their being kept.
func (d *dooming) rewritten() {
	for j := range d.needs {
		w := &d.needs[j]
		if w.Kind == policy.Write && w.Opaque == "" && w.Op == policy.Change && w.File == policy.Regular && d.rewrites(w) {
			d.names.add(w.Path, true)
		}
	}
}

// rewrites reports whether a write in the root is such a program's.
func (d *dooming) rewrites(w *policy.Access) bool {
	return !w.Guess && w.Parent > 0 && slices.Contains(rewriters[:], baseName(&d.needs[w.Parent-1])) && safefile.Below(d.env.Workspace.Root(), w.Path)
}

// beside notes what else the programs do that take something away: the sources of mv, and
// what is made, so that all of it comes back.
func (d *dooming) beside() {
	if len(d.names) == 0 {
		return
	}
	root := d.env.Workspace.Root()
	for j := range d.needs {
		w := &d.needs[j]
		if w.Kind != policy.Write || w.Guess || w.Opaque != "" || w.Path == root || !safefile.Below(root, w.Path) {
			continue
		}
		switch _, err := os.Lstat(w.Path); {
		case err != nil:
			d.names.add(w.Path, true)
		case w.Op == policy.Change && w.File == policy.Regular && !safefile.BelowGit(w.Path):
			d.names.add(w.Path, !d.moved(w))
		case w.Op == policy.Delete && d.moved(w) && w.File != policy.Missing:
			d.names.add(w.Path, true) // its files stay, under other names
		}
	}
}

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
	sub, rest, elsewhere := gitCall(a.Argv)
	elsewhere = elsewhere || slices.ContainsFunc(d.needs, func(v policy.Access) bool {
		return placesGit(&v) && v.Name != "GIT_CEILING_DIRECTORIES" && v.Name != "GIT_EXEC_PATH"
	})
	if elsewhere && a.Class != policy.ReadOnly && (programs.GitLoses(sub, rest) || sub == "checkout-index") {
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

// lost asks git once about the files of a kind in a repository.
func (d *dooming) lost(kind committed.Kind, top string) lostFiles {
	i := slices.IndexFunc(d.asked, func(l lostFiles) bool { return l.kind == kind && l.top == top })
	if i >= 0 {
		return d.asked[i]
	}
	asked := lostFiles{kind: kind, top: top}
	asked.list, asked.gone, asked.ok = d.env.Git.LostAndGone(kind, top)
	d.asked = append(d.asked, asked)
	return asked
}

// lostFiles are what git answered about a repository.
type lostFiles struct {
	kind committed.Kind
	top  string
	list []string
	gone []string // tracked, and not there
	ok   bool
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
	if sub, rest := gitSub(a.Argv); programs.GitLoses(sub, rest) || d.work[i] {
		return true
	}
	return slices.ContainsFunc(d.needs, func(w policy.Access) bool { return w.Parent == i+1 && destroys(&w, a) })
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
	copied := sub == "reset" && slices.ContainsFunc(rest, byTimes)
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
		list, _ := d.env.Git.Others(top, ignored)
		doom(list)
	case "merge", "rebase", "cherry-pick", "revert", "am", "pull":
		if !programs.GitLoses(sub, rest) {
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

// byTimes reports whether an option has git reset take a file for changed whose time of the
// last change of any kind is not that of the index, without looking at what it holds: a link
// to it sets that, too.
func byTimes(option string) bool {
	return len(option) > 3 && (strings.HasPrefix("--merge", option) || strings.HasPrefix("--keep", option))
}

func baseName(a *policy.Access) string {
	if len(a.Argv) == 0 {
		return ""
	}
	return filepath.Base(a.Argv[0])
}

// destroys reports whether a write takes away what a file holds.
func destroys(w, program *policy.Access) bool {
	if w.Kind != policy.Write || w.Guess || w.Path == "" {
		return false
	}
	moves := program != nil && baseName(program) == "mv"
	switch {
	case w.Op == policy.Delete:
		return !moves || w.File == policy.Missing
	case w.Op != policy.Change || w.File != policy.Regular || strings.HasPrefix(w.Source, ">>"):
		return false
	case program != nil && baseName(program) == "git" && !strings.HasPrefix(w.Source, ">"):
		return false // its own files; see git
	}
	return program == nil || strings.HasPrefix(w.Source, ">") || program.Loses ||
		slices.Contains([]string{"mv", "cp", "dd", "tee", "install", "truncate", "ln"}, baseName(program))
}
