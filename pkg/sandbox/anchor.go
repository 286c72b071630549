package sandbox

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
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
	held, err := os.Open(path)
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
		r.Quarantine = path + ".agentkit-put-away-" + strconv.FormatUint(rand.Uint64(), 36)
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
