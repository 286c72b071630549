package wall

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// Limits of one walk. What lies beyond them is said, see Wall.Beyond.
const (
	maxEntries = 1_000_000
	maxTime    = 5 * time.Second
	workers    = 4
)

// A dir is a directory as it was read.
type dir struct {
	path  string
	stamp int64 // when it changed last; 0 where that may not tell of the next change
	ino   uint64
	subs  []string // names of the directories in it
	hits  []string // names that are notable, links and directories among them
	// within says that a directory above, or this one, begins a guarded name of
	// several parts
	within bool
	closed bool // one above, or this one, is notable: a link in it is, too, for what it leads to
	same   bool // it is as it was, by the last look at it
}

// young is how long after a change of a directory the next may have the same
// stamp, as the clock of a file system ticks.
const young = 20 * time.Millisecond

// Settled is how long after a change the next look at the root does not take it for one that came since.
const Settled = 2 * young

// coarse is the same where the file system keeps whole seconds, or as FAT every other one.
const coarse = 2*time.Second + young

// settles is how long after a time of a change the next may have the same one.
func settles(stamp int64) time.Duration {
	if stamp%int64(time.Second) == 0 {
		return coarse
	}
	return young
}

// remembers reports whether the time of a directory's last change tells of the next one, when it is read now.
func remembers(stamp int64, now time.Time) bool { return now.UnixNano()-stamp >= int64(settles(stamp)) }

// latest is when what has a time of its last change may have been changed.
func latest(changed time.Time) time.Time {
	if settles(changed.UnixNano()) == coarse {
		return changed.Add(coarse)
	}
	return changed
}

// A tree is what a walk found.
type tree struct {
	list    []*dir
	byPath  map[string]*dir // see index
	whole   bool            // no directory of it is missing in the list
	beyond  []string        // what was not looked at, and why
	cut     bool            // a limit was the reason
	shut    []string        // directories of ours that we may not look into, as they are
	changed int             // directories that were read, not remembered
}

// index makes the directories known by their paths.
func (t *tree) index() map[string]*dir {
	if t.byPath == nil {
		t.byPath = make(map[string]*dir, len(t.list))
		for _, d := range t.list {
			t.byPath[d.path] = d
		}
	}
	return t.byPath
}

// look looks whether each directory is as it was, and reports whether all are. It
// follows no names from one to the next, so every processor has its part.
func (t *tree) look(from base) bool {
	const part = 64
	var next, others atomic.Int64
	run := func() {
		for {
			n := int(next.Add(part)) - part
			if n >= len(t.list) {
				return
			}
			for _, d := range t.list[n:min(n+part, len(t.list))] {
				stamp, ino, ok := from.identity(d.path)
				if d.same = ok && stamp != 0 && stamp == d.stamp && ino == d.ino; !d.same {
					others.Add(1)
				}
			}
		}
	}
	var done sync.WaitGroup
	for range min(workers, runtime.GOMAXPROCS(0), len(t.list)/part+1) - 1 {
		done.Go(run)
	}
	run()
	done.Wait()
	return others.Load() == 0
}

// A walker walks a root.
type walker struct {
	notable func(path string, within bool) (notable, opens bool)
	leads   func(path string) bool // whether what lies behind a link may be another case; nil for never
	root    string
	base    base // of it
	passed  func(dir string) bool
	before  *tree                              // what is remembered; nil for nothing
	force   func(dir string) (*os.File, error) // opens what is shut; nil where it stays so
	most    int64                              // directories that are looked at, remembered ones too; 0 for any number

	known   map[string]*dir // before's
	mu      sync.Mutex
	out     *tree
	entries atomic.Int64
	dirs    atomic.Int64
	end     time.Time
	queue   chan job
	pending sync.WaitGroup
}

type job struct {
	path           string
	within, closed bool
}

// walk looks at every name below root but what its own repository keeps in .git. It
// returns the very tree from before where nothing has changed.
func (w *walker) walk(root string) *tree {
	w.root, w.base = root, openBase(root)
	defer w.base.close()
	if b := w.before; b != nil {
		if b.look(w.base) && b.whole && len(b.list) > 0 {
			return b
		}
		w.known = b.index()
	}
	w.out = &tree{}
	w.end = time.Now().Add(maxTime)
	w.queue = make(chan job, 64)
	var done sync.WaitGroup
	for range workers {
		done.Go(func() {
			for j := range w.queue {
				w.visit(j)
				w.pending.Done()
			}
		})
	}
	w.pending.Add(1)
	w.queue <- job{path: root}
	w.pending.Wait()
	close(w.queue)
	done.Wait()
	slices.Sort(w.out.beyond)
	w.out.whole = len(w.out.beyond) == 0 && len(w.out.shut) == 0
	return w.out
}

// visit looks at one directory and goes on below it: in this goroutine where no
// other one is free.
func (w *walker) visit(j job) {
	d := w.read(j)
	if d == nil {
		return
	}
	for _, name := range d.hits {
		w.skipLong(j.path + "/" + name)
	}
	for _, name := range d.subs {
		next := job{strings.TrimSuffix(j.path, "/") + "/" + name, d.within, d.closed}
		if was := w.known[next.path]; was != nil && was.same {
			w.visit(next)
			continue
		}
		w.pending.Add(1)
		select {
		case w.queue <- next:
		default:
			w.visit(next)
			w.pending.Done()
		}
	}
}

// read reads a directory, unless it is as it was remembered.
func (w *walker) read(j job) *dir {
	if w.dirs.Add(1) > w.most && w.most > 0 {
		w.cutShort()
		w.skip(j.path + tooMany)
		return nil
	}
	if d := w.known[j.path]; d != nil && d.same {
		w.add(d, false)
		return d
	}
	stamp, ino, ok := w.base.identity(j.path)
	if w.skipLong(j.path) || !ok {
		return nil
	}
	within, closed := j.within, j.closed
	if (!within || !closed) && j.path != w.root {
		hit, opens := w.notable(j.path, false)
		within, closed = within || opens, closed || hit
	}
	now := time.Now()
	if w.entries.Load() > maxEntries || now.After(w.end) {
		w.cutShort()
		w.skip(j.path + tooMany)
		return nil
	}
	f, err := w.open(j.path)
	if err != nil {
		if !errors.Is(err, errShut) {
			w.skip(j.path + ": " + err.Error())
		}
		return nil
	}
	list, err := f.ReadDir(-1)
	_ = f.Close()
	if err != nil {
		w.skip(j.path + ": " + err.Error())
	}
	w.entries.Add(int64(len(list)))
	d := &dir{path: j.path, stamp: stamp, ino: ino, within: within, closed: closed}
	if !remembers(stamp, now) {
		d.stamp = 0
	}
	for _, e := range list {
		name := e.Name()
		hit, opens := w.notable(j.path+"/"+name, within)
		if hit || name == ".git" || e.Type()&fs.ModeSymlink != 0 && (opens || w.leads != nil && (closed || w.leads(j.path+"/"+name))) {
			d.hits = append(d.hits, name)
		}
		if e.Type()&fs.ModeType == fs.ModeDir && (name != ".git" || j.path != w.root) && !w.passed(strings.TrimSuffix(j.path, "/")+"/"+name) {
			d.subs = append(d.subs, name)
		}
	}
	if !safefile.InGit(j.path) && isRepository(list) {
		d.hits = append(d.hits, "HEAD") // of a bare repository, or of a worktree's part of one
	}
	slices.Sort(d.hits)
	w.add(d, true)
	return d
}

// open opens a directory, or notes that it is shut.
func (w *walker) open(dir string) (*os.File, error) {
	switch {
	case !shut(dir):
		return os.Open(dir + "/.") // as in list: a pipe has no such name
	case w.force != nil:
		return w.force(dir)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.out.shut = append(w.out.shut, dir)
	return nil, errShut
}

// errShut is no reason to say that something was not looked at: it is closed.
var errShut = errors.New("the directory is shut")

func (w *walker) add(d *dir, fresh bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.out.list = append(w.out.list, d)
	if fresh {
		w.out.changed++
	}
}

// tooMany ends what is said of a directory that was not looked at for the limits.
const tooMany = ": there are too many files"

func (w *walker) cutShort() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.out.cut = true
}

// skipLong notes that a path is longer than the system takes, and reports whether it is.
func (w *walker) skipLong(path string) bool {
	if len(path) < shortest {
		return false
	}
	_, err := os.Lstat(path)
	if !errors.Is(err, syscall.ENAMETOOLONG) {
		return false
	}
	w.skip(strings.ToValidUTF8(path[:200], "") + "...: the path is too long")
	return true
}

// shortest is the length in bytes below which no system finds a path too long: macOS takes 1023, Linux 4095.
const shortest = 1000

// maxBeyond bounds what is said.
const maxBeyond = 5

func (w *walker) skip(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.out.beyond) < maxBeyond && !slices.Contains(w.out.beyond, what) {
		w.out.beyond = append(w.out.beyond, what)
	}
}

// hits lists the paths that are notable, outer ones first.
func (t *tree) hits() []string {
	var list []string
	for _, d := range t.list {
		for _, name := range d.hits {
			list = append(list, strings.TrimSuffix(d.path, "/")+"/"+name)
		}
	}
	slices.Sort(list)
	return list
}
