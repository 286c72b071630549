package steps

import (
	"slices"
	"strings"
	"sync"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/programs"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// A Loss is of something in the root that the command moves or links, and then takes away under the new name, or moves out of the root, where
// undo does not reach it.
type Loss struct {
	Original int      // the access that reads it, by the name that it has before the command
	By       int      // the first program that takes it away under a new name; -1 where it only leaves the root
	InPlace  bool     // it is written to where it is, so that a link to it would be, too
	Files    []string // of a directory, what is taken away, by the paths in it; nil where that may be all of it
}

// A renaming is what one program moves or links, with the names that it has by then.
type renaming struct {
	Loss
	program int
	onward  []int    // programs that move it on in the root
	links   bool     // the old name stays
	names   []string // new ones
	inside  bool     // what it moves is still in the root
	whole   bool     // more is taken away than some of its files
}

// Losses are what the command takes away under names that it has given itself.
func (l List) Losses() (list []Loss) {
	var renamings []*renaming
	at := map[string][]*renaming{} // by each new name
	for j := range l.Accesses {
		w := &l.Accesses[j]
		if moves, links := renames(w); moves || links {
			r := &renaming{Loss: Loss{By: -1}, program: j, links: links, inside: true}
			names, inside := l.targets(j)
			r.comeTo(names, inside, at)
			renamings = append(renamings, r)
		}
		onward := sync.OnceValues(func() ([]string, bool) { return l.targets(w.Parent - 1) })
		for r := range reached(at, w) {
			switch {
			case w.Parent == r.program+1, slices.Contains(r.onward, w.Parent-1): // it brings it there
			case w.Op == policy.Delete && l.Moved(w):
				names, inside := onward()
				if inside {
					r.onward = append(r.onward, w.Parent-1)
				}
				r.comeTo(names, inside, at)
			default:
				l.take(r, j)
			}
		}
	}
	for _, r := range renamings {
		if r.By < 0 && (r.inside || r.links) {
			continue
		}
		if r.whole || !r.inside {
			r.Files = nil
		}
		for j, s := range l.of(r.program, policy.Read) {
			if !s.Guess && s.Opaque == "" && (s.File == policy.Regular || s.File == policy.Dir) && safefile.Below(l.Root, s.Path) {
				r.Original = j
				list = append(list, r.Loss)
			}
		}
	}
	return list
}

// renames reports whether a program moves files, or gives them second names.
func renames(a *policy.Access) (moves, links bool) {
	switch name := Name(a); {
	case a.Kind != policy.Exec:
	case programs.Has("mv gmv", name):
		return true, false
	case name == "git":
		sub, _ := Git(a.Argv)
		return sub == "mv", false
	case programs.Has("cp gcp", name):
		return false, slices.ContainsFunc(a.Options, func(o policy.Option) bool { return o.Names == "l,link" })
	case programs.Has("ln gln link", name):
		return false, true // with -s it reads nothing
	}
	return false, false
}

// targets are the new names that a program gives what it moves or links; inside is whether one of them is in the root.
// Where mv is given a pattern, it writes the directory from which the files go, too, by the word by which it reads it: that is no target.
func (l List) targets(program int) (names []string, inside bool) {
	for _, t := range l.of(program, policy.Write) {
		if t.Op == policy.Delete || t.Op == policy.Metadata {
			continue
		}
		source, pattern := false, false
		for _, s := range l.of(program, policy.Read) {
			if s.Tree && s.Path == t.Path && !strings.HasPrefix(s.Source, programs.BackupOf) {
				source, pattern = true, pattern || s.Source == t.Source
			}
		}
		inside = inside || !pattern && safefile.Below(l.Root, t.Path)
		if !source {
			names = append(names, t.Path)
		}
	}
	return names, inside
}

// comeTo notes further names of what was renamed; inside is whether one of them is in the root.
func (r *renaming) comeTo(names []string, inside bool, at map[string][]*renaming) {
	r.inside = r.inside && inside
	for _, name := range names {
		if !slices.Contains(r.names, name) {
			r.names, at[name] = append(r.names, name), append(at[name], r)
		}
	}
}

// reached are the renamings of which a write is of a new name, or of what lies below or above it.
func reached(at map[string][]*renaming, w *policy.Access) map[*renaming]bool {
	if w.Kind != policy.Write || w.Guess || w.Op == policy.Metadata || strings.HasPrefix(w.Source, ">>") {
		return nil
	}
	found := map[*renaming]bool{}
	for name, renamings := range at {
		if safefile.Below(name, w.Path) || w.Tree && safefile.Below(w.Path, name) {
			for _, r := range renamings {
				found[r] = true
			}
		}
	}
	return found
}

// take notes that a write takes away what was renamed, unless its old name is left.
func (l List) take(r *renaming, j int) {
	w := &l.Accesses[j]
	inPlace := w.Op != policy.Delete && !l.Moved(w)
	if r.links && !inPlace {
		return
	}
	if r.By < 0 {
		r.By = l.Program(j)
	}
	r.InPlace = r.InPlace || inPlace
	file := r.fileOf(w)
	r.whole = r.whole || file == ""
	r.Files = append(r.Files, file)
}

// fileOf is the path in a renamed directory of the one file that a write is of, seen from the innermost of its names; "" where it is of more.
func (r *renaming) fileOf(w *policy.Access) (file string) {
	for _, name := range r.names {
		if rel, ok := safefile.Rel(name, w.Path); ok && rel != "." && !w.Tree && (file == "" || len(rel) < len(file)) {
			file = rel
		}
	}
	return file
}

// Filled are the directories of the root into which programs put files whose names nobody knows before: those of a directory or an
// archive that the command itself makes or changes, or that comes through a pipe.
func (l List) Filled() (dirs []string) {
	for i, a := range l.where(func(a *policy.Access) bool {
		return a.Kind == policy.Exec && programs.Has("cp gcp rsync tar gtar bsdtar unzip", Name(a))
	}) {
		known, sources := Name(a) != "rsync", 0
		for _, s := range l.of(i, policy.Read) {
			if s.Guess {
				continue
			}
			sources++
			known = known && s.Opaque == "" && s.File != policy.Missing && !l.changedByOthers(s.Path, i)
		}
		if known && sources > 0 {
			continue
		}
		for _, w := range l.of(i, policy.Write) {
			if w.Op != policy.Delete && w.File == policy.Dir && safefile.Below(l.Root, w.Path) {
				dirs = append(dirs, w.Path)
			}
		}
	}
	return dirs
}

// changedByOthers reports whether another program of the command writes to a file, or below a directory.
func (l List) changedByOthers(path string, program int) bool {
	return slices.ContainsFunc(l.Accesses, func(w policy.Access) bool {
		return w.Kind == policy.Write && !w.Guess && w.Parent != program+1 && safefile.Below(path, w.Path)
	})
}
