package sandbox

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// copyContent copies what a file holds, and leaves out its holes: a command makes one of 64 GiB in no time.
func copyContent(to, from *os.File) error {
	i, err := from.Stat()
	if err != nil {
		return err
	}
	for at := int64(0); at < i.Size(); {
		data, err := from.Seek(at, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) {
			break
		}
		if err != nil { // the file system does not tell
			data = at
		}
		hole, err := from.Seek(data, unix.SEEK_HOLE)
		if err != nil {
			hole = i.Size()
		}
		_, err1 := from.Seek(data, io.SeekStart)
		_, err2 := to.Seek(data, io.SeekStart)
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		if _, err := io.CopyN(to, from, hole-data); err != nil {
			return err
		}
		at = hole
	}
	return to.Truncate(i.Size())
}
