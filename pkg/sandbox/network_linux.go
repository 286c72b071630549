//go:build linux && (amd64 || arm64)

package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/agentkit-go/agentkit/pkg/fork"
	"golang.org/x/sys/unix"
)

// proxyPort is where the proxy is for the programs of a command at L3. Where it
// really listens the gatekeeper knows, and nobody else gets there: the commands of
// a session share their loopback, but not what they may reach.
const proxyPort = 60080

// prepareProxy makes the proxy that Network Hosts needs. In a network of its
// own the command's process makes the socket that it listens on.
func (s *start) prepareProxy() error {
	if s.network() != Hosts {
		return nil
	}
	var err error
	if s.proxy, err = newProxy(s.Hosts, s.Refused, s.log); err != nil {
		return fmt.Errorf("configuring the sandbox: %w", err)
	}
	if s.level >= L3 {
		s.proxyAt = net.JoinHostPort("127.0.0.1", strconv.Itoa(proxyPort))
		return nil
	}
	//nolint:noctx // it listens at once
	if s.server, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return fmt.Errorf("starting the sandbox's proxy: %w", err)
	}
	s.proxyAt, s.proxyPort = s.server.Addr().String(), portOf(s.server)
	return nil
}

// writeNetwork adds the network of the command: the session's, or one of its own.
func (s *start) writeNetwork(p *plan) error {
	if s.network() == Open {
		return nil
	}
	if s.session.joined() {
		s.flags &^= unix.CLONE_NEWUSER
		if err := p.Join(s.session.users, s.session.net); err != nil {
			return err
		}
	} else {
		s.flags |= unix.CLONE_NEWNET
		if s.network() != NoNet {
			p.loopback()
		}
		if s.session != nil {
			p.handNamespaces(s.tell)
		}
	}
	if s.network() == Hosts {
		port := 0
		if s.outer {
			port = proxyPort // nobody here could lead there
		}
		p.listen(s.tell, port)
	}
	return nil
}

// followNetwork takes over what the child has made of the network, and returns the
// next message.
func (s *start) followNetwork() (message, error) {
	m, err := receive(s.ours)
	if n := s.session; n != nil && !n.joined() {
		for _, fd := range []*int{&n.users, &n.net} {
			if err != nil || m.fd < 0 {
				return m, err
			}
			*fd = m.fd
			m, err = receive(s.ours)
		}
	}
	if err == nil {
		err = s.session.offer()
	}
	if err == nil && m.fd >= 0 && s.proxy != nil && s.server == nil {
		if s.server, err = listener(m.fd); err == nil {
			s.proxyPort = portOf(s.server)
			m, err = receive(s.ours)
		}
	}
	return m, err
}

func portOf(l net.Listener) uint16 {
	if at, ok := l.Addr().(*net.TCPAddr); ok {
		return uint16(at.Port)
	}
	return 0
}

// listener is the one that the command's process has made.
func listener(fd int) (net.Listener, error) {
	f := os.NewFile(uintptr(fd), "proxy")
	defer f.Close()
	return net.FileListener(f)
}

// listen adds the making of the socket that the proxy listens on, and hands it
// over.
func (p *plan) listen(tell, port int) {
	at := []byte{0, 0, byte(port >> 8), byte(port), 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0}
	binary.NativeEndian.PutUint16(at, unix.AF_INET)
	fd := p.Cell()
	p.Do("making the proxy's socket", unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0).Keeps(fd)
	p.Do("binding the proxy's socket", unix.SYS_BIND, fd, at, len(at))
	p.Do("listening on the proxy's socket", unix.SYS_LISTEN, fd, 128)
	p.hand("handing over the proxy's socket", fd, tell)
	p.Close(fd)
}

// loopback adds the switching on of the only network interface.
func (p *plan) loopback() {
	req, err := unix.NewIfreq("lo")
	if err != nil {
		panic("sandbox: " + err.Error())
	}
	req.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	fd := p.Cell()
	p.Do("opening the loopback", unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0).Keeps(fd)
	p.Do("raising the loopback", unix.SYS_IOCTL, fd, unix.SIOCSIFFLAGS, unsafe.Pointer(fork.Place(&p.Plan, *req)))
	p.Close(fd)
}

// noticed are settings of npm, pip and terraform whether these look for a newer release of their
// own, whatever they are called for: where that host is not allowed, a command that did well
// would be said to have been refused.
var noticed = [...]string{"npm_config_update_notifier=false", "PIP_DISABLE_PIP_VERSION_CHECK=1", "CHECKPOINT_DISABLE=1"}

// proxied is env with the proxy that programs are to use.
func proxied(env []string, address string) []string {
	set := map[string]string{"NO_PROXY": "localhost,127.0.0.1,::1,0.0.0.0"}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		set[name] = "http://" + address
	}
	list := make([]string, 0, len(env)+2*len(set))
	for _, e := range env {
		name, _, _ := strings.Cut(e, "=")
		if _, ours := set[strings.ToUpper(name)]; !ours {
			list = append(list, e)
		}
	}
	if !slices.ContainsFunc(list, func(e string) bool { return strings.HasPrefix(e, "RES_OPTIONS=") }) {
		list = append(list, "RES_OPTIONS=use-vc ndots:0") // names are looked up over TCP, see names
	}
	for _, n := range noticed {
		name, _, _ := strings.Cut(n, "=")
		if !slices.ContainsFunc(list, func(e string) bool {
			return len(e) > len(name) && e[len(name)] == '=' && strings.EqualFold(e[:len(name)], name)
		}) {
			list = append(list, n)
		}
	}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"} {
		list = append(list, name+"="+set[name], strings.ToLower(name)+"="+set[name])
	}
	return list
}

// lead connects the socket of a process to the proxy, which listens at port, for a
// host and port or for a request that names them.
func (p *proxy) lead(socket int, port uint16, to string) error {
	at := []byte{0, 0, byte(port >> 8), byte(port), 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0}
	binary.NativeEndian.PutUint16(at, unix.AF_INET)
	if domain, err := unix.GetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_DOMAIN); err == nil && domain == unix.AF_INET6 {
		at = make([]byte, unix.SizeofSockaddrInet6)
		binary.NativeEndian.PutUint16(at, unix.AF_INET6)
		binary.BigEndian.PutUint16(at[2:], port)
		copy(at[8:], []byte{10: 0xff, 0xff, 127, 0, 0, 1})
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	err := connectRaw(socket, at)
	if err != nil && !errors.Is(err, unix.EINPROGRESS) {
		return err
	}
	name, nameless := unix.Getsockname(socket)
	if p.led == nil {
		p.led = map[netip.AddrPort]led{}
	}
	switch name := name.(type) {
	case *unix.SockaddrInet4:
		p.led[netip.AddrPortFrom(netip.AddrFrom4(name.Addr), uint16(name.Port))] = led{to, time.Now()}
	case *unix.SockaddrInet6:
		p.led[netip.AddrPortFrom(netip.AddrFrom16(name.Addr).Unmap(), uint16(name.Port))] = led{to, time.Now()}
	default:
		return errors.Join(nameless, unix.EACCES)
	}
	return err
}
