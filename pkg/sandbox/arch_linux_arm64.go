package sandbox

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_AARCH64

	// loadMark is 0: this machine sets up threads without the kernel, so there
	// is no call that every program makes once.
	loadMark    = 0
	loadMarkArg = 0
)

func changesHere() []change { return nil }

const rmdirHere, unlinkHere = ^uintptr(0), ^uintptr(0)

func removalsHere() []uintptr { return nil }

const renameHere = ^uintptr(0)

func opensHere() []opening { return nil }

const linkHere = ^uintptr(0)

func neverHere() []uintptr { return nil }

func (p *seccompProgram) setUserHere(uint32) {}
