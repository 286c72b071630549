//go:build linux && (386 || arm || mips || mipsle)

package rg

import "golang.org/x/sys/unix"

const sysFstatat = unix.SYS_FSTATAT64
