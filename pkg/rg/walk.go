package rg

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// WalkOptions say what a walk lists. The zero value of each means the plain
// behaviour of rg --files.
type WalkOptions struct {
	Root     string // absolute; paths shown and globs are relative to it
	Resolved bool   // as in Query

	Include, Exclude, Globs []string // as in Query
	Types, TypesNot         []string
	Hidden                  bool   // list hidden entries too, except .git
	NoIgnore                bool   // do not read ignore files; with Hidden, list .git too
	GlobalIgnore            string // the user's ignore file; "" for none
	Follow                  bool   // follow symbolic links; loops are skipped
	Links                   bool   // list symbolic links as files, where they are not followed
	Dirs                    bool   // list directories too
	OneFileSystem           bool   // stay on the file system of each path

	Sort       Order // default Unordered; ByPath and ByModified list when all is known
	MaxEntries int   // directory entries looked at; 0 is no limit
	Workers    int   // goroutines; 0 picks

	// Skip leaves an entry out by its absolute path, a directory with all
	// that is in it, and names it as skipped. It is called on several
	// goroutines.
	Skip func(path string, isDir bool) bool

	shown string                                         // what the only path is shown as; "" for its own name
	times bool                                           // fill in Modified whatever the order
	match func(dir string, name []byte, isDir bool) bool // what to list; nil for all
	depth int                                            // how far below a path to look; 0 or less is no limit
}

// An Entry is a file or directory that a walk came to.
type Entry struct {
	Path     string // relative to the root with slashes; absolute outside the root
	Dir      bool
	Modified time.Time // zero unless sorted by it
	changed  int64     // as in fileStat
}

// A WalkResult says how a walk went.
type WalkResult struct {
	Seen      int64  // directory entries looked at
	Partial   string // why the walk ended early; "" when it is complete
	Skipped   []Skipped
	SkipCount int
}

// Walk calls visit with what is in the directories and files of paths, which
// are relative to o.Root or absolute; none means o.Root. A file that is named
// is listed whatever the options say. Calls do not overlap; an error of visit
// ends the walk and is returned. When ctx ends, the walk ends with a partial
// result.
func Walk(ctx context.Context, paths []string, o WalkOptions, visit func(Entry) error) (*WalkResult, error) {
	if !filepath.IsAbs(o.Root) {
		return nil, fmt.Errorf("walking: root %q is not an absolute path", o.Root)
	}
	if len(paths) == 0 {
		paths = []string{"."}
	}
	setDefault(&o.Sort, Unordered)
	if err := checkOrder(o.Sort); err != nil {
		return nil, err
	}
	roots, err := resolveRoots(o.Root, paths)
	if err != nil {
		return nil, err
	}
	if o.shown != "" {
		roots[0].show = o.shown
	}
	g := &gatherer{visit: visit, order: o.Sort, several: len(roots) > 1, seen: map[string]bool{}}
	for _, r := range roots {
		if !r.isDir {
			if err := g.add([]Entry{{Path: r.show}}); err != nil {
				return nil, err
			}
		}
	}
	w, err := newWalker(&o)
	if err != nil {
		return nil, err
	}
	w.visit = func(k *walkWorker, b *batch) {
		if g.add(k.entries(b, o.times || o.Sort == ByModified)) != nil {
			w.stop.Store(true)
		}
	}
	if err := w.start(ctx, roots); err != nil {
		return nil, err
	}
	if err := g.finish(); err != nil {
		return nil, err
	}
	return &WalkResult{Seen: w.entries.Load(), Partial: w.partial(ctx), Skipped: w.skips.sorted(), SkipCount: w.skips.count}, nil
}

func newWalker(o *WalkOptions) (*walker, error) {
	filter, err := newPathFilter(o)
	if err != nil {
		return nil, err
	}
	const maxWorkers = 12
	workers := o.Workers
	if workers <= 0 {
		workers = min(runtime.GOMAXPROCS(0), maxWorkers)
	}
	return &walker{opt: o, filter: filter, workers: workers}, nil
}

func (w *walker) start(ctx context.Context, roots []rootPath) error {
	tasks, err := walkRootTasks(roots, w.opt)
	if err != nil {
		return err
	}
	if len(tasks) > 0 {
		w.run(ctx, tasks)
	}
	return nil
}

// partial says why the walk ended before its end.
func (w *walker) partial(ctx context.Context) string {
	switch {
	case w.limited.Load():
		return PartialEntries
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return PartialTimeout
	case ctx.Err() != nil:
		return PartialCanceled
	}
	return ""
}

// entries makes entries of a batch. Their paths share one piece of memory.
func (k *walkWorker) entries(b *batch, times bool) []Entry {
	out := make([]Entry, 0, batchFiles)
	var paths strings.Builder
	dir := b.dir.root.show + b.dir.path
	paths.Grow(len(b.names) + batchFiles*len(dir))
	b.each(func(name []byte) bool {
		e := Entry{Dir: name[len(name)-1] == '/'}
		if e.Dir {
			name = name[:len(name)-1]
		}
		from := paths.Len()
		paths.WriteString(dir)
		paths.Write(name)
		e.Path = paths.String()[from:]
		if times {
			if st, err := b.dir.handle.statName(&k.name, string(name), k.w.opt.Follow); err == nil {
				e.Modified, e.changed = st.modified, st.changed
			}
		}
		out = append(out, e)
		return true
	})
	return out
}

// A gatherer passes entries on at once, or sorted at the end.
type gatherer struct {
	mu      sync.Mutex
	visit   func(Entry) error
	order   Order
	several bool // the roots may overlap
	seen    map[string]bool
	all     []Entry
	err     error
}

func (g *gatherer) add(entries []Entry) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, e := range entries {
		if g.several {
			if g.seen[e.Path] {
				continue
			}
			g.seen[e.Path] = true
		}
		if g.order != Unordered {
			g.all = append(g.all, e)
			continue
		}
		if g.err == nil {
			g.err = g.visit(e)
		}
	}
	return g.err
}

func (g *gatherer) finish() error {
	slices.SortFunc(g.all, func(a, b Entry) int {
		if c := b.Modified.Compare(a.Modified); c != 0 {
			return c
		}
		return comparePaths(a.Path, b.Path)
	})
	for _, e := range g.all {
		if g.err == nil {
			g.err = g.visit(e)
		}
	}
	return g.err
}
