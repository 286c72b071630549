//go:build linux && (amd64 || arm64)

package sandbox

import (
	"slices"
	"unsafe"

	"github.com/agentkit-go/agentkit/pkg/fork"
	"golang.org/x/sys/unix"
)

// A seccompProgram is a seccomp filter in the making. Each part begins and ends with
// the system call's number in the accumulator.
type seccompProgram []unix.SockFilter

const (
	opLoad  = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	opEqual = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	opAtMin = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
	opBits  = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
	opAnd   = unix.BPF_ALU | unix.BPF_AND | unix.BPF_K
	opRet   = unix.BPF_RET | unix.BPF_K

	atNumber = 0 // offsets in struct seccomp_data
	atArch   = 4
)

// argument is where the low half of argument i stands. All machines that we
// know of are little endian, and what is compared never has more than 32 bits.
func argument(i int) uint32 { return 16 + 8*uint32(i) }

func refuse(e unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(e) }

// Parameters of system calls.
const (
	namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET
	socketType = 0xf // the part of socket's second argument that is no flag
)

func (p *seccompProgram) add(code uint16, k uint32, yes, no uint8) {
	*p = append(*p, unix.SockFilter{Code: code, K: k, Jt: yes, Jf: no})
}

// on returns verdict for the system calls listed.
func (p *seccompProgram) on(verdict uint32, calls ...uintptr) {
	for _, nr := range calls {
		p.add(opEqual, uint32(nr), 0, 1)
		p.add(opRet, verdict, 0, 0)
	}
}

// onBits returns verdict when argument i of the call has any of the bits.
func (p *seccompProgram) onBits(verdict uint32, nr uintptr, i int, bits uint32) {
	p.add(opEqual, uint32(nr), 0, 4)
	p.add(opLoad, argument(i), 0, 0)
	p.add(opBits, bits, 0, 1)
	p.add(opRet, verdict, 0, 0)
	p.add(opLoad, atNumber, 0, 0)
}

// onValues returns verdict when argument i of the call is one of the values.
func (p *seccompProgram) onValues(verdict uint32, nr uintptr, i int, values ...uint32) {
	p.add(opEqual, uint32(nr), 0, uint8(2*len(values)+2))
	p.add(opLoad, argument(i), 0, 0)
	for _, v := range values {
		p.add(opEqual, v, 0, 1)
		p.add(opRet, verdict, 0, 0)
	}
	p.add(opLoad, atNumber, 0, 0)
}

// onBoth returns verdict when argument i of the call has any of the bits, and argument j any of the others.
func (p *seccompProgram) onBoth(verdict uint32, nr uintptr, i int, bits uint32, j int, others uint32) {
	p.add(opEqual, uint32(nr), 0, 6)
	p.add(opLoad, argument(i), 0, 0)
	p.add(opBits, bits, 0, 3)
	p.add(opLoad, argument(j), 0, 0)
	p.add(opBits, others, 0, 1)
	p.add(opRet, verdict, 0, 0)
	p.add(opLoad, atNumber, 0, 0)
}

// unlessValues returns verdict when argument i is none of the values.
func (p *seccompProgram) unlessValues(verdict uint32, nr uintptr, i int, values ...uint32) {
	n := uint8(len(values))
	p.add(opEqual, uint32(nr), 0, n+3)
	p.add(opLoad, argument(i), 0, 0)
	for k, v := range values {
		p.add(opEqual, v, n-uint8(k), 0)
	}
	p.add(opRet, verdict, 0, 0)
	p.add(opLoad, atNumber, 0, 0)
}

// onSocket returns verdict when the call, socket or socketpair, asks for the
// family and for a type in types or for a protocol other than those in
// protocols; nil stands for none and any.
func (p *seccompProgram) onSocket(verdict uint32, nr uintptr, family uint32, types, protocols []uint32) {
	var in seccompProgram
	if len(types) > 0 {
		in.add(opLoad, argument(1), 0, 0)
		in.add(opAnd, socketType, 0, 0)
		for _, t := range types {
			in.add(opEqual, t, 0, 1)
			in.add(opRet, verdict, 0, 0)
		}
	}
	if len(protocols) > 0 {
		n := uint8(len(protocols))
		in.add(opLoad, argument(2), 0, 0)
		for k, v := range protocols {
			in.add(opEqual, v, n-uint8(k), 0)
		}
		in.add(opRet, verdict, 0, 0)
	}
	p.add(opEqual, uint32(nr), 0, uint8(len(in)+3))
	p.add(opLoad, argument(0), 0, 0)
	p.add(opEqual, family, 0, uint8(len(in)))
	*p = append(*p, in...)
	p.add(opLoad, atNumber, 0, 0)
}

// never lists the calls that nothing in a sandbox needs: what changes the
// machine, reaches past the file system, or is a large part of the kernel that
// Landlock does not watch.
func never() []uintptr {
	return append([]uintptr{
		unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
		unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_FANOTIFY_INIT,
		unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_OPEN_TREE_ATTR,
		unix.SYS_FSOPEN, unix.SYS_FSMOUNT, unix.SYS_FSCONFIG, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_SETNS,
		unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_REBOOT, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_ACCT,
		unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL, unix.SYS_OPEN_BY_HANDLE_AT,
		unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_ADJTIMEX, unix.SYS_CLOCK_ADJTIME, unix.SYS_SYSLOG, unix.SYS_VHANGUP,
	}, neverHere()...)
}

// absent lists the calls that programs do without when the kernel lacks them:
// io_uring does file and network work that no filter sees, and the flags of
// clone3 stand in memory.
func absent() []uintptr {
	return []uintptr{unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_CLONE3}
}

// pastNames lists requests of ioctl by which a file system makes, copies, seals or takes away
// files of which a program has opened no more than a directory, or for reading: Landlock does
// not see it, and in a snapshot nothing is covered.
func pastNames() []uint32 {
	return []uint32{
		0x50009401, 0x50009417, // BTRFS_IOC_SNAP_CREATE, BTRFS_IOC_SNAP_CREATE_V2
		0x5000940e, 0x50009418, // BTRFS_IOC_SUBVOL_CREATE, BTRFS_IOC_SUBVOL_CREATE_V2
		0x5000940f, 0x5000943f, // BTRFS_IOC_SNAP_DESTROY, BTRFS_IOC_SNAP_DESTROY_V2
		0x4008941a, 0xc0c89425, // BTRFS_IOC_SUBVOL_SETFLAGS, BTRFS_IOC_SET_RECEIVED_SUBVOL
		0x4020bc10, 0x4020bc11, // BCH_IOCTL_SUBVOLUME_CREATE, BCH_IOCTL_SUBVOLUME_DESTROY
		0x40186f04,             // OCFS2_IOC_REFLINK
		0x40806685, 0x800c6613, // FS_IOC_ENABLE_VERITY, FS_IOC_SET_ENCRYPTION_POLICY
		0xc0406618, 0xc0406619, // FS_IOC_REMOVE_ENCRYPTION_KEY, FS_IOC_REMOVE_ENCRYPTION_KEY_ALL_USERS
	}
}

// filter is the seccomp program of a level. watch are the calls that the
// gatekeeper sees; shared says that the network is the machine's own.
func filter(watch watched, shared bool, network Network) seccompProgram {
	var p seccompProgram
	p.add(opLoad, atArch, 0, 0)
	p.add(opEqual, auditArch, 1, 0)
	p.add(opRet, unix.SECCOMP_RET_KILL_PROCESS, 0, 0)
	p.add(opLoad, atNumber, 0, 0)
	p.add(opAtMin, 0x40000000, 0, 1) // x32
	p.add(opRet, refuse(unix.ENOSYS), 0, 0)

	p.on(refuse(unix.EPERM), never()...)
	p.on(refuse(unix.ENOSYS), absent()...)
	p.onBits(refuse(unix.EPERM), unix.SYS_CLONE, 0, namespaces)
	p.onBits(refuse(unix.EPERM), unix.SYS_UNSHARE, 0, namespaces|unix.CLONE_NEWTIME)
	p.onValues(refuse(unix.EPERM), unix.SYS_IOCTL, 1, unix.TIOCSTI, unix.TIOCLINUX, unix.TIOCCONS, unix.TIOCSETD)
	p.onValues(refuse(unix.EPERM), unix.SYS_IOCTL, 1, pastNames()...)
	if watch.metadata {
		p.on(refuse(unix.ENOSYS), newer()...)
		p.on(refuse(unix.EACCES), unix.SYS_MQ_UNLINK) // of the machine's message queues, which Landlock lets nobody open
		p.onValues(refuse(unix.EPERM), unix.SYS_IOCTL, 1, setFlags, setFlags32, setXAttr, setVersion)
	}
	p.sockets(shared, network)
	p.others(watch)
	if !watch.setUser {
		p.setUser(watch.metadata)
	}
	if watch.empties {
		p.empties()
	}
	p.on(unix.SECCOMP_RET_USER_NOTIF, watch.calls...)
	if watch.loads && loadMark != 0 {
		p.onValues(unix.SECCOMP_RET_USER_NOTIF, loadMark, 0, loadMarkArg)
	}
	p.add(opRet, unix.SECCOMP_RET_ALLOW, 0, 0)
	return p
}

// sockets limits the kinds of socket to those whose every way out is watched.
func (p *seccompProgram) sockets(shared bool, network Network) {
	p.unlessValues(refuse(unix.EAFNOSUPPORT), unix.SYS_SOCKET, 0, unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK)
	p.onSocket(refuse(unix.EPROTONOSUPPORT), unix.SYS_SOCKET, unix.AF_NETLINK, nil, []uint32{unix.NETLINK_ROUTE})
	// A datagram names its receiver where no filter can read it, and other
	// programs' sockets in the file system know no network namespaces.
	for _, nr := range []uintptr{unix.SYS_SOCKET, unix.SYS_SOCKETPAIR} {
		p.onSocket(refuse(unix.EACCES), nr, unix.AF_UNIX, []uint32{unix.SOCK_DGRAM, unix.SOCK_RAW}, nil)
	}
	if network == Open || !shared {
		return
	}
	for _, family := range []uint32{unix.AF_INET, unix.AF_INET6} {
		p.onSocket(refuse(unix.EACCES), unix.SYS_SOCKET, family,
			[]uint32{unix.SOCK_DGRAM, unix.SOCK_RAW, unix.SOCK_SEQPACKET, unix.SOCK_RDM, unix.SOCK_DCCP, unix.SOCK_PACKET}, []uint32{0, unix.IPPROTO_TCP})
	}
	// TCP's ways to connect by sending, which is later than it was looked at.
	p.onValues(refuse(unix.ENOPROTOOPT), unix.SYS_SETSOCKOPT, 2, unix.TCP_FASTOPEN_CONNECT)
	p.onBits(refuse(unix.EOPNOTSUPP), unix.SYS_SENDTO, 3, unix.MSG_FASTOPEN)
	p.onBits(refuse(unix.EOPNOTSUPP), unix.SYS_SENDMSG, 2, unix.MSG_FASTOPEN)
	p.onBits(refuse(unix.EOPNOTSUPP), unix.SYS_SENDMMSG, 3, unix.MSG_FASTOPEN)
}

// setUserBits have a program run with the rights of its owner or group.
const setUserBits = unix.S_ISUID | unix.S_ISGID

// setUser keeps the command from making such programs, for others to run. The gatekeeper
// looks at changes of modes, for directories have one of the bits, too.
func (p *seccompProgram) setUser(watched bool) {
	for _, c := range changes() {
		if c.mode > 0 && !watched {
			p.onBits(unix.SECCOMP_RET_USER_NOTIF, c.nr, c.mode, setUserBits)
		}
	}
	const makes = unix.O_CREAT | unix.O_TMPFILE&^unix.O_DIRECTORY
	p.onBoth(refuse(unix.EPERM), unix.SYS_OPENAT, 2, makes, 3, setUserBits)
	p.onBits(refuse(unix.EPERM), unix.SYS_MKNODAT, 2, setUserBits)
	p.setUserHere(makes)
	p.on(refuse(unix.ENOSYS), unix.SYS_OPENAT2) // its mode stands in memory
}

// A watched says which calls the gatekeeper sees.
type watched struct {
	calls    []uintptr
	loads    bool // the first thing that a started program does, see loadMark
	metadata bool // changes of metadata
	apart    bool // the command has a PID namespace of its own
	signals  bool // signals to other processes, which Landlock does not hold
	setUser  bool // programs that run with their owner's rights may be made
	empties  bool // files that are emptied as they are opened
}

// watch lists what the gatekeeper has to see.
func watch(gate, mounts, removals, moves, empties bool) watched {
	w := watched{calls: []uintptr{unix.SYS_CONNECT}, empties: empties}
	if gate {
		w.calls = append(w.calls, unix.SYS_EXECVE, unix.SYS_EXECVEAT)
		w.loads = true
	}
	if mounts && removals {
		w.calls = append(append(w.calls, unix.SYS_UNLINKAT), removalsHere()...)
	}
	if mounts && moves || empties {
		w.calls = append(w.calls, renames()...)
	}
	if !mounts {
		w.calls = slices.Concat(w.calls, []uintptr{unix.SYS_BIND, unix.SYS_LISTEN}, metadataCalls())
		w.metadata = true
	}
	return w
}

// seccomp installs the filter and hands its listener to the gatekeeper over
// the socket tell.
func (p *plan) seccomp(prog seccompProgram, flags uintptr, tell int) {
	listener := p.Cell()
	p.Do("seccomp", unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags|unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, p.place(prog)).Keeps(listener)
	p.hand("handing over the listener", listener, tell)
	p.Close(listener)
}

// place returns where the child finds the filter.
func (p *plan) place(prog seccompProgram) unsafe.Pointer {
	first := fork.PlaceAll(&p.Plan, prog)
	return unsafe.Pointer(fork.Place(&p.Plan, unix.SockFprog{Len: uint16(len(prog)), Filter: first}))
}

// hand adds the sending of a cell's descriptor over the socket tell.
func (p *plan) hand(name string, c fork.Ref, tell int) {
	// A descriptor and padding are what follows the header.
	control := fork.Place(&p.Plan, struct {
		unix.Cmsghdr
		data [2]int32
	}{})
	control.Level, control.Type = unix.SOL_SOCKET, unix.SCM_RIGHTS
	control.SetLen(unix.CmsgLen(4))
	p.Poke(c, &control.data[0])
	vector := unix.Iovec{Base: fork.Place(&p.Plan, byte(1))}
	vector.SetLen(1)
	msg := unix.Msghdr{Iov: fork.Place(&p.Plan, vector), Control: (*byte)(unsafe.Pointer(control))}
	msg.SetIovlen(1)
	msg.SetControllen(unix.CmsgSpace(4))
	p.Do(name, unix.SYS_SENDMSG, tell, unsafe.Pointer(fork.Place(&p.Plan, msg)), unix.MSG_NOSIGNAL).Retried()
}

// plainSeccomp installs the filter where a gatekeeper further out listens, and
// tells ours.
func (p *plan) plainSeccomp(prog seccompProgram, tell int) {
	prog = slices.Clone(prog)
	for i := range prog {
		if prog[i].Code == opRet && prog[i].K == unix.SECCOMP_RET_USER_NOTIF {
			prog[i].K = unix.SECCOMP_RET_ALLOW
		}
	}
	p.Do("seccomp", unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, p.place(prog))
	p.Do("telling the parent", unix.SYS_WRITE, tell, []byte{1}, 1)
}
