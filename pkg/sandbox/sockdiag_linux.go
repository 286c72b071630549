//go:build linux && (amd64 || arm64)

package sandbox

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The kernel says of each socket of a network namespace what it is (sock_diag(7)), to whoever
// asks with a netlink socket that is of that namespace.

const diagByFamily = 20 // SOCK_DIAG_BY_FAMILY

// diagSocket makes a socket to ask about our own namespace with.
func diagSocket() (int, error) {
	return unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
}

// diagHeader begins a request of some size for all sockets that there are.
func diagHeader(size uintptr) unix.NlMsghdr {
	return unix.NlMsghdr{Len: uint32(size), Type: diagByFamily, Flags: unix.NLM_F_REQUEST | unix.NLM_F_DUMP}
}

// dump sends a request, and calls each with what the answer says of one socket.
func dump(fd int, request []byte, each func(b []byte)) error {
	const head = unix.SizeofNlMsghdr
	if err := unix.Sendto(fd, request, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	buf := make([]byte, 32<<10)
	for {
		n, _, err := unix.Recvfrom(fd, buf, 0)
		if err != nil {
			return err
		}
		for b := buf[:n]; len(b) >= head; {
			h := (*unix.NlMsghdr)(unsafe.Pointer(unsafe.SliceData(b)))
			size := int(h.Len)
			switch {
			case size < head || size > len(b), h.Type == unix.NLMSG_ERROR:
				return unix.EPROTO
			case h.Type == unix.NLMSG_DONE:
				return nil
			case h.Type == diagByFamily:
				each(b[head:size])
			}
			b = b[min((size+3)&^3, len(b)):]
		}
	}
}

// A unixRequest is struct unix_diag_req with its header, a unixMessage struct unix_diag_msg.
type unixRequest struct {
	header               unix.NlMsghdr
	family, protocol     uint8
	pad                  uint16
	states, inode, shows uint32
	cookie               [2]uint32
}

type unixMessage struct {
	family, kind, state, pad uint8
	inode                    uint32
	cookie                   [2]uint32
}

const (
	showName, showFile = 1, 2 // UDIAG_SHOW_NAME, UDIAG_SHOW_VFS
	attrFile           = 1    // UNIX_DIAG_VFS
)

// A unixServer is a socket that listens at a file.
type unixServer struct {
	inode uint32    // of the socket
	file  [2]uint64 // by device and inode, see socketID
}

// askUnix lists those of the namespace that a socket asks about.
func askUnix(fd int) (list []unixServer, err error) {
	r := unixRequest{family: unix.AF_UNIX, states: 1 << stateListen, shows: showFile}
	r.header = diagHeader(unsafe.Sizeof(r))
	err = dump(fd, unsafe.Slice((*byte)(unsafe.Pointer(&r)), unsafe.Sizeof(r)), func(b []byte) {
		size := int(unsafe.Sizeof(unixMessage{}))
		if len(b) < size {
			return
		}
		m := (*unixMessage)(unsafe.Pointer(unsafe.SliceData(b)))
		for b = b[size:]; len(b) >= unix.SizeofRtAttr; {
			n, kind := int(binary.NativeEndian.Uint16(b)), binary.NativeEndian.Uint16(b[2:])
			if n < unix.SizeofRtAttr || n > len(b) {
				return
			}
			if kind == attrFile && n >= unix.SizeofRtAttr+8 { // struct unix_diag_vfs
				inode, device := binary.NativeEndian.Uint32(b[4:]), binary.NativeEndian.Uint32(b[8:])
				// The kernel's own form of a device has 20 bits for the minor number.
				list = append(list, unixServer{m.inode, [2]uint64{unix.Mkdev(device>>20, device&(1<<20-1)), uint64(inode)}})
			}
			b = b[min((n+3)&^3, len(b)):]
		}
	})
	return list, err
}

// listeningAtFiles lists those of this machine.
func listeningAtFiles() ([]unixServer, error) {
	fd, err := diagSocket()
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	return askUnix(fd)
}
