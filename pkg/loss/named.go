package loss

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/steps"
)

// Bounds of what is copied of files that are no more than named to a program: the size of one, and of all.
const (
	maxNamed      = 4 << 20 // bytes
	maxNamedBytes = 16 << 20
)

// named are the files that the text gives programs to write, or that it names to programs of which
// nothing is known, and which nothing else keeps: a formatter's, an editor's, a converter's, an archive's. It may be
// that nothing of them is lost, so they are not many bytes, and no question hangs on their being kept.
func (d *dooming) named() Names {
	named := Names{}
	if !d.keeps() {
		return named
	}
	left := min(maxNamedBytes, int64(d.env.Policy.Undo().MaxBytes)/4)
	note := func(path string, unlinked bool) {
		_, kept := d.names[path]
		w := policy.Access{Kind: policy.Write, Tool: "bash", Op: policy.Change, File: policy.Regular, Path: path}
		if _, twice := named[path]; kept || twice || !safefile.Below(d.env.Workspace.Root(), path) || d.env.Policy.Decide(&w).Verdict != policy.Allow {
			return // what is protected the sandbox holds
		}
		info, err := os.Lstat(path)
		switch {
		case err != nil || !info.Mode().IsRegular():
			if unlinked {
				named.add(true, path)
			}
		case info.Size() <= min(maxNamed, left):
			named.add(true, path)
			left -= info.Size()
		case unlinked:
			named.add(false, path)
		}
	}
	for j := range d.needs {
		if w := &d.needs[j]; w.File == policy.Regular && w.Parent > 0 && !safefile.BelowGit(w.Path) && mayChange(w, &d.needs[w.Parent-1]) {
			note(w.Path, false)
		}
	}
	for _, path := range unpacked(d.env.Workspace.Root(), d.needs) {
		note(path, true)
	}
	for _, path := range slices.Concat(d.namedToGit(), d.filled()) {
		note(path, false)
	}
	return named
}

// namedToGit are the files that stand among the words of subcommands of git of which nothing is known.
func (d *dooming) namedToGit() (list []string) {
	for _, a := range d.steps.Gits() {
		if sub, _ := steps.Git(a.Argv); a.Class != policy.Unknown || a.Drops || steps.UnderstandsGit(sub) {
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

// filled are the files that are nowhere else in the directories that the call fills with nobody knows what.
func (d *dooming) filled() []string {
	dirs := d.steps.Filled()
	if len(dirs) == 0 {
		return nil
	}
	list, _ := d.unsaved(d.env.Workspace.Root())
	return slices.DeleteFunc(list, func(path string) bool {
		return !slices.ContainsFunc(dirs, func(dir string) bool { return safefile.Below(dir, path) })
	})
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
