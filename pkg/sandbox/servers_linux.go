//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/agentkit-go/agentkit/pkg/safefile"
	"golang.org/x/sys/unix"
)

// Without a network of its own a command shares the machine's loopback. The gatekeeper
// sees each socket that begins to listen, and notes it for all commands of the session;
// on the loopback it connects to noted ones only.

// A server is a socket that listens.
type server struct {
	inode uint32
	at    netip.AddrPort // the zero value for one that listens at a file
}

func (s server) String() string {
	if !s.at.IsValid() {
		return fmt.Sprintf("%d unix\n", s.inode)
	}
	return fmt.Sprintf("%d %s\n", s.inode, s.at)
}

// answers reports whether the server may be the one that a connection to an address gets.
func (s server) answers(to netip.AddrPort) bool {
	a := s.at.Addr()
	return s.at.Port() == to.Port() && (a == to.Addr() || a.IsUnspecified() && (a.Is6() || to.Addr().Is4()))
}

// servers are those of a session.
type servers struct {
	file string // in Config.Share; "" where the command is alone
	mu   sync.Mutex
	own  map[server]bool
}

func newServers(c *Config) *servers {
	s := &servers{own: map[server]bool{}}
	if c.Share != "" {
		s.file = filepath.Join(c.Share, "servers")
	}
	return s
}

// noteLimit is how long a command waits for the others of its session to read or write their notes.
const noteLimit = 5 * time.Second

// locked opens the notes of the session.
func (s *servers) locked(exclusive bool) (*os.File, error) {
	f, err := safefile.OpenLock(s.file)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), noteLimit)
	defer cancel()
	if err := safefile.WaitLock(ctx, f, exclusive); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// add notes a socket and lets it listen. Both are done under the lock: who cleans up takes
// what does not listen for one that has ended.
func (s *servers) add(now server, listen func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.own[now] = true
	if s.file == "" {
		return listen()
	}
	f, err := s.locked(true)
	if err != nil {
		return unix.EAGAIN
	}
	defer f.Close()
	text, gone := []byte(now.String()), gone()
	for _, old := range readServers(f) {
		if old != now && !gone(old) {
			text = append(text, old.String()...)
		}
	}
	if _, err = f.WriteAt(text, 0); err == nil {
		err = f.Truncate(int64(len(text)))
	}
	if err != nil {
		return unix.EAGAIN
	}
	return listen()
}

// gone tells whether a server listens no more; where nobody says, it may.
func gone() func(server) bool {
	ports, files := sync.OnceValues(func() ([]server, error) { return listening(0) }), sync.OnceValues(listeningAtFiles)
	return func(s server) bool {
		if s.at.IsValid() {
			there, err := ports()
			return err == nil && !slices.Contains(there, s)
		}
		there, err := files()
		return err == nil && !slices.ContainsFunc(there, func(at unixServer) bool { return at.inode == s.inode })
	}
}

func readServers(f *os.File) (list []server) {
	lines := bufio.NewScanner(io.NewSectionReader(f, 0, 1<<20))
	for lines.Scan() {
		inode, at, _ := strings.Cut(lines.Text(), " ")
		n, err := strconv.ParseUint(inode, 10, 32)
		to, errAt := netip.ParseAddrPort(at)
		if err == nil && (errAt == nil || at == "unix") {
			list = append(list, server{uint32(n), to})
		}
	}
	return list
}

// at returns who listens at an address: a server of the session, another one, or nobody.
func (s *servers) at(to netip.AddrPort) (ours, foreign bool, err error) {
	list, err := listening(to.Port())
	if err != nil {
		return false, false, err
	}
	list = slices.DeleteFunc(list, func(l server) bool { return !l.answers(to) })
	s.mu.Lock()
	own := !slices.ContainsFunc(list, func(l server) bool { return !s.own[l] })
	s.mu.Unlock()
	if !own && s.file != "" {
		f, err := s.locked(false)
		if err != nil {
			return false, false, err
		}
		defer f.Close()
		noted := readServers(f)
		own = !slices.ContainsFunc(list, func(l server) bool { return !slices.Contains(noted, l) })
	}
	return own && len(list) > 0, !own, nil
}

// noted reports whether a server is one of the session's.
func (s *servers) noted(one server) bool {
	s.mu.Lock()
	own := s.own[one]
	s.mu.Unlock()
	if own || s.file == "" {
		return own
	}
	f, err := s.locked(false)
	if err != nil {
		return false
	}
	defer f.Close()
	return slices.Contains(readServers(f), one)
}

// listening lists the sockets of this machine that listen at a port; 0 stands for every one.
func listening(port uint16) ([]server, error) {
	list, err := askListening(port)
	if err != nil { // not every kernel tells
		return readListening(port)
	}
	return list, nil
}

const stateEstablished, stateSynSent, stateClosed, stateListen = 1, 2, 7, 10 // of TCP

// A diagID is struct inet_diag_sockid, a diagRequest struct inet_diag_req_v2 with its
// header and a diagMessage struct inet_diag_msg.
type diagID struct {
	source, destination [2]byte // ports
	from, to            [16]byte
	device              uint32
	cookie              [2]uint32
}

type diagRequest struct {
	header                        unix.NlMsghdr
	family, protocol, extras, pad uint8
	states                        uint32
	id                            diagID
}

type diagMessage struct {
	family, state, timer, retransmits   uint8
	id                                  diagID
	expires, received, sent, uid, inode uint32
}

// askListening asks the kernel for those of a port only.
func askListening(port uint16) (list []server, err error) {
	fd, err := diagSocket()
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	for _, family := range []uint8{unix.AF_INET, unix.AF_INET6} {
		r := diagRequest{family: family, protocol: unix.IPPROTO_TCP, states: 1 << stateListen}
		r.header = diagHeader(unsafe.Sizeof(r))
		binary.BigEndian.PutUint16(r.id.source[:], port)
		err := dump(fd, unsafe.Slice((*byte)(unsafe.Pointer(&r)), unsafe.Sizeof(r)), func(b []byte) {
			if len(b) < int(unsafe.Sizeof(diagMessage{})) {
				return
			}
			m := (*diagMessage)(unsafe.Pointer(unsafe.SliceData(b)))
			if at := binary.BigEndian.Uint16(m.id.source[:]); m.state == stateListen && (port == 0 || at == port) {
				list = append(list, server{m.inode, netip.AddrPortFrom(kernelAddr(m.family, m.id.from), at)})
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

func kernelAddr(family uint8, b [16]byte) netip.Addr {
	if family == unix.AF_INET {
		return netip.AddrFrom4([4]byte(b[:4]))
	}
	return netip.AddrFrom16(b).Unmap()
}

// readListening is askListening by the table of all sockets, which is slower.
func readListening(port uint16) (list []server, err error) {
	for name, family := range map[string]uint8{"tcp": unix.AF_INET, "tcp6": unix.AF_INET6} {
		table, err := os.ReadFile("/proc/net/" + name)
		if family == unix.AF_INET6 && errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for line := range bytes.Lines(table) {
			f := strings.Fields(string(line))
			if len(f) < 10 || f[3] != "0A" {
				continue
			}
			host, number, _ := strings.Cut(f[1], ":")
			here, errPort := strconv.ParseUint(number, 16, 16)
			if port != 0 && uint16(here) != port {
				continue
			}
			inode, err := strconv.ParseUint(f[9], 10, 32)
			words, errHost := hex.DecodeString(host)
			if err := errors.Join(err, errPort, errHost); err != nil {
				return nil, err
			}
			var at [16]byte // each word of four bytes is in the machine's order
			for i := range len(words) / 4 {
				binary.NativeEndian.PutUint32(at[4*i:], binary.BigEndian.Uint32(words[4*i:]))
			}
			list = append(list, server{uint32(inode), netip.AddrPortFrom(kernelAddr(family, at), uint16(here))})
		}
	}
	return list, nil
}
