package rg

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
)

// GlobOptions say what Glob lists.
type GlobOptions struct {
	Resolved      bool // no symbolic link stands in the root, as in Query
	Hidden        bool // list hidden entries wherever a wildcard stands for them, except .git
	NoIgnore      bool // do not read ignore files
	GlobalIgnore  string
	Follow        bool // follow symbolic links; otherwise they are listed as files
	OneFileSystem bool
	Dirs          bool  // list directories too, with Entry.Dir set
	Sort          Order // default ByModified, the newest first; Unordered means ByPath
	Limit         int   // 0 is DefaultLimit, negative no limit
	Cursor        string
	MaxEntries    int           // directory entries looked at; 0 is no limit
	Timeout       time.Duration // 0 is DefaultTimeout, negative no limit
	Workers       int

	// Allow says whether an entry, by its absolute path, may be listed; nil
	// allows all. What is refused is named as skipped.
	Allow func(path string, isDir bool) bool
}

// GlobResults are what Glob found.
type GlobResults struct {
	Entries    []Entry
	Total      int      // entries that match, shown or not
	Truncated  bool     // there is more than Entries shows
	Cursor     string   // goes on after Entries, where Truncated
	Changed    bool     // the tree gives other entries than when the options' cursor was made
	Moved      []string // entries that changed since and stand before this page
	MovedCount int      // may be larger than the length of Moved
	Partial    string   // why the walk ended early; then Total is a lower bound
	Seen       int64    // directory entries looked at
	Skipped    []Skipped
	SkipCount  int

	next  cursor // but for the place
	order Order
}

// Glob lists what matches any of the patterns below root, an absolute
// directory. Patterns are relative to it and have the syntax of doublestar: *
// and ? do not match a slash, ** matches any number of directories, {a,b} and
// [a-z] are understood. A pattern that is absolute must lie inside root.
//
// A wildcard matches neither hidden entries nor those that ignore files
// exclude, unless the options ask for them. What a pattern spells out is found
// regardless: .github/** lists what is in .github, and
// node_modules/x/package.json is found though node_modules is ignored. Below a
// directory that is spelled out and ignored, nothing counts as ignored. With
// Dirs, a pattern that ends in a slash matches directories only; otherwise it
// stands for all that is in them.
func Glob(ctx context.Context, root string, patterns []string, o GlobOptions) (*GlobResults, error) {
	if !filepath.IsAbs(root) {
		return nil, fmt.Errorf("listing: root %q is not an absolute path", root)
	}
	setDefault(&o.Sort, ByModified)
	if o.Sort == Unordered {
		o.Sort = ByPath
	}
	setDefault(&o.Limit, DefaultLimit)
	setDefault(&o.Timeout, DefaultTimeout)
	if err := checkOrder(o.Sort); err != nil {
		return nil, err
	}
	roots, err := resolveRoots(root, []string{"."})
	if err != nil {
		return nil, err
	}
	if !roots[0].isDir {
		return nil, fmt.Errorf("listing %q: %w", root, ErrNotDirectory)
	}
	hash := hashOf("glob %q %q %t%t%t%t%t %q %q", root, patterns, o.Hidden, o.NoIgnore, o.Follow, o.OneFileSystem, o.Dirs, o.Sort, o.GlobalIgnore)
	from, err := decodeCursor(o.Cursor, hash)
	if err != nil {
		return nil, err
	}
	targets, err := globTargets(root, patterns, o.Dirs)
	if err != nil {
		return nil, err
	}
	if o.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.Timeout)
		defer cancel()
	}
	g := &globber{root: root, opt: &o, from: from, result: &GlobResults{}}
	if len(targets) > 1 {
		g.seen = map[string]bool{}
	}
	for _, t := range targets {
		if err := g.run(ctx, t); err != nil {
			return nil, err
		}
	}
	return g.finish(hash), nil
}

// A globber gathers the entries of several walks: it counts all and keeps
// those that can be shown.
type globber struct {
	root   string
	opt    *GlobOptions
	from   *cursor         // nil for the beginning
	seen   map[string]bool // paths that have come, where patterns may overlap; else nil
	kept   []Entry
	sum    uint64
	moves  moveList
	result *GlobResults
}

func (g *globber) add(e Entry) {
	if g.seen != nil {
		if g.seen[e.Path] {
			return
		}
		g.seen[e.Path] = true
	}
	k := g.key(e)
	g.result.Total++
	g.sum += hashEntry(k.path, uint64(k.time)) &^ 1
	g.moves.see(k, g.from)
	if g.from != nil && k.compare(g.from.key()) <= 0 {
		return
	}
	g.kept = append(g.kept, e)
	if g.opt.Limit > 0 && len(g.kept) > 4*g.opt.Limit+1024 {
		g.sort()
		g.kept = g.kept[:g.opt.Limit+1] // one more shows that there is more
	}
}

func (g *globber) key(e Entry) fileKey {
	return newKey(e.Path, g.opt.Sort, &fileStat{modified: e.Modified, changed: e.changed})
}

func (g *globber) sort() {
	slices.SortFunc(g.kept, func(a, b Entry) int { return g.key(a).compare(g.key(b)) })
}

func (g *globber) run(ctx context.Context, t globTarget) error {
	o := g.walkOptions()
	base, ok := g.resolve(t)
	if !ok {
		g.skip([]Skipped{{t.base, ReasonLeavesRoot}}, 1)
		return nil
	}
	if at := g.shut(base, t.literal); at != "" {
		g.skip([]Skipped{{at, ReasonPolicy}}, 1)
		return nil
	}
	st, err := statTarget(base)
	switch {
	case err != nil:
		return nil // what is spelled out does not exist: nothing matches
	case t.literal:
		isDir := st.IsDir()
		if isDir && !g.opt.Dirs {
			return nil
		}
		if o.Skip != nil && o.Skip(base, isDir) {
			g.skip([]Skipped{{t.base, ReasonPolicy}}, 1)
			return nil
		}
		e := Entry{Path: t.base, Dir: isDir}
		if g.opt.Sort == ByModified {
			e.Modified, e.changed = st.ModTime(), newInfoStat(st).changed
		}
		g.add(e)
		return nil
	case !st.IsDir():
		return nil
	}
	o.shown = t.base
	o.NoIgnore = o.NoIgnore || g.spelledIgnored(t.base)
	t.prepare(o)
	r, err := Walk(ctx, []string{base}, *o, func(e Entry) error {
		g.add(e)
		return nil
	})
	if err != nil {
		return err
	}
	g.result.Seen += r.Seen
	if g.result.Partial == "" {
		g.result.Partial = r.Partial
	}
	g.skip(r.Skipped, r.SkipCount)
	return nil
}

// shut is the first directory that may not be listed of those which a target spells out, below the root; "" for none. A
// walk would not have come through it.
func (g *globber) shut(base string, literal bool) string {
	if g.opt.Allow == nil {
		return ""
	}
	if literal {
		base = filepath.Dir(base)
	}
	below, err := filepath.Rel(g.root, base)
	if err != nil || below == "." {
		return ""
	}
	at := g.root
	for part := range strings.SplitSeq(filepath.ToSlash(below), "/") {
		if at = filepath.Join(at, part); !g.opt.Allow(at, true) {
			rel, _ := filepath.Rel(g.root, at)
			return filepath.ToSlash(rel)
		}
	}
	return ""
}

// resolve gives the path of what the target spells out. Where the root is
// resolved, links on the way count as long as they stay below it.
func (g *globber) resolve(t globTarget) (path string, ok bool) {
	path = filepath.Join(g.root, filepath.FromSlash(t.base))
	if !g.opt.Resolved || path == g.root {
		return path, true
	}
	dir, name := path, ""
	if t.literal { // a link there is listed, not followed
		dir, name = filepath.Split(path)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return path, errors.Is(err, fs.ErrNotExist)
	}
	below, err := filepath.Rel(g.root, real)
	return filepath.Join(real, name), err == nil && filepath.IsLocal(below)
}

func (g *globber) skip(list []Skipped, count int) {
	g.result.Skipped = append(g.result.Skipped, list...)
	g.result.SkipCount += count
}

func (g *globber) walkOptions() *WalkOptions {
	o := &WalkOptions{
		Root: g.root, Resolved: g.opt.Resolved, Hidden: g.opt.Hidden, NoIgnore: g.opt.NoIgnore, GlobalIgnore: g.opt.GlobalIgnore,
		Follow: g.opt.Follow, Links: true, OneFileSystem: g.opt.OneFileSystem, Dirs: g.opt.Dirs,
		MaxEntries: g.opt.MaxEntries, Workers: g.opt.Workers, times: g.opt.Sort == ByModified,
	}
	if g.opt.Allow != nil {
		o.Skip = func(path string, isDir bool) bool { return !g.opt.Allow(path, isDir) }
	}
	return o
}

// prepare makes the walk list what the target's patterns match.
func (t globTarget) prepare(o *WalkOptions) {
	prefix := t.base
	if prefix != "" {
		prefix += "/"
	}
	var dotted []string // components that ask for hidden names
	for _, p := range t.patterns {
		parts := strings.Split(strings.TrimSuffix(p, "/"), "/")
		if !slices.Contains(parts, "**") && o.depth >= 0 {
			o.depth = max(o.depth, len(parts))
		} else {
			o.depth = -1
		}
		for _, part := range parts {
			if strings.HasPrefix(part, ".") {
				dotted = append(dotted, part)
			}
		}
	}
	hidden := o.Hidden
	o.Hidden = hidden || len(dotted) > 0
	globs := make([]pathGlob, len(t.patterns))
	for i, p := range t.patterns {
		globs[i] = newPathGlob(p)
	}
	o.match = func(dir string, name []byte, isDir bool) bool {
		for i := range globs {
			if globs[i].matches(dir[len(prefix):], name, isDir) {
				return hidden || spelledHidden(dir[len(prefix):]+string(name), dotted)
			}
		}
		return false
	}
}

// A pathGlob is a pattern that paths are matched with.
type pathGlob struct {
	pattern string
	dirOnly bool
	tail    string // what the last component of a path ends with
	byTail  bool   // it is **/* and the tail: nothing else has to be looked at
}

func newPathGlob(pattern string) pathGlob {
	g := pathGlob{}
	g.pattern, g.dirOnly = strings.CutSuffix(pattern, "/")
	if strings.HasSuffix(g.pattern, "/**") { // what is in a directory, not the directory or a file in its place
		g.pattern += "/*"
	}
	name := g.pattern[strings.LastIndexByte(g.pattern, '/')+1:]
	if name != "**" {
		g.tail = name[strings.LastIndexAny(name, `*?[]{}\`)+1:]
	}
	g.byTail = g.pattern == "**/*"+g.tail
	return g
}

func (g *pathGlob) matches(dir string, name []byte, isDir bool) bool {
	switch {
	case g.dirOnly && !isDir, !hasSuffix(name, g.tail):
		return false
	case g.byTail:
		return true
	}
	return doublestar.MatchUnvalidated(g.pattern, dir+string(name))
}

// spelledHidden says whether every hidden name in the path is asked for.
func spelledHidden(shown string, dotted []string) bool {
	for part := range strings.SplitSeq(shown, "/") {
		if strings.HasPrefix(part, ".") &&
			!slices.ContainsFunc(dotted, func(p string) bool { return doublestar.MatchUnvalidated(p, part) }) {
			return false
		}
	}
	return true
}

// spelledIgnored says whether ignore rules exclude a directory below the root,
// one on the way to it, or everything in it.
func (g *globber) spelledIgnored(below string) bool {
	if below == "" {
		return false
	}
	l := dirLevel(parentLevels(g.root, g.opt.GlobalIgnore), g.root, "", "", g.opt.GlobalIgnore)
	base := ""
	for part := range strings.SplitSeq(below, "/") {
		if part == ".git" || l.match(base, []byte(part), true) == excluded {
			return true
		}
		base += part + "/"
		l = dirLevel(l, filepath.Join(g.root, filepath.FromSlash(base)), base, "", g.opt.GlobalIgnore)
	}
	return l.match(base, []byte{0}, false) == excluded // a name that nothing has
}

// statTarget looks at what a pattern spells out; a link counts as what it
// leads to, or as a file where it leads nowhere.
func statTarget(path string) (fs.FileInfo, error) {
	if st, err := os.Stat(path); err == nil {
		return st, nil
	}
	return os.Lstat(path)
}

// Keep cuts the results to the first n entries, at least one; the cursor goes
// on from there.
func (r *GlobResults) Keep(n int) {
	if n >= len(r.Entries) {
		return
	}
	r.Entries = r.Entries[:n]
	next := r.next
	next.Path = r.Entries[n-1].Path
	if r.order == ByModified {
		next.Time = r.Entries[n-1].Modified.UnixNano()
	}
	r.Truncated, r.Cursor = true, next.encode()
}

func (g *globber) finish(hash uint64) *GlobResults {
	r := g.result
	g.sort()
	sum := g.sum | 1
	if r.Partial != "" {
		sum = 0
	}
	if g.from != nil {
		r.Changed = sum != 0 && g.from.Sum != 0 && sum != g.from.Sum
	}
	r.Entries, r.Moved, r.MovedCount = g.kept, g.moves.sorted(), g.moves.count
	r.next, r.order = cursor{Query: hash, Sum: sum, Newest: g.moves.newest}, g.opt.Sort
	if g.opt.Limit > 0 && len(r.Entries) > g.opt.Limit {
		r.Keep(g.opt.Limit)
	}
	slices.SortFunc(r.Skipped, func(a, b Skipped) int { return comparePaths(a.Path, b.Path) })
	r.Skipped = slices.Compact(r.Skipped)
	return r
}
