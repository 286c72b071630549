package safefile

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxTrail bounds the links on the way to a path, as the kernel does.
const maxTrail = 40

// Trail returns each symbolic link on the way to an absolute path, by its own path without links, and last
// what the path leads to, be it there or not: whoever changes one of these changes what is read at the path.
func Trail(path string) (list []string) {
	split := func(path string) (top string, names []string) {
		volume := filepath.VolumeName(path)
		return volume + string(filepath.Separator), strings.Split(filepath.FromSlash(path[len(volume):]), string(filepath.Separator))
	}
	at, names := split(path)
	for len(names) > 0 {
		name := names[0]
		if names = names[1:]; name == "" || name == "." {
			continue
		}
		next := filepath.Join(at, name) // of .. the directory above: there are no links in at
		i, err := os.Lstat(next)
		if err != nil {
			return append(list, filepath.Join(append([]string{next}, names...)...))
		}
		to := ""
		if i.Mode()&fs.ModeSymlink != 0 && len(list) < maxTrail {
			to, err = os.Readlink(next)
		}
		if to == "" || err != nil {
			at = next
			continue
		}
		list = append(list, next)
		if filepath.IsAbs(to) {
			top, more := split(to)
			at, names = top, append(more, names...)
		} else {
			names = append(strings.Split(to, string(filepath.Separator)), names...)
		}
	}
	return append(list, at)
}
