package rg

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// ListOptions say what List lists.
type ListOptions struct {
	Resolved     bool   // no symbolic link stands in the root, as in Query
	Depth        int    // how many levels; 0 or less is one
	Offset       int    // entries passed over
	Limit        int    // entries given; negative is no limit
	Hidden       bool   // list names that begin with a dot too
	Ignore       bool   // leave out what ignore files exclude, and .git
	GlobalIgnore string // the user's ignore file; "" for none
	MaxEntries   int    // directory entries looked at; 0 is no limit

	// Closed says whether a directory, by its name, is listed without what it
	// holds; nil closes none.
	Closed func(name string) bool

	// Allow says whether a directory below the root, by its absolute path, may
	// be looked into; nil allows all. The others are named as skipped.
	Allow func(dir string) bool
}

// A ListEntry is a file, a directory or something else that a directory holds.
type ListEntry struct {
	Path     string      // relative to the root, with slashes
	Depth    int         // levels below the root, from 1
	Mode     fs.FileMode // of a symbolic link, its own
	Size     int64
	Modified time.Time
	Target   string // of a symbolic link
	Entries  int    // of a directory: how many it holds; -1 where it was not looked into
	Closed   bool   // … because of its name
}

// ListResults are what List found.
type ListResults struct {
	Entries                    []ListEntry
	Total                      int // entries there are, given or not
	Files, Dirs, Links, Others int // … of each kind
	Partial                    string
	Skipped                    []Skipped // directories that were not looked into, and why
	SkipCount                  int
}

// List gives what lies below root, an absolute directory, breadth first: one
// level after the other, in each level the directories in the order in which
// they came, in each of those the names in the order of their bytes. All is
// counted, but size, mode and time are asked only of the entries given. Links
// are not followed. What goes away meanwhile is given without those facts.
func List(ctx context.Context, root string, o ListOptions) (*ListResults, error) {
	if !filepath.IsAbs(root) {
		return nil, fmt.Errorf("listing: root %q is not an absolute path", root)
	}
	l, err := newLister(root, &o)
	if err != nil {
		return nil, err
	}
	defer l.root.handle.close()
	for at := 0; at < len(l.dirs); at++ {
		if l.partial != "" {
			break
		}
		if ctx.Err() != nil {
			l.partial = PartialCanceled
			break
		}
		l.read(at)
	}
	return l.results(), nil
}

// A lister lists directories breadth first.
type lister struct {
	opt     *ListOptions
	worker  *walkWorker // its filter, listing and name buffer are used
	root    *dirNode
	dirs    []listDir // in the order in which they are read
	seen    int
	partial string
}

// A listDir is a directory of a listing, and what it holds once it is read.
type listDir struct {
	path    string // below the root, with a final slash; "" for the root
	depth   int    // of the entries in it
	rules   *level // of the directory above, until it is read
	names   []byte
	entries []listed
	read    bool
}

func newLister(root string, o *ListOptions) (*lister, error) {
	w, err := newWalker(&WalkOptions{
		Root: root, Resolved: o.Resolved, Hidden: true, NoIgnore: !o.Ignore, GlobalIgnore: o.GlobalIgnore, MaxEntries: o.MaxEntries,
	})
	if err != nil {
		return nil, err
	}
	t, err := rootTask(rootPath{abs: root, isDir: true}, w.opt)
	if err != nil {
		return nil, err
	}
	l := &lister{opt: o, worker: &walkWorker{w: w}, root: t.dir}
	l.dirs = []listDir{{depth: 1, rules: t.dir.rules}}
	return l, nil
}

// open opens a directory below the root through no link.
func (l *lister) open(path string) (dirHandle, error) {
	if path == "" {
		return l.root.handle, nil
	}
	at := l.root.handle
	for name := range strings.SplitSeq(strings.TrimSuffix(path, "/"), "/") {
		next, err := at.openDir(&l.worker.name, name, false)
		l.close(at)
		if err != nil {
			return dirHandle{}, err
		}
		at = next
	}
	return at, nil
}

// close closes what open gave, but for the root.
func (l *lister) close(h dirHandle) {
	if h != l.root.handle {
		h.close()
	}
}

// read reads one directory and queues those in it.
func (l *lister) read(at int) {
	k := l.worker
	path := l.dirs[at].path
	shown := strings.TrimSuffix(path, "/")
	if path != "" && l.opt.Allow != nil && !l.opt.Allow(l.root.root.absolute(path, nil)) {
		k.w.skips.add(shown, ReasonPolicy)
		return
	}
	handle, err := l.open(path)
	if err != nil {
		k.w.skips.add(shown, errorReason(err))
		return
	}
	defer l.close(handle)
	k.list.reset()
	if err := handle.list(&k.list); err != nil {
		k.w.skips.add(shown, errorReason(err))
	}
	if l.seen += len(k.list.entries); l.opt.MaxEntries > 0 && l.seen > l.opt.MaxEntries {
		l.partial = PartialEntries
		return
	}
	d := &dirNode{handle: handle, path: path, rules: l.dirs[at].rules, root: l.root.root}
	if l.opt.Ignore {
		k.readLevel(d)
	}
	k.list.keep(func(name []byte, kind entryKind) (entryKind, bool) {
		if kind == kindUnknown {
			kind = k.resolve(d, name, kind)
		}
		return kind, (l.opt.Hidden || name[0] != '.') && k.w.filter.admits(d, name, kind == kindDir)
	})
	k.list.sort()
	dir := &l.dirs[at]
	dir.names, dir.entries, dir.read = slices.Clone(k.list.names), slices.Clone(k.list.entries), true
	if dir.depth >= l.opt.Depth {
		return
	}
	depth := dir.depth + 1
	for _, e := range k.list.entries {
		if e.kind == kindDir && !l.closed(k.list.name(e)) {
			l.dirs = append(l.dirs, listDir{path: path + string(k.list.name(e)) + "/", depth: depth, rules: d.rules})
		}
	}
}

func (l *lister) closed(name []byte) bool { return l.opt.Closed != nil && l.opt.Closed(string(name)) }

// results counts the entries and asks for the facts of those to give.
func (l *lister) results() *ListResults {
	r := &ListResults{Partial: l.partial, Skipped: l.worker.w.skips.sorted(), SkipCount: l.worker.w.skips.count}
	below := 1 // the next of dirs that the entries name
	for i := range l.dirs {
		d := &l.dirs[i]
		var handle dirHandle
		open, gone := false, false
		for _, e := range d.entries {
			r.count(e.kind)
			inside, closed := -1, false
			if e.kind == kindDir && d.depth < l.opt.Depth {
				if closed = l.closed(d.names[e.from:e.to]); !closed && below < len(l.dirs) {
					if l.dirs[below].read {
						inside = len(l.dirs[below].entries)
					}
					below++
				}
			}
			if r.Total <= l.opt.Offset || l.opt.Limit >= 0 && len(r.Entries) >= l.opt.Limit {
				continue
			}
			if !open && !gone {
				var err error
				handle, err = l.open(d.path)
				open, gone = err == nil, err != nil
			}
			entry := ListEntry{Path: d.path + string(d.names[e.from:e.to]), Depth: d.depth, Mode: kindMode(e.kind), Entries: inside, Closed: closed}
			if open {
				l.look(handle, d.names[e.from:e.to], &entry)
			}
			r.Entries = append(r.Entries, entry)
		}
		if open {
			l.close(handle)
		}
	}
	return r
}

func (r *ListResults) count(kind entryKind) {
	r.Total++
	switch kind {
	case kindFile:
		r.Files++
	case kindDir:
		r.Dirs++
	case kindLink:
		r.Links++
	default:
		r.Others++
	}
}

// look fills in the facts of an entry of the directory h.
func (l *lister) look(h dirHandle, name []byte, e *ListEntry) {
	st, err := h.statName(&l.worker.name, string(name), false)
	if err != nil {
		return
	}
	e.Mode, e.Size, e.Modified = st.mode, st.size, st.modified
	if st.kind == kindLink {
		e.Target, _ = h.readLink(&l.worker.name, string(name))
	}
}

// kindMode is the type bits of a kind.
func kindMode(k entryKind) fs.FileMode {
	switch k {
	case kindFile:
		return 0
	case kindDir:
		return fs.ModeDir
	case kindLink:
		return fs.ModeSymlink
	}
	return fs.ModeIrregular
}

// keep leaves the entries of which want says so, with the kind it gives.
func (l *listing) keep(want func(name []byte, kind entryKind) (entryKind, bool)) {
	kept := l.entries[:0]
	for _, e := range l.entries {
		kind, ok := want(l.name(e), e.kind)
		if ok {
			e.kind = kind
			kept = append(kept, e)
		}
	}
	l.entries = kept
}

// sort orders the entries by the bytes of their names. Names in a large
// directory tend to begin alike, so it compares the eight bytes behind what
// all begin with before it looks at whole names.
func (l *listing) sort() {
	if len(l.entries) < 2 {
		return
	}
	common := l.name(l.entries[0])
	for _, e := range l.entries[1:] {
		name := l.name(e)
		n := 0
		for n < len(common) && n < len(name) && common[n] == name[n] {
			n++
		}
		common = common[:n]
	}
	type keyed struct {
		key uint64
		listed
	}
	list := make([]keyed, len(l.entries))
	for i, e := range l.entries {
		var key [8]byte
		copy(key[:], l.name(e)[len(common):])
		list[i] = keyed{binary.BigEndian.Uint64(key[:]), e}
	}
	slices.SortFunc(list, func(a, b keyed) int {
		if a.key != b.key {
			return cmp.Compare(a.key, b.key)
		}
		return bytes.Compare(l.name(a.listed), l.name(b.listed))
	})
	for i := range list {
		l.entries[i] = list[i].listed
	}
}
