package sandbox

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// An anchor is a directory that has to be in its place when the command has ended: the
// next call begins there, and would follow a link to wherever it leads.
type anchor struct {
	home, name string // the writable directory that it lies in, and its name there
	held       *os.File
}

// anchored holds the directory path, below home; nil where home is "".
func anchored(home, path string) *anchor {
	name, err := filepath.Rel(home, path)
	if home == "" || err != nil {
		return nil
	}
	held, err := os.Open(path + "/.") // a pipe that took its place has no such name
	if err != nil {
		return nil
	}
	return &anchor{home, name, held}
}

// restore puts the directory back in its place, and what had taken that away.
func (a *anchor) restore() (*Restore, error) {
	if a == nil {
		return nil, nil //nolint:nilnil // nothing was held, nothing is to be said
	}
	defer a.held.Close()
	path := filepath.Join(a.home, a.name)
	root, err := os.OpenRoot(a.home)
	if err != nil {
		return nil, fmt.Errorf("looking for %s: %w", path, err)
	}
	defer root.Close()
	was, err := a.held.Stat()
	if err != nil {
		return nil, err
	}
	now, err := root.Lstat(a.name)
	if err == nil && os.SameFile(was, now) {
		return nil, nil //nolint:nilnil // it is there
	}
	r := &Restore{Path: path, Action: "changed"}
	if err == nil {
		r.Quarantine = path + putAwayName()
		if err := root.Rename(a.name, r.Quarantine[len(path)-len(a.name):]); err != nil {
			return nil, fmt.Errorf("%s is not what it was: %w", path, err)
		}
	}
	at, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(int(a.held.Fd())))
	if err == nil {
		at, err = filepath.Rel(a.home, at)
	}
	if err == nil {
		err = root.Rename(at, a.name)
	}
	if err != nil {
		return r, fmt.Errorf("%s was moved or removed, and could not be put back: %w", path, err)
	}
	return r, nil
}

// gitOf is what git keeps of the root, where that is a directory in which something is protected.
func gitOf(c *Config) fs.FileInfo {
	git := filepath.Join(c.Root, ".git")
	i, err := os.Lstat(git)
	if err != nil || !i.IsDir() || !slices.ContainsFunc(c.ReadOnly, func(path string) bool { return path != git && safefile.Below(git, path) }) {
		return nil
	}
	return i
}

// gitBack puts the directory of git's back where a file or a link has taken its place, as
// git init --separate-git-dir makes one: the history is in it.
func (s *Snapshot) gitBack(appeared []string) (*Restore, error) {
	root, path := s.held[s.workspace], filepath.Join(s.workspace, ".git")
	if s.git == nil || root == nil || !slices.Contains(appeared, path) {
		return nil, nil //nolint:nilnil // it is there, or never was
	}
	if now, err := root.Lstat(".git"); err != nil || now.IsDir() {
		return nil, nil //nolint:nilerr,nilnil // likewise
	}
	moved := ""
	_ = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil //nolint:nilerr // it is not there
		}
		if i, err := d.Info(); err == nil && os.SameFile(i, s.git) {
			moved = name
			return fs.SkipAll
		}
		return nil
	})
	if moved == "" {
		return nil, nil //nolint:nilnil // it is made anew
	}
	aside := ".git" + putAwayName()
	err := root.Rename(".git", aside)
	if err == nil {
		err = root.Rename(moved, ".git")
	}
	if err != nil {
		return nil, fmt.Errorf("%s was moved, and could not be put back: %w", path, err)
	}
	return &Restore{Path: path, Action: "changed", Quarantine: filepath.Join(s.workspace, aside)}, nil
}
