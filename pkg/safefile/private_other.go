//go:build !unix

package safefile

import (
	"errors"
	"io/fs"
	"syscall"
)

// modes says that permission bits mean nothing here: on Windows the state
// directory lies in the user's profile, whose access list it inherits.
const modes = false

const nonblock, nofollow = 0, 0

func ours(fs.FileInfo) bool { return true }

func links(fs.FileInfo) uint64 { return 1 }

// DiskFull reports whether there was no room for what was to be written: that is
// ERROR_DISK_FULL of Windows.
func DiskFull(err error) bool { return errors.Is(err, syscall.Errno(112)) }
