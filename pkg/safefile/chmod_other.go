//go:build !linux

package safefile

import (
	"io/fs"
	"os"
	"syscall"
)

// Chmod sets the mode of what is called name in a directory. It does nothing to a link.
func Chmod(dir *os.Root, name string, mode fs.FileMode) error {
	info, err := dir.Lstat(name)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		err = &fs.PathError{Op: "chmod", Path: name, Err: syscall.ELOOP}
	}
	if err != nil {
		return err
	}
	return dir.Chmod(name, mode)
}
