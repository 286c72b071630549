//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// An attack tries to get out of the sandbox in one way. It returns nil when it
// has got out. What it touches lies in directories made for it, or is only
// opened.
type attack struct {
	name string
	at   string // the levels that stop it: "23", or "3" where L2 leaves it open, see docs/sandbox.md
	root bool   // without a sandbox only root succeeds
	hard bool   // without a sandbox it may fail too, for reasons of the machine
	do   func(b base) error
}

// A base is the directory of an attack:
//
//	root/       the workspace, with .git and a secret, .env
//	out/        somebody else's: victim, dir, exe, sock
//	state/      our own state: secret, job.sock
//	tmp/        the temporary directory, with a socket, old.sock, that is not the command's
type base string

func (b base) path(names ...string) string {
	return filepath.Join(append([]string{string(b)}, names...)...)
}

func (b base) victim() string { return b.path("out", "victim") }

// outside is an address of the machine that is not its loopback.
const outside = "192.0.2.1"

var attacks = []attack{
	{name: "write outside", at: "23", do: func(b base) error { return opened(b.victim(), os.O_WRONLY) }},
	{name: "append outside", at: "23", do: func(b base) error { return opened(b.victim(), os.O_WRONLY|os.O_APPEND) }},
	{name: "open and truncate outside", at: "23", do: func(b base) error { return opened(b.victim(), os.O_RDONLY|os.O_TRUNC) }},
	{name: "truncate outside", at: "23", do: func(b base) error { return unix.Truncate(b.victim(), 1) }},
	{name: "create outside", at: "23", do: func(b base) error { return os.WriteFile(b.path("out", "new"), nil, 0o600) }},
	{name: "delete outside", at: "23", do: func(b base) error { return os.Remove(b.victim()) }},
	{name: "make a directory outside", at: "23", do: func(b base) error { return os.Mkdir(b.path("out", "newdir"), 0o700) }},
	{name: "remove a directory outside", at: "23", do: func(b base) error { return os.Remove(b.path("out", "dir")) }},
	{name: "have the gatekeeper delete outside", at: "23", do: func(b base) error {
		_ = os.Symlink(b.path("out"), b.path("root", "loose"))
		return os.Remove(b.path("root", "loose", "victim"))
	}},
	{name: "the same while the directory changes", at: "23", hard: true, do: func(b base) error {
		mine, link := b.path("root", "loose"), b.path("root", "swapped")
		_ = os.Symlink(b.path("out"), link)
		over := make(chan struct{})
		defer close(over)
		go func() {
			for {
				select {
				case <-over:
					return
				default:
					_ = unix.Renameat2(unix.AT_FDCWD, mine, unix.AT_FDCWD, link, unix.RENAME_EXCHANGE)
				}
			}
		}()
		for range 500 {
			_ = os.Mkdir(mine, 0o700)
			_ = os.WriteFile(filepath.Join(mine, "victim"), nil, 0o600)
			_ = unix.Unlink(filepath.Join(mine, "victim"))
			if _, err := os.Lstat(b.victim()); err != nil {
				return nil
			}
		}
		return errors.New("it is still there")
	}},
	{name: "rename outside", at: "23", do: func(b base) error { return os.Rename(b.victim(), b.path("out", "renamed")) }},
	{name: "move in from outside", at: "23", do: func(b base) error { return os.Rename(b.victim(), b.path("root", "stolen")) }},
	{name: "move out", at: "23", do: func(b base) error {
		_ = os.WriteFile(b.path("root", "mine"), nil, 0o600)
		return os.Rename(b.path("root", "mine"), b.path("out", "mine"))
	}},
	{name: "exchange with outside", at: "23", do: func(b base) error {
		_ = os.WriteFile(b.path("root", "mine"), nil, 0o600)
		return unix.Renameat2(unix.AT_FDCWD, b.path("root", "mine"), unix.AT_FDCWD, b.victim(), unix.RENAME_EXCHANGE)
	}},
	{name: "write through a symbolic link", at: "23", do: func(b base) error {
		_ = os.Symlink(b.victim(), b.path("root", "link"))
		return opened(b.path("root", "link"), os.O_WRONLY)
	}},
	{name: "create through a linked directory", at: "23", do: func(b base) error {
		_ = os.Symlink(b.path("out"), b.path("root", "linkdir"))
		return os.WriteFile(b.path("root", "linkdir", "new"), nil, 0o600)
	}},
	{name: "write through a hard link", at: "23", do: func(b base) error {
		if err := os.Link(b.victim(), b.path("root", "hard")); err != nil {
			return err
		}
		return opened(b.path("root", "hard"), os.O_WRONLY)
	}},
	{name: "symbolic link outside", at: "23", do: func(b base) error { return os.Symlink("x", b.path("out", "newlink")) }},
	{name: "hard link to outside", at: "23", do: func(b base) error {
		_ = os.WriteFile(b.path("root", "mine2"), nil, 0o600)
		return os.Link(b.path("root", "mine2"), b.path("out", "newhard"))
	}},
	{name: "write by /proc/self/root", at: "23", do: func(b base) error { return opened("/proc/self/root"+b.victim(), os.O_WRONLY) }},
	{name: "write by /proc/self/cwd", at: "23", do: func(base) error { return opened("/proc/self/cwd/../out/victim", os.O_WRONLY) }},
	{name: "write by /proc/1/root", at: "23", root: true, do: func(b base) error { return opened("/proc/1/root"+b.victim(), os.O_WRONLY) }},
	{name: "write by the gatekeeper's root", at: "23", root: true, do: func(b base) error {
		return opened(fmt.Sprintf("/proc/%d/root%s", gatekeeperPID(), b.victim()), os.O_WRONLY)
	}},
	{name: "reopen a descriptor for writing", at: "23", do: func(b base) error {
		f, err := os.Open(b.victim())
		if err != nil {
			return err
		}
		return opened(fmt.Sprintf("/proc/self/fd/%d", f.Fd()), os.O_WRONLY)
	}},
	{name: "write from a directory's descriptor", at: "23", do: func(b base) error {
		dir, err := unix.Open(b.path("out"), unix.O_PATH|unix.O_DIRECTORY, 0)
		if err != nil {
			return err
		}
		_, err = unix.Openat(dir, "victim", unix.O_WRONLY, 0)
		return err
	}},
	{name: "open by handle", at: "23", root: true, do: func(b base) error {
		h, _, err := unix.NameToHandleAt(unix.AT_FDCWD, b.victim(), 0)
		if err != nil {
			return err
		}
		dir, err := unix.Open(b.path("root"), unix.O_RDONLY|unix.O_DIRECTORY, 0)
		if err != nil {
			return err
		}
		_, err = unix.OpenByHandleAt(dir, h, unix.O_WRONLY)
		return err
	}},

	{name: "chmod", at: "23", do: func(b base) error { return raw(sysChmod, b.victim(), 0o600) }},
	{name: "fchmod", at: "23", do: func(b base) error { return onFile(b.victim(), func(fd int) error { return unix.Fchmod(fd, 0o640) }) }},
	{name: "fchmodat", at: "23", do: func(b base) error { return unix.Fchmodat(unix.AT_FDCWD, b.victim(), 0o606, 0) }},
	{name: "fchmodat2", at: "23", hard: true, do: func(b base) error {
		return unix.Fchmodat(unix.AT_FDCWD, b.victim(), 0o660, unix.AT_SYMLINK_NOFOLLOW)
	}},
	{name: "chmod through a link", at: "23", do: func(b base) error {
		_ = os.Symlink(b.victim(), b.path("root", "chmodlink"))
		return os.Chmod(b.path("root", "chmodlink"), 0o611)
	}},
	{name: "chmod by a directory's descriptor", at: "23", do: func(b base) error {
		dir, err := unix.Open(b.path("out"), unix.O_PATH|unix.O_DIRECTORY, 0)
		if err != nil {
			return err
		}
		return unix.Fchmodat(dir, "victim", 0o622, 0)
	}},
	{name: "chown", at: "23", do: func(b base) error { return os.Chown(b.victim(), os.Getuid(), os.Getgid()) }},
	{name: "lchown", at: "23", do: func(b base) error { return os.Lchown(b.victim(), os.Getuid(), os.Getgid()) }},
	{name: "fchown", at: "23", do: func(b base) error {
		return onFile(b.victim(), func(fd int) error { return unix.Fchown(fd, os.Getuid(), os.Getgid()) })
	}},
	{name: "utimensat", at: "23", do: func(b base) error { return os.Chtimes(b.victim(), time.Unix(1, 0), time.Unix(1, 0)) }},
	{name: "futimens", at: "23", do: func(b base) error {
		return onFile(b.victim(), func(fd int) error {
			ts := [2]unix.Timespec{{Sec: 2}, {Sec: 2}}
			_, _, e := unix.Syscall6(unix.SYS_UTIMENSAT, uintptr(fd), 0, uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
			return failed(e)
		})
	}},
	{name: "utimes", at: "23", do: func(b base) error {
		return unix.Utimes(b.victim(), []unix.Timeval{{Sec: 3}, {Sec: 3}})
	}},
	{name: "setxattr", at: "23", do: func(b base) error { return unix.Setxattr(b.victim(), "user.a", []byte("b"), 0) }},
	{name: "lsetxattr", at: "23", do: func(b base) error { return unix.Lsetxattr(b.victim(), "user.l", []byte("b"), 0) }},
	{name: "fsetxattr", at: "23", do: func(b base) error {
		return onFile(b.victim(), func(fd int) error { return unix.Fsetxattr(fd, "user.f", []byte("b"), 0) })
	}},
	{name: "removexattr", at: "23", do: func(b base) error { return unix.Removexattr(b.victim(), "user.there") }},
	{name: "setxattrat", at: "23", hard: true, do: func(b base) error {
		p, _ := unix.BytePtrFromString(b.victim())
		n, _ := unix.BytePtrFromString("user.at")
		v := []byte("b")
		args := struct {
			value uint64
			size  uint32
			flags uint32
		}{uint64(uintptr(unsafe.Pointer(&v[0]))), 1, 0}
		at := unix.AT_FDCWD
		_, _, e := unix.Syscall6(unix.SYS_SETXATTRAT, uintptr(at), uintptr(unsafe.Pointer(p)), 0, uintptr(unsafe.Pointer(n)), uintptr(unsafe.Pointer(&args)), 16)
		runtime.KeepAlive(v)
		return failed(e)
	}},
	{name: "flags of a file", at: "23", hard: true, do: func(b base) error {
		return onFile(b.victim(), func(fd int) error {
			flags := 0x40 // no dump
			_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.FS_IOC_SETFLAGS, uintptr(unsafe.Pointer(&flags)))
			return failed(e)
		})
	}},

	{name: "a snapshot of what is open, and its like", at: "23", do: func(b base) error {
		return onFile(b.path("root"), func(fd int) error {
			for _, request := range pastNames() { // without sense: whatever the file system says but that it may not be made, it has got there
				if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), uintptr(request), 0); e != unix.EPERM {
					return nil
				}
			}
			return unix.EPERM
		})
	}},

	{name: "a set-uid program", at: "23", do: func(b base) error { return b.setUser(func(p string) error { return raw(sysChmod, p, 0o4755) }) }},
	{name: "a set-gid program", at: "23", do: func(b base) error { return b.setUser(func(p string) error { return raw(sysChmod, p, 0o2755) }) }},
	{name: "a set-uid program by its descriptor", at: "23", do: func(b base) error {
		return b.setUser(func(p string) error { return onFile(p, func(fd int) error { return unix.Fchmod(fd, 0o4711) }) })
	}},
	{name: "a set-uid program by fchmodat2", at: "23", hard: true, do: func(b base) error {
		return b.setUser(func(p string) error { return unix.Fchmodat(unix.AT_FDCWD, p, 0o4755, unix.AT_SYMLINK_NOFOLLOW) })
	}},
	{name: "a set-uid program that is made", at: "23", do: func(b base) error {
		return b.setUser(func(p string) error { return made(unix.Open(p+"1", unix.O_CREAT|unix.O_WRONLY, 0o4755)) })
	}},
	{name: "a set-uid program without a name", at: "23", hard: true, do: func(b base) error {
		return b.setUser(func(p string) error { return made(unix.Open(filepath.Dir(p), unix.O_TMPFILE|unix.O_RDWR, 0o4755)) })
	}},
	{name: "a set-uid program by openat2", at: "23", hard: true, do: func(b base) error {
		return b.setUser(func(p string) error {
			return made(unix.Openat2(unix.AT_FDCWD, p+"2", &unix.OpenHow{Flags: unix.O_CREAT | unix.O_WRONLY, Mode: 0o4755}))
		})
	}},
	{name: "a set-uid program by mknod", at: "23", do: func(b base) error {
		return b.setUser(func(p string) error { return unix.Mknod(p+"3", unix.S_IFREG|0o4755, 0) })
	}},
	{name: "a program with capabilities", at: "23", root: true, do: func(b base) error {
		return b.setUser(func(p string) error {
			return unix.Setxattr(p, "security.capability", []byte{1, 0, 0, 2, 1, 19: 0}, 0)
		})
	}},

	{name: "a hook of git", at: "3", do: func(b base) error { return os.WriteFile(b.path("root", ".git", "hooks", "pre-commit"), nil, 0o700) }},
	{name: "the configuration of git", at: "3", do: func(b base) error { return opened(b.path("root", ".git", "config"), os.O_WRONLY) }},
	{name: "another configuration in its place", at: "3", do: func(b base) error {
		_ = os.WriteFile(b.path("root", ".git", "config.lock"), nil, 0o600)
		return os.Rename(b.path("root", ".git", "config.lock"), b.path("root", ".git", "config"))
	}},
	{name: "another .git in its place", at: "3", do: func(b base) error { return os.Rename(b.path("root", ".git"), b.path("root", "git2")) }},
	{name: "no hooks", at: "3", do: func(b base) error { return os.RemoveAll(b.path("root", ".git", "hooks")) }},
	{name: "mode of a hook", at: "3", do: func(b base) error { return os.Chmod(b.path("root", ".git", "hooks", "sample"), 0o755) }},
	{name: "a protected file further down", at: "3", do: func(b base) error { return opened(b.path("root", "sub", "deep", "protected"), os.O_WRONLY) }},
	{name: "the directory above a protected file", at: "3", do: func(b base) error { return os.Rename(b.path("root", "sub"), b.path("root", "sub2")) }},

	{name: "read a secret of the workspace", at: "3", do: func(b base) error { return reads(b.path("root", ".env")) }},
	{name: "read a secret that is hidden through a link", at: "3", do: func(b base) error { return reads(b.path("out", "keys", "secret")) }},
	{name: "read our state", at: "23", do: func(b base) error { return reads(b.path("state", "secret")) }},
	{name: "read our state by /proc/self/root", at: "23", do: func(b base) error { return reads("/proc/self/root" + b.path("state", "secret")) }},
	{name: "list our state", at: "23", do: func(b base) error {
		_, err := os.ReadDir(b.path("state"))
		return err
	}},
	{name: "write our state", at: "23", do: func(b base) error { return os.WriteFile(b.path("state", "grant"), nil, 0o600) }},

	{name: "mount", at: "23", root: true, do: func(b base) error { return unix.Mount("tmpfs", b.path("out", "dir"), "tmpfs", 0, "") }},
	{name: "mount read-write again", at: "23", hard: true, do: func(base) error {
		return unix.Mount("", "/", "", unix.MS_REMOUNT|unix.MS_BIND, "")
	}},
	{name: "clear read-only", at: "23", hard: true, do: func(base) error {
		return unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY})
	}},
	{name: "copy a mount", at: "23", root: true, do: func(b base) error {
		_, err := unix.OpenTree(unix.AT_FDCWD, b.path("out"), unix.OPEN_TREE_CLONE)
		return err
	}},
	{name: "uncover our state", at: "23", hard: true, do: func(b base) error { return unix.Unmount(b.path("state"), unix.MNT_DETACH) }},
	{name: "chroot", at: "23", root: true, do: func(b base) error { return unix.Chroot(b.path("out")) }},
	{name: "new user namespace", at: "23", hard: true, do: func(base) error { return forks(unix.CLONE_NEWUSER) }},
	{name: "new mount namespace", at: "23", root: true, do: func(base) error { return unix.Unshare(unix.CLONE_NEWNS) }},
	{name: "another's namespace", at: "23", root: true, do: func(base) error {
		fd, err := unix.Open(fmt.Sprintf("/proc/%d/ns/net", gatekeeperPID()), unix.O_RDONLY, 0)
		if err != nil {
			return err
		}
		return unix.Setns(fd, unix.CLONE_NEWNET)
	}},
	{name: "clone3", at: "23", do: func(base) error {
		args := [11]uint64{0: 0, 4: uint64(unix.SIGCHLD)}
		pid, _, e := unix.RawSyscall(unix.SYS_CLONE3, uintptr(unsafe.Pointer(&args)), 64, 0)
		if e == 0 && pid == 0 {
			unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
		}
		return failed(e)
	}},

	{name: "trace the gatekeeper", at: "23", hard: true, do: func(base) error {
		runtime.LockOSThread()
		return unix.PtraceSeize(gatekeeperPID())
	}},
	{name: "memory of the gatekeeper", at: "23", root: true, do: func(base) error {
		return opened(fmt.Sprintf("/proc/%d/mem", gatekeeperPID()), os.O_RDWR)
	}},
	{name: "environment of the gatekeeper", at: "23", root: true, do: func(base) error {
		_, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", gatekeeperPID()))
		return err
	}},
	{name: "descriptors of the gatekeeper", at: "23", root: true, do: func(base) error {
		fd, err := unix.PidfdOpen(gatekeeperPID(), 0)
		if err != nil {
			return err
		}
		_, err = unix.PidfdGetfd(fd, 0, 0)
		return err
	}},
	{name: "signal the gatekeeper", at: "23", do: func(base) error { return unix.Kill(gatekeeperPID(), unix.SIGCONT) }},
	{name: "signal the stage", at: "23", root: true, do: func(base) error { return unix.Kill(1, unix.SIGCONT) }},

	{name: "io_uring", at: "23", hard: true, do: func(base) error {
		params := make([]byte, 256)
		_, _, e := unix.Syscall(unix.SYS_IO_URING_SETUP, 4, uintptr(unsafe.Pointer(&params[0])), 0)
		return failed(e)
	}},
	{name: "bpf", at: "23", hard: true, do: func(base) error { return unless(unix.SYS_BPF, unix.EINVAL) }},
	{name: "perf_event_open", at: "23", hard: true, do: func(base) error { return unless(unix.SYS_PERF_EVENT_OPEN, unix.EFAULT) }},
	{name: "userfaultfd", at: "23", hard: true, do: func(base) error { return unless(unix.SYS_USERFAULTFD) }},
	{name: "keyrings", at: "23", hard: true, do: func(base) error { return unless(unix.SYS_KEYCTL) }},
	{name: "host name", at: "23", root: true, do: func(base) error { return unix.Sethostname([]byte("x")) }},
	{name: "push characters into a terminal", at: "23", hard: true, do: func(base) error {
		fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY, 0)
		if err != nil {
			return err
		}
		c := byte('x')
		_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.TIOCSTI, uintptr(unsafe.Pointer(&c)))
		if e == unix.EIO { // the kernel's own switch is off too, but we got there
			return nil
		}
		return failed(e)
	}},
	{name: "a device of one's own", at: "23", root: true, hard: true, do: func(b base) error {
		_ = unix.Mknod(b.path("root", "device"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3)))
		return opened(b.path("root", "device"), os.O_RDWR)
	}},
	{name: "the kernel's log", at: "23", root: true, do: func(base) error { return opened("/dev/kmsg", os.O_WRONLY) }},
	{name: "settings of the kernel", at: "23", root: true, hard: true, do: func(base) error { return opened("/proc/sys/kernel/core_pattern", os.O_WRONLY) }},
	{name: "the system request key", at: "23", root: true, hard: true, do: func(base) error { return opened("/proc/sysrq-trigger", os.O_WRONLY) }},
	{name: "another's terminal", at: "3", do: func(b base) error {
		name, err := os.ReadFile(b.path("out", "terminal"))
		if err != nil {
			return err
		}
		return opened(string(name), os.O_WRONLY)
	}},

	{name: "tcp to the machine", at: "23", do: func(b base) error { return dials("tcp", b.server(outside)) }},
	{name: "tcp to the machine's loopback", at: "23", do: func(b base) error { return dials("tcp", b.server("127.0.0.1")) }},
	{name: "tcp by a mapped address", at: "23", do: func(b base) error {
		fd, err := unix.Socket(unix.AF_INET6, unix.SOCK_STREAM, 0)
		if err != nil {
			return err
		}
		to := &unix.SockaddrInet6{Port: b.sockaddr().(*unix.SockaddrInet4).Port, Addr: netip.MustParseAddr("::ffff:" + outside).As16()}
		return unix.Connect(fd, to)
	}},
	{name: "tcp by sending", at: "23", hard: true, do: func(b base) error {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
		if err != nil {
			return err
		}
		return unix.Sendto(fd, []byte("x"), unix.MSG_FASTOPEN, b.sockaddr())
	}},
	{name: "mptcp", at: "23", hard: true, do: func(b base) error {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP)
		if err != nil {
			return err
		}
		return unix.Connect(fd, b.sockaddr())
	}},
	{name: "udp", at: "23", do: func(b base) error {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
		if err != nil {
			return err
		}
		return unix.Sendto(fd, []byte("x"), 0, b.sockaddr())
	}},
	{name: "udp, connected", at: "23", do: func(b base) error { return dials("udp", b.server(outside)) }},
	{name: "ping", at: "23", hard: true, do: func(base) error {
		_, err := unix.Socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP)
		return err
	}},
	{name: "packets", at: "23", root: true, do: func(base) error {
		_, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, 0)
		return err
	}},
	{name: "vsock", at: "23", hard: true, do: func(base) error {
		_, err := unix.Socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0)
		return err
	}},
	{name: "events of the kernel", at: "23", do: func(base) error {
		_, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT)
		return err
	}},

	{name: "a socket outside", at: "23", do: func(b base) error { return dials("unix", b.path("out", "sock")) }},
	{name: "a socket outside by a link", at: "23", do: func(b base) error {
		_ = os.Symlink(b.path("out", "sock"), b.path("root", "s"))
		return dials("unix", b.path("root", "s"))
	}},
	{name: "a socket of ours", at: "23", do: func(b base) error { return dials("unix", b.path("state", "job.sock")) }},
	{name: "take a message queue away", at: "23", hard: true, do: func(base) error {
		queue, err := unix.BytePtrFromString("queue")
		if err != nil {
			return err
		}
		if _, _, e := unix.Syscall(unix.SYS_MQ_UNLINK, uintptr(unsafe.Pointer(queue)), 0, 0); e != 0 {
			return e
		}
		return nil
	}},
	{name: "another's socket in the temporary directory", at: "23", do: func(b base) error { return dials("unix", b.path("tmp", "old.sock")) }},
	{name: "that socket renamed", at: "23", do: func(b base) error {
		_ = os.Link(b.path("tmp", "old.sock"), b.path("tmp", "link.sock"))
		_ = os.Chmod(b.path("tmp", "link.sock"), 0o777)
		return dials("unix", b.path("tmp", "link.sock"))
	}},
	{name: "an abstract socket", at: "23", do: func(b base) error { return dials("unix", "@"+string(b)) }},
	{name: "a datagram to a socket outside", at: "23", do: func(b base) error {
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
		if err != nil {
			return err
		}
		return unix.Sendto(fd, []byte("x"), 0, &unix.SockaddrUnix{Name: b.path("out", "dgram")})
	}},
	{name: "a datagram from a pair", at: "23", do: func(b base) error {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
		if err != nil {
			return err
		}
		return unix.Sendto(pair[0], []byte("x"), 0, &unix.SockaddrUnix{Name: b.path("out", "dgram")})
	}},
	{name: "serve everybody", at: "2", do: func(base) error {
		l, err := net.Listen("tcp4", "0.0.0.0:0")
		if err != nil {
			return err
		}
		defer l.Close()
		if a, ok := l.Addr().(*net.TCPAddr); ok && a.IP.IsLoopback() {
			return errors.New("got the loopback instead")
		}
		return nil
	}},
}

const sysChmod = unix.SYS_FCHMODAT

// raw is chmod without the C library's choice of call.
func raw(nr uintptr, path string, mode uint32) error {
	p, err := unix.BytePtrFromString(path)
	if err != nil {
		return err
	}
	at := unix.AT_FDCWD
	_, _, e := unix.Syscall(nr, uintptr(at), uintptr(unsafe.Pointer(p)), uintptr(mode))
	return failed(e)
}

// setUser does something to a file of the workspace.
func (b base) setUser(do func(path string) error) error {
	path := b.path("root", "program")
	if err := os.WriteFile(path, nil, 0o755); err != nil {
		return err
	}
	return do(path)
}

func made(fd int, err error) error {
	if err == nil {
		err = unix.Close(fd)
	}
	return err
}

func failed(e unix.Errno) error {
	if e == 0 {
		return nil
	}
	return e
}

func opened(path string, flag int) error {
	f, err := os.OpenFile(path, flag, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

func reads(path string) error {
	_, err := os.ReadFile(path) // something empty in its place is no refusal
	return err
}

func onFile(path string, do func(fd int) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return do(int(f.Fd()))
}

func forks(flags uintptr) error {
	pid, _, e := unix.RawSyscall6(unix.SYS_CLONE, flags|uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if e == 0 && pid == 0 {
		unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
	}
	return failed(e)
}

// unless makes a call without sense: whatever it says but that it may not be
// made, it has got there.
func unless(nr uintptr, _ ...unix.Errno) error {
	_, _, e := unix.Syscall6(nr, 0, 0, 0, 0, 0, 0)
	if e == unix.EPERM || e == unix.ENOSYS || e == unix.EACCES {
		return e
	}
	return nil
}

func dials(network, to string) error {
	c, err := net.DialTimeout(network, to, time.Second)
	if err != nil {
		return err
	}
	return c.Close()
}

// server is the address of the lab's server at a host.
func (b base) server(host string) string {
	port, err := os.ReadFile(b.path("out", "port"))
	if err != nil {
		return ""
	}
	return net.JoinHostPort(host, string(port))
}

func (b base) sockaddr() unix.Sockaddr {
	a, err := net.ResolveTCPAddr("tcp", b.server(outside))
	if err != nil {
		return &unix.SockaddrInet4{}
	}
	return &unix.SockaddrInet4{Port: a.Port, Addr: [4]byte(a.IP.To4())}
}

// gatekeeperPID is the nearest process above that is not of the sandbox: the
// stage. Attacks run two below it.
func gatekeeperPID() int {
	pid := os.Getppid()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return pid
	}
	return statusNumber(status, "PPid:")
}
