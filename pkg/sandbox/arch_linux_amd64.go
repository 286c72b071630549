package sandbox

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_X86_64

	// loadMark is a call that every program makes once, early, while it is
	// loaded: setting up the memory of its first thread. With loadMarkArg as
	// its first argument.
	loadMark    = unix.SYS_ARCH_PRCTL
	loadMarkArg = 0x1002 // ARCH_SET_FS
)

// changesHere lists the older forms of changes, which only this machine has.
func changesHere() []change {
	return []change{
		{nr: unix.SYS_CHMOD, dir: -1, path: 0, flag: -1, mode: 1, do: setMode},
		{nr: unix.SYS_CHOWN, dir: -1, path: 0, flag: -1, do: owner(1)},
		{nr: unix.SYS_LCHOWN, dir: -1, path: 0, flag: -1, stay: true, do: owner(1)},
		{nr: unix.SYS_UTIME, dir: -1, path: 0, flag: -1, do: times(1, 0)},
		{nr: unix.SYS_UTIMES, dir: -1, path: 0, flag: -1, do: times(1, 1000)},
		{nr: unix.SYS_FUTIMESAT, dir: 0, path: 1, flag: -1, do: times(2, 1000)},
	}
}

// rmdirHere and unlinkHere are the older forms of a removal of a directory, and of anything else; removalsHere are all older
// forms of removals.
const (
	rmdirHere  = uintptr(unix.SYS_RMDIR)
	unlinkHere = uintptr(unix.SYS_UNLINK)
)

func removalsHere() []uintptr { return []uintptr{unix.SYS_UNLINK, unix.SYS_RMDIR} }

// renameHere is the older form of a rename.
const renameHere = uintptr(unix.SYS_RENAME)

// opensHere lists the older forms of opening a file.
func opensHere() []opening { return []opening{{unix.SYS_OPEN, 1}, {unix.SYS_CREAT, -1}} }

// linkHere is the older form of what makes a hard link.
const linkHere = uintptr(unix.SYS_LINK)

// neverHere lists the calls that nothing needs and only this machine has.
func neverHere() []uintptr {
	return []uintptr{unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_USELIB, unix.SYS__SYSCTL, unix.SYS_MODIFY_LDT}
}

// setUserHere does what setUser does with the older forms of calls.
func (p *seccompProgram) setUserHere(makes uint32) {
	p.onBoth(refuse(unix.EPERM), unix.SYS_OPEN, 1, makes, 2, setUserBits)
	p.onBits(refuse(unix.EPERM), unix.SYS_CREAT, 1, setUserBits)
	p.onBits(refuse(unix.EPERM), unix.SYS_MKNOD, 1, setUserBits)
}
