//go:build !unix

package session

import (
	"io/fs"
	"path/filepath"
	"strings"
)

// modes says that permission bits mean nothing here: on Windows the state
// directory lies in the user's profile, whose access list it inherits.
const modes = false

const nonblock = 0

func ours(fs.FileInfo) bool { return true }

func links(fs.FileInfo) uint64 { return 1 }

// platformID refuses device names and what the file system would shorten.
func platformID(id string) bool {
	return filepath.IsLocal(id) && !strings.HasSuffix(id, ".")
}
