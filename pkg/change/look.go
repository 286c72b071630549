package change

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// path finds a real path of a record again. It is an error when something on
// the way leads elsewhere now.
func (h *History) path(abs string) (workspace.Path, error) {
	p, err := h.w.ResolveIn(string(filepath.Separator), abs)
	if err == nil && p.Real == abs {
		return p, nil
	}
	if e, entryErr := h.w.ResolveEntry(abs); entryErr == nil && e.Real == abs {
		return e, nil // it is a link itself
	}
	if err == nil {
		err = &fs.PathError{Op: "find", Path: abs, Err: workspace.ErrMoved}
	}
	return p, err
}

// links are the names of a change that are symbolic links before or after it. What
// such a link leads to is not beneath its name, where the change has a directory.
type links map[string]bool

func linksOf(files []File) links {
	var l links
	for _, f := range files {
		if f.Before.Kind == Link || f.After.Kind == Link {
			if l == nil {
				l = links{}
			}
			l[f.Path] = true
		}
	}
	return l
}

// above returns the name of l above abs that is a link now; "" for none.
func (l links) above(abs string) string {
	for dir := filepath.Dir(abs); len(l) > 0 && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if !l[dir] {
			continue
		}
		if info, err := os.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return dir
		}
	}
	return ""
}

// pathIn is path for a name of a change that has these links.
func (h *History) pathIn(abs string, l links) (workspace.Path, error) {
	p, err := h.path(abs)
	if err != nil && l.above(abs) != "" {
		err = workspace.ErrNotDir
	}
	return p, err
}

// find resolves a real path of a change and looks at it. Beneath what is no
// directory there is nothing: the Path is then the zero one, to be found again
// when there is one.
func (h *History) find(abs string, l links) (workspace.Path, State, error) {
	p, err := h.pathIn(abs, l)
	if errors.Is(err, workspace.ErrNotDir) {
		return workspace.Path{}, State{}, nil
	}
	if err != nil {
		return p, State{}, err
	}
	s, _, err := h.look(p, nil)
	return p, s, err
}

// look says what a name stands for now, and whether a write would overwrite
// it. A step, which may be nil, remembers the content.
func (h *History) look(p workspace.Path, by *step) (s State, inPlace bool, err error) {
	info, err := h.w.Stat(p)
	if missing(err) || errors.Is(err, workspace.ErrNotDir) {
		return State{}, false, nil
	}
	if err != nil {
		return State{}, false, err
	}
	mode := info.Mode()
	switch {
	case mode.IsDir():
		return State{Kind: Dir, Mode: mode & safefile.ModeBits}, false, nil
	case mode&fs.ModeSymlink != 0:
		target, err := h.readlink(p.Real)
		return State{Kind: Link, Target: target}, false, err
	case !mode.IsRegular():
		return State{}, false, fmt.Errorf("looking at %s: %w", p.Real, workspace.ErrNotRegular)
	}
	f, err := h.w.OpenFile(p)
	if err != nil {
		return State{}, false, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return State{}, false, err
	}
	var hash string
	var n int64
	switch {
	case by != nil && by.was != nil && workspace.Holds(f, by.was):
		hash, n = Hash(by.was), info.Size()
		by.old, by.seen = by.was, true
	case by != nil && info.Size() <= small:
		var data []byte
		if data, err = io.ReadAll(f); err == nil {
			hash, n = Hash(data), int64(len(data))
			by.remember(data)
		}
	default:
		hash, n, err = hashAll(f)
	}
	if err != nil {
		return State{}, false, fmt.Errorf("reading %s: %w", p.Real, err)
	}
	s = State{Kind: Regular, Hash: hash, Size: n, Mode: info.Mode() & safefile.ModeBits, MTime: info.ModTime().UnixNano()}
	_, s.Ino, _ = identity(info)
	return s, overwritten(p.Real, info), nil
}

func (h *History) readlink(abs string) (string, error) {
	dir, err := h.path(filepath.Dir(abs))
	if err != nil {
		return "", err
	}
	return h.w.Readlink(dir, filepath.Base(abs))
}
