package rg

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// A dirHandle is an open directory; files are opened beside it, so that no
// path is looked up twice and nobody can swap a parent in between.
type dirHandle struct{ fd int }

// A fileHandle is an open file.
type fileHandle struct {
	fd    int
	local bool // on a file system that reads as localFS says
}

// localFS says whether the directory lies on a file system that fills a read
// from its page cache: one that brings less than asked for has come to the end
// of the file or, at the border of a page, to an error.
func (d dirHandle) localFS() bool {
	const ext4, xfs, btrfs, tmpfs, f2fs = 0xEF53, 0x58465342, 0x9123683E, 0x01021994, 0xF2F52010
	var st syscall.Statfs_t
	if syscall.Fstatfs(d.fd, &st) != nil {
		return false
	}
	switch uint32(st.Type) {
	case ext4, xfs, btrfs, tmpfs, f2fs:
		return true
	}
	return false
}

// atEnd says whether a read that brought less than asked for, up to the place
// end of the file, met its end, so that no read of nothing has to follow.
func (f fileHandle) atEnd(end int64) bool {
	const leastPage = 4 << 10
	return f.local && end%leastPage != 0
}

// A nameBuf holds a name with its final zero byte, as the kernel wants it.
type nameBuf []byte

func (b *nameBuf) set(name string) *byte {
	*b = append(append((*b)[:0], name...), 0)
	return &(*b)[0]
}

func openat(dir int, name *byte, flags int) (int, error) {
	for {
		fd, _, e := syscall.Syscall6(syscall.SYS_OPENAT, uintptr(dir), uintptr(unsafe.Pointer(name)), uintptr(flags|syscall.O_CLOEXEC), 0, 0, 0)
		if e == 0 {
			return int(fd), nil
		}
		if e != syscall.EINTR {
			return -1, e
		}
	}
}

func openRootDir(path string, resolved bool) (dirHandle, error) {
	fd, err := openPath(path, syscall.O_RDONLY|syscall.O_DIRECTORY, resolved)
	return dirHandle{fd}, err
}

func openRootFile(path string, resolved bool) (fileHandle, error) {
	fd, err := openPath(path, syscall.O_RDONLY|syscall.O_NONBLOCK, resolved)
	return fileHandle{fd: fd}, err
}

// openPath opens an absolute and clean path. One that is resolved holds no
// links, so it is walked one name after the other and a link that stands there
// since then is workspace.ErrMoved.
func openPath(path string, flags int, resolved bool) (fd int, err error) {
	if !resolved {
		fd, err = syscall.Open(path, flags|syscall.O_CLOEXEC, 0)
	} else {
		fd, err = openSteps(path, flags)
	}
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return fd, nil
}

func openSteps(path string, flags int) (int, error) {
	var buf nameBuf
	at, err := openat(-1, buf.set("/"), unix.O_PATH|syscall.O_DIRECTORY)
	if err != nil {
		return -1, err
	}
	for rest, more := strings.TrimPrefix(path, "/"), true; more; {
		var name string
		name, rest, more = strings.Cut(rest, "/")
		step := flags
		if more {
			step = unix.O_PATH | syscall.O_DIRECTORY
		}
		if name == "" {
			name = "."
		}
		next, err := openat(at, buf.set(name), step|syscall.O_NOFOLLOW)
		if err != nil {
			if st, e := (dirHandle{at}).statName(&buf, name, false); e == nil && st.kind == kindLink {
				err = workspace.ErrMoved
			}
		}
		_ = syscall.Close(at)
		if err != nil {
			return -1, err
		}
		at = next
	}
	return at, nil
}

func (d dirHandle) openDir(buf *nameBuf, name string, follow bool) (dirHandle, error) {
	flags := syscall.O_RDONLY | syscall.O_DIRECTORY
	if !follow {
		flags |= syscall.O_NOFOLLOW
	}
	fd, err := openat(d.fd, buf.set(name), flags)
	return dirHandle{fd}, err
}

func (d dirHandle) openFile(buf *nameBuf, name string, follow bool) (fileHandle, error) {
	flags := syscall.O_RDONLY | syscall.O_NONBLOCK
	if !follow {
		flags |= syscall.O_NOFOLLOW
	}
	fd, err := openat(d.fd, buf.set(name), flags)
	return fileHandle{fd: fd}, err
}

func (d dirHandle) close()  { _ = syscall.Close(d.fd) }
func (f fileHandle) close() { _ = syscall.Close(f.fd) }

func (f fileHandle) read(p []byte) (int, error) {
	for {
		n, err := syscall.Read(f.fd, p)
		if err != syscall.EINTR {
			return max(n, 0), err
		}
	}
}

func (f fileHandle) stat() (fileStat, error) {
	var st syscall.Stat_t
	err := syscall.Fstat(f.fd, &st)
	return newFileStat(&st), err
}

func (d dirHandle) stat() (fileStat, error) { return fileHandle{fd: d.fd}.stat() }

func (d dirHandle) statName(buf *nameBuf, name string, follow bool) (fileStat, error) {
	const noFollow = 0x100
	flags := uintptr(noFollow)
	if follow {
		flags = 0
	}
	var st syscall.Stat_t
	_, _, e := syscall.Syscall6(sysFstatat, uintptr(d.fd), uintptr(unsafe.Pointer(buf.set(name))), uintptr(unsafe.Pointer(&st)), flags, 0, 0)
	if e != 0 {
		return fileStat{}, e
	}
	return newFileStat(&st), nil
}

func newFileStat(st *syscall.Stat_t) fileStat {
	s := fileStat{dev: uint64(st.Dev), ino: st.Ino, size: st.Size} //nolint:unconvert // 32 bits wide on some machines
	s.modified, s.changed = time.Unix(st.Mtim.Unix()), st.Ctim.Nano()
	s.mode = fs.FileMode(st.Mode & 0o777)
	for _, bit := range [...]struct {
		of   uint32
		mode fs.FileMode
	}{{syscall.S_ISUID, fs.ModeSetuid}, {syscall.S_ISGID, fs.ModeSetgid}, {syscall.S_ISVTX, fs.ModeSticky}} {
		if st.Mode&bit.of != 0 {
			s.mode |= bit.mode
		}
	}
	switch st.Mode & syscall.S_IFMT {
	case syscall.S_IFREG:
		s.kind = kindFile
	case syscall.S_IFDIR:
		s.kind, s.mode = kindDir, s.mode|fs.ModeDir
	case syscall.S_IFLNK:
		s.kind, s.mode = kindLink, s.mode|fs.ModeSymlink
	default:
		s.kind, s.mode = kindOther, s.mode|otherMode(st.Mode)
	}
	return s
}

// newInfoStat is what the standard library has found out about a file.
func newInfoStat(st fs.FileInfo) fileStat {
	if raw, ok := st.Sys().(*syscall.Stat_t); ok {
		return newFileStat(raw)
	}
	return fileStat{modified: st.ModTime(), changed: st.ModTime().UnixNano()}
}

func otherMode(mode uint32) fs.FileMode {
	switch mode & syscall.S_IFMT {
	case syscall.S_IFIFO:
		return fs.ModeNamedPipe
	case syscall.S_IFSOCK:
		return fs.ModeSocket
	case syscall.S_IFBLK:
		return fs.ModeDevice
	case syscall.S_IFCHR:
		return fs.ModeDevice | fs.ModeCharDevice
	}
	return fs.ModeIrregular
}

// readLink gives what the link called name leads to.
func (d dirHandle) readLink(_ *nameBuf, name string) (string, error) {
	to := make([]byte, 4096)
	n, err := unix.Readlinkat(d.fd, name, to)
	if err != nil {
		return "", err
	}
	return string(to[:n]), nil
}

// list appends the entries of the directory to l.
func (d dirHandle) list(l *listing) error {
	if l.raw == nil {
		l.raw = make([]byte, 32<<10)
	}
	for {
		n, err := syscall.ReadDirent(d.fd, l.raw)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return err
		}
		l.parse(l.raw[:n])
	}
}

// parse reads the records of linux_dirent64: inode, offset, record length,
// type, name.
func (l *listing) parse(raw []byte) {
	const lengthAt, typeAt, nameAt = 16, 18, 19
	for len(raw) > nameAt {
		length := int(binary.NativeEndian.Uint16(raw[lengthAt:]))
		record := raw[:length]
		raw = raw[length:]
		name := record[nameAt:]
		name = name[:bytes.IndexByte(name, 0)]
		if string(name) == "." || string(name) == ".." {
			continue
		}
		kind := kindOther
		switch record[typeAt] {
		case syscall.DT_REG:
			kind = kindFile
		case syscall.DT_DIR:
			kind = kindDir
		case syscall.DT_LNK:
			kind = kindLink
		case syscall.DT_UNKNOWN:
			kind = kindUnknown
		}
		l.add(name, kind)
	}
}
