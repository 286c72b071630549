package change

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// What is copied so that nobody sees that it is kept: of one change so many files and bytes, and no
// larger file. What is more gets a second name.
const (
	maxStill      = 256 << 10
	maxStillBytes = 16 << 20
	maxStillFiles = 64
)

// A room is what there is left of that.
type room struct {
	files int
	bytes int64
}

func newRoom() room { return room{maxStillFiles, maxStillBytes} }

// less reports whether what stands at a path has more names than there is room for: then some would be seen.
func (r room) less(path string) (more bool) {
	left := r.files
	_ = filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			left--
		}
		if more = left < 0; more {
			return fs.SkipAll
		}
		return nil
	})
	return more
}

// copyStill copies a file on which nobody is to see that it is kept, where that loses nothing. It reports whether it
// did.
func (l *load) copyStill(p place, shelf *os.Root, to string, info fs.FileInfo, rel string) bool {
	size := info.Size()
	switch {
	case l.still == nil || !info.Mode().IsRegular() || names(info) != 1 || size > maxStill || size > l.room.bytes || l.room.files == 0:
		return false
	case !l.still(filepath.Join(l.path, rel), info) || copyWhole(p, shelf, to, info) != nil:
		return false
	}
	l.room.files, l.room.bytes, l.same = l.room.files-1, l.room.bytes-size, false
	return true
}

// copyWhole copies a small file with its mode, time, owner and attributes; where it cannot have them, there is no copy.
func copyWhole(p place, shelf *os.Root, to string, info fs.FileInfo) error {
	made := false
	err := copyBy(p, shelf, to, info, func(f, from *os.File) error {
		made = true
		data := make([]byte, info.Size()+1)
		n, err := io.ReadFull(from, data)
		if int64(n) != info.Size() {
			return &fs.PathError{Op: "copy", Path: p.name, Err: errors.Join(workspace.ErrMoved, err)}
		}
		if _, err := f.Write(data[:n]); err != nil {
			return err
		}
		return likewise(f, from, info)
	})
	if err != nil && made {
		_ = shelf.Remove(to)
	}
	return err
}
