//go:build linux && (amd64 || arm64)

package sandbox

import (
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"github.com/agentkit-go/agentkit/pkg/fork"
	"golang.org/x/sys/unix"
)

// proxyPort is where the proxy listens in a network of the command's own.
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
	s.proxyAt = s.server.Addr().String()
	return nil
}

// listener is the one that the command's process has made.
func listener(fd int) (net.Listener, error) {
	f := os.NewFile(uintptr(fd), "proxy")
	defer f.Close()
	return net.FileListener(f)
}

// listen adds the making of the socket that the proxy listens on, and hands it
// over.
func (p *plan) listen(tell int) {
	at := []byte{0, 0, proxyPort >> 8, proxyPort & 0xff, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0}
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

// proxied is env with the proxy that programs are to use.
func proxied(env []string, address string) []string {
	set := map[string]string{"NO_PROXY": "localhost,127.0.0.1,::1"}
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
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"} {
		list = append(list, name+"="+set[name], strings.ToLower(name)+"="+set[name])
	}
	return list
}
