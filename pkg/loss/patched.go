package loss

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/steps"
)

// maxPatch bounds how much of a file is read where a patch is looked for.
const maxPatch = 4 << 20

// maxPatchName bounds a name in a patch: no longer one is a file's.
const maxPatchName = 4096

// maxStripped bounds the directories in front of a name that patch may take off.
const maxStripped = 16

// maxCopied bounds the names of a directory that is copied over another which are looked at.
const maxCopied = 200_000

// patched notes the files that a patch changes, by patch or git, which is told neither by the name of a file
// nor by an operand: those that are named by a patch in the text of the command or in a file
// that it reads, and those in which what git compares differs, where git makes the patch.
func (d *dooming) patched() {
	var dirs, inputs []string
	for j := range d.needs {
		if w := &d.needs[j]; w.Kind == policy.Write && w.Opaque != "" && w.File == policy.Dir && w.Parent > 0 && steps.Name(&d.needs[w.Parent-1]) == "patch" {
			dirs = append(dirs, w.Path)
			for _, o := range d.needs[w.Parent-1].Options {
				switch o.Names {
				case "d,directory":
					dirs = append(dirs, filepath.Join(w.Path, o.Value))
				case "i,input":
					inputs = append(inputs, o.Value)
				}
			}
		}
	}
	for j := range d.needs {
		if a := &d.needs[j]; a.Kind == policy.Exec && steps.Name(a) == "git" {
			dirs = append(dirs, d.patchedByGit(j)...)
		}
	}
	if len(dirs) == 0 {
		return
	}
	for _, dir := range dirs {
		for _, name := range inputs { // is looked for in the directory where patch works
			d.patchIn(filepath.Join(dir, name), dirs)
		}
	}
	d.namedIn(strings.ReplaceAll(d.text, `\n`, "\n"), dirs)
	for j := range d.needs {
		switch a := &d.needs[j]; {
		case a.Kind == policy.Read && a.File == policy.Regular && !a.Guess:
			d.patchIn(a.Path, dirs)
		case a.Kind == policy.Exec && steps.Name(a) == "git":
			d.compared(a, j)
		}
	}
}

// patchedByGit notes what a call of git that applies patches changes, and gives the
// directories in which the patches are looked up that are not known.
func (d *dooming) patchedByGit(i int) (dirs []string) {
	sub, _ := steps.Git(d.needs[i].Argv)
	if sub != "apply" && sub != "am" {
		return nil
	}
	top := d.repository(i)
	for j := range d.needs {
		switch w := &d.needs[j]; {
		case w.Kind != policy.Write || w.Parent != i+1 || !safefile.Below(d.env.Workspace.Root(), w.Path):
		case w.Opaque == "":
			d.patchedFile(w.Path)
		case w.File == policy.Dir:
			dirs = append(dirs, w.Path)
			if top != "" {
				dirs = append(dirs, top)
			}
		}
	}
	own := sub == "am"
	for _, o := range d.needs[i].Options {
		switch o.Names {
		case "directory":
			if top != "" && len(dirs) > 0 {
				dirs = append(dirs, filepath.Join(top, o.Value))
			}
		case "index", "cached", "3,3way":
			own = true
		}
	}
	if own && d.keepsGit(top) {
		d.doomRepository(top)
	}
	return dirs
}

// patchIn notes the files that a patch in a file names.
func (d *dooming) patchIn(path string, dirs []string) {
	// What lies elsewhere may be no file of that kind, as /proc/kmsg is none, and the policy has not decided yet.
	if !safefile.Below(d.env.Workspace.Root(), path) && !slices.ContainsFunc(d.env.Temp, func(temp string) bool { return safefile.Below(temp, path) }) {
		return
	}
	f, err := safefile.OpenRegular(path)
	if err != nil {
		return
	}
	defer f.Close()
	if text, err := io.ReadAll(io.LimitReader(f, maxPatch)); err == nil {
		d.namedIn(string(text), dirs)
	}
}

// namedIn notes the files that a patch names, with and without the directories in front
// that patch takes off.
func (d *dooming) namedIn(text string, dirs []string) {
	for line := range strings.Lines(text) {
		name, ok := "", false
		for _, mark := range [...]string{"+++ ", "--- ", "*** ", "rename from ", "rename to ", "copy to "} {
			if _, name, ok = strings.Cut(line, mark); ok {
				break
			}
		}
		name, _, _ = strings.Cut(strings.TrimRight(name, "\r\n"), "\t")
		if name = strings.Trim(name, `'"`); !ok || name == "" || name == os.DevNull || len(name) > maxPatchName {
			continue
		}
		for range maxStripped {
			for _, dir := range dirs {
				if path := filepath.Join(dir, name); path != dir && safefile.Below(d.env.Workspace.Root(), path) {
					d.patchedFile(path)
				}
			}
			if _, name, ok = strings.Cut(name, "/"); !ok {
				break
			}
		}
	}
}

// patchedFile notes a file, or its absence.
func (d *dooming) patchedFile(path string) {
	info, err := os.Lstat(path)
	if missing := err != nil; missing || info.Mode().IsRegular() {
		d.names.add(true, path)
	}
}

// compared notes the files in which the sides differ that a call of git compares.
func (d *dooming) compared(a *policy.Access, i int) {
	sub, rest := steps.Git(a.Argv)
	top := d.repository(i)
	if top == "" || !slices.Contains([]string{"diff", "show", "log", "format-patch", "diff-index", "diff-tree", "diff-files", "stash"}, sub) {
		return
	}
	git := d.env.Git
	list := d.changed(top)
	revisions := []string{"HEAD"}
	if sub == "stash" {
		revisions = append(revisions, "stash@{0}")
	}
	for _, word := range rest {
		if word == "--" {
			break
		}
		word = strings.TrimLeft(word, "-") // format-patch -1
		for side := range strings.SplitSeq(strings.ReplaceAll(word, "...", ".."), "..") {
			if side != "" && side != "." {
				revisions = append(revisions, side)
			}
		}
	}
	for _, revision := range revisions[:min(len(revisions), maxRevisions)] {
		list = append(list, git.Between(top, "HEAD", revision, false)...)
		list = append(list, git.Between(top, revision+"^", revision, false)...)
	}
	for _, path := range list {
		if safefile.Below(d.env.Workspace.Root(), path) {
			d.patchedFile(path)
		}
	}
}

// copied notes the files of a directory that another is copied over, and what comes there.
func (d *dooming) copied() {
	root := d.env.Workspace.Root()
	for j := range d.needs {
		w := &d.needs[j]
		if w.Kind != policy.Write || w.Op != policy.Change || w.File != policy.Dir || w.Opaque != "" || w.Guess || w.Parent == 0 || steps.Name(&d.needs[w.Parent-1]) != "cp" || !safefile.Below(root, w.Path) {
			continue
		}
		for i := range d.needs {
			if s := &d.needs[i]; s.Parent == w.Parent && s.Kind == policy.Read && s.Tree && s.File == policy.Dir && s.Path != w.Path {
				d.copiedFrom(s.Path, w.Path)
			}
		}
	}
}

func (d *dooming) copiedFrom(source, target string) {
	left := maxCopied
	_ = filepath.WalkDir(source, func(path string, e fs.DirEntry, err error) error {
		if left--; left < 0 {
			return fs.SkipAll
		}
		if err != nil || path == source {
			return nil //nolint:nilerr // cp cannot read it either
		}
		at := filepath.Join(target, path[len(source):])
		info, err := os.Lstat(at)
		switch {
		case e.IsDir() && err == nil && info.IsDir():
			if path == target {
				return fs.SkipDir // it is copied into itself
			}
			return nil
		case e.IsDir():
			d.names.add(true, at)
			return fs.SkipDir
		}
		d.names.add(true, at)
		return nil
	})
}
