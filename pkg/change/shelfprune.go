package change

import (
	"io/fs"
	"os"
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
