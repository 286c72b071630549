package rg

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A fileKey is a file's place in the order of the results.
type fileKey struct {
	path    string
	time    int64 // nanoseconds; 0 unless sorted by it
	changed int64 // as in fileStat; no part of the order
}

func newKey(path string, order Order, st *fileStat) fileKey {
	k := fileKey{path: path, changed: st.changed}
	if order == ByModified {
		k.time = st.modified.UnixNano()
	}
	return k
}

func (k fileKey) compare(o fileKey) int {
	if c := cmp.Compare(o.time, k.time); c != 0 {
		return c
	}
	return comparePaths(k.path, o.path)
}

// A collector keeps what comes first in the order, and counts everything. It
// holds about twice the lines that will be shown, however many match.
type collector struct {
	q       *Query
	from    *cursor // nil for the beginning
	bound   atomic.Pointer[fileKey]
	visit   func(FileResult) error // takes the results at once; nil to keep them
	visited error

	mu      sync.Mutex
	claimed map[string]bool // files already searched, where roots may overlap; else nil
	files   []kept
	held    int // units in files
	matches int64
	count   int
	before  int64 // units before from
	sum     uint64
	moves   moveList
}

// A moveList notes what has changed since a cursor was made and stands where
// its pages do not come any more: an edited file goes to the front of those
// sorted by time, and the lines of one that a page ended in are others.
type moveList struct {
	newest int64 // the last change of a file with a match
	count  int
	paths  []string // at most maxSkipped
}

// see takes a file of the results.
func (m *moveList) see(key fileKey, from *cursor) {
	m.newest = max(m.newest, key.changed)
	if from != nil && from.Newest != 0 && key.changed > from.Newest && key.compare(from.key()) <= 0 {
		if m.count++; m.count <= maxSkipped {
			m.paths = append(m.paths, key.path)
		}
	}
}

func (m *moveList) sorted() []string {
	slices.SortFunc(m.paths, comparePaths)
	return m.paths
}

// A kept is a file held, with the units of the limit it takes.
type kept struct {
	FileResult
	key   fileKey
	units int
}

// claim is false for a file that another root has brought already.
func (c *collector) claim(path string) bool {
	if c.claimed == nil {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.claimed[path] {
		return false
	}
	c.claimed[path] = true
	return true
}

// request says how much of a file with a match is wanted.
func (c *collector) request(key fileKey) request {
	r := request{lines: c.q.Limit}
	if c.q.Limit < 0 || c.visit != nil {
		r.lines = math.MaxInt
	}
	if c.q.Mode != Content {
		r.lines = 0
	}
	if c.from != nil {
		switch order := key.compare(c.from.key()); {
		case order < 0:
			r.lines = 0
		case order == 0:
			r.after = c.from.Line
		}
	}
	if b := c.bound.Load(); b != nil && key.compare(*b) > 0 {
		r.lines = 0
	}
	return r
}

func (c *cursor) key() fileKey { return fileKey{path: c.Path, time: c.Time} }

// add takes what the search of a file found; it is false when no more files
// are wanted.
func (c *collector) add(key fileKey, f *found) bool {
	if f.matches == 0 {
		return true
	}
	result := FileResult{Path: key.path, Matches: f.matches, Lines: f.lines, Encoding: f.encoding}
	if key.time != 0 {
		result.Modified = time.Unix(0, key.time)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.matches += int64(f.matches)
	c.count++
	c.sum += hashEntry(key.path, uint64(f.matches), f.sum, uint64(key.time))
	c.moves.see(key, c.from)
	if c.visit != nil {
		if c.visited == nil {
			c.visited = c.visit(result)
		}
		return c.visited == nil
	}
	units := f.stored
	if c.q.Mode != Content {
		units = 1
	}
	if c.from != nil {
		switch order := key.compare(c.from.key()); {
		case order < 0 && c.q.Mode == Content:
			c.before += int64(f.matches)
			return true
		case order <= 0 && c.q.Mode != Content:
			c.before++
			return true
		}
		c.before += int64(f.before)
	}
	if b := c.bound.Load(); units == 0 || b != nil && key.compare(*b) > 0 {
		return true
	}
	c.files = append(c.files, kept{result, key, units})
	c.held += units
	if c.q.Limit > 0 && c.held > 2*c.q.Limit+64 {
		c.prune()
	}
	return true
}

// prune drops the files that cannot be shown, and from now on those behind.
func (c *collector) prune() {
	c.sort()
	held := 0
	for i := range c.files {
		if held += c.files[i].units; held >= c.q.Limit {
			clear(c.files[i+1:])
			c.files = c.files[:i+1]
			last := c.files[i].key // a copy: the list is sorted again
			c.bound.Store(&last)
			break
		}
	}
	c.held = held
}

func (c *collector) sort() {
	slices.SortFunc(c.files, func(a, b kept) int { return a.key.compare(b.key) })
}

// finish makes the results, cut to the limit.
func (c *collector) finish(complete bool) *Results {
	c.sort()
	r := &Results{Matches: c.matches, FileCount: c.count, Moved: c.moves.sorted(), MovedCount: c.moves.count}
	total, shown := c.matches, 0
	if c.q.Mode != Content {
		total = int64(c.count)
	}
	for i := range c.files {
		f := &c.files[i]
		if c.q.Limit > 0 {
			room := c.q.Limit - shown
			if room == 0 {
				break
			}
			if f.units > room {
				f.cut(room, c.q.After)
			}
		}
		shown += f.units
		r.Files = append(r.Files, f.FileResult)
	}
	sum := c.sum | 1
	if !complete {
		sum = 0
	}
	if c.from != nil && c.from.Sum != 0 && sum != 0 {
		r.Changed = c.from.Sum != sum
	}
	r.page = page{files: c.files[:len(r.Files)], after: c.q.After, next: cursor{Query: c.q.hash(), Sum: sum, Newest: c.moves.newest}}
	if c.from != nil {
		r.page.next.Path, r.page.next.Time, r.page.next.Line = c.from.Path, c.from.Time, c.from.Line
	}
	if total-c.before > int64(shown) && c.visit == nil {
		r.end()
	}
	return r
}

// A page is what results need to be cut further.
type page struct {
	files []kept
	after int
	next  cursor // but for the place
}

// Keep cuts the results to the first files, at least one, and the last of these
// to its first matches, at least one; the cursor goes on from there.
func (r *Results) Keep(files, matches int) {
	f := &r.page.files[files-1]
	if matches >= f.units && files == len(r.Files) {
		return
	}
	if matches < f.units {
		f.cut(matches, r.page.after)
	}
	r.Files, r.page.files = r.Files[:files], r.page.files[:files]
	r.Files[files-1] = f.FileResult
	r.end()
}

// end makes the cursor that goes on behind the results.
func (r *Results) end() {
	next := r.page.next
	if n := len(r.page.files); n > 0 {
		last := &r.page.files[n-1]
		next.Path, next.Time, next.Line = last.key.path, last.key.time, last.lastMatch()
	}
	r.Truncated, r.Cursor = true, next.encode()
}

// cut leaves the first units of the file's matching lines, and the context
// after the last.
func (f *kept) cut(units, after int) {
	seen, last, end := 0, 0, len(f.Lines)
	for i, l := range f.Lines {
		if l.Match && !l.Continues {
			if seen == units {
				end = i
				break
			}
			seen++
		}
		if l.Match {
			last = l.Number
		}
	}
	for end > 0 && !f.Lines[end-1].Match && f.Lines[end-1].Number > last+after {
		end--
	}
	f.Lines, f.units = f.Lines[:end], units
}

func (f *kept) lastMatch() int {
	for _, v := range slices.Backward(f.Lines) {
		if v.Match && !v.Continues {
			return v.Number
		}
	}
	return 0
}
