package committed

import (
	"path/filepath"
	"strings"
)

// Between lists the files, by their absolute paths, that differ between two
// revisions of the repository that holds top; with parted, between the commit
// where both parted and the second one. None where git does not know them.
func (f *Files) Between(top, from, to string, parted bool) (list []string) {
	f.mu.Lock()
	r := f.repository(top)
	f.mu.Unlock()
	program := f.Git()
	if r == nil || program == "" || strings.HasPrefix(from, "-") || strings.HasPrefix(to, "-") {
		return nil
	}
	args := []string{"diff-tree", "-r", "-z", "--name-only", "--no-renames"}
	if parted {
		args = append(args, "--merge-base")
	}
	out, err := r.run(program, append(args, from, to, "--"))
	if err != nil {
		return nil
	}
	for _, rel := range fields(out) {
		list = append(list, filepath.Join(r.top, filepath.FromSlash(rel)))
	}
	return list
}
