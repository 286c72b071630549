package change

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

const (
	addedFile   = "added"   // when it was tidied last, then a line of bytes for each change since
	droppedFile = "dropped" // the newest ID that was dropped
)

// tidy keeps the journal within its limits and returns the changes it dropped,
// oldest first. It looks at everything only once a quarter of a limit has been
// added, and drops down to three quarters: so the limits hold and most calls
// cost a few microseconds. What goes wrong is left to the next.
func (h *History) tidy(ctx context.Context, added int64) (dropped []string) {
	now := h.o.Now()
	if !h.due(now, added) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	lock, err := h.store.top.OpenFile(holdFile, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil
	}
	defer lock.Close()
	if safefile.WaitLock(ctx, lock, true) != nil {
		return nil // others are adding; one of them will be last
	}
	dropped, err = h.drop(now)
	if err == nil {
		_ = h.store.top.WriteFile(addedFile, fmt.Appendln(nil, now.Unix()), false) // else it is tidied again
	}
	return dropped
}

// due notes what was added and reports whether it is time to look.
func (h *History) due(now time.Time, added int64) bool {
	f, err := h.store.top.OpenFile(addedFile, os.O_RDWR|os.O_CREATE|os.O_APPEND)
	if err != nil {
		return false
	}
	defer f.Close()
	if _, err := fmt.Fprintln(f, added); err != nil {
		return true // no room is a reason to make some
	}
	data := make([]byte, 64<<10)
	n, _ := f.ReadAt(data, 0)
	var last, sum int64
	lines := 0
	for line := range strings.Lines(string(data[:n])) {
		v, _ := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
		if lines == 0 {
			last = v
		} else {
			sum += v
		}
		lines++
	}
	l := h.o.Limits
	return n == len(data) || sum >= l.Bytes/4 || lines > max(l.Records/4, 1) || now.Sub(time.Unix(last, 0)) >= l.Age/8
}

// drop removes the oldest changes beyond the limits, and every content that no
// change needs.
func (h *History) drop(now time.Time) (dropped []string, err error) {
	sizes, temps, err := h.objects()
	if err != nil {
		return nil, err
	}
	h.sweepPending()
	ids, err := readNames(h.store.done.Path())
	if err != nil {
		return nil, err
	}
	ids = slices.DeleteFunc(ids, func(n string) bool { return n[0] == '.' })
	slices.SortFunc(ids, func(a, b string) int { return cmp.Compare(b, a) }) // newest first
	needed, err := h.pendingHashes()
	if err != nil {
		return nil, err
	}
	l := h.o.Limits
	if !h.crowded(ids, sizes, now) {
		return nil, nil
	}
	var bytes int64
	full := false
	for i, id := range ids {
		r, err := h.store.load(id)
		if err != nil {
			continue // it is not ours to judge, and lasts no longer than the session
		}
		var more int64
		hashes := r.needs(false)
		for _, hash := range hashes {
			if !needed[hash] {
				more += sizes[hash]
			}
		}
		if needed[shelfDir+"/"+id] {
			continue // an undo of it has not been finished
		}
		if full = full || i >= max(l.Records*3/4, 1) || bytes+more > l.Bytes*3/4 || now.Sub(r.Time) > l.Age; full {
			dropped = append(dropped, id)
			continue
		}
		bytes += more
		for _, hash := range hashes {
			needed[hash] = true
		}
	}
	return h.remove(dropped, sizes, needed, temps)
}

// crowded reports whether there is anything to drop, without reading more than
// the oldest change.
func (h *History) crowded(ids []string, sizes map[string]int64, now time.Time) bool {
	var total int64
	for _, size := range sizes {
		total += size
	}
	l := h.o.Limits
	if len(ids) == 0 || total > l.Bytes*3/4 || len(ids) > max(l.Records*3/4, 1) {
		return true
	}
	oldest, err := h.store.load(ids[len(ids)-1])
	return err == nil && now.Sub(oldest.Time) > l.Age
}

// remove removes changes, newest first in the list, and contents.
func (h *History) remove(ids []string, sizes map[string]int64, needed map[string]bool, temps []string) ([]string, error) {
	var errs []error
	if len(ids) > 0 {
		if have := h.droppedID(); have < ids[0] {
			errs = append(errs, h.store.top.WriteFile(droppedFile, []byte(ids[0]), false))
		}
	}
	slices.Reverse(ids)
	for _, id := range ids {
		errs = append(errs, h.store.done.Remove(id))
		h.dropShelf(id)
	}
	for name := range sizes {
		if needed[name] {
			continue
		}
		if stash, ok := strings.CutPrefix(name, stashDir+"/"); ok {
			errs = append(errs, h.store.removeStash(stash))
		} else {
			errs = append(errs, h.store.contents.Remove(name))
		}
	}
	for _, temp := range temps {
		errs = append(errs, h.store.contents.Remove(temp))
	}
	return ids, errors.Join(errs...)
}

// objects returns the contents with their sizes, and the stashes. Nobody adds one now, so the
// temporary files are of the dead.
func (h *History) objects() (sizes map[string]int64, temps []string, err error) {
	entries, err := h.store.contents.ReadDir()
	if err != nil {
		return nil, nil, err
	}
	sizes = make(map[string]int64, len(entries))
	for _, e := range entries {
		if e.Name()[0] == '.' {
			temps = append(temps, e.Name())
		} else if info, err := e.Info(); err == nil {
			sizes[e.Name()] = info.Size()
		}
	}
	stashes, err := readNames(filepath.Join(h.store.top.Path(), stashDir))
	for _, name := range stashes {
		sizes[stashDir+"/"+name] = 0 // what they hold is counted by pruneKept
	}
	return sizes, temps, err
}

// sweepPending removes the records that processes were killed over before they
// counted. Nobody adds one now.
func (h *History) sweepPending() {
	names, err := readNames(h.store.pending.Path())
	if err != nil {
		return // the next time, then
	}
	for _, name := range names {
		if name[0] == '.' {
			_ = h.store.pending.Remove(name)
		}
	}
}

// pendingHashes are what the changes need that are not finished.
func (h *History) pendingHashes() (map[string]bool, error) {
	needed := map[string]bool{}
	list, err := h.onTheirWay()
	for i := range list {
		for _, hash := range list[i].needs(true) {
			needed[hash] = true
		}
	}
	return needed, err
}

// needs returns what the record needs of the journal, each once: its stash, the old
// contents, and of a change on its way the new ones too.
func (r *Record) needs(onItsWay bool) []string {
	var all []string
	if r.Stash != "" {
		all = append(all, stashDir+"/"+r.Stash)
	}
	if r.Shelf != nil && onItsWay {
		all = append(all, shelfDir+"/"+r.ID, shelfDir+"/"+r.ShelfOf)
	}
	for _, f := range r.Files {
		if f.Before.Kept {
			all = append(all, f.Before.Hash)
		}
		if f.After.Kept && onItsWay {
			all = append(all, f.After.Hash)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (h *History) droppedID() string {
	if h.store.top == nil {
		return ""
	}
	data, err := h.store.top.ReadFile(droppedFile)
	if err != nil {
		return ""
	}
	return string(data)
}
