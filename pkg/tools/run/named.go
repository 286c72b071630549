package run

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/programs"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

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
	for _, path := range slices.Concat(d.namedToGit(), d.under(d.filled())) {
		if d.allowed(path) {
			note(path, false)
		}
	}
	return named
}

// namedToGit are the files that stand among the words of subcommands of git of which nothing is known.
func (d *dooming) namedToGit() (list []string) {
	for i := range d.needs {
		a := &d.needs[i]
		if a.Kind != policy.Exec || baseName(a) != "git" || a.Class != policy.Unknown || a.Drops {
			continue
		}
		if sub, _ := gitSub(a.Argv); strings.Contains(gitWords, " "+sub+" ") {
			continue
		}
		for _, word := range a.Argv[1:] {
			if strings.HasPrefix(word, "-") {
				_, word, _ = strings.Cut(word, "=")
			}
			if word != "" && !filepath.IsAbs(word) {
				word = filepath.Join(d.dir, word)
			}
			list = append(list, word)
		}
	}
	return list
}

// filled are the directories into which programs put files that nobody knows the names of before: those of a directory or an
// archive that the command itself makes or changes, or that comes through a pipe.
func (d *dooming) filled() (dirs []string) {
	for i := range d.needs {
		a := &d.needs[i]
		if a.Kind != policy.Exec || !programs.Has("cp gcp rsync tar gtar bsdtar unzip", baseName(a)) {
			continue
		}
		known, sources := true, 0
		var into []string
		for j := range d.needs {
			switch w := &d.needs[j]; {
			case w.Parent != i+1 || w.Guess:
			case w.Kind == policy.Read:
				sources++
				known = known && w.Opaque == "" && w.File != policy.Missing && !d.made(w.Path, i)
			case w.Kind == policy.Write && w.Op != policy.Delete && w.File == policy.Dir && safefile.Below(d.env.Workspace.Root(), w.Path):
				into = append(into, w.Path)
			}
		}
		if !known || sources == 0 || baseName(a) == "rsync" {
			dirs = append(dirs, into...)
		}
	}
	return dirs
}

// made reports whether a program of the call but one writes to a file, or to what lies in a directory.
func (d *dooming) made(path string, but int) bool {
	return slices.ContainsFunc(d.needs, func(w policy.Access) bool {
		return w.Kind == policy.Write && !w.Guess && w.Parent != but+1 && w.Path != "" && safefile.Below(path, w.Path)
	})
}

// under are the files in some directories that are nowhere else.
func (d *dooming) under(dirs []string) (list []string) {
	if len(dirs) == 0 {
		return nil
	}
	list, _ = d.unsaved(d.env.Workspace.Root())
	return within(dirs, list)
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
