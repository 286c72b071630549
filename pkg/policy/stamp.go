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
	files []stamped
	taken time.Time
}

// A stamped is a file as it was when somebody looked.
type stamped struct {
	name string
	info fs.FileInfo // nil where it is not there
}

// Stamp looks at the files that Load reads, whether they are there or not, and at
// others that the Sources were made from.
func (s *Sources) Stamp(others ...string) Stamp {
	st := Stamp{taken: time.Now()}
	look := func(name string) {
		info, err := os.Stat(name)
		if err != nil {
			info = nil
		}
		st.files = append(st.files, stamped{name, info})
	}
	for _, name := range slices.Concat(s.Files, others) {
		look(name)
	}
	for _, dir := range []string{s.Machine, s.Caller, s.User, s.Project} {
		if dir == "" {
			continue
		}
		if _, err := os.Stat(dir); err != nil { // mostly it is not there, nor what it would hold
			st.files = append(st.files, stamped{name: dir})
			continue
		}
		for _, name := range FileNames() {
			look(filepath.Join(dir, name))
		}
	}
	if s.Trust != nil {
		look(s.Trust.Path)
	}
	return st
}

// settled is how old the last change of a file has to be before its time shows the
// next one: some file systems count in steps of two seconds.
const settled = 2 * time.Second

// Same reports whether what was loaded at s is what would be loaded at now. A file that was
// changed just before s may have been changed again without showing it: that is a no.
func (s Stamp) Same(now Stamp) bool {
	return slices.EqualFunc(s.files, now.files, func(was, is stamped) bool {
		a, b := was.info, is.info
		if a == nil || b == nil || was.name != is.name {
			return a == nil && b == nil && was.name == is.name
		}
		return os.SameFile(a, b) && a.Size() == b.Size() && a.Mode() == b.Mode() && a.ModTime().Equal(b.ModTime()) &&
			s.taken.Sub(a.ModTime()).Abs() > settled
	})
}
