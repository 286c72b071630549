//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"net/netip"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// loneSegment is shorter than the second after which the kernel repeats the first
	// segment of a connection: by then another server may have the address.
	loneSegment = 500 * time.Millisecond
	// fullLimit is how long a server may take whose queue of connections is full.
	fullLimit = 10 * time.Second
)

// connectOwn connects to a server of the session on the loopback that it shares with the
// machine. Who listens is looked at before and after; no byte of an answer passes in between.
func (g *gatekeeper) connectOwn(n *notice, socket int, to *address, at netip.AddrPort) verdict {
	if g.opensLoopback(at) {
		return result(connectRaw(socket, to.raw))
	}
	if !isStream(socket) {
		return refused(unix.EACCES)
	}
	at = to.pin(at)
	for end := time.Now().Add(fullLimit); ; time.Sleep(20 * time.Millisecond) {
		switch tcpState(socket) {
		case stateClosed:
		case -1:
			return refused(unix.EACCES)
		default: // it is connected or listens: no connection is made of it
			return refused(unix.EISCONN)
		}
		switch ours, foreign, err := g.servers.at(at); {
		case err != nil || foreign:
			return g.denyServer(n, at)
		case !ours:
			return refused(unix.ECONNREFUSED)
		case !g.valid(n):
			return refused(unix.EINTR)
		}
		answered, err := connectOnce(socket, to.raw)
		switch {
		case !answered && time.Now().Before(end):
			continue
		case !answered:
			return refused(unix.ETIMEDOUT)
		}
		if _, foreign, errAfter := g.servers.at(at); errAfter != nil || foreign {
			disconnect(socket)
			return g.denyServer(n, at)
		}
		return result(err)
	}
}

// opensLoopback reports whether a rule names the address, which then may be a server of the machine.
func (g *gatekeeper) opensLoopback(at netip.AddrPort) bool {
	if g.proxy == nil {
		return false
	}
	for _, r := range g.proxy.hosts {
		if r.reaches(at.Port()) && (r.name == "localhost" || r.addr.IsValid() && r.addr == at.Addr()) {
			return true
		}
	}
	return false
}

func (g *gatekeeper) denyServer(n *notice, at netip.AddrPort) verdict {
	g.log.deny(&Denial{Kind: DeniedConnect, Path: at.String(), Pid: int(n.pid), Why: "it is a server of this machine, not of this session", Allow: netRule(at.Addr().String(), strconv.Itoa(int(at.Port())))})
	return refused(unix.ECONNREFUSED)
}

// pin replaces "no address", which the kernel takes for one that depends on the socket, by the loopback's.
func (a *address) pin(at netip.AddrPort) netip.AddrPort {
	if !at.Addr().IsUnspecified() {
		return at
	}
	host := netip.IPv6Loopback()
	if at.Addr().Is4() {
		host = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	switch mapped := host.As16(); {
	case a.family == unix.AF_INET:
		copy(a.raw[4:8], mapped[12:])
	default:
		copy(a.raw[8:24], mapped[:])
	}
	return netip.AddrPortFrom(host, at.Port())
}

// connectOnce connects with one first segment, which is not repeated; answered says that it was enough.
func connectOnce(socket int, raw []byte) (answered bool, err error) {
	over, late := make(chan struct{}), make(chan bool)
	go func() {
		select {
		case <-over:
			late <- false
		case <-time.After(loneSegment):
			unanswered := tcpState(socket) == stateSynSent
			if unanswered {
				disconnect(socket)
			}
			late <- unanswered
		}
	}()
	err = connectRaw(socket, raw)
	for waits := true; ; {
		if waits && (!errors.Is(err, unix.EINPROGRESS) || tcpState(socket) != stateSynSent) {
			waits = false
			close(over)
		}
		select {
		case gone := <-late:
			return !gone, err
		case <-time.After(time.Millisecond):
		}
	}
}

// disconnect takes a connection back.
func disconnect(socket int) {
	_ = connectRaw(socket, make([]byte, unix.SizeofSockaddrInet4)) // no family: AF_UNSPEC
}

// tcpState is the state of a TCP socket; -1 for another one.
func tcpState(socket int) int {
	info, err := unix.GetsockoptTCPInfo(socket, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return -1
	}
	return int(info.State)
}

// serveAt lets a bound socket listen, and notes it.
func (g *gatekeeper) serveAt(socket, backlog int) error {
	var st unix.Stat_t
	if err := unix.Fstat(socket, &st); err != nil {
		return err
	}
	at, ok := boundTo(socket)
	if !ok { // of a file the kernel knows who listens at it
		return g.servers.add(server{inode: uint32(st.Ino)}, func() error { return unix.Listen(socket, backlog) })
	}
	// Others of the user may have allowed that an address has several servers.
	if again, err := unix.GetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_REUSEPORT); err == nil && again != 0 && g.network() != Open && tcpState(socket) != stateListen {
		if _, foreign, err := g.servers.at(at); err != nil || foreign {
			return unix.EADDRINUSE
		}
	}
	return g.servers.add(server{uint32(st.Ino), at}, func() error { return unix.Listen(socket, backlog) })
}

// boundTo is the Internet address that a socket has.
func boundTo(socket int) (at netip.AddrPort, ok bool) {
	name, err := unix.Getsockname(socket)
	if err != nil {
		return at, false
	}
	switch name := name.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(name.Addr), uint16(name.Port)), true
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(name.Addr).Unmap(), uint16(name.Port)), true
	}
	return at, false
}
