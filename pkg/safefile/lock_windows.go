package safefile

import "golang.org/x/sys/windows"

// tryLock locks one byte far behind any content, for Windows keeps others from
// reading and writing the bytes that are locked.
func tryLock(fd uintptr, exclusive bool) error {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if exclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(fd), flags, 0, 1, 0, lockedByte())
	if err == windows.ERROR_LOCK_VIOLATION {
		return ErrLocked
	}
	return err
}

func unlock(fd uintptr) error {
	return windows.UnlockFileEx(windows.Handle(fd), 0, 1, 0, lockedByte())
}

func lockedByte() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: 0x7fffffff} }
