package committed

import (
	"path/filepath"
	"strings"
)

// Between lists the files, by their absolute paths, that differ between two
// revisions of the repository that holds top; with parted, between the commit
// where both parted and the second one. None where git does not know them.
func (f *Files) Between(top, from, to string, parted bool) (list []string) {
	if parted {
		return f.diff(top, from, to, "--merge-base")
	}
	return f.diff(top, from, to)
}

// Added lists those of them that only the second revision has.
func (f *Files) Added(top, from, to string) (list []string) {
	return f.diff(top, from, to, "--diff-filter=A")
}

func (f *Files) diff(top, from, to string, options ...string) (list []string) {
	r, program := f.asked(top)
	if r == nil || strings.HasPrefix(from, "-") || strings.HasPrefix(to, "-") {
		return nil
	}
	args := append([]string{"diff-tree", "-r", "-z", "--name-only", "--no-renames"}, options...)
	out, err := r.run(program, append(args, from, to, "--"))
	if err != nil {
		return nil
	}
	for _, rel := range fields(out) {
		list = append(list, filepath.Join(r.top, filepath.FromSlash(rel)))
	}
	return list
}

// Branch is the branch that a repository is on; "" for none.
func (f *Files) Branch(top string) string {
	r, program := f.asked(top)
	if r == nil {
		return ""
	}
	out, err := r.run(program, []string{"symbolic-ref", "-q", "--short", "HEAD"})
	if err != nil {
		return ""
	}
	return strings.TrimSpace(out)
}

// IsCommit reports whether git takes a word for a commit.
func (f *Files) IsCommit(top, word string) bool {
	r, program := f.asked(top)
	if r == nil || strings.HasPrefix(word, "-") {
		return false
	}
	_, err := r.run(program, []string{"rev-parse", "-q", "--verify", word + "^{commit}"})
	return err == nil
}
