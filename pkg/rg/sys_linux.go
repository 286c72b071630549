package rg

import (
	"bytes"
	"encoding/binary"
	"os"
	"syscall"
	"time"
	"unsafe"
)

// A dirHandle is an open directory; files are opened beside it, so that no
// path is looked up twice and nobody can swap a parent in between.
type dirHandle struct{ fd int }

// A fileHandle is an open file.
type fileHandle struct{ fd int }

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

func openRootDir(path string) (dirHandle, error) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return dirHandle{}, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return dirHandle{fd}, nil
}

func openRootFile(path string) (fileHandle, error) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return fileHandle{}, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return fileHandle{fd}, nil
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
	return fileHandle{fd}, err
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

func (d dirHandle) stat() (fileStat, error) { return fileHandle(d).stat() }

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
	s := fileStat{dev: uint64(st.Dev), ino: st.Ino, size: st.Size}
	s.modified = time.Unix(st.Mtim.Unix())
	switch st.Mode & syscall.S_IFMT {
	case syscall.S_IFREG:
		s.kind = kindFile
	case syscall.S_IFDIR:
		s.kind = kindDir
	case syscall.S_IFLNK:
		s.kind = kindLink
	default:
		s.kind = kindOther
	}
	return s
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
