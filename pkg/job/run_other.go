//go:build !unix

package job

import "syscall"

func signalName(s syscall.Signal) string { return s.String() }

const brokenPipe = syscall.SIGPIPE
