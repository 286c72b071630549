package loss

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/committed"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/programs"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/steps"
)

// find judges every program of the command, and gives the accesses as they are
// then, with what has to be kept.
func (l *losses) find() (needs []policy.Access, keep map[string]bool) {
	n := len(l.needs)
	l.keep, l.risky, l.doom = map[string]bool{}, map[string]bool{}, newDooming(l.env, l.dir, l.text, slices.Clip(l.needs), l.keeping)
	l.doom.lossy = l.lossy
	for i := range n {
		if l.needs[i].Kind == policy.Exec {
			l.program(i, n)
		}
	}
	for j := range n {
		a := &l.needs[j]
		known, byName := a.Kind == policy.Write && a.Opaque == "", a.Names != "" && (!a.Split || l.env.Policy.Holds())
		switch {
		case a.Kind == policy.Write && a.Op == policy.Delete && filepath.Base(a.Path) == ".git" && l.doom.steps.Moved(a):
			a.Opaque = cmp.Or(a.Opaque, "the repository goes on under another name")
		case a.Parent == 0 && destroys(a, nil):
			if i := l.doom.steps.Program(j); i >= 0 {
				l.endanger(i, l.file(j, "", ""))
			}
		case known && a.Tree && !a.Below && a.File == policy.Dir && (a.Op == policy.Metadata || a.Op == policy.Delete && !a.Each && a.Parent > 0 && !destroys(a, &l.needs[a.Parent-1])):
			l.each(j)
		case known && a.Below && (byName && a.Op == policy.Metadata || (byName || l.doom.rewrites(a)) && a.Op == policy.Change):
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
	l.doom.names.add(false, slices.Collect(maps.Keys(l.keep))...) // that nothing asks hangs on it
	l.doom.beside()
	return l.needs, l.keep
}

// program judges what one program loses.
func (l *losses) program(i, n int) {
	a := l.needs[i]
	if steps.Name(&a) == "git" && a.Class != policy.ReadOnly && a.Drops && l.doom.steps.GitElsewhere(i) { // what that is, nobody looks at
		l.endanger(i, "takes away what is in a work tree, or an index, that its options or variables name")
		return
	}
	files, why := 0, ""
	anywhere, placed := l.unnamed(&a)
	l.together(i, n)
	for j := range n {
		switch w := &l.needs[j]; {
		case w.Parent != i+1:
		case destroys(w, &a):
			files++
			unknown := anywhere
			if root := l.env.Workspace.Root(); w.Path != root && safefile.Below(root, w.Path) {
				unknown = placed
			}
			why = cmp.Or(why, l.file(j, a.Danger, unknown))
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
	case steps.Name(&a) == "git" && !programs.IsFileLoss(a.Danger):
		why = cmp.Or(why, l.git(i))
	case files == 0 && programs.LosesContent(a.Danger) && l.knownRedirections(n): // of these find judges each
	case files == 0:
		why = anywhere // who knows of what
	}
	if why == "" && l.env.Policy.Holds() { // else the text alone says that it stays inside
		l.needs[i].Danger, l.needs[i].Loses = "", false
	}
}

// unnamed is what is said of a program that takes away what is not known by name: anywhere, or in a directory of the root that is
// known. A file of commands that a shell is given does what it would do if it were started by its name: what is certain in
// it is judged, what is not is as unknown as any program. Of others than these the exec gate would refuse the start. In a known
// directory the words that they are given then tell what is kept.
func (l *losses) unnamed(a *policy.Access) (anywhere, placed string) {
	switch {
	case !a.Loses || !l.env.Policy.Holds() || !a.Builtin && !programs.Has("rm rmdir unlink find xargs mv cp install ln dd tee truncate sed", steps.Name(a)):
		return a.Danger, a.Danger
	case a.Scripted:
		return "", ""
	case l.doom.keepsLate() && slices.Contains(a.Dynamic, true):
		return a.Danger, ""
	}
	return a.Danger, a.Danger
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
		return cmp.Or(unknown, l.someIn(w))
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

// someIn judges a write to a name that is not known in a directory below the root, where nothing is kept when the
// program starts: whatever lies there may be meant. Of the root itself the policy asks.
func (l *losses) someIn(w *policy.Access) string {
	if l.doom.keepsLate() || w.Path == "" || w.Path == l.env.Workspace.Root() || !safefile.Below(l.env.Workspace.Root(), w.Path) {
		return ""
	}
	files, known := l.atRiskIn(w)
	switch {
	case !known:
		return "takes away what cannot be told before it runs"
	case len(files) == 0:
		return ""
	case l.keeping != NotKept && !l.doom.keeps():
		return "takes away names that are not known before it runs, and the policy keeps nothing for undo"
	}
	return "takes away names that are not known before it runs, and goes on after the call, so that they cannot be kept for undo"
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
		l.doom.names.add(true, files...)
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

// renamed judges what goes under a name that the command gives it, and notes it. Of a directory that
// leaves the root what is nowhere else is noted, and of what is not known by name all that is.
func (l *losses) renamed(m steps.Loss) {
	w := l.needs[m.Original]
	if files := filesIn(&w, m.Files); len(files) > 0 {
		l.doom.names.add(m.InPlace, files...)
		l.endanger(m.By, l.keepAll(l.env.NowhereElse("bash", w.Path, files, files...), ""))
		return
	}
	goes, twice := l.doom.goes[w.Path]
	l.doom.goes[w.Path] = !m.InPlace && (goes || !twice)
	files, known := l.atRiskIn(&w)
	isRoot, leaves := w.Path == l.env.Workspace.Root(), m.By < 0
	if many := leaves && len(files) > manyNames; !isRoot && (many || !leaves || w.File != policy.Dir) {
		l.doom.names.add(m.InPlace, w.Path)
		if many { // one directory is less to do than so many files
			return
		}
	}
	l.doom.names.add(m.InPlace, files...)
	switch {
	case leaves:
	case !known:
		l.endanger(m.By, "takes away what cannot be told before it runs")
	default:
		l.endanger(m.By, l.keepAll(files, ""))
	}
}

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

// manyNames is from how many files on the directory is kept in which they lie.
const manyNames = 500

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

// git judges what git itself takes away.
func (l *losses) git(i int) string {
	a := l.needs[i]
	top, repository := gitTop(l.needs, i, l.dir), l.doom.repository(i)
	kind := committed.Changed
	switch {
	case !safefile.Below(l.env.Workspace.Root(), top), l.doom.elsewhere(i):
		return a.Danger
	case slices.Contains(a.Dynamic, true) && programs.PathsAlone(a.Argv, a.Dynamic) == 0:
		if l.doom.keepsLate() && l.doom.keepsGit(repository) && steps.GitOpen(&a) && !l.doom.steps.Added(i).Any {
			return "" // the gate has its words when it starts, and judges it as one that stands in no call
		}
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
		if !strings.HasPrefix(word, "-") && !l.env.Git.Reachable(top, word, a.Argv[i+1:]...) && !(l.doom.addsNone() && l.env.Git.NoBranch(top, word)) {
			return a.Danger
		}
	}
	return ""
}
