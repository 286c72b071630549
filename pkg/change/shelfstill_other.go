//go:build !linux && !darwin

package change

import (
	"errors"
	"io/fs"
	"os"
)

// likewise gives a copy the owner, the group and the attributes of a file.
func likewise(*os.File, *os.File, fs.FileInfo) error { return errors.ErrUnsupported }
