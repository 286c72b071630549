//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package safefile

import "errors"

func tryLock(uintptr, bool) error { return errors.ErrUnsupported }

func unlock(uintptr) error { return errors.ErrUnsupported }
