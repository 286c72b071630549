package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxLinks is how many links of one path are followed, as in the Linux kernel.
const maxLinks = 40

// Follow goes link by link to where a name leads from a directory whose path has no links in it; an absolute
// name leads from the top. It returns the links on the way and what they lead to, each by its path without links.
//
// What is missing is no error: the rest of the name goes on from there by its text, so that nothing need be at real.
// So goes what lies in something that nobody may look into, or that is no directory, but err says so. Where
// there are too many links, as in a circle, real is "" and err says so, too.
func Follow(dir, name string) (links []string, real string, err error) {
	const separator = string(filepath.Separator)
	left, unseen := "", 0 // unseen are the last names of dir that nobody can look at
	turn := func(to string) {
		if filepath.IsAbs(to) {
			volume := filepath.VolumeName(to)
			dir, to = volume+separator, to[len(volume):]
		}
		left = filepath.FromSlash(to) + separator + left
	}
	for turn(name); left != ""; {
		name, left, _ = strings.Cut(left, separator)
		switch name {
		case "", ".":
			continue
		case "..":
			dir, unseen = filepath.Dir(dir), max(unseen-1, 0)
			continue
		}
		at, to := filepath.Join(dir, name), ""
		if unseen > 0 {
			dir, unseen = at, unseen+1
			continue
		}
		i, e := os.Lstat(at)
		if e == nil && i.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0 { // irregular is a junction of Windows
			to, e = os.Readlink(at)
		}
		switch {
		case to != "":
			if links = append(links, at); len(links) > maxLinks {
				return links, "", syscall.ELOOP
			}
			turn(to)
			continue
		case errors.Is(e, fs.ErrNotExist):
			unseen = 1
		case e != nil:
			err, unseen = errors.Join(err, e), 1
		}
		dir = at
	}
	return links, dir, err
}

// Trail returns each symbolic link on the way to an absolute path, and last what the path leads to, be it
// there or not: whoever changes one of these changes what is read at the path.
func Trail(path string) []string {
	list, real, _ := Follow(string(filepath.Separator), path)
	if real != "" {
		list = append(list, real)
	}
	return list
}
