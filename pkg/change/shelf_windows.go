package change

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

const nonBlocking = 0

func linkAt(from *os.File, name string, to *os.File, as string) error {
	return os.Link(filepath.Join(from.Name(), name), filepath.Join(to.Name(), as))
}

func renameAt(from *os.File, name string, to *os.File, as string) error {
	return os.Rename(filepath.Join(from.Name(), name), filepath.Join(to.Name(), as))
}

func otherDevice(err error) bool { return errors.Is(err, windows.ERROR_NOT_SAME_DEVICE) }

func names(fs.FileInfo) uint64 { return 1 }

func giveAway(*os.File, fs.FileInfo) {}
