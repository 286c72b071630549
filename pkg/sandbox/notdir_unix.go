//go:build unix

package sandbox

import "syscall"

// errNotDir is what a path through a file gives.
const errNotDir = syscall.ENOTDIR
