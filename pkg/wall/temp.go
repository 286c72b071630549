package wall

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// maxTempNames bounds the names of one directory for temporary files that are looked at.
const maxTempNames = 100_000

// inTemp finds what is protected right in the directories for temporary files, with its inode: .envrc,
// .git, also .cargo/config.toml and what else stands in a directory whose name begins with a dot. Programs
// that work anywhere below look up to there; what lies deeper nobody takes for anything. So are the
// names that make such a directory itself a repository: before a command each of them, after it where they do.
func (w *Wall) inTemp(after bool) map[string]uint64 {
	found := map[string]uint64{}
	for _, dir := range w.o.Temp {
		if safefile.Below(w.o.Root, dir) {
			continue // it is looked at as a part of the root
		}
		entries, _ := w.entries(dir)
		if !after || isRepository(entries) {
			for _, name := range []string{"HEAD", "commondir", "objects", "refs"} {
				path := filepath.Join(dir, name)
				n := inode(path)
				if n != 0 {
					found[path] = n
				}
				if after && name == "HEAD" && n != w.temp[path] {
					break // without it the rest is none
				}
			}
		}
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			if w.Enclosing != "" && safefile.Below(path, w.Enclosing) { // git works in it
				continue
			}
			hit, opens := w.o.Policy.Notable(path, false)
			if (hit || e.Name() == ".git") && w.o.Policy.Protects(path) {
				found[path] = inode(path)
			}
			if !strings.HasPrefix(e.Name(), ".") || path == w.o.Root {
				continue
			}
			inner, err := w.entries(path)
			if errors.Is(err, fs.ErrPermission) && (hit || opens) {
				found[path] = inode(path)
			}
			for _, in := range inner {
				at := filepath.Join(path, in.Name())
				switch hit, _ := w.o.Policy.Notable(at, hit || opens); {
				case !hit || !w.o.Policy.Protects(at):
				case e.Type()&fs.ModeSymlink != 0: // what it leads to is protected only by this name
					found[path] = inode(path)
				default:
					found[at] = inode(at)
				}
			}
		}
	}
	return found
}

// entries are those of a directory; none where it is none, or cannot be read.
func (w *Wall) entries(dir string) ([]fs.DirEntry, error) {
	f, err := os.Open(dir + "/.") // a pipe, whose opening would wait, has no such name
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it is only read
	list, err := f.ReadDir(maxTempNames)
	if len(list) == maxTempNames {
		w.Beyond = append(w.Beyond, dir+tooMany)
	}
	return list, err
}

// plantedInTemp lists what of that has come since, without what the call was granted.
func (w *Wall) plantedInTemp() (list []string) {
	for path, n := range w.inTemp(true) {
		if w.temp[path] != n {
			list = append(list, ungranted(path, w.Granted)...)
		}
	}
	return list
}

// closeTemp holds what of that is there: where mounts hold what is fixed all of it, else files that can be
// read, to be put back. Who may not read another user's file does not replace it in such a directory either.
func (w *Wall) closeTemp() {
	w.temp = w.inTemp(false)
	for path := range w.temp {
		i, err := os.Lstat(path)
		if err == nil && (i.Mode().IsRegular() && w.savable(path) || i.IsDir() && w.o.Mounts) && w.o.Policy.Protects(path) {
			w.Fixed, w.Pinned = append(w.Fixed, path), append(w.Pinned, path)
		}
	}
	w.Fixed = outermost(w.Fixed)
}

// savable reports whether a file can be held, or read to be put back.
func (w *Wall) savable(file string) bool {
	if w.o.Mounts {
		return true
	}
	f, err := safefile.OpenRegular(file)
	if err == nil {
		_ = f.Close()
	}
	return err == nil
}
