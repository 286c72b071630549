//go:build linux && (amd64 || arm64)

package sandbox

import (
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A change is a system call that changes a file's metadata, which Landlock
// does not watch: the gatekeeper does it in the process's place, on the file
// that it looked at. Numbers are those of arguments; -1 is for none.
type change struct {
	nr              uintptr
	dir, path, flag int  // the file: a directory, a name, flags; without a name dir is the file
	stay            bool // a link itself is meant
	mode            int  // of a change of the mode: the argument with it
	do              func(c *changing) error
}

// A changing is one call of a change.
type changing struct {
	*notice
	memory memory
	fd     int    // the file
	opened bool   // fd is the process's own, not made from a name
	file   string // a name of our own for it
	mode   uint32 // that it shall have
}

// changes lists them. Those that no library needs are refused by the filter.
func changes() []change {
	return append([]change{
		{nr: unix.SYS_FCHMOD, dir: 0, path: -1, flag: -1, mode: 1, do: setMode},
		{nr: unix.SYS_FCHMODAT, dir: 0, path: 1, flag: -1, mode: 2, do: setMode},
		{nr: unix.SYS_FCHMODAT2, dir: 0, path: 1, flag: 3, mode: 2, do: setMode},
		{nr: unix.SYS_FCHOWN, dir: 0, path: -1, flag: -1, do: owner(1)},
		{nr: unix.SYS_FCHOWNAT, dir: 0, path: 1, flag: 4, do: owner(2)},
		{nr: unix.SYS_UTIMENSAT, dir: 0, path: 1, flag: 3, do: times(2, 1)},
		{nr: unix.SYS_SETXATTR, dir: -1, path: 0, flag: -1, do: setAttribute},
		{nr: unix.SYS_LSETXATTR, dir: -1, path: 0, flag: -1, stay: true, do: setAttribute},
		{nr: unix.SYS_FSETXATTR, dir: 0, path: -1, flag: -1, do: setAttribute},
		{nr: unix.SYS_REMOVEXATTR, dir: -1, path: 0, flag: -1, do: removeAttribute},
		{nr: unix.SYS_LREMOVEXATTR, dir: -1, path: 0, flag: -1, stay: true, do: removeAttribute},
		{nr: unix.SYS_FREMOVEXATTR, dir: 0, path: -1, flag: -1, do: removeAttribute},
	}, changesHere()...)
}

func metadataCalls() []uintptr {
	var list []uintptr
	for _, c := range changes() {
		list = append(list, c.nr)
	}
	return list
}

// newer lists the calls that do the same and that libraries replace by the
// ones above where they are missing.
func newer() []uintptr {
	return []uintptr{unix.SYS_SETXATTRAT, unix.SYS_REMOVEXATTRAT, unix.SYS_FILE_SETATTR}
}

// Requests to change the flags of a file, such as "immutable".
const (
	setFlags   = 0x40086602 // FS_IOC_SETFLAGS
	setFlags32 = 0x40046602
	setXAttr   = 0x401c5820 // FS_IOC_FSSETXATTR
	setVersion = 0x40087602 // FS_IOC_SETVERSION
)

// metadata makes a change if its file is one that the command may write.
func (g *gatekeeper) metadata(n *notice) verdict {
	list := changes()
	i := slices.IndexFunc(list, func(c change) bool { return c.nr == uintptr(n.nr) })
	if i < 0 {
		return refused(unix.EPERM)
	}
	f, err := g.target(n, &list[i])
	if err != nil {
		return result(err)
	}
	defer f.close()
	if !g.valid(n) {
		return refused(unix.EINTR)
	}
	if named := strings.HasPrefix(f.path, "/") && !strings.HasPrefix(f.path, "/memfd:"); named && !belowAny(f.path, g.changeable()) {
		g.log.deny(&Denial{Kind: DeniedMetadata, Path: f.path, Pid: int(n.pid), Why: "the file lies outside what the command may write", Allow: "edit(" + f.path + ")"})
		return refused(unix.EPERM)
	}
	c := &changing{notice: n, memory: memory{pid: int(n.pid)}, fd: f.fd, opened: list[i].path < 0, file: self(f.fd)}
	if list[i].mode > 0 {
		c.mode = uint32(n.number(list[i].mode))
		if !g.SetUser && setsUser(c.mode, f.st.Mode) {
			g.log.deny(&Denial{Kind: DeniedMetadata, Path: f.path, Pid: int(n.pid), Why: "others would run it with its owner's rights; a chmod that stands in the command itself is asked about"})
			return refused(unix.EPERM)
		}
	}
	return result(asUser(int(n.pid), func() error { return list[i].do(c) }))
}

// target opens the file that the change is about.
func (g *gatekeeper) target(n *notice, c *change) (*executable, error) {
	pid := int(n.pid)
	if c.path < 0 || n.args[c.path] == 0 && uintptr(n.nr) == unix.SYS_UTIMENSAT {
		return g.file(g.descriptor(n, n.number(c.dir)))
	}
	name, err := (&memory{pid: pid}).text(n.args[c.path])
	if err != nil {
		return nil, unix.EFAULT
	}
	dir, flags := unix.AT_FDCWD, 0
	if c.dir >= 0 {
		dir = n.number(c.dir)
	}
	if c.flag >= 0 {
		flags = n.number(c.flag)
	}
	if name == "" {
		if flags&unix.AT_EMPTY_PATH == 0 {
			return nil, unix.ENOENT
		}
		if dir != unix.AT_FDCWD {
			return g.file(g.descriptor(n, dir))
		}
		name = "."
	}
	base, err := g.base(pid, dir, name)
	if err != nil {
		return nil, err
	}
	how := uint64(0)
	if c.stay || flags&unix.AT_SYMLINK_NOFOLLOW != 0 {
		how = unix.O_NOFOLLOW
	}
	return g.look(pid, base, name, how)
}

// base is the directory that a name of process pid starts from.
func (g *gatekeeper) base(pid, dir int, name string) (string, error) {
	if strings.HasPrefix(name, "/") {
		return "/", nil
	}
	return os.Readlink(startOf(pid, dir))
}

// startOf is the link in /proc to the directory that relative names of process pid start from.
func startOf(pid, dir int) string {
	proc := "/proc/" + strconv.Itoa(pid)
	if dir == unix.AT_FDCWD {
		return proc + "/cwd"
	}
	return proc + "/fd/" + strconv.Itoa(dir)
}

// setsUser reports whether a mode has a program run with the rights of its owner or group
// that does not do so yet. For a directory its group's bit means something else.
func setsUser(mode, now uint32) bool {
	bits := mode &^ now & setUserBits
	return bits&unix.S_ISUID != 0 || bits != 0 && now&unix.S_IFMT != unix.S_IFDIR
}

func setMode(c *changing) error {
	if c.opened {
		return unix.Fchmod(c.fd, c.mode)
	}
	return unix.Chmod(c.file, c.mode)
}

func owner(arg int) func(*changing) error {
	return func(c *changing) error {
		u, g := c.number(arg), c.number(arg+1)
		if c.opened {
			return unix.Fchown(c.fd, u, g)
		}
		return unix.Fchownat(c.fd, "", u, g, unix.AT_EMPTY_PATH)
	}
}

// times sets the two times that argument arg points to: seconds with a
// fraction in units of so many nanoseconds; 0 is for whole seconds only.
func times(arg int, unit int64) func(*changing) error {
	return func(c *changing) error {
		now := unix.Timespec{Nsec: unix.UTIME_NOW}
		ts := [2]unix.Timespec{now, now}
		if at := c.args[arg]; at != 0 {
			var raw [4]int64
			size := 32
			if unit == 0 {
				size = 16
			}
			if err := c.memory.read(at, unsafe.Slice((*byte)(unsafe.Pointer(&raw)), size)); err != nil {
				return unix.EFAULT
			}
			if unit == 0 {
				raw = [4]int64{raw[0], 0, raw[1], 0}
			}
			ts[0], ts[1] = unix.Timespec{Sec: raw[0], Nsec: raw[1]}, unix.Timespec{Sec: raw[2], Nsec: raw[3]}
			if unit > 1 {
				ts[0].Nsec, ts[1].Nsec = raw[1]*unit, raw[3]*unit
			}
		}
		empty := new([1]byte)
		_, _, e := unix.Syscall6(unix.SYS_UTIMENSAT, uintptr(c.fd), uintptr(unsafe.Pointer(empty)), uintptr(unsafe.Pointer(&ts)), unix.AT_EMPTY_PATH, 0, 0)
		if e != 0 {
			return e
		}
		return nil
	}
}

// maxAttribute is what the kernel takes for a value.
const maxAttribute = 65536

func (c *changing) attribute() (string, error) {
	name, err := c.memory.text(c.args[1])
	if err != nil {
		return "", unix.EFAULT
	}
	// What gives a program privileges is not the command's to give.
	if !strings.HasPrefix(name, "user.") && !strings.HasPrefix(name, "system.posix_acl_") {
		return "", unix.EPERM
	}
	return name, nil
}

func setAttribute(c *changing) error {
	name, err := c.attribute()
	if err != nil {
		return err
	}
	if c.args[3] > maxAttribute {
		return unix.E2BIG
	}
	value := make([]byte, c.args[3])
	if err := c.memory.read(c.args[2], value); err != nil {
		return unix.EFAULT
	}
	return unix.Setxattr(c.file, name, value, c.number(4))
}

func removeAttribute(c *changing) error {
	name, err := c.attribute()
	if err != nil {
		return err
	}
	return unix.Removexattr(c.file, name)
}

// asUser does something with the rights that process pid has on files, which
// differ from ours where it has changed its user.
func asUser(pid int, do func() error) error {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return err
	}
	uid, gid := fileID(status, "Uid:"), fileID(status, "Gid:")
	if uid == os.Geteuid() && gid == os.Getegid() {
		return do()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer func() {
		_ = unix.Setfsuid(os.Geteuid())
		_ = unix.Setfsgid(os.Getegid())
	}()
	if err := unix.Setfsgid(gid); err != nil {
		return err
	}
	if err := unix.Setfsuid(uid); err != nil {
		return err
	}
	return do()
}

// fileID returns the last of the four numbers of a line: the one that counts
// for files.
func fileID(status []byte, key string) int {
	_, rest, _ := strings.Cut(string(status), "\n"+key)
	first, _, _ := strings.Cut(rest, "\n")
	fields := strings.Fields(first)
	if len(fields) != 4 {
		return -1
	}
	n, err := strconv.Atoi(fields[3])
	if err != nil {
		return -1
	}
	return n
}
