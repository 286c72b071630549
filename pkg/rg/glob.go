package rg

import (
	"context"
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
	Entries   []Entry
	Total     int    // entries that match, shown or not
	Truncated bool   // there is more than Entries shows
	Cursor    string // goes on after Entries, where Truncated
	Changed   bool   // the tree gives other entries than when the options' cursor was made
	Partial   string // why the walk ended early; then Total is a lower bound
	Seen      int64  // directory entries looked at
	Skipped   []Skipped
	SkipCount int
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
	g := &globber{root: root, opt: &o, found: map[string]Entry{}, result: &GlobResults{}}
	for _, t := range targets {
		if err := g.run(ctx, t); err != nil {
			return nil, err
		}
	}
	return g.finish(from, hash), nil
}

// A globber gathers the entries of several walks.
type globber struct {
	root   string
	opt    *GlobOptions
	found  map[string]Entry
	result *GlobResults
}

func (g *globber) run(ctx context.Context, t globTarget) error {
	base := filepath.Join(g.root, filepath.FromSlash(t.base))
	o := g.walkOptions()
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
		g.found[t.base] = Entry{Path: t.base, Dir: isDir, Modified: st.ModTime()}
		return nil
	case !st.IsDir():
		return nil
	}
	o.NoIgnore = o.NoIgnore || g.spelledIgnored(t.base)
	t.prepare(o)
	r, err := Walk(ctx, []string{base}, *o, func(e Entry) error {
		g.found[e.Path] = e
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

func (g *globber) skip(list []Skipped, count int) {
	g.result.Skipped = append(g.result.Skipped, list...)
	g.result.SkipCount += count
}

func (g *globber) walkOptions() *WalkOptions {
	o := &WalkOptions{
		Root: g.root, Hidden: g.opt.Hidden, NoIgnore: g.opt.NoIgnore, GlobalIgnore: g.opt.GlobalIgnore,
		Follow: g.opt.Follow, Links: true, OneFileSystem: g.opt.OneFileSystem, Dirs: g.opt.Dirs,
		Sort: Unordered, MaxEntries: g.opt.MaxEntries, Workers: g.opt.Workers,
	}
	if g.opt.Sort == ByModified {
		o.Sort = ByModified
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
	o.match = func(dir string, name []byte, isDir bool) bool {
		shown := strings.TrimPrefix(dir+string(name), prefix)
		matches := func(p string) bool {
			p, dirOnly := strings.CutSuffix(p, "/")
			return (isDir || !dirOnly) && doublestar.MatchUnvalidated(p, shown)
		}
		return slices.ContainsFunc(t.patterns, matches) && (hidden || spelledHidden(shown, dotted))
	}
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

func (g *globber) finish(from *cursor, hash uint64) *GlobResults {
	r := g.result
	keys := make([]fileKey, 0, len(g.found))
	sum := uint64(1)
	for p, e := range g.found {
		k := fileKey{path: p}
		if g.opt.Sort == ByModified {
			k.time = e.Modified.UnixNano()
		}
		keys = append(keys, k)
		sum += hashOf("%q %d", k.path, k.time) &^ 1
	}
	slices.SortFunc(keys, fileKey.compare)
	r.Total = len(keys)
	if r.Partial != "" {
		sum = 0
	}
	if from != nil {
		keys = keys[firstAfter(keys, from.key()):]
		r.Changed = sum != 0 && from.Sum != 0 && sum != from.Sum
	}
	if g.opt.Limit > 0 && len(keys) > g.opt.Limit {
		keys = keys[:g.opt.Limit]
		last := keys[len(keys)-1]
		r.Truncated = true
		r.Cursor = cursor{Query: hash, Path: last.path, Time: last.time, Sum: sum}.encode()
	}
	for _, k := range keys {
		e := g.found[k.path]
		if g.opt.Sort != ByModified {
			e.Modified = time.Time{}
		}
		r.Entries = append(r.Entries, e)
	}
	slices.SortFunc(r.Skipped, func(a, b Skipped) int { return comparePaths(a.Path, b.Path) })
	r.Skipped = slices.Compact(r.Skipped)
	return r
}

func firstAfter(keys []fileKey, k fileKey) int {
	i, found := slices.BinarySearchFunc(keys, k, fileKey.compare)
	if found {
		i++
	}
	return i
}
