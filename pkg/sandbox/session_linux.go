//go:build linux && (amd64 || arm64)

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agentkit-go/agentkit/pkg/fork"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"golang.org/x/sys/unix"
)

// A sessionNet is the network of a session: a loopback that its commands share while
// one of them lives. Each gatekeeper holds it open and hands it to whoever connects
// to its socket in Config.Share, where only the user can.
type sessionNet struct {
	dir        string
	lock       *os.File // held while it is found or made; nil afterwards
	users, net int      // the open namespaces; -1 before they are made
	server     *net.UnixListener
	name       string // of the socket

	asking sync.Mutex
	diag   int  // a socket that asks the kernel about the network's sockets; -1 before there is one
	left   bool // nobody asks any more
}

// meetLimit is how long one call waits for another that is about to start.
const meetLimit = 5 * time.Second

// meet finds the network of the session, or prepares to make it.
func (s *start) meet() error {
	if s.level < L3 || s.Share == "" || s.network() == Open || s.trial {
		return nil
	}
	n := &sessionNet{dir: s.Share, users: -1, net: -1, diag: -1}
	ctx, cancel := context.WithTimeout(context.Background(), meetLimit)
	defer cancel()
	var err error
	if n.lock, err = safefile.Lock(ctx, filepath.Join(s.Share, "lock")); err != nil {
		return fmt.Errorf("joining the session's network: %w", err)
	}
	entries, err := os.ReadDir(s.Share)
	if err != nil {
		n.unlock()
		return fmt.Errorf("joining the session's network: %w", err)
	}
	for _, e := range entries {
		name := filepath.Join(s.Share, e.Name())
		if !strings.HasSuffix(name, ".sock") {
			continue
		}
		if n.users, n.net, err = ask(name); err == nil {
			break
		}
		_ = os.Remove(name) // its gatekeeper has ended
	}
	s.session = n
	return nil
}

func (n *sessionNet) unlock() {
	if n != nil && n.lock != nil {
		_ = n.lock.Close()
		n.lock = nil
	}
}

// joined reports whether the network was there.
func (n *sessionNet) joined() bool { return n != nil && n.net >= 0 }

// ask lets a gatekeeper hand over what it holds open.
func ask(name string) (users, network int, err error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, -1, err
	}
	defer unix.Close(fd)
	_ = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 2})
	short, done, err := shortName(name)
	if err != nil {
		return -1, -1, err
	}
	defer done()
	if err := unix.Connect(fd, &unix.SockaddrUnix{Name: short}); err != nil {
		return -1, -1, err
	}
	peer, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil || int(peer.Uid) != os.Geteuid() {
		return -1, -1, unix.EPERM
	}
	var got [2]int
	for i := range got {
		m, err := receive(fd)
		if err == nil && m.fd < 0 {
			err = unix.ECONNRESET
		}
		if err == nil && foreign(m.fd, [2]string{"user", "net"}[i]) != nil {
			_ = unix.Close(m.fd)
			err = unix.EINVAL
		}
		if err != nil {
			if i > 0 {
				_ = unix.Close(got[0])
			}
			return -1, -1, err
		}
		got[i] = m.fd
	}
	return got[0], got[1], nil
}

// foreign checks that fd is a namespace of a kind, and not ours.
func foreign(fd int, kind string) error {
	theirs, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
	if err != nil {
		return err
	}
	ours, err := os.Readlink("/proc/self/ns/" + kind)
	if err == nil && (theirs == ours || !strings.HasPrefix(theirs, kind+":[")) {
		err = errors.New("that is no namespace of a session")
	}
	return err
}

// shortName is a name of the socket that fits into an address.
func shortName(name string) (short string, done func(), err error) {
	if len(name) < 100 {
		return name, func() {}, nil
	}
	fd, err := unix.Open(filepath.Dir(name), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		return "", nil, err
	}
	return "/proc/self/fd/" + strconv.Itoa(fd) + "/" + filepath.Base(name), func() { _ = unix.Close(fd) }, nil
}

// offer hands the namespaces to the session's other calls from now on.
func (n *sessionNet) offer() error {
	if n == nil {
		return nil
	}
	defer n.unlock()
	n.name = filepath.Join(n.dir, fmt.Sprintf("%d-%x.sock", os.Getpid(), time.Now().UnixNano()))
	short, done, err := shortName(n.name)
	if err != nil {
		return err
	}
	defer done()
	//nolint:noctx // it listens at once
	l, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: short, Net: "unixpacket"})
	if err != nil {
		return fmt.Errorf("sharing the session's network: %w", err)
	}
	l.SetUnlinkOnClose(false)
	n.server = l
	go n.serve(l)
	return nil
}

func (n *sessionNet) serve(l *net.UnixListener) {
	for {
		c, err := l.AcceptUnix()
		if err != nil {
			return
		}
		for _, fd := range []int{n.users, n.net} {
			if _, _, err := c.WriteMsgUnix([]byte{0}, unix.UnixRights(fd), nil); err != nil {
				break
			}
		}
		_ = c.Close()
	}
}

// leave lets go of the network; the last that does so ends it.
func (n *sessionNet) leave() {
	if n == nil {
		return
	}
	if n.server != nil {
		_ = os.Remove(n.name)
		_ = n.server.Close()
	}
	n.unlock()
	n.asking.Lock()
	defer n.asking.Unlock()
	for _, fd := range []int{n.users, n.net, n.diag} {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
	n.left = true
}

// handNamespaces adds that the child hands over those that it was made with.
func (p *plan) handNamespaces(tell int) {
	for _, kind := range []string{"user", "net"} {
		fd := p.Cell()
		p.Do("opening the session's network", unix.SYS_OPENAT, unix.AT_FDCWD, "/proc/self/ns/"+kind, unix.O_RDONLY|unix.O_CLOEXEC, 0).Keeps(fd)
		p.hand("handing over the session's network", fd, tell)
		p.Close(fd)
	}
}

// listeners are the sockets of the network that listen at files.
func (n *sessionNet) listeners() ([]unixServer, error) {
	if n == nil || n.net < 0 {
		return nil, unix.ENOTCONN
	}
	n.asking.Lock()
	defer n.asking.Unlock()
	if n.left {
		return nil, unix.ENOTCONN
	}
	if n.diag < 0 {
		fd, err := n.socketIn(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_SOCK_DIAG)
		if err != nil {
			return nil, err
		}
		n.diag = fd
	}
	return askUnix(n.diag)
}

// socketIn makes a socket in the network.
func (n *sessionNet) socketIn(family, kind, protocol int) (int, error) {
	pair, err := fork.SocketPair(64)
	if err != nil {
		return -1, err
	}
	defer unix.Close(pair[0])
	p := &plan{}
	fd := p.Cell()
	p.Do("making a socket", unix.SYS_SOCKET, family, kind|unix.SOCK_CLOEXEC, protocol).Keeps(fd)
	p.hand("handing over a socket", fd, pair[1])
	p.Do("ending", unix.SYS_EXIT_GROUP, 0)
	if err := p.Join(n.users, n.net); err != nil {
		_ = unix.Close(pair[1])
		return -1, err
	}
	pid, err := forkLocked(&p.Plan, 0, pair[1])
	_ = unix.Close(pair[1])
	if err != nil {
		return -1, err
	}
	m, err := receive(pair[0])
	_, _ = unix.Wait4(pid, nil, 0, nil)
	if err == nil && m.fd < 0 {
		err = unix.ECONNRESET
	}
	return m.fd, err
}
