package change

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/windows"
)

// overwritten is not known before the write here.
func overwritten(string, fs.FileInfo) bool { return false }

func identity(fs.FileInfo) (dev, ino uint64, ctime int64) { return 0, 0, 0 }

func notEmpty(err error) bool { return errors.Is(err, windows.ERROR_DIR_NOT_EMPTY) }

// kept is what the system keeps of a mode: whether the file may be written.
func kept(mode fs.FileMode) fs.FileMode { return mode & 0o200 }
