package change

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/session"
)

// pruneKept forgets the oldest of what commands took away, on shelves and in stashes,
// beyond a size and an age, and returns the changes that can no longer be undone. The
// newest stays, whatever its size.
func (h *History) pruneKept(most int64, age time.Duration) (dropped []string) {
	shelves, err := readNames(h.session.Path(journalDir, shelfDir))
	stashes, err2 := readNames(h.session.Path(journalDir, stashDir))
	names := append(shelves, stashes...)
	if err != nil || err2 != nil || len(names) < 2 {
		return nil
	}
	lock, err := h.store.top.OpenFile(holdFile, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil
	}
	defer lock.Close()
	if safefile.TryLock(lock, true) != nil {
		return nil // others are at work; one of them will be last
	}
	slices.Sort(names)
	oldest := session.NewSortableID("", h.o.Now().Add(-age))
	for i, name := range slices.Backward(names) { // newest first
		id, text, stash := strings.Cut(name, ".")
		r, err := h.store.load(id)
		if err != nil && !missing(err) {
			continue
		}
		bytes, _ := strconv.ParseInt(text, 10, 64)
		most -= bytes
		for _, slot := range r.Shelf {
			most -= slot.Bytes
		}
		switch {
		case err != nil && !stash: // of a process that was killed before it counted, or was dropped
			if _, left := h.store.top.Lstat(filepath.Join(shelvingDir, id)); missing(left) {
				h.dropShelf(id)
			}
		case i < len(names)-1 && (most < 0 || id < oldest):
			if err == nil {
				dropped = append(dropped, id)
			}
			if stash {
				dropped = append(dropped, h.undosOf(name)...)
				_ = h.store.removeStash(name)
			}
		}
	}
	slices.Sort(dropped)
	slices.Reverse(dropped)
	dropped = slices.Compact(dropped)
	_, _ = h.remove(slices.Clone(dropped), nil, nil, nil)
	return dropped
}

// undosOf returns the undos whose files are in a stash, too.
func (h *History) undosOf(stash string) (ids []string) {
	names, _ := readNames(h.store.done.Path())
	for _, id := range names {
		if r, err := h.store.load(id); err == nil && r.Stash == stash && r.Undoes != "" {
			ids = append(ids, id)
		}
	}
	return ids
}
