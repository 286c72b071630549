//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package safefile

import "syscall"

func tryLock(fd uintptr, exclusive bool) error {
	how := syscall.LOCK_SH
	if exclusive {
		how = syscall.LOCK_EX
	}
	for {
		switch err := syscall.Flock(int(fd), how|syscall.LOCK_NB); err {
		case syscall.EINTR:
		case syscall.EWOULDBLOCK:
			return ErrLocked
		default:
			return err
		}
	}
}

func unlock(fd uintptr) error { return syscall.Flock(int(fd), syscall.LOCK_UN) }
