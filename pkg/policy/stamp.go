package policy

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// A Stamp tells whether the files that a policy was loaded from are still the same.
type Stamp struct {
	files []fs.FileInfo // nil for one that is not there
	taken time.Time
}

// Stamp looks at the files that Load reads, whether they are there or not, and at
// others that the Sources were made from.
func (s *Sources) Stamp(others ...string) Stamp {
	names := slices.Concat(s.Files, others)
	for _, dir := range []string{s.Machine, s.User, s.Project} {
		for _, name := range FileNames() {
			if dir != "" {
				names = append(names, filepath.Join(dir, name))
			}
		}
	}
	if s.Trust != nil {
		names = append(names, s.Trust.Path)
	}
	st := Stamp{taken: time.Now()}
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			info = nil
		}
		st.files = append(st.files, info)
	}
	return st
}

// settled is how old the last change of a file has to be before its time shows the
// next one: some file systems count in steps of two seconds.
const settled = 2 * time.Second

// Same reports whether what was loaded at s is what would be loaded at now. A file that was
// changed just before s may have been changed again without showing it: that is a no.
func (s Stamp) Same(now Stamp) bool {
	return slices.EqualFunc(s.files, now.files, func(a, b fs.FileInfo) bool {
		if a == nil || b == nil {
			return a == nil && b == nil
		}
		return os.SameFile(a, b) && a.Size() == b.Size() && a.Mode() == b.Mode() && a.ModTime().Equal(b.ModTime()) &&
			s.taken.Sub(a.ModTime()).Abs() > settled
	})
}
