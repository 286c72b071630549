package policy

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// Keep fills Kept from all else that s says. It looks at links as they are now, so whoever
// loads the same policy in another process takes the Kept of the first.
func (s *Sources) Keep() {
	s.Kept = nil
	dirs := []string{s.Machine, s.User, s.Own, s.Project}
	for _, dir := range dirs {
		if dir != "" {
			s.keepDir(dir)
		}
	}
	for _, name := range slices.Concat(s.Files, s.Settings) {
		if !slices.Contains(dirs, filepath.Dir(name)) {
			s.keep(safefile.Trail(name))
		}
	}
}

// keepDir keeps a directory of policies and settings, and what the links in it lead to. The project's
// is protected as a part of the root: of that only what links lead to is kept.
func (s *Sources) keepDir(dir string) {
	trail := safefile.Trail(dir)
	real, project := trail[len(trail)-1], dir == s.Project
	if !project {
		s.keep(trail)
	}
	entries, err := os.ReadDir(real)
	if err != nil {
		return
	}
	names := FileNames()
	for _, name := range s.Settings {
		if filepath.Dir(name) == dir {
			names = append(names, filepath.Base(name))
		}
	}
	for _, name := range names {
		i := slices.IndexFunc(entries, func(e os.DirEntry) bool { return e.Name() == name })
		switch path := filepath.Join(real, name); {
		case i >= 0 && entries[i].Type()&os.ModeSymlink != 0:
			s.keep(safefile.Trail(path))
		case project && real != dir, safefile.Below(real, s.Root): // the directory is not kept
			s.keep([]string{path})
		}
	}
}

// keep adds paths, but for directories that hold the root.
func (s *Sources) keep(paths []string) {
	for _, path := range paths {
		if !safefile.Below(path, s.Root) && !slices.Contains(s.Kept, path) {
			s.Kept = append(s.Kept, path)
		}
	}
}

// Keeps reports whether a path is one of [Sources.Kept], lies in one or above one.
func (p *Policy) Keeps(path string) bool {
	if p == nil || len(p.kept) == 0 {
		return false
	}
	path = foldPath(slashed(path))
	return slices.ContainsFunc(p.inKept, func(kept string) bool { return safefile.Below(kept, path) || safefile.Below(path, kept) })
}
