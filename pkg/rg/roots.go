package rg

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// A rootPath is a path that the caller named.
type rootPath struct {
	abs   string
	show  string // as results name it; "" for the root itself
	isDir bool
}

// resolveRoots finds what the paths are. Paths named twice count once.
func resolveRoots(root string, paths []string) ([]rootPath, error) {
	var out []rootPath
	for _, p := range paths {
		abs := filepath.Clean(p)
		if !filepath.IsAbs(p) {
			abs = filepath.Join(root, p)
		}
		st, err := os.Stat(abs)
		if err != nil {
			return nil, fmt.Errorf("searching %q: %w", p, plainError(err))
		}
		if !st.IsDir() && !st.Mode().IsRegular() {
			return nil, fmt.Errorf("searching %q: %s", p, ReasonNotRegular)
		}
		r := rootPath{abs: abs, show: showPath(root, abs), isDir: st.IsDir()}
		if !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	return out, nil
}

// showPath is abs as results name it: relative to root inside it.
func showPath(root, abs string) string {
	rel, err := filepath.Rel(root, abs)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return filepath.ToSlash(abs)
	}
	if rel == "." {
		return ""
	}
	return filepath.ToSlash(rel)
}

// walkRootTasks opens the directories among the roots.
func walkRootTasks(roots []rootPath, o *WalkOptions) ([]task, error) {
	var tasks []task
	for _, r := range roots {
		if !r.isDir {
			continue
		}
		t, err := rootTask(r, o)
		if err != nil {
			for _, t := range tasks {
				t.dir.release()
			}
			return nil, err
		}
		tasks = append(tasks, t)
	}
	return tasks, nil
}

// rootTask is the task to list a root.
func rootTask(r rootPath, o *WalkOptions) (task, error) {
	show := r.show
	if show != "" && !strings.HasSuffix(show, "/") {
		show += "/"
	}
	root := &walkRoot{abs: r.abs, show: show}
	handle, err := openRootDir(r.abs, o.Resolved)
	if err != nil {
		return task{}, fmt.Errorf("searching %q: %w", r.abs, plainError(err))
	}
	d := &dirNode{handle: handle, root: root}
	d.open.Store(1)
	if o.OneFileSystem || o.Follow {
		if d.id, err = handle.stat(); err != nil {
			handle.close()
			return task{}, fmt.Errorf("searching %q: %w", r.abs, err)
		}
		root.dev = d.id.dev
	}
	if !o.NoIgnore {
		real, err := filepath.EvalSymlinks(r.abs)
		if err != nil {
			real = r.abs
		}
		d.rules = parentLevels(real, o.GlobalIgnore)
	}
	return task{dir: d, isRoot: true}, nil
}

// plainError drops the path that a system error repeats.
func plainError(err error) error {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return e.Err
	}
	return err
}

// errorReason is why something was skipped, in words.
func errorReason(err error) string {
	err = plainError(err)
	if errors.Is(err, syscall.ELOOP) {
		return "a symbolic link, not followed"
	}
	return err.Error()
}

// A skipList collects what was skipped, the first of them by name.
type skipList struct {
	mu    sync.Mutex
	list  []Skipped
	count int
}

const maxSkipped = 1000

func (s *skipList) add(path, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	if len(s.list) < maxSkipped {
		s.list = append(s.list, Skipped{path, reason})
	}
}

func (s *skipList) sorted() []Skipped {
	slices.SortFunc(s.list, func(a, b Skipped) int { return comparePaths(a.Path, b.Path) })
	return s.list
}

// comparePaths orders paths directory for directory: a slash comes before
// every other byte.
func comparePaths(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] == b[i] {
			continue
		}
		if a[i] == '/' {
			return -1
		}
		if b[i] == '/' {
			return 1
		}
		return int(a[i]) - int(b[i])
	}
	return len(a) - len(b)
}
