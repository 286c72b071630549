//go:build unix && !linux

package killtree

import "syscall"

// adopt does nothing: only Linux ties a child's life to its parent's.
func adopt(*syscall.SysProcAttr) {}

// bury does nothing: init collects the dead.
func bury(int) {}
