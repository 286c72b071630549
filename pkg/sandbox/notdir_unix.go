//go:build unix

package sandbox

import "syscall"

// errNotDir is what a path through a file gives.
const errNotDir = syscall.ENOTDIR

// noWait opens a pipe without waiting for its other end.
const noWait = syscall.O_NONBLOCK
