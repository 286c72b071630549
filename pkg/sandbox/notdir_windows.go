package sandbox

import "syscall"

// errNotDir is what a path through a file gives.
const errNotDir = syscall.ERROR_PATH_NOT_FOUND

// noWait is for systems whose pipes are files.
const noWait = 0
