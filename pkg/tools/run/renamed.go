package run

import (
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/programs"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// What a command moves is still there, and so is what gets a second name: nothing of it is
// lost by that. But the same command may take it away under the new name, at which there is nothing
// when the command is judged; and what leaves the root is out of undo's reach.

// A renaming is of something in the root that the command gives another name.
type renaming struct {
	source int  // the read of it
	by     int  // the first access that takes it away under the new name; -1 where it leaves the root
	over   bool // it is overwritten where it is

	// below are the files of a directory that are overwritten, by their paths in it; none where all of it may go.
	below []string
}

// renamings are those of which something may be lost.
func (d *dooming) renamings() (list []renaming) {
	root := d.env.Workspace.Root()
	for i := range d.needs {
		moves, links := renames(&d.needs[i])
		if !moves && !links {
			continue
		}
		to, inside := d.targets(i)
		m, whole := renaming{by: -1}, false
		for j := i + 1; j < len(d.needs); j++ {
			takes, over := d.takes(j, i, to)
			switch w := &d.needs[j]; {
			case !takes:
			case w.Op == policy.Delete && d.moved(w): // on to the next name
				more, within := d.targets(w.Parent - 1)
				to, inside = append(to, more...), inside && within
			case links && !over:
			default:
				if m.by < 0 {
					m.by = j
				}
				m.over = m.over || over
				rel := fileBelow(w, to)
				whole = whole || rel == ""
				m.below = append(m.below, rel)
			}
		}
		if m.by < 0 && (inside || !moves) {
			continue
		}
		if whole || !inside { // then all of it has left the root
			m.below = nil
		}
		for j := range d.needs {
			if s := &d.needs[j]; s.Parent == i+1 && s.Kind == policy.Read && !s.Guess && s.Opaque == "" && (s.File == policy.Regular || s.File == policy.Dir) && safefile.Below(root, s.Path) {
				m.source = j
				list = append(list, m)
			}
		}
	}
	return list
}

// fileBelow is the path of the file that a write is of in one of some directories, the innermost; "" where it is of more, or
// of the directory.
func fileBelow(w *policy.Access, dirs []string) (rel string) {
	for _, dir := range dirs {
		if r, ok := safefile.Rel(dir, w.Path); ok && r != "." && !w.Tree && (rel == "" || len(r) < len(rel)) {
			rel = r
		}
	}
	return rel
}

// targets are the paths to which a program moves or links what it is given; inside is whether one of them is in the root.
func (d *dooming) targets(i int) (to []string, inside bool) {
	for j := range d.needs {
		t := &d.needs[j]
		if t.Parent != i+1 || t.Kind != policy.Write || t.Op == policy.Delete || t.Op == policy.Metadata {
			continue
		}
		from, itself := d.reads(i, t)
		if itself {
			continue
		}
		if inside = inside || t.Path != "" && safefile.Below(d.env.Workspace.Root(), t.Path); !from {
			to = append(to, t.Path)
		}
	}
	return to, inside
}

// reads reports whether a program reads the tree that a write of it is of, and whether both stand for the same word: where
// what it moves is not known by name, that is the directory from which it goes, and no target.
func (d *dooming) reads(i int, w *policy.Access) (from, itself bool) {
	for j := range d.needs {
		if s := &d.needs[j]; s.Parent == i+1 && s.Kind == policy.Read && s.Tree && s.Path == w.Path {
			from, itself = true, itself || s.Source == w.Source
		}
	}
	return from, itself
}

// renames reports whether a program moves files, or gives them second names.
func renames(a *policy.Access) (moves, links bool) {
	if a.Kind != policy.Exec {
		return false, false
	}
	option := func(name string) bool {
		return slices.ContainsFunc(a.Options, func(o policy.Option) bool { return slices.Contains(strings.Split(o.Names, ","), name) })
	}
	switch name := baseName(a); {
	case programs.Has("mv gmv", name):
		return true, false
	case name == "git":
		sub, _ := gitSub(a.Argv)
		return sub == "mv", false
	case programs.Has("cp gcp", name):
		return false, option("l")
	case programs.Has("ln gln link", name):
		return false, !option("s")
	}
	return false, false
}

// takes reports whether an access that does not belong to program i removes, replaces or overwrites
// what has come to one of some paths, and whether it is written to where it is.
func (d *dooming) takes(j, i int, to []string) (takes, over bool) {
	w := &d.needs[j]
	if w.Kind != policy.Write || w.Guess || w.Op == policy.Metadata || w.Parent == i+1 || strings.HasPrefix(w.Source, ">>") {
		return false, false
	}
	for _, t := range to {
		if t != "" && w.Path != "" && (safefile.Below(t, w.Path) || w.Tree && safefile.Below(w.Path, t)) {
			return true, w.Op != policy.Delete && !d.moved(w)
		}
	}
	return false, false
}
