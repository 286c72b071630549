package loss

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/change"
	"github.com/agentkit-go/agentkit/pkg/committed"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/steps"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// Names are those that a command takes away, replaces or overwrites, as far as its
// text tells, whether git has them or not: they are kept before it runs. True is what may
// be written where it is.
type Names map[string]bool

func (d Names) add(written bool, paths ...string) {
	for _, path := range paths {
		d[path] = d[path] || written
	}
}

// stand reports whether something stands at one of the names, so that it can be taken away: not where the command only makes what it takes
// away, or gives it a name and takes that back.
func (d Names) stand() bool {
	for path := range d {
		if _, err := os.Lstat(path); err == nil {
			return true
		}
	}
	return false
}

// List is for the shelf; maybe says that they may stay as they are.
func (d Names) List(maybe bool) (names []change.Doomed) {
	for path, written := range d {
		names = append(names, change.Doomed{Path: path, Written: written, Maybe: maybe})
	}
	return names
}

// maxLookedAt bounds the names that some looks at.
const maxLookedAt = 2000

// Some reports whether what stands at one of the names, or lies in it, is so, as far as it looks.
func (d Names) Some(is func(path string, i fs.FileInfo) bool) (found bool) {
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

// A dooming finds the names that are doomed.
type dooming struct {
	env     *tool.Env
	dir     string // where the command starts
	text    string // of the command
	needs   []policy.Access
	steps   steps.List // the same
	names   Names
	asked   []lostFiles
	gitKept bool            // what git does in this call is understood, and can be taken back
	goes    map[string]bool // what leaves the root, or goes under the name that the call gives it, and is overwritten nowhere
	lossy   bool            // another git of the command takes something away, so that what this one changes is kept, too
	keeping Keeping
}

// Keeping is how what a command takes away can be kept.
type Keeping int

// The ways to keep it.
const (
	NotKept Keeping = iota // not at all: the command is typed into one that runs
	InJob                  // by copies alone, as the command may go on for long
	InCall                 // by second names, too: the command ends within the call
)

func newDooming(env *tool.Env, dir, text string, needs []policy.Access, kept Keeping) *dooming {
	d := &dooming{env: env, dir: dir, text: text, needs: needs, names: Names{}, goes: map[string]bool{}, keeping: kept}
	d.steps = steps.List{Root: env.Workspace.Root(), Accesses: needs}
	d.gitKept = d.keeps() && d.steps.GitUnderstood()
	return d
}

// lostFiles are what git answered about a repository.
type lostFiles struct {
	kind committed.Kind
	top  string
	list []string
	gone []string // tracked, and not there
	ok   bool
}

// lost asks git once about the files of a kind in a repository.
func (d *dooming) lost(kind committed.Kind, top string) lostFiles {
	if i := slices.IndexFunc(d.asked, func(l lostFiles) bool { return l.kind == kind && l.top == top }); i >= 0 {
		return d.asked[i]
	}
	asked := lostFiles{kind: kind, top: top}
	asked.list, asked.gone, asked.ok = d.env.Git.LostAndGone(kind, top)
	d.asked = append(d.asked, asked)
	return asked
}

// unsaved are the files in a repository that git does not have as they are; those that it ignores, and other repositories in
// it, are left out. It is false where not all of them are known.
func (d *dooming) unsaved(top string) (list []string, ok bool) {
	changed, untracked := d.lost(committed.Changed, top), d.lost(committed.Untracked|committed.Alone, top)
	return slices.Concat(changed.list, untracked.list), changed.ok && untracked.ok
}

// changed are the files of a repository that differ from what git has of them, with those that are no longer there.
func (d *dooming) changed(top string) []string {
	lost := d.lost(committed.Changed, top)
	return slices.Concat(lost.list, lost.gone)
}

// keeps reports whether what the call takes away is kept.
func (d *dooming) keeps() bool {
	return d.keeping != NotKept && d.env.Policy.Undo().Commands != policy.UndoOff
}

// keepsLate reports whether that is kept, too, which is known when a program starts.
func (d *dooming) keepsLate() bool {
	return d.keeps() && (d.keeping == InCall || d.env.Policy.Confines() && d.env.Policy.Holds())
}

// write notes a write that takes something away, where that is all that is to be known.
func (d *dooming) write(w *policy.Access) {
	root := d.env.Workspace.Root()
	if w.Op == policy.Delete { // of a link, it is the link that goes
		d.link(w)
	}
	switch {
	case w.Opaque != "" || !safefile.Below(root, w.Path):
	case w.File != policy.Dir:
		d.names.add(w.Op == policy.Change && !d.steps.Moved(w), w.Path)
	case safefile.InGit(w.Path) && w.Tree && !w.Below:
		d.names.add(false, w.Path)
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
		d.names.add(false, link)
	}
}

// replacers are programs that put another file in the place of a link that they are given,
// or may: they do not write to what it leads to.
var replacers = [...]string{"mv", "ln", "cp", "install", "sed", "perl", "git", "rsync"}

// replaced notes the links that such a program puts something else in the place of.
func (d *dooming) replaced() {
	for j := range d.needs {
		w := &d.needs[j]
		if w.Kind == policy.Write && !w.Guess && w.Parent > 0 && slices.Contains(replacers[:], steps.Name(&d.needs[w.Parent-1])) {
			d.link(w)
		}
	}
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
		goes := func(path string) bool { return safefile.Below(w.Path, path) }
		if err == nil && len(entries) == 0 || slices.ContainsFunc(slices.Collect(maps.Keys(d.names)), goes) {
			d.names.add(false, w.Path)
		}
	case w.Names != "":
		d.names.add(false, files...)
	case w.Below || w.Path == root:
		entries, _ := os.ReadDir(w.Path)
		for _, e := range entries {
			if e.Name() != ".git" {
				d.names.add(false, filepath.Join(w.Path, e.Name()))
			}
		}
	default:
		d.names.add(false, w.Path)
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
		if err == nil && ok && filepath.Dir(dir) == filepath.Join(root, ".git", "worktrees") && safefile.Exists(dir) {
			d.names.add(false, dir)
		}
	}
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
			d.names.add(true, w.Path)
		}
	}
}

// rewrites reports whether a write in the root is such a program's.
func (d *dooming) rewrites(w *policy.Access) bool {
	return !w.Guess && w.Parent > 0 && slices.Contains(rewriters[:], steps.Name(&d.needs[w.Parent-1])) && safefile.Below(d.env.Workspace.Root(), w.Path)
}

// beside notes what else the programs do that take something away: the sources of mv, and
// what is made, so that all of it comes back.
func (d *dooming) beside() {
	if !d.names.stand() {
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
			d.names.add(!d.steps.Moved(w), w.Path)
		case w.Op == policy.Change && w.File == policy.Regular && !safefile.BelowGit(w.Path):
			d.names.add(!d.steps.Moved(w), w.Path)
		case w.Op == policy.Delete && d.steps.Moved(w) && w.File != policy.Missing:
			d.names.add(!d.goes[w.Path], w.Path) // its files stay, under other names
		}
	}
}

// destroys reports whether a write takes away what a file holds.
func destroys(w, program *policy.Access) bool {
	if w.Kind != policy.Write || w.Guess || w.Path == "" {
		return false
	}
	moves := program != nil && steps.Name(program) == "mv"
	switch {
	case w.Op == policy.Delete:
		return !moves || w.File == policy.Missing
	case w.Op != policy.Change || w.File != policy.Regular || strings.HasPrefix(w.Source, ">>"):
		return false
	case program != nil && steps.Name(program) == "git" && !strings.HasPrefix(w.Source, ">"):
		return false // its own files; see git
	}
	return program == nil || strings.HasPrefix(w.Source, ">") || program.Loses ||
		slices.Contains([]string{"mv", "cp", "dd", "tee", "install", "truncate", "ln"}, steps.Name(program))
}
