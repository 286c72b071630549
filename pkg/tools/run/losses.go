package run

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/committed"
	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/programs"
	"github.com/agentkit-go/agentkit/pkg/rg"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/steps"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// keepNames is how many names of a command's losses are kept, so that undo can bring them
// back. The policy says how many bytes.
const keepNames = 200_000

// losses finds what a command deletes or overwrites that is nowhere else: not in
// git's HEAD, not ignored by git, not made in a temporary directory since the
// session began. What can be kept for undo or copied is noted, and what is dangerous for its
// losses alone is no longer; what cannot be kept makes the program dangerous that
// does it.
type losses struct {
	ctx     context.Context
	env     *tool.Env
	dir     string // where the command starts
	text    string // of the command
	needs   []policy.Access
	keep    map[string]bool // absolute paths, in the root
	aside   []string        // absolute paths outside it, to be copied before
	large   int64           // bytes of these
	bytes   int64
	doom    *dooming
	risky   map[string]bool // of files that a program names many of, whether they are nowhere else
	lasting bool            // the call sees the end of the command, so that what it lost is recorded then
}

// find judges every program of the command, and gives the accesses as they are
// then, with what has to be kept.
func (l *losses) find() (needs []policy.Access, keep map[string]bool) {
	n := len(l.needs)
	l.keep, l.risky, l.doom = map[string]bool{}, map[string]bool{}, newDooming(l.env, l.dir, l.text, slices.Clip(l.needs), l.lasting)
	for i := range n {
		if l.needs[i].Kind == policy.Exec {
			l.program(i, n)
		}
	}
	for j := range n {
		switch a := &l.needs[j]; {
		case a.Kind == policy.Write && a.Op == policy.Delete && filepath.Base(a.Path) == ".git" && l.doom.steps.Moved(a):
			a.Opaque = cmp.Or(a.Opaque, "the repository goes on under another name")
		case a.Parent == 0 && destroys(a, nil):
			if i := l.doom.steps.Program(j); i >= 0 {
				l.endanger(i, l.file(j, "", ""))
			}
		case a.Opaque == "" && a.Kind == policy.Write && a.Tree && !a.Below && a.File == policy.Dir && (a.Op == policy.Metadata || a.Op == policy.Delete && !a.Each && a.Parent > 0 && !destroys(a, &l.needs[a.Parent-1])):
			l.each(j)
		case a.Kind == policy.Write && a.Op == policy.Metadata && a.Below && a.Opaque == "" && a.Names != "" && (!a.Split || l.env.Policy.Holds()):
			l.named(j)
		case a.Kind == policy.Write && a.Op == policy.Change && a.Below && a.Opaque == "" && (a.Names != "" && (!a.Split || l.env.Policy.Holds()) || l.doom.rewrites(a)):
			l.named(j)
		}
	}
	for _, m := range l.doom.steps.Losses() {
		l.renamed(m)
	}
	l.doom.git()
	l.doom.rewritten()
	l.doom.replaced()
	l.doom.patched()
	l.doom.copied()
	for path := range l.keep { // that nothing asks hangs on it
		l.doom.names.add(path, false)
	}
	l.doom.beside()
	return l.needs, l.keep
}

// renamed judges what goes under a name that the command gives it, and notes it. Of a directory that
// leaves the root what is nowhere else is noted, and of what is not known by name all that is.
func (l *losses) renamed(m steps.Loss) {
	w := l.needs[m.Original]
	note := func(paths []string) {
		for _, path := range paths {
			l.doom.names.add(path, m.InPlace)
		}
	}
	if files := filesIn(&w, m.Files); len(files) > 0 {
		note(files)
		l.endanger(l.doom.steps.Program(m.By), l.keepAll(l.env.NowhereElse("bash", w.Path, files, files...), ""))
		return
	}
	goes, twice := l.doom.goes[w.Path]
	l.doom.goes[w.Path] = !m.InPlace && (goes || !twice)
	files, known := l.atRiskIn(&w)
	isRoot, leaves := w.Path == l.env.Workspace.Root(), m.By < 0
	if many := leaves && len(files) > manyNames; !isRoot && (many || !leaves || w.File != policy.Dir) {
		note([]string{w.Path})
		if many { // one directory is less to do than so many files
			return
		}
	}
	note(files)
	switch {
	case leaves:
	case !known:
		l.endanger(l.doom.steps.Program(m.By), "takes away what cannot be told before it runs")
	default:
		l.endanger(l.doom.steps.Program(m.By), l.keepAll(files, ""))
	}
}

// manyNames is from how many files on the directory is kept in which they lie.
const manyNames = 500

// filesIn are files of a directory by their paths in it, where all of them are there; else none.
func filesIn(w *policy.Access, rels []string) (paths []string) {
	for _, rel := range rels {
		path := filepath.Join(w.Path, rel)
		if info, err := os.Lstat(path); w.File != policy.Dir || err != nil || !info.Mode().IsRegular() {
			return nil
		}
		paths = append(paths, path)
	}
	return paths
}

// atRiskIn are the files that a read is of, or that lie below it, and that are nowhere else.
func (l *losses) atRiskIn(s *policy.Access) (files []string, ok bool) {
	w := *s
	w.Kind, w.Op, w.Tree = policy.Write, policy.Delete, s.File == policy.Dir
	if root := l.env.Workspace.Root(); s.Path == root { // git has an answer sooner than a walk
		if files, ok := l.doom.unsaved(root); ok {
			return files, true
		}
		w.Below = true
	}
	files, _, err := l.below(&w)
	if err != nil {
		return nil, false
	}
	return l.atRisk(&w, files), true
}

// named has the files of certain names that a write changes below a directory judged one
// by one, as those that are deleted are. Those that are written anew are kept. Names that are
// read as text again may be taken for others: then none may be decided otherwise, and the sandbox
// has to hold what the program is really given.
func (l *losses) named(j int) {
	files, forbidden, err := l.below(&l.needs[j])
	if err != nil {
		return
	}
	w := &l.needs[j]
	if l.doom.rewrites(w) {
		for _, path := range files {
			l.doom.names.add(path, true)
		}
	}
	if w.Names != "" && (!w.Split || len(forbidden) == 0 && l.env.Policy.Holds()) {
		l.needs = append(l.needs, forbidden...)
		l.needs[j].Each = true
	}
}

// each has the rules say of the files of a directory one by one whether a write may change it as
// a whole, or whether it may be moved.
func (l *losses) each(j int) {
	w := &l.needs[j]
	if w.Path == l.env.Workspace.Root() {
		return
	}
	_, forbidden, err := l.below(w)
	if err != nil {
		return
	}
	w.Each = true
	for _, file := range forbidden {
		if l.env.Policy.Decide(&file).Layer != policy.BuiltIn {
			l.needs = append(l.needs, file)
		}
	}
}

func (l *losses) endanger(i int, why string) {
	if a := &l.needs[i]; why != "" && a.Danger == "" {
		a.Danger = why
	}
}

// program judges what one program loses.
func (l *losses) program(i, n int) {
	a := l.needs[i]
	if baseName(&a) == "git" && a.Class != policy.ReadOnly && a.Drops && l.doom.steps.GitElsewhere(i) { // what that is, nobody looks at
		l.endanger(i, "takes away what is in a work tree, or an index, that its options or variables name")
		return
	}
	files, why := 0, ""
	// A file of commands that a shell is given does what it would do if it were started by its name:
	// what is certain in it is judged, what is not is as unknown as any program. Of others than these the
	// exec gate would refuse the start.
	danger := a.Danger
	if a.Scripted && a.Loses && l.env.Policy.Holds() && (a.Builtin || programs.Has("rm rmdir unlink find xargs mv cp install ln dd tee truncate sed", baseName(&a))) {
		danger = ""
	}
	l.together(i, n)
	for j := range n {
		switch w := &l.needs[j]; {
		case w.Parent != i+1:
		case destroys(w, &a):
			files++
			why = cmp.Or(why, l.file(j, a.Danger, danger))
		case w.Kind == policy.Write && w.Opaque == "" && w.File == policy.Missing:
			files++ // there is nothing yet that it could take away
		}
	}
	switch {
	case programs.EndsOthers(a.Danger) && why == "" && l.env.Policy.Holds():
		l.needs[i].Danger = "" // it reaches none but its own
		return
	case !a.Loses:
		l.endanger(i, why)
		return
	case strings.HasSuffix(why, notMade):
		l.needs[i].Danger = why // it says of what
		return
	case baseName(&a) == "git" && !programs.IsFileLoss(a.Danger):
		why = cmp.Or(why, l.git(i))
	case files == 0 && programs.LosesContent(a.Danger) && l.knownRedirections(n): // of these find judges each
	case files == 0:
		why = danger // who knows of what
	}
	if why == "" && l.env.Policy.Holds() { // else the text alone says that it stays inside
		l.needs[i].Danger, l.needs[i].Loses = "", false
	}
}

// knownRedirections reports whether it is known where each redirection leads.
func (l *losses) knownRedirections(n int) bool {
	return !slices.ContainsFunc(l.needs[:n], func(a policy.Access) bool {
		redirects := a.Parent == 0 || strings.HasPrefix(a.Source, ">") // one in a trap is the trap's
		return a.Kind == policy.Write && redirects && (a.Opaque != "" || a.Path == "")
	})
}

// file judges one write, and says why what it takes away is lost; "" when nothing
// is. The danger is that of its program, and unknown what is said where it is not known what that is.
func (l *losses) file(j int, danger, unknown string) string {
	w := &l.needs[j]
	root := l.env.Workspace.Root()
	inside := safefile.Below(root, w.Path)
	l.doom.write(w)
	switch {
	case w.Opaque == "" && w.File == policy.Missing:
		w.Each = w.Each || inside
		return ""
	case w.Opaque != "" && !safefile.InGit(w.Path):
		return unknown
	case w.Opaque != "", !inside && l.env.Policy.Decide(w).Verdict != policy.Allow, w.Path == root && !w.Below:
		return danger
	}
	if nested := inside && filepath.Base(w.Path) == ".git" && w.Path != filepath.Join(root, ".git"); safefile.InGit(w.Path) && !(nested && w.Tree && !w.Below && w.Names == "" && l.env.Policy.Holds()) {
		return cmp.Or(danger, "takes away a part of the history")
	}
	files, forbidden, err := l.below(w)
	l.needs = append(l.needs, forbidden...)
	w = &l.needs[j]
	if err != nil {
		return cmp.Or(danger, "takes away what cannot be told before it runs")
	}
	l.doom.files(w, files)
	w.Each = true
	if !inside {
		return l.outside(w, files)
	}
	return l.keepAll(l.atRisk(w, files), danger)
}

// Bounds of what one call copies out of temporary directories before it takes that away: undo
// reaches nothing there.
const (
	maxAside      = 64 << 20 // bytes
	maxAsideFiles = 1000
)

// notMade ends what is said of a loss in a temporary directory.
const notMade = ", which this session has not made"

// outside judges a write to a temporary directory by those of its files that the session has not
// made: they are copied before it, where they are few enough. It says why they cannot be.
func (l *losses) outside(w *policy.Access, files []string) (why string) {
	why = "overwrites " + w.Path + notMade
	if w.Op == policy.Delete {
		why = "deletes " + w.Path + notMade
	}
	since, bytes := began(l.env), int64(0)
	var old []string
	for _, path := range files {
		if machine.BornSince(path, since) {
			continue
		}
		switch i, err := os.Lstat(path); {
		case err != nil:
			return why
		case i.Mode()&fs.ModeSymlink != 0 || i.Mode().IsRegular() && i.Size() == 0: // it holds nothing
		case !i.Mode().IsRegular():
			return why
		default:
			old, bytes = append(old, path), bytes+i.Size()
		}
	}
	switch {
	case len(old) == 0:
		return ""
	case l.large+bytes > maxAside, len(l.aside)+len(old) > maxAsideFiles, l.env.Policy.Undo().Commands == policy.UndoOff:
		return why
	}
	l.aside, l.large = append(l.aside, old...), l.large+bytes
	return ""
}

// below lists the files of a write, and as accesses of their own those that the
// policy decides otherwise.
func (l *losses) below(w *policy.Access) (files []string, forbidden []policy.Access, err error) {
	if w.File != policy.Dir {
		return []string{w.Path}, nil, nil
	}
	only, except := patterns(w)
	var guarded []policy.Access // what is protected by its name
	whole := w.Op == policy.Delete && w.Tree && !w.Below && only == nil && w.Path != l.env.Workspace.Root() && l.env.Policy.Holds()
	for range 2 {
		files, forbidden, guarded = nil, nil, nil
		history, split, elsewhere, leads := false, w.Split && w.Made && !l.env.Policy.Holds(), false, false
		o := rg.WalkOptions{Root: w.Path, Hidden: true, NoIgnore: true, Links: true, MaxEntries: maxTreeEntries, Workers: 1}
		var res *rg.WalkResult
		res, err = rg.Walk(l.ctx, nil, o, func(e rg.Entry) error {
			at := meant(only, e.Path)
			if at == "" || leftOut(except, e.Path) || otherwise(except, w.Path, e.Path) {
				return nil
			}
			file := fileOf(*w, filepath.Join(w.Path, e.Path))
			history = history || w.Names != "" && safefile.InGit(at) // what holds a repository may go as a whole
			split = split || w.Split && strings.ContainsAny(e.Path, unsafeInText)
			elsewhere = elsewhere || w.Split && takenApart(l.env, w.Path, e.Path)
			if w.Op == policy.Change || w.Op == policy.Metadata && w.Below {
				linked := l.follow(&file)
				if linked && slices.Contains(except, noLinks) {
					return nil
				}
				leads = leads || w.Op == policy.Metadata && file.File == policy.Dir
			}
			files = append(files, file.Path)
			switch d := l.env.Policy.Decide(&file); {
			case d.Verdict == policy.Allow:
			case whole && d.Layer == policy.BuiltIn && !strings.Contains(filepath.ToSlash(file.Path)+"/", "/.agentkit/"):
				guarded = append(guarded, file)
			case len(forbidden) < maxForbidden:
				forbidden = append(forbidden, file)
			}
			return nil
		})
		switch {
		case err != nil:
		case res.Partial != "":
			err = errors.New(res.Partial)
		case history:
			err = errors.New("a part of the history is among them")
		case leads:
			err = errors.New("a link leads to a directory")
		case elsewhere:
			err = errors.New("a name may be taken for several")
		}
		if only == nil && except == nil || !split {
			break
		}
		only, except = nil, nil // a name that is taken for several may stand for any other
	}
	// Of a repository that goes with all it holds nothing runs what its files say.
	inner := repositories(w.Path, files)
	for i := range guarded {
		if len(forbidden) < maxForbidden && !belongs(inner, guarded[i].Path) {
			forbidden = append(forbidden, guarded[i])
		}
	}
	return files, forbidden, err
}

// repositories are those whose work trees lie in dir, or are dir, by the files in it; dir itself, where it is one's .git.
func repositories(dir string, files []string) map[string]bool {
	tops := map[string]bool{}
	if filepath.Base(dir) == ".git" {
		tops[dir] = true
	}
	for _, path := range files {
		rel, _ := safefile.Rel(dir, path)
		if before, _, ok := strings.Cut("/"+filepath.ToSlash(rel)+"/", "/.git/"); ok {
			tops[filepath.Join(dir, filepath.FromSlash(before))] = true
		}
	}
	return tops
}

// belongs reports whether a file lies in one of some directories.
func belongs(dirs map[string]bool, file string) bool {
	if len(dirs) == 0 {
		return false
	}
	for up := filepath.Dir(file); ; up = filepath.Dir(up) {
		if dirs[up] {
			return true
		}
		if up == filepath.Dir(up) {
			return false
		}
	}
}

// follow puts what a link leads to in the place of the link: that is what is written. It reports
// whether it is one.
func (*losses) follow(file *policy.Access) bool {
	info, err := os.Lstat(file.Path)
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		return false
	}
	file.Named = file.Path
	if file.Path, err = filepath.EvalSymlinks(file.Named); err != nil {
		file.Path, file.Opaque = file.Named, "where the link leads is not known"
	} else if to, err := os.Stat(file.Path); err == nil && to.IsDir() {
		file.File = policy.Dir
	}
	return true
}

// atRisk are those of a write's files that are nowhere else.
func (l *losses) atRisk(w *policy.Access, files []string) []string {
	if risky, known := l.risky[w.Path]; known && w.File != policy.Dir {
		if !risky {
			return nil
		}
		return files
	}
	top := filepath.Dir(w.Path)
	if w.Below || w.Path == l.env.Workspace.Root() {
		top = w.Path
	}
	risky := l.env.NowhereElse("bash", top, files, w.Path)
	if w.File != policy.Dir {
		return risky
	}
	inner := repositories(w.Path, files)
	if len(inner) == 0 {
		return risky
	}
	known := map[string]bool{}
	for _, path := range risky {
		known[path] = true
	}
	for _, path := range files { // of what a repository in it holds, the one around it knows nothing
		if !known[path] && belongs(inner, path) {
			risky = append(risky, path)
		}
	}
	return risky
}

// together asks git once about the files of a directory that a program takes away, where
// they are many: to ask about each takes two processes of git's.
func (l *losses) together(i, n int) {
	const many = 4
	byDir := map[string][]string{}
	for j := range n {
		if w := &l.needs[j]; w.Parent == i+1 && w.File == policy.Regular && w.Opaque == "" && destroys(w, &l.needs[i]) {
			dir := filepath.Dir(w.Path)
			byDir[dir] = append(byDir[dir], w.Path)
		}
	}
	for dir, paths := range byDir {
		if len(paths) < many || !safefile.Below(l.env.Workspace.Root(), dir) {
			continue
		}
		for _, path := range paths {
			l.risky[path] = false
		}
		for _, path := range l.env.NowhereElse("bash", dir, paths, paths...) {
			l.risky[path] = true
		}
	}
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
			return cmp.Or(danger, tool.TooMuchToKeep)
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
