package sandbox

import "syscall"

// errNotDir is what a path through a file gives.
const errNotDir = syscall.ERROR_PATH_NOT_FOUND
