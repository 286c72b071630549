package rg

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// Search finds what q asks for. An error means that the query itself is wrong
// or a path it names is missing; everything else is in the results: files
// that could not be read are named as skipped, and when the time is over or
// ctx ends, Partial says so.
func Search(ctx context.Context, q Query) (*Results, error) { return search(ctx, q, nil) }

// Stream calls visit with each file that has a match as soon as it has been
// searched, in no order. Limit, Cursor and Sort do not apply; the results
// returned hold the totals and no files. Calls do not overlap; an error of
// visit ends the search and is returned.
func Stream(ctx context.Context, q Query, visit func(FileResult) error) (*Results, error) {
	q.Limit, q.Cursor, q.Sort = -1, "", Unordered
	return search(ctx, q, visit)
}

func search(ctx context.Context, q Query, visit func(FileResult) error) (*Results, error) {
	began := time.Now()
	q, err := q.withDefaults()
	if err != nil {
		return nil, err
	}
	engine, plan, err := choose(&q)
	if err != nil {
		return nil, err
	}
	roots, err := resolveRoots(q.Root, q.Paths)
	if err != nil {
		return nil, err
	}
	c := &collector{q: &q, visit: visit}
	if c.from, err = decodeCursor(q.Cursor, q.hash()); err != nil {
		return nil, err
	}
	if len(roots) > 1 {
		c.claimed = map[string]bool{}
	}
	if q.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, q.Timeout)
		defer cancel()
	}
	run := searchNative
	if engine == Ripgrep {
		run = searchRipgrep
	}
	status, err := run(ctx, &q, plan, roots, c)
	if err != nil {
		return nil, err
	}
	if c.visited != nil {
		return nil, c.visited
	}
	r := c.finish(status.partial == "")
	r.Partial, r.Skipped, r.SkipCount, r.Searched = status.partial, status.skips.sorted(), status.skips.count, status.searched
	r.Engine, r.Elapsed = engine, time.Since(began)
	return r, nil
}

// Choose says which engine a search for q would use: Native wherever it can
// run the pattern, since the results are the same, otherwise Ripgrep. The
// error says why neither can.
func Choose(q Query) (Engine, error) {
	engine, _, err := choose(&q)
	return engine, err
}

func choose(q *Query) (Engine, *plan, error) {
	plan, err := newPlan(q)
	switch {
	case q.Engine == Ripgrep && q.Ripgrep == nil:
		return "", nil, ErrNoRipgrep
	case q.Engine == Ripgrep:
		if q.Without {
			return "", nil, &PatternError{Pattern: q.Pattern, Message: "ripgrep is not asked for files without a match", PCRE: true}
		}
		return Ripgrep, plan, nil
	case q.Engine != Native && q.Engine != Auto:
		return "", nil, fmt.Errorf("searching: unknown engine %q", q.Engine)
	case err == nil:
		return Native, plan, nil
	case q.Engine == Auto && q.Ripgrep != nil && q.Ripgrep.PCRE2 && needsPCRE(err) && !q.Without:
		return Ripgrep, nil, nil
	}
	return "", nil, err
}

// A runStatus says how an engine's run went.
type runStatus struct {
	partial  string
	searched int
	skips    *skipList
}

// searchNative runs this package's own engine.
func searchNative(ctx context.Context, q *Query, p *plan, roots []rootPath, c *collector) (*runStatus, error) {
	w, err := newWalker(q.walkOptions())
	if err != nil {
		return nil, err
	}
	var searched atomic.Int64
	w.newWork = func() any { return newFileSearch(p, q, &w.stop) }
	w.visit = func(k *walkWorker, b *batch) {
		s := k.work.(*fileSearch)
		n := 0
		k.plain = !w.opt.Follow && b.dir.handle.localFS()
		b.each(func(name []byte) bool {
			if k.searchEntry(s, c, b.dir, name) {
				n++
			}
			return !w.stop.Load()
		})
		searched.Add(int64(n))
	}
	defer context.AfterFunc(ctx, func() { w.stop.Store(true) })()
	n, err := searchNamed(w, p, q, roots, c)
	if err != nil {
		return nil, err
	}
	searched.Add(int64(n))
	if err := w.start(ctx, roots); err != nil {
		return nil, err
	}
	return &runStatus{w.partial(ctx), int(searched.Load()), &w.skips}, nil
}

// searchNamed searches the files that the query names.
func searchNamed(w *walker, p *plan, q *Query, roots []rootPath, c *collector) (searched int, err error) {
	var s *fileSearch
	for _, r := range roots {
		if r.isDir || w.stop.Load() || !c.claim(r.show) {
			continue
		}
		if q.Allow != nil && !q.Allow(r.abs) {
			w.skips.add(r.show, ReasonPolicy)
			continue
		}
		f, err := openRootFile(r.abs, q.Resolved)
		if errors.Is(err, workspace.ErrMoved) {
			return searched, fmt.Errorf("searching %q: %w", r.abs, plainError(err))
		}
		if err != nil {
			w.skips.add(r.show, errorReason(err))
			continue
		}
		if s == nil {
			s = newFileSearch(p, q, &w.stop)
		}
		if w.searchFile(s, c, &f, r.show) {
			searched++
		}
		f.close()
	}
	return searched, nil
}

// searchEntry opens and searches a file of a directory; it is false when that
// was not done.
func (k *walkWorker) searchEntry(s *fileSearch, c *collector, d *dirNode, name []byte) bool {
	w := k.w
	if c.claimed != nil && !c.claim(d.root.shown(d.path, name)) {
		return false
	}
	var err error
	if k.file, err = d.handle.openFile(&k.name, string(name), w.opt.Follow); err != nil {
		w.skips.add(d.root.shown(d.path, name), errorReason(err))
		return false
	}
	defer k.file.close()
	k.file.local = k.plain
	s.shown = func() string { return d.root.shown(d.path, name) }
	return w.searchOpen(s, c, &k.file)
}

func (w *walker) searchFile(s *fileSearch, c *collector, f *fileHandle, path string) bool {
	s.shown = func() string { return path }
	return w.searchOpen(s, c, f)
}

// searchOpen searches an open file, the path of which s.shown gives.
func (w *walker) searchOpen(s *fileSearch, c *collector, f *fileHandle) bool {
	if max := s.q.MaxFileSize; max > 0 {
		if st, err := f.stat(); err == nil && st.size > max {
			w.skips.add(s.shown(), ReasonTooLarge)
			return false
		}
	}
	var key fileKey
	got := s.search(f, func() request {
		key = s.key(f)
		return c.request(key)
	})
	if got.reason != "" {
		w.skips.add(s.shown(), got.reason)
	}
	if s.q.Without {
		if got.matches = 1 - min(got.matches, 1); got.reason != "" || s.stop.Load() { // or it was not searched to its end
			return true
		}
		key = s.key(f)
	}
	if got.matches > 0 && !c.add(key, &got) {
		w.stop.Store(true)
	}
	return true
}

// key is the place of an open file, the path of which s.shown gives.
func (s *fileSearch) key(f *fileHandle) fileKey {
	path := s.shown()
	if s.q.Sort != Unordered {
		if st, err := f.stat(); err == nil {
			return newKey(path, s.q.Sort, &st)
		}
	}
	return fileKey{path: path}
}

// absolutePath is the file system's path of one in results.
func absolutePath(root, shown string) string {
	return resolveFrom(root, filepath.FromSlash(shown))
}
