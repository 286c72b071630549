package run

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/agentkit-go/agentkit/pkg/confine"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/programs"
	"github.com/agentkit-go/agentkit/pkg/rg"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
	"github.com/agentkit-go/agentkit/pkg/steps"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/treewalk"
)

// forbiddenInTrees finds, in the trees that a command reads as a whole, the files that
// the policy does not let it read: grep -r must not show what cat may not. Where
// the sandbox hides them, it meets nothing that it could show. A tree that is too
// large to look through counts as unknown.
func forbiddenInTrees(ctx context.Context, env *tool.Env, needs []policy.Access, ahead *confine.Prefetch) []policy.Access {
	var found []policy.Access
	type place struct {
		path  string
		split bool
	}
	seen := map[place]bool{}
	apart := sync.OnceValue(func() bool { return makesApart(ctx, env, needs) })
	for i := range needs {
		if needs[i].Kind != policy.Read || !needs[i].Tree || !safefile.Below(env.Workspace.Root(), needs[i].Path) {
			continue
		}
		needs[i].Each = true
		tree := needs[i]
		at := place{tree.Path, tree.Split}
		if seen[at] || env.Policy.Decide(&tree).Verdict != policy.Allow {
			continue
		}
		if tree.Split && apart() {
			tree.Opaque = takenForSeveral
			found = append(found, tree)
			continue
		}
		if tree.File == policy.Missing {
			continue
		}
		r := reader(needs, tree)
		if r.found, r.except = treewalk.Patterns(&tree); tree.Split && tree.Made && !env.Policy.Holds() {
			r.found, r.except = nil, nil
		}
		if tree.Below && !r.names && tree.By == 0 { // each file is named, whatever the program leaves out of a tree
			r.hidden, r.unhides, r.ignores, r.only, r.follows, r.given = true, false, false, nil, true, true
		}
		r.forced = r.forced || tree.Source == gitAdd && slices.ContainsFunc(needs, func(a policy.Access) bool {
			return a.Kind == policy.Write && filepath.Base(a.Path) == ".gitignore"
		})
		if tree.Source == gitAdd && (!r.forced || tree.Files != nil) && env.Git != nil {
			r.unread = unchanged(env, tree.Path)
		}
		switch {
		case tree.By > 0 && alters(env, needs):
			tree.Opaque = takenForSeveral
			found = append(found, tree)
			continue
		case tree.Files != nil && !r.names:
			found = append(found, forbiddenFiles(ctx, env, tree, r, ahead)...)
			continue
		case r.names && (tree.Files != nil || !tree.Split && !tree.Bare):
			continue
		}
		seen[at] = tree.By == 0 && r.only == nil && r.found == nil && r.except == nil && r.follows && tree.Source != gitAdd
		found = append(found, forbiddenBelow(ctx, env, tree, r, ahead)...)
		if r.unhides { // an ignore file may name what is hidden and yet to be searched
			r.ignores = true
			found = append(found, forbiddenBelow(ctx, env, tree, r, ahead)...)
		}
	}
	return found
}

// passOver leaves out what the sandbox hides among all the files of a directory, which a pattern of
// the shell's gives to a program: it finds them shut, as one that walks the directory does.
func passOver(env *tool.Env, needs []policy.Access, ahead *confine.Prefetch) {
	for i := range needs {
		a := &needs[i]
		if a.Globbed && a.Opaque == "" && ahead.Hides(env, a.Path) && !slices.ContainsFunc(needs, func(w policy.Access) bool { return w.Kind == policy.Write && w.Path == a.Path }) {
			a.Path, a.Named, a.File, a.Tree, a.Links = env.Workspace.Root(), "", policy.Dir, false, 0
		}
	}
}

// initialized leaves out that git init is for the repository of the directory where the command began, as it is where a
// cd to a new directory fails: git changes nothing there then but its settings, which the sandbox holds.
func initialized(env *tool.Env, needs []policy.Access) {
	if !env.Policy.Holds() {
		return
	}
	for i := range needs {
		a := &needs[i]
		if a.Kind != policy.Write || a.Source != "git init" || a.File != policy.Dir || a.Opaque != "" || filepath.Base(a.Path) != ".git" || !safefile.Below(env.Workspace.Root(), a.Path) {
			continue
		}
		elsewhere := func(w policy.Access) bool {
			return w.Kind == policy.Write && w.Parent == a.Parent && w.Source == a.Source && w.Op == policy.Create && filepath.Base(w.Path) == "HEAD"
		}
		if slices.ContainsFunc(needs, elsewhere) {
			a.Kind, a.Op, a.File, a.Path, a.Named = policy.Read, "", policy.Dir, env.Workspace.Root(), ""
		}
	}
}

// takenForSeveral is why nobody knows what is read where names are text that is taken apart.
const takenForSeveral = "a name may be taken for several"

// makesApart reports whether a command itself may make a name that is taken for several where it
// is text, whenever it does so: when it is judged, there is none to look at. What it copies or
// moves has the names that it has in the root.
func makesApart(ctx context.Context, env *tool.Env, needs []policy.Access) bool {
	root := env.Workspace.Root()
	makes, far := false, false
	for _, a := range needs {
		switch {
		case a.Kind == policy.Read && a.Tree && !safefile.Below(root, a.Path):
			far = true
		case a.Kind != policy.Write, a.Op == policy.Delete, a.Op == policy.Metadata, a.Op == policy.Settings:
		case a.Opaque == "" && !safefile.Below(root, a.Path):
		case a.Opaque != "" || a.Tree || strings.ContainsAny(strings.TrimPrefix(a.Path, root), treewalk.UnsafeInText):
			return true
		default:
			makes = true
		}
	}
	if !makes || far {
		return makes
	}
	o := rg.WalkOptions{Root: root, Hidden: true, NoIgnore: true, Links: true, MaxEntries: treewalk.MaxEntries}
	res, err := rg.Walk(ctx, nil, o, func(e rg.Entry) error {
		if treewalk.TakenApart(env, root, e.Path) {
			return errEnough
		}
		return nil
	})
	return err != nil || res.Partial != ""
}

// alters reports whether a program of a command writes anything of the root that it knows of: by
// then files may be others than those that were listed, or links.
func alters(env *tool.Env, needs []policy.Access) bool {
	return slices.ContainsFunc(needs, func(a policy.Access) bool {
		switch {
		case a.Kind == policy.Write:
			return (a.Parent > 0 || a.Opaque != "") && (a.Opaque != "" || safefile.Below(env.Workspace.Root(), a.Path))
		case a.Kind == policy.Exec:
			return len(a.Argv) > 0 && steps.Name(&a) == "git" && a.Class != policy.ReadOnly
		}
		return false
	})
}

// forbiddenFiles finds those of a list of files that the policy does not let their reader read.
func forbiddenFiles(ctx context.Context, env *tool.Env, tree policy.Access, r treeReader, ahead *confine.Prefetch) (found []policy.Access) {
	dirs := map[string]bool{tree.Path: true} // whether a directory is where its name says
	var real func(dir string) bool
	real = func(dir string) bool {
		is, known := dirs[dir]
		if !known {
			info, err := os.Lstat(dir)
			is = err == nil && info.IsDir() && (dir == filepath.Dir(dir) || real(filepath.Dir(dir)))
			dirs[dir] = is
		}
		return is
	}
	for _, name := range tree.Files {
		if !filepath.IsAbs(name) {
			name = filepath.Join(tree.Path, name)
		}
		file := treewalk.FileOf(tree, name)
		info, err := os.Lstat(file.Path)
		if err != nil {
			continue
		}
		if to, err := filepath.EvalSymlinks(file.Path); info.Mode()&os.ModeSymlink != 0 || !real(filepath.Dir(file.Path)) {
			if err != nil {
				continue // it leads nowhere
			}
			file.Named, file.Path = file.Path, to
		}
		if info, err := os.Stat(file.Path); err == nil && info.IsDir() { // where git has a file, or a repository of its own
			file.File, file.Tree = policy.Dir, true
			found = append(found, forbiddenBelow(ctx, env, file, treeReader{hidden: true, follows: true}, ahead)...)
		}
		if env.Policy.Decide(&file).Verdict != policy.Allow && !ahead.Hides(env, file.Path) && (r.unread == nil || !r.unread(name)) {
			found = append(found, file)
		}
		if len(found) >= treewalk.MaxForbidden || ctx.Err() != nil {
			break
		}
	}
	return found
}

// gitAdd is what a tree comes from that git add takes into the index, of which it
// leaves out what is ignored.
const gitAdd = "git add"

// unchanged returns a function that reports whether a file of a tree is as git has it in HEAD, so
// that git add takes nothing from it. It is asked of few.
func unchanged(env *tool.Env, dir string) func(path string) bool {
	other := sync.OnceValues(func() (map[string]bool, bool) { return env.Uncommitted(dir, dir) })
	return func(path string) bool {
		set, known := other()
		return known && !set[path]
	}
}

// forbiddenBelow finds the files of a tree that the policy does not let its reader
// read, and nothing keeps from it.
func forbiddenBelow(ctx context.Context, env *tool.Env, tree policy.Access, r treeReader, ahead *confine.Prefetch) (found []policy.Access) {
	unignored, away := !r.ignores && (tree.Source != gitAdd || r.forced || ripgrepIgnores(env.Workspace.Root(), tree.Path)), false
	o := rg.WalkOptions{Root: tree.Path, Hidden: r.hidden, NoIgnore: unignored, Links: true, MaxEntries: treewalk.MaxEntries}
	res, err := rg.Walk(ctx, nil, o, func(e rg.Entry) error {
		file := treewalk.FileOf(tree, filepath.Join(tree.Path, e.Path))
		switch {
		case !r.reads(e.Path):
			return nil
		case tree.Bare && programs.Odd(e.Path), tree.Source == programs.NamesExpanded && strings.ContainsAny(e.Path, "*?[~"), tree.Split && (r.names && treewalk.PartIsOption(e.Path) || !r.names && treewalk.TakenApart(env, tree.Path, e.Path)):
			tree.Opaque = takenForSeveral
			found = append(found, tree)
			return errEnough
		case r.names:
			return nil
		}
		if r.follows {
			away = r.follow(env, &file, tree.Path) || away
			if file.Tree && r.given { // all that lies there is read
				found = append(found, forbiddenBelow(ctx, env, file, treeReader{hidden: true}, ahead)...)
			}
		}
		if env.Policy.Decide(&file).Verdict != policy.Allow && !(ahead.Hides(env, file.Path) && r.leaves(env, file, e.Path)) && (r.unread == nil || !r.unread(file.Path)) {
			found = append(found, file)
		}
		if len(found) >= treewalk.MaxForbidden {
			return errEnough
		}
		return nil
	})
	if !errors.Is(err, errEnough) && (err != nil || res.Partial != "") {
		tree.Opaque = "the tree is too large to look through for files that may not be read"
		found = append(found, tree)
	}
	if away && tree.Path != env.Workspace.Root() && len(found) < treewalk.MaxForbidden { // a link leads to another directory of the root
		tree.Path, r.follows = env.Workspace.Root(), false
		found = append(found, forbiddenBelow(ctx, env, tree, r, ahead)...)
	}
	return found
}

// follow puts what a link leads to in the place of the link, unless the sandbox
// keeps the program from it, and reports whether that is a directory of the root
// which is not in the tree.
func (r *treeReader) follow(env *tool.Env, file *policy.Access, tree string) bool {
	info, err := os.Lstat(file.Path)
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		return false
	}
	to, err := filepath.EvalSymlinks(file.Path)
	inside := safefile.Below(env.Workspace.Root(), to)
	if err != nil || !inside && env.Policy.Confines() && env.Policy.Level() >= int(sandbox.L2) {
		return false
	}
	file.Named, file.Path = file.Path, to
	if info, err := os.Stat(to); err != nil || !info.IsDir() {
		return false
	}
	file.File, file.Tree = policy.Dir, true
	return inside && !safefile.Below(tree, to)
}

// ripgrepIgnores reports whether a tree, or a directory of the root above it, has an
// ignore file that a walk of ours reads and git does not.
func ripgrepIgnores(root, tree string) bool {
	for at := range safefile.Up(root, tree) {
		for _, name := range [...]string{".ignore", ".rgignore"} {
			if _, err := os.Lstat(filepath.Join(at, name)); err == nil {
				return true
			}
		}
	}
	return false
}

// unheld finds what a command could read and nothing keeps it from, where a part of
// it is allowed though nobody knows what it does: below L3 the sandbox cannot hide
// single files of the root. So such a command is asked about only where there
// are some.
func unheld(env *tool.Env, needs []policy.Access, ahead *confine.Prefetch) []policy.Access {
	if ahead == nil {
		return nil
	}
	places := len(env.Policy.Places()) > 0
	if env.Policy.Level() > int(sandbox.L2) && !places {
		return nil
	}
	i := slices.IndexFunc(needs, func(a policy.Access) bool { return env.Policy.Blind(&a) })
	if i < 0 {
		return nil
	}
	one := policy.Access{Kind: policy.Read, Tool: "bash", File: policy.Regular, Guess: true, Source: needs[i].Source}
	if needs[i].Kind == policy.Exec {
		one.Parent = i + 1
	}
	var found []policy.Access
	wall := ahead.Wall()
	for _, path := range wall.Hidden {
		info, err := os.Lstat(path)
		if err != nil || wall.Holds(path) || !places && !safefile.Below(env.Workspace.Root(), path) || len(found) >= treewalk.MaxForbidden {
			continue
		}
		one.Named = cmp.Or(wall.Name(path), wall.Recalled[path])
		if one.Path, one.Tree = path, info.IsDir(); info.IsDir() {
			one.File = policy.Dir
		} else {
			one.File = policy.Regular
		}
		found = append(found, one)
	}
	for _, dir := range wall.Unseen {
		place := one
		place.Path, place.Named, place.File, place.Tree, place.Unseen = dir, "", policy.Dir, true, true
		place.Opaque = "a rule opens it, and it holds too much to look through for what commands may not read"
		found = append(found, place)
	}
	if len(wall.Beyond) > 0 && len(found) == 0 && env.Policy.Level() == int(sandbox.L2) {
		one.Path, one.Named, one.Opaque = env.Workspace.Root(), "", "the tree is too large to look through for files that may not be read"
		found = append(found, one)
	}
	return found
}

// loosen notes the accesses outside the root of which only the text of the command tells: they lie in a place that a rule
// opens, and are decided otherwise than the rest of it, which the sandbox does not hold.
func loosen(env *tool.Env, needs []policy.Access, ahead *confine.Prefetch) {
	if ahead == nil || len(env.Policy.Places()) == 0 {
		return
	}
	for i := range needs {
		a := &needs[i]
		if a.Path == "" || a.Kind != policy.Read && a.Kind != policy.Write || safefile.Below(env.Workspace.Root(), a.Path) || env.Policy.Decide(a).Verdict == policy.Allow {
			continue
		}
		a.Loose = !ahead.Wall().HoldsFrom(a)
	}
}

// opened finds what a command has to be able to read because it writes it: the sandbox hides
// a file from reading and writing alike. What shows no file's content may have it all the same.
func opened(env *tool.Env, needs []policy.Access, ahead *confine.Prefetch) (found []policy.Access) {
	for _, a := range needs {
		if a.Kind != policy.Write || a.Opaque != "" || a.Op == policy.Delete ||
			!ahead.Hides(env, a.Path) {
			continue
		}
		if steps.ShowsNothing(needs) {
			return nil
		}
		a.Kind, a.Op, a.Danger = policy.Read, "", ""
		found = append(found, a)
	}
	return found
}

// errEnough ends a walk that has found what it was for.
var errEnough = errors.New("enough")

// A treeReader is how a program reads a tree.
type treeReader struct {
	names   bool                   // it only looks at names
	hidden  bool                   // it looks into hidden files unasked
	follows bool                   // it reads what links lead to
	given   bool                   // it is given the names
	forced  bool                   // git add: what is ignored too
	unhides bool                   // ignore files may say that it looks into hidden ones
	ignores bool                   // it leaves out what is ignored
	only    []string               // patterns of the names that it reads; nil for all
	found   []string               // patterns of what it is given, with all below; nil for everything
	except  []string               // places of which it is given nothing
	unread  func(path string) bool // files in which it does not look; nil for none
	moves   bool                   // it gives the tree another name
	to      []string               // with moves: the names that it makes, one of them for the tree
}

// leaves reports whether a file of a tree that may not be read may not be read afterwards either,
// by the name that it has below the tree: a move that holds the lock alone is not confined.
func (r *treeReader) leaves(env *tool.Env, file policy.Access, below string) bool {
	return !r.moves || len(r.to) > 0 && !slices.ContainsFunc(r.to, func(to string) bool {
		file.Path, file.Named = filepath.Join(to, below), ""
		return env.Policy.Decide(&file).Verdict == policy.Allow
	})
}

// made are the names that the program of an access makes.
func made(needs []policy.Access, a policy.Access) (names []string) {
	for _, w := range needs {
		if w.Parent == a.Parent && w.Kind == policy.Write && w.Op != policy.Delete && w.Op != policy.Metadata {
			names = append(names, w.Path)
		}
	}
	return names
}

// reads reports whether a file of a tree is read.
func (r *treeReader) reads(path string) bool {
	return treewalk.MatchesAny(r.only, filepath.Base(path)) && treewalk.Meant(r.found, path) != "" && !treewalk.LeftOut(r.except, path)
}

// reader tells how the program that the tree is for reads it.
func reader(needs []policy.Access, tree policy.Access) treeReader {
	if tree.By > 0 && tree.By <= len(needs) && tree.Files == nil { // what another program has come upon, and this one opens
		names := tree.Source == programs.NamesAlone || tree.Source == programs.NamesExpanded
		tree.Parent, tree.By, tree.Source = tree.By, 0, ""
		r := reader(needs, tree)
		r.follows, r.names = true, names
		return r
	}
	if tree.Source == programs.NamesAlone || tree.Source == programs.NamesExpanded {
		return treeReader{hidden: true, names: true}
	}
	if tree.Parent < 1 || tree.Parent > len(needs) || len(needs[tree.Parent-1].Argv) == 0 {
		return treeReader{hidden: true, follows: true}
	}
	exec := &needs[tree.Parent-1]
	argv := exec.Argv
	has := func(names ...string) bool {
		return slices.ContainsFunc(exec.Options, func(o policy.Option) bool {
			return slices.ContainsFunc(strings.Split(o.Names, ","), func(n string) bool { return slices.Contains(names, n) })
		})
	}
	named := slices.Contains(exec.Dynamic, true) // by a pattern of the shell's, which may stand for hidden files
	switch filepath.Base(argv[0]) {
	case "ls", "dir", "vdir", "find", "fd", "fdfind", "tree", "du", "stat":
		return treeReader{names: true, hidden: true}
	case "rg", "ag":
		return treeReader{unhides: true, follows: has("L", "f", "follow"), only: globbed(exec), hidden: named || has("iglob", "type-add", "ignore-file") || slices.ContainsFunc(exec.Options, func(o policy.Option) bool { return o.Names == "g,glob" && !strings.HasPrefix(o.Value, "!") }) || slices.ContainsFunc(argv[1:], func(word string) bool {
			return strings.HasPrefix(word, "--hidden") || strings.HasPrefix(word, "--unres") || strings.HasPrefix(word, "--no-hid") ||
				len(word) > 1 && word[0] == '-' && word[1] != '-' && strings.ContainsAny(word, "u.")
		})}
	case "grep", "egrep", "fgrep":
		return treeReader{hidden: true, follows: has("R", "dereference-recursive") || !has("r", "recursive", "directories"), only: included(exec)}
	case "mv":
		return treeReader{hidden: true, moves: true, to: made(needs, tree)}
	case "cp":
		return treeReader{hidden: true, follows: has("L", "dereference") || !has("r", "recursive")}
	case "tar", "bsdtar", "rsync":
		return treeReader{hidden: true, follows: has("h", "dereference", "L", "copy-links", "copy-unsafe-links")}
	case "git":
		return treeReader{hidden: true, forced: has("f", "force", "pathspec-from-file")}
	case "ack", "cloc", "ctags", "tokei":
		return treeReader{hidden: true}
	}
	return treeReader{hidden: true, follows: true}
}

// globbed are the patterns of rg's -g, which decide alone what is searched, also what
// is hidden; nil where it searches others.
func globbed(rg *policy.Access) (patterns []string) {
	for _, o := range rg.Options {
		switch {
		case o.Names != "g,glob" || strings.HasPrefix(o.Value, "!"):
		case strings.ContainsAny(o.Value, "{\\"):
			return nil
		default:
			patterns = append(patterns, strings.Replace(filepath.Base(o.Value), "**", "*", 1))
		}
	}
	if slices.Contains(rg.Dynamic, true) || slices.ContainsFunc(rg.Options, func(o policy.Option) bool { return o.Names == "iglob" || o.Names == "glob-case-insensitive" }) {
		return nil
	}
	return patterns
}

// included are the patterns of grep's --include; nil where it reads all names, or
// it cannot be told which.
func included(grep *policy.Access) (patterns []string) {
	for _, o := range grep.Options {
		if o.Names == "include" {
			patterns = append(patterns, o.Value)
		}
	}
	if slices.Contains(grep.Dynamic, true) {
		return nil
	}
	return patterns
}
