package change

import (
	"cmp"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/session"
)

// shelf opens the shelf of a change, which is made where it is missing.
func (h *History) shelf(id string) (*os.Root, error) {
	top, err := h.store.top.Make(shelfDir)
	if err != nil {
		return nil, err
	}
	defer top.Close()
	dir, err := top.Make(id)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return os.OpenRoot(dir.Path())
}

// dropShelf forgets what is kept for a change.
func (h *History) dropShelf(id string) {
	top := h.session.Path(journalDir, shelfDir)
	dir, err := os.OpenRoot(top)
	if err != nil {
		return
	}
	defer dir.Close()
	if dir.RemoveAll(id) == nil {
		return
	}
	// A directory that its owner has closed has to be opened to be removed.
	_ = fs.WalkDir(dir.FS(), id, func(name string, e fs.DirEntry, _ error) error {
		if e != nil && e.IsDir() && dir.Chmod(name, 0o700) != nil {
			return fs.SkipDir
		}
		return nil
	})
	_ = dir.RemoveAll(id)
}

// pruneShelves forgets the oldest of what is kept beyond a size and an age, and
// returns the changes that can no longer be undone.
func (h *History) pruneShelves(most int64, age time.Duration) (dropped []string) {
	ids, err := readNames(h.session.Path(journalDir, shelfDir))
	if err != nil || len(ids) < 2 {
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
	slices.SortFunc(ids, func(a, b string) int { return cmp.Compare(b, a) }) // newest first
	oldest := session.NewSortableID("", h.o.Now().Add(-age))
	for i, id := range ids {
		r, err := h.store.load(id)
		if err != nil && !missing(err) {
			continue
		}
		for _, slot := range r.Shelf {
			most -= slot.Bytes
		}
		switch {
		case err != nil: // of a process that was killed before it counted, or was dropped
			h.dropShelf(id)
		case i > 0 && (most < 0 || strings.Compare(id, oldest) < 0):
			dropped = append(dropped, id)
		}
	}
	_, _ = h.remove(slices.Clone(dropped), nil, nil, nil)
	return dropped
}
