package machine

import (
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// smallDir is the size of a directory that is read quicker than asked about some
// thirty names.
const smallDir = 4096

// installed looks for many programs at once. Most of them are in no directory, so
// what counts is how little it costs to find that out.
func installed(names []string, path, dir string) map[string]bool {
	found := map[string]bool{}
	var seen []unix.Stat_t
	for _, entry := range filepath.SplitList(path) {
		if !filepath.IsAbs(entry) {
			entry = filepath.Join(dir, entry)
		}
		there := within(entry, names, &seen)
		for _, name := range there {
			found[name] = found[name] || Runnable(filepath.Join(entry, name))
		}
	}
	return found
}

// within returns those of the names that are in a directory; none where it is one
// that was seen before.
func within(dir string, names []string, seen *[]unix.Stat_t) (there []string) {
	f, err := os.OpenFile(dir, unix.O_DIRECTORY, 0)
	if err != nil {
		return among(unix.AT_FDCWD, dir+"/", names)
	}
	defer f.Close()
	var i unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &i); err == nil {
		if slices.ContainsFunc(*seen, func(s unix.Stat_t) bool { return s.Dev == i.Dev && s.Ino == i.Ino }) {
			return nil
		}
		*seen = append(*seen, i)
		if i.Size <= smallDir {
			if list, err := f.Readdirnames(-1); err == nil {
				return slices.DeleteFunc(list, func(name string) bool { return !slices.Contains(names, name) })
			}
		}
	}
	return among(int(f.Fd()), "", names)
}

// among asks the directory that is open as fd, or begins the names, about each.
func among(fd int, dir string, names []string) (there []string) {
	for _, name := range names {
		if unix.Faccessat(fd, dir+name, unix.F_OK, 0) == nil {
			there = append(there, name)
		}
	}
	return there
}
