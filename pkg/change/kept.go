package change

import (
	"fmt"
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
// newest stays, whatever its size, and so does the one that was made just now: that of a job bears the time at which it began.
func (h *History) pruneKept(most int64, age time.Duration, made string) (dropped []string) {
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
	needed, err := h.pendingHashes()
	if err != nil {
		return nil
	}
	slices.Sort(names)
	sizes := h.keptSizes()
	oldest := session.NewSortableID("", h.o.Now().Add(-age))
	for i, name := range slices.Backward(names) { // newest first
		if needed[shelfDir+"/"+name] || needed[stashDir+"/"+name] {
			continue // somebody goes on with it
		}
		id, text, stash := strings.Cut(name, ".")
		size, err := sizes.of(id)
		if err != nil && !missing(err) {
			continue
		}
		bytes, _ := strconv.ParseInt(text, 10, 64)
		most -= bytes + size
		switch {
		case err != nil && !stash: // of a process that was killed before it counted, or was dropped
			if _, left := h.store.top.Lstat(filepath.Join(shelvingDir, id)); missing(left) {
				h.dropShelf(id)
			}
		case i < len(names)-1 && id != made && (most < 0 || id < oldest):
			if err == nil {
				dropped = append(dropped, id)
			}
			if stash {
				dropped = append(dropped, h.undosOf(name)...)
				_ = h.store.removeStash(name)
			}
		}
	}
	sizes.keep(len(names))
	slices.Sort(dropped)
	slices.Reverse(dropped)
	dropped = slices.Compact(dropped)
	_, _ = h.remove(slices.Clone(dropped), nil, nil, nil)
	return dropped
}

// keptFile has a line for each change that keeps something on a shelf, with its size: the
// records themselves would all have to be read whenever one is added.
const (
	keptFile = "kept"
	keptEnd  = ".\n" // of a line that was written as a whole
)

// keptSizes are how much changes keep on their shelves. They are for whoever has the journal
// for itself.
type keptSizes struct {
	h     *History
	done  map[string]bool // the changes that there are
	had   map[string]int64
	lines int
	news  []string
}

func (h *History) keptSizes() *keptSizes {
	k := &keptSizes{h: h, done: map[string]bool{}, had: map[string]int64{}}
	ids, _ := readNames(h.store.done.Path())
	for _, id := range ids {
		k.done[id] = true
	}
	data, _ := h.store.top.ReadFile(keptFile)
	for line := range strings.Lines(string(data)) {
		k.lines++
		id, text, ok := strings.Cut(line, " ")
		text, whole := strings.CutSuffix(text, keptEnd)
		if size, err := strconv.ParseInt(text, 10, 64); ok && whole && err == nil {
			k.had[id] = size
		}
	}
	return k
}

// of returns how much a change keeps; the error is missing where there is no such change.
func (k *keptSizes) of(id string) (size int64, err error) {
	if size, ok := k.had[id]; ok && k.done[id] {
		return size, nil
	}
	r, err := k.h.store.load(id)
	if err != nil {
		return 0, err
	}
	for _, slot := range r.Shelf {
		size += slot.Bytes
	}
	k.had[id] = size
	k.news = append(k.news, id)
	return size, nil
}

// keep writes what is new behind what is there; all of it where most of that is gone.
func (k *keptSizes) keep(names int) {
	var text strings.Builder
	write := func(id string) { fmt.Fprintf(&text, "%s %d%s", id, k.had[id], keptEnd) }
	switch {
	case len(k.news) == 0:
	case k.lines > 2*names+100:
		for id := range k.had {
			if k.done[id] {
				write(id)
			}
		}
		_ = k.h.store.top.WriteFile(keptFile, []byte(text.String()), false)
	default:
		for _, id := range k.news {
			write(id)
		}
		if f, err := k.h.store.top.OpenFile(keptFile, os.O_WRONLY|os.O_CREATE|os.O_APPEND); err == nil {
			_, _ = f.WriteString("\n" + text.String()) // behind a line that was not ended
			_ = f.Close()
		}
	}
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
