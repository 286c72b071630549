package loss

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/rg"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/treewalk"
	"github.com/agentkit-go/agentkit/pkg/world"
)

// MaxNames is how many names of a command's losses are kept, so that undo can bring them
// back. The policy says how many bytes.
const MaxNames = 200_000

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
	lossy   bool            // see dooming
	keeping Keeping
}

func (l *losses) endanger(i int, why string) {
	if a := &l.needs[i]; why != "" && a.Danger == "" {
		a.Danger = why
	}
}

// keepAll notes files that are to be kept, and says why they cannot be.
func (l *losses) keepAll(files []string, danger string) string {
	for _, path := range files {
		info, err := os.Lstat(path)
		held := l.doom.keeps()
		if err != nil || info.IsDir() || l.keep[path] || !held && info.Mode().IsRegular() && info.Size() == 0 { // that holds nothing
			continue
		}
		l.bytes += info.Size()
		l.keep[path] = true
		if len(l.keep) > MaxNames || l.bytes > int64(l.env.Policy.Undo().MaxBytes) || l.keeping == InJob && l.bytes > maxJobBytes {
			return cmp.Or(danger, tool.TooMuchToKeep)
		}
	}
	switch {
	case len(l.keep) == 0:
	case l.keeping == NotKept:
		return cmp.Or(danger, "takes away "+l.kept()+", which git does not have, and is typed into what runs, so that it cannot be kept for undo")
	case !l.doom.keeps():
		return cmp.Or(danger, "takes away "+l.kept()+", which git does not have, and the policy keeps nothing for undo")
	}
	return ""
}

// maxJobBytes bounds what is kept of files for a job: it is copied, since a job may run long, and who writes to such a file meanwhile
// would change what is kept, or find that it has another name.
const maxJobBytes = 64 << 20

// kept names the files that are to be kept.
func (l *losses) kept() string {
	first := slices.Min(slices.Collect(maps.Keys(l.keep)))
	if rel, ok := safefile.Rel(l.env.Workspace.Root(), first); ok {
		first = rel
	}
	if first = tool.VisibleName(first); len(l.keep) > 1 {
		first += fmt.Sprintf(" and %d more", len(l.keep)-1)
	}
	return first
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
	since, bytes := world.Began(l.env), int64(0)
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
	only, except := treewalk.Patterns(w)
	var guarded []policy.Access // what is protected by its name
	whole := w.Op == policy.Delete && w.Tree && !w.Below && only == nil && w.Path != l.env.Workspace.Root() && l.env.Policy.Holds()
	for range 2 {
		files, forbidden, guarded = nil, nil, nil
		history, split, elsewhere, leads := false, w.Split && w.Made && !l.env.Policy.Holds(), false, false
		o := rg.WalkOptions{Root: w.Path, Hidden: true, NoIgnore: true, Links: true, MaxEntries: treewalk.MaxEntries, Workers: 1}
		var res *rg.WalkResult
		res, err = rg.Walk(l.ctx, nil, o, func(e rg.Entry) error {
			at := treewalk.Meant(only, e.Path)
			if at == "" || treewalk.LeftOut(except, e.Path) || treewalk.Otherwise(except, w.Path, e.Path) {
				return nil
			}
			file := treewalk.FileOf(*w, filepath.Join(w.Path, e.Path))
			history = history || w.Names != "" && safefile.InGit(at) // what holds a repository may go as a whole
			split = split || w.Split && strings.ContainsAny(e.Path, treewalk.UnsafeInText)
			elsewhere = elsewhere || w.Split && treewalk.TakenApart(l.env, w.Path, e.Path)
			if w.Op == policy.Change || w.Op == policy.Metadata && w.Below {
				linked := l.follow(&file)
				if linked && slices.Contains(except, treewalk.NoLinks) {
					return nil
				}
				leads = leads || w.Op == policy.Metadata && file.File == policy.Dir
			}
			files = append(files, file.Path)
			switch d := l.env.Policy.Decide(&file); {
			case d.Verdict == policy.Allow:
			case whole && d.Layer == policy.BuiltIn && !strings.Contains(filepath.ToSlash(file.Path)+"/", "/.agentkit/"):
				guarded = append(guarded, file)
			case len(forbidden) < treewalk.MaxForbidden:
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
		if len(forbidden) < treewalk.MaxForbidden && !belongs(inner, guarded[i].Path) {
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
	for up := filepath.Dir(file); len(dirs) > 0; up = filepath.Dir(up) {
		if dirs[up] || up == filepath.Dir(up) {
			return dirs[up]
		}
	}
	return false
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
