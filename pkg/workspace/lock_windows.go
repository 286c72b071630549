package workspace

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

const noFollow = 0

func lockFile(f *os.File) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return errBusy
	}
	return err
}

// unlock leaves the file: an open one cannot be removed here.
func unlock(f *os.File, _ string) { f.Close() }
