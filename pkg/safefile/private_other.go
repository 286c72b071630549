//go:build !unix

package safefile

import (
	"io/fs"
)

// modes says that permission bits mean nothing here: on Windows the state
// directory lies in the user's profile, whose access list it inherits.
const modes = false

const nonblock, nofollow = 0, 0

func ours(fs.FileInfo) bool { return true }

func links(fs.FileInfo) uint64 { return 1 }
