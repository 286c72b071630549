package session

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// A found is one session as gc sees it.
type found struct {
	hash, id string
	path     string
	bytes    int64
	lastUse  time.Time
	signed   bool // it has a use file, whose time lastUse is
	busy     bool // in use, or a job is alive
	gone     bool // half removed by a gc that was killed
	items    []item

	whole  bool      // planned: remove the session
	remove []Removal // planned, in order
}

// An item is what may go from a session that stays.
type item struct {
	kind  itemKind
	name  string // relative to the session
	bytes int64
	mod   time.Time
}

type itemKind int

const (
	spillItem itemKind = iota
	cacheItem
	jobItem  // a whole jobs/ID that is not alive
	tempItem // left by a killed process
)

// tempAge is how long a temporary file may be at work.
const tempAge = time.Hour

// scan finds all sessions, in the order of their paths.
func scan(ctx context.Context, state *safefile.Dir) ([]*found, error) {
	hashes, err := state.ReadDir()
	if err != nil {
		return nil, err
	}
	var all []*found
	for _, h := range hashes {
		if !isHash(h.Name()) || !h.IsDir() {
			continue
		}
		hash, err := state.Sub(h.Name())
		if err != nil {
			continue // not as we make them: not ours to remove
		}
		sessions, err := hash.ReadDir()
		for _, entry := range sessions {
			if ctx.Err() != nil {
				break
			}
			if f := examine(hash, entry); f != nil {
				f.hash = h.Name()
				all = append(all, f)
			}
		}
		if err := errors.Join(err, ctx.Err(), hash.Close()); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func isHash(name string) bool {
	return len(name) == 16 && strings.Trim(name, alphabet) == ""
}

// examine returns what is known of a session, nil for what is none.
func examine(hash *safefile.Dir, entry fs.DirEntry) *found {
	id := entry.Name()
	gone := strings.HasPrefix(id, gonePrefix)
	if !entry.IsDir() || !gone && !validID(id) {
		return nil
	}
	dir, err := hash.Sub(id)
	if err != nil {
		return nil
	}
	defer dir.Close()
	f := &found{id: id, path: dir.Path(), gone: gone}
	if info, err := dir.Lstat(useFile); err == nil {
		f.lastUse, f.signed = info.ModTime(), true
	} else if info, err := dir.Lstat("."); err == nil {
		f.lastUse = info.ModTime()
	}
	f.busy = f.walk(dir) != nil || dir.Locked(useFile) || jobsAlive(dir)
	if f.busy { // of what is in use only spill files may go that nobody writes
		f.items = slices.DeleteFunc(f.items, func(it item) bool { return it.kind != spillItem || spillWritten(dir, it.name) })
	}
	return f
}

// walk measures the session and finds its items.
func (f *found) walk(dir *safefile.Dir) error {
	jobs := map[string]int{} // index in items
	return fs.WalkDir(dir.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // gone meanwhile
			}
			return err
		}
		parts := strings.Split(name, "/")
		if entry.IsDir() {
			if len(parts) == 2 && parts[0] == "jobs" {
				jobs[parts[1]] = len(f.items)
				f.items = append(f.items, item{kind: jobItem, name: name})
			}
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return nil
		}
		f.bytes += info.Size()
		it := item{name: name, bytes: info.Size(), mod: info.ModTime()}
		base := parts[len(parts)-1]
		if base[0] == '.' {
			if strings.HasSuffix(base, safefile.TempSuffix) {
				it.kind = tempItem
				f.items = append(f.items, it)
			}
			return nil
		}
		switch {
		case len(parts) == 2 && parts[0] == spillDir:
			f.items = append(f.items, it)
		case len(parts) > 1 && (parts[0] == "cache" || parts[0] == "once"):
			it.kind = cacheItem
			f.items = append(f.items, it)
		case len(parts) > 2 && parts[0] == "jobs":
			if i, ok := jobs[parts[1]]; ok {
				f.items[i].add(it)
			}
		}
		return nil
	})
}

// add counts a file of a job: the job is as young as its youngest file.
func (i *item) add(file item) {
	i.bytes += file.bytes
	if file.mod.After(i.mod) {
		i.mod = file.mod
	}
}

// plan fills in what is to be removed.
func plan(all []*found, o *CollectOptions) {
	var total, planned int64
	for _, f := range all {
		f.planAge(o.Limits, o.Now)
		planned += f.planned()
		total += f.bytes - f.planned()
	}
	over := total - o.Limits.StateTotal
	if want := max(over, o.Free-planned); want > 0 {
		over -= planItems(all, want)
	}
	planSessions(all, over)
}

func (f *found) planAge(l Limits, now time.Time) {
	if f.gone {
		f.take(item{bytes: f.bytes}, Leftover)
		f.whole = true
		return
	}
	if !f.busy && f.lastUse.Before(now.Add(-l.SessionAge)) {
		f.take(item{bytes: f.bytes}, Aged)
		f.whole = true
		return
	}
	kept := f.items[:0]
	for _, it := range f.items {
		switch {
		case it.kind == tempItem && it.mod.Before(now.Add(-tempAge)):
			f.take(it, Leftover)
		case (it.kind == spillItem || it.kind == cacheItem) && it.mod.Before(now.Add(-l.SpillAge)):
			f.take(it, Aged)
		default:
			kept = append(kept, it)
		}
	}
	f.items = kept
}

// planItems plans the oldest items until so many bytes go, and returns how many
// do.
func planItems(all []*found, want int64) (planned int64) {
	type candidate struct {
		f *found
		item
	}
	var items []candidate
	for _, f := range all {
		if f.whole {
			continue
		}
		for _, it := range f.items {
			if it.kind != tempItem && it.bytes > 0 {
				items = append(items, candidate{f, it})
			}
		}
	}
	slices.SortStableFunc(items, func(a, b candidate) int { return a.mod.Compare(b.mod) })
	for _, c := range items {
		if planned >= want {
			break
		}
		c.f.take(c.item, Oversize)
		planned += c.bytes
	}
	return planned
}

// planSessions plans idle sessions, the longest unused first, until over bytes go.
func planSessions(all []*found, over int64) {
	idle := slices.DeleteFunc(slices.Clone(all), func(f *found) bool { return f.busy || f.whole })
	slices.SortStableFunc(idle, func(a, b *found) int {
		return cmp.Or(a.lastUse.Compare(b.lastUse), cmp.Compare(a.path, b.path))
	})
	for _, f := range idle {
		if over <= 0 {
			return
		}
		over -= f.bytes - f.planned()
		f.remove = nil
		f.take(item{bytes: f.bytes}, Oversize)
		f.whole = true
	}
}

func (f *found) take(it item, why Reason) {
	f.remove = append(f.remove, Removal{Path: filepath.Join(f.path, filepath.FromSlash(it.name)), Bytes: it.bytes, Why: why})
}

// planned returns the bytes that go.
func (f *found) planned() (n int64) {
	for _, r := range f.remove {
		n += r.Bytes
	}
	return n
}
