//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package policy

import (
	"errors"
	"io/fs"
	"os"
)

func lockFile(*os.File) error { return errors.ErrUnsupported }

func writableByAll(fs.FileInfo) bool { return false }
