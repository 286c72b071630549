package change

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// A print tells whether a name still stands for what it did.
type print struct {
	Kind  Kind        `json:"kind,omitempty"`
	Mode  fs.FileMode `json:"mode,omitempty"`
	Dev   uint64      `json:"dev,omitempty"`
	Ino   uint64      `json:"ino,omitempty"`
	Size  int64       `json:"size,omitempty"`
	MTime int64       `json:"mtime,omitempty"` // nanoseconds
	Sum   string      `json:"sum,omitempty"`   // of a small file's content, of a link's target, of all that is in a directory
}

// same reports whether q is what p was. What was put back by its content is, and so is
// a copy: the inode says nothing.
func (p print) same(q print) bool {
	if p.Kind != q.Kind {
		return false
	}
	switch p.Kind {
	case Missing:
		return true
	case Link, Dir:
		return p.Sum == q.Sum && p.Mode == q.Mode
	case Regular:
		if p.Sum != "" && q.Sum != "" {
			return p.Mode == q.Mode && p.Sum == q.Sum
		}
		return p.Mode == q.Mode && p.Size == q.Size && p.MTime == q.MTime
	}
	return p.Dev == q.Dev && p.Ino == q.Ino
}

// state is what a record tells of it.
func (p print) state(size int64) State {
	s := State{Kind: p.Kind, Mode: p.Mode, Size: size}
	if p.Kind == Link {
		s.Mode, s.Size = 0, 0
	}
	return s
}

// print is what a record tells of a file or a link.
func (s State) print() print {
	p := print{Kind: s.Kind, Mode: s.Mode}
	switch {
	case s.Kind == Link:
		p.Mode, p.Sum = 0, Hash([]byte(s.Target))
	case s.Kind == Regular:
		if p.Size, p.MTime = s.Size, s.MTime; s.Size <= maxSummed {
			p.Sum = s.Hash
		}
	}
	return p
}

func printOf(info fs.FileInfo) print {
	p := print{Mode: info.Mode() & safefile.ModeBits}
	p.Dev, p.Ino, _ = identity(info)
	switch mode := info.Mode(); {
	case mode.IsDir():
		p.Kind = Dir
	case mode&fs.ModeSymlink != 0:
		p.Kind, p.Mode = Link, 0
	case mode.IsRegular():
		p.Kind, p.Size, p.MTime = Regular, info.Size(), info.ModTime().UnixNano()
	default:
		p.Kind = other
	}
	return p
}

// A place is a name in a directory that is open, reached without following a link.
type place struct {
	dir  *os.Root
	name string
}

// A walker reaches names of the workspace. It keeps the last directory open.
type walker struct {
	root string
	path string
	dir  *os.Root
	err  error
}

func (h *History) walker() *walker { return &walker{root: h.w.Root()} }

func (w *walker) close() {
	if w.dir != nil {
		_ = w.dir.Close()
		w.dir = nil
	}
}

// at reaches a name: fs.ErrNotExist where its directory is not there.
func (w *walker) at(path string) (place, error) {
	dir := filepath.Dir(path)
	if w.dir == nil && w.err == nil || w.path != dir {
		w.close()
		w.path = dir
		w.dir, w.err = reach(w.root, dir)
	}
	return place{w.dir, filepath.Base(path)}, w.err
}

// again forgets what it has open: a directory may have come or gone.
func (w *walker) again() { w.close(); w.path, w.err = "", nil }

func reach(root, dir string) (*os.Root, error) {
	at, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	rel, err := filepath.Rel(root, dir)
	if err != nil || rel == "." {
		return at, err
	}
	for name := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		sub, err := enter(at, name)
		_ = at.Close()
		if err != nil {
			return nil, err
		}
		at = sub
	}
	return at, nil
}

// enter opens a directory, and is sure that no link was followed.
func enter(at *os.Root, name string) (*os.Root, error) {
	info, err := at.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &fs.PathError{Op: "enter", Path: filepath.Join(at.Name(), name), Err: fs.ErrNotExist}
	}
	sub, err := at.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if now, err := sub.Stat("."); err != nil || !os.SameFile(info, now) {
		_ = sub.Close()
		return nil, &fs.PathError{Op: "enter", Path: filepath.Join(at.Name(), name), Err: workspace.ErrMoved}
	}
	return sub, nil
}

// look says what stands at a path now.
func (w *walker) look(ctx context.Context, path string) (print, error) {
	p, err := w.at(path)
	if missing(err) {
		return print{}, nil
	}
	if err != nil {
		return print{}, err
	}
	return (&load{ctx: ctx, bytes: 1 << 62, names: 1 << 30}).put(p, nil, "", false, nil)
}
