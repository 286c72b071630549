package committed

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Kind is how git knows a file, for [Files.Lost].
type Kind uint8

// The kinds.
const (
	Changed   Kind = iota // tracked, and not as HEAD has them
	Untracked             // neither tracked nor ignored
	Ignored               // not tracked, whether ignored or not

	// Alone leaves out repositories in the work tree, which git clean passes by; without it they are not understood.
	Alone Kind = 1 << 7
)

// maxLost bounds the files that Lost looks at.
const maxLost = 50_000

// Lost lists the files of a kind in the repository that holds top, by their
// absolute paths, at or below some paths; in all of it where there are none. It
// is false where that cannot be told, as where there is no repository. Of what is said
// nothing is remembered but what a commit holds, and which files hold that, as long as they are
// not changed in any way; and nothing that the repository names is run.
func (f *Files) Lost(kind Kind, top string, paths ...string) (list []string, ok bool) {
	list, _, ok = f.LostAndGone(kind, top, paths...)
	return list, ok
}

// LostAndGone is Lost, with the files that are tracked and not there where these are looked at.
func (f *Files) LostAndGone(kind Kind, top string, paths ...string) (list, gone []string, ok bool) {
	r, program := f.asked(top)
	if r == nil {
		return nil, nil, false
	}
	names := make([]string, 0, len(paths))
	for _, path := range paths {
		rel := r.rel(path)
		if rel == ".." || strings.HasPrefix(rel, "../") {
			return nil, nil, false
		}
		names = append(names, rel)
	}
	whole := len(names) == 0 || r.light()
	held, head := map[string]string{}, make(chan error, 1)
	if kind == Changed {
		go func() { // meanwhile
			var err error
			if whole {
				held, err = f.heldBelow(r, program, nil)
			} else {
				held, err = f.heldBelow(r, program, names)
			}
			head <- err
		}()
	} else {
		head <- nil
	}
	rels, err := r.known(program, kind, names, whole)
	if err := errors.Join(err, <-head); err != nil {
		return nil, nil, false
	}
	if kind&Alone != 0 {
		rels = slices.DeleteFunc(rels, func(rel string) bool { return strings.HasSuffix(rel, "/") && r.holds(rel) })
	}
	if len(rels) > maxLost || slices.ContainsFunc(rels, func(rel string) bool { return strings.HasSuffix(rel, "/") }) {
		return nil, nil, false // a repository inside has a history of its own
	}
	same := f.sameness(r, min(len(rels), len(held)))
	list, gone = same.compare(r.top, rels, held)
	same.keep()
	return list, gone, true
}

// holds reports whether a directory of the work tree is a repository to git, or a worktree of one.
func (r *repository) holds(rel string) bool {
	dir := filepath.Join(r.top, filepath.FromSlash(rel))
	info, err := os.Lstat(filepath.Join(dir, ".git"))
	if err != nil || !info.IsDir() && !info.Mode().IsRegular() {
		return false
	}
	git := gitDir(dir)
	for _, path := range []string{filepath.Join(git, "HEAD"), filepath.Join(commonDir(git), "objects"), filepath.Join(commonDir(git), "refs")} {
		if _, err := os.Lstat(path); err != nil {
			return false
		}
	}
	return true
}

// known lists the files of a kind at or below some names; all where there are none. With
// whole, those that are tracked may be read as a whole.
func (r *repository) known(program string, kind Kind, names []string, whole bool) ([]string, error) {
	args := []string{"-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false", "--literal-pathspecs", "ls-files", "-z"}
	switch kind &^ Alone {
	case Changed:
		if commit := r.commit(); commit != "" && whole {
			if rels, ok := r.tracked(len(commit) / 2); ok {
				return below(rels, names), nil
			}
		}
		args = append(args, "--cached")
	case Untracked:
		args = append(args, "--others", "--exclude-standard")
	case Ignored:
		args = append(args, "--others")
	}
	out, err := r.run(program, append(append(args, "--"), names...))
	return fields(out), err
}

// Others lists what the repository that holds top does not track, with ignored also what
// it ignores: a directory in which nothing is tracked stands for all that is in it. It is
// false where that cannot be told.
func (f *Files) Others(top string, ignored bool) (list []string, ok bool) {
	args := []string{"--others", "--directory"}
	if !ignored {
		args = append(args, "--exclude-standard")
	}
	return f.listed(top, args)
}

// asked is the repository that holds top, and the git that is asked about it; nil where there is none.
func (f *Files) asked(top string) (r *repository, program string) {
	if program = f.Git(); program == "" {
		return nil, ""
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.repository(top), program
}

func (f *Files) listed(top string, args []string) (list []string, ok bool) {
	r, program := f.asked(top)
	if r == nil {
		return nil, false
	}
	out, err := r.run(program, append([]string{"-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false", "ls-files", "-z"}, args...))
	for _, rel := range fields(out) {
		list = append(list, filepath.Join(r.top, filepath.FromSlash(rel)))
	}
	return list, err == nil
}

// heldBelow gives the hashes of what HEAD holds at or below some names; all where there are none.
func (f *Files) heldBelow(r *repository, program string, names []string) (map[string]string, error) {
	if _, born := r.head(); !born {
		return map[string]string{}, nil
	}
	args, commit := []string{"--literal-pathspecs", "ls-tree", "-r", "-z", "--full-tree"}, ""
	if len(names) == 0 {
		commit = r.commit()
	}
	if commit == "" {
		args = append(args, "HEAD")
	} else {
		if held := f.knownTree(r, commit); held != nil {
			return held, nil
		}
		args = append(args, "-t", commit)
	}
	out, err := r.run(program, append(append(args, "--"), names...))
	if err != nil {
		return nil, err
	}
	held := map[string]string{}
	for _, line := range fields(out) {
		about, rel, _ := strings.Cut(line, "\t")
		if field := strings.Fields(about); len(field) == 3 && field[1] == "blob" {
			held[rel] = field[2]
		}
	}
	if commit != "" {
		f.keepTree(r, program, commit, out, held)
	}
	return held, nil
}

// Reachable reports whether the commits of a branch, or of whatever git understands,
// are in the history of another branch or tag, but for some branches, or of HEAD where it is no branch.
func (f *Files) Reachable(top, branch string, but ...string) bool {
	r, program := f.asked(top)
	if r == nil || strings.HasPrefix(branch, "-") {
		return false
	}
	out, err := r.run(program, []string{"for-each-ref", "--format=%(refname)", "--contains", "refs/heads/" + branch, "refs/heads", "refs/tags", "refs/remotes"})
	for name := range strings.FieldsSeq(out) {
		if short, is := strings.CutPrefix(name, "refs/heads/"); err == nil && !(is && (short == branch || slices.Contains(but, short))) {
			return true
		}
	}
	return false
}

// NoBranch reports whether a repository has no branch of a name yet.
func (f *Files) NoBranch(top, branch string) bool {
	r, program := f.asked(top)
	if r == nil || strings.HasPrefix(branch, "-") {
		return false
	}
	out, err := r.run(program, []string{"for-each-ref", "--format=%(refname)", "refs/heads/" + branch})
	return err == nil && out == ""
}

func fields(out string) []string {
	return slices.DeleteFunc(strings.Split(out, "\x00"), func(s string) bool { return s == "" })
}
