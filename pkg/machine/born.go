package machine

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// BornSince reports whether a file was made at a time or later, or is not there. Where the
// file system does not say when it was made, it was made before.
func BornSince(path string, since time.Time) bool {
	born, ok := Birth(path)
	if !ok {
		_, err := os.Lstat(path)
		return errors.Is(err, fs.ErrNotExist)
	}
	return !born.Before(since)
}
