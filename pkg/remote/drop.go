package remote

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// A Dropped is a program that was removed.
type Dropped struct {
	Path  string
	Bytes int64
}

// DropPrograms removes, at a far end, the programs that were brought into its state directory, the
// one that runs among them, and what is left of those that did not come whole. With dry it only
// says what would go.
func DropPrograms(state string, dry bool) (gone []Dropped, err error) {
	dir := filepath.Join(state, "far")
	root, err := os.OpenRoot(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	defer root.Close() //nolint:errcheck // nothing was written to it
	entries, err := fs.ReadDir(root.FS(), ".")
	for _, e := range entries {
		info, problem := e.Info()
		if problem != nil || !info.Mode().IsRegular() {
			continue
		}
		begun := strings.HasPrefix(e.Name(), ".new-") && time.Since(info.ModTime()) > time.Hour
		if !begun && !strings.HasPrefix(e.Name(), "agentkit-") {
			continue
		}
		if !dry {
			if problem := root.Remove(e.Name()); problem != nil {
				err = errors.Join(err, problem)
				continue
			}
		}
		gone = append(gone, Dropped{filepath.Join(dir, e.Name()), info.Size()})
	}
	if !dry {
		_ = os.Remove(dir) // where nothing else is in it
	}
	return gone, err
}

// Forget has the connections that are kept end, and further calls open others.
func Forget(keep string) {
	d, err := safefile.MakeDir(keep)
	if err != nil {
		return
	}
	defer d.Close() //nolint:errcheck // nothing was written to it
	entries, _ := d.ReadDir()
	for _, e := range entries {
		if e.Type()&fs.ModeSocket != 0 {
			_ = d.Remove(e.Name()) // which its keeper notices
		}
	}
}
