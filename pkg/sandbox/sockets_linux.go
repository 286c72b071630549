//go:build linux && (amd64 || arm64)

package sandbox

import (
	"encoding/binary"
	"errors"
	"math"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// maxServing bounds how many sockets in the file system are known to be the command's own.
const maxServing = 10_000

// maxAddress is the size of the largest socket address, struct sockaddr_storage.
const maxAddress = 128

// An address is a socket address that a process gave, copied: nobody can
// change it any more.
type address struct {
	raw    []byte
	family uint16
	path   string // of AF_UNIX, "" when it has no name in the file system
}

// readAddress copies the address argument of a connect or bind.
func (g *gatekeeper) readAddress(n *notice) (*address, error) {
	size := n.number(2)
	if size < 0 || size > maxAddress {
		return nil, unix.EINVAL
	}
	a := &address{raw: make([]byte, size)}
	m := memory{pid: int(n.pid)}
	if err := m.read(n.args[1], a.raw); err != nil && m.shut {
		name, _ := os.ReadFile("/proc/" + strconv.Itoa(int(n.pid)) + "/comm")
		g.log.deny(&Denial{Kind: DeniedConnect, Path: strings.TrimSpace(string(name)), Pid: int(n.pid), Why: "it lets nobody read its memory, so that the address which it gives cannot be seen; at level 3 of the sandbox it can"})
		return nil, unix.EACCES
	} else if err != nil {
		return nil, unix.EFAULT
	}
	if size >= 2 {
		a.family = binary.NativeEndian.Uint16(a.raw)
	}
	if a.family == unix.AF_UNIX && size > 2 && a.raw[2] != 0 {
		path, _, _ := strings.Cut(string(a.raw[2:]), "\x00")
		a.path = path
	}
	return a, nil
}

// ip returns the host and port of an Internet address.
func (a *address) ip() (at netip.AddrPort, ok bool) {
	switch {
	case a.family == unix.AF_INET && len(a.raw) >= 8:
		host, _ := netip.AddrFromSlice(a.raw[4:8])
		return netip.AddrPortFrom(host, binary.BigEndian.Uint16(a.raw[2:])), true
	case a.family == unix.AF_INET6 && len(a.raw) >= 24:
		host, _ := netip.AddrFromSlice(a.raw[8:24])
		return netip.AddrPortFrom(host.Unmap(), binary.BigEndian.Uint16(a.raw[2:])), true
	}
	return at, false
}

// local reports whether the address is this machine's own loopback. To connect
// to no address means that as well.
func local(a netip.Addr) bool { return a.IsLoopback() || a.IsUnspecified() }

// connect makes the connection in the process's place: on its very socket, to
// the address that was checked, so that there is nothing to race for.
func (g *gatekeeper) connect(n *notice) verdict {
	if n.number(2) == greeting {
		return refused(greeted)
	}
	to, socket, domain, err := g.addressed(n)
	if err != nil {
		return result(err)
	}
	defer unix.Close(socket)
	if domain == unix.AF_UNIX {
		return g.connectUnix(n, socket, to)
	}
	at, ok := to.ip()
	if ok && g.proxy != nil && (at.Port() == 53 || !local(at.Addr())) && isStream(socket) {
		return g.throughProxy(socket, at)
	}
	if ok && g.proxy != nil && at.String() == g.proxyAt {
		return result(g.proxy.lead(socket, g.proxyPort, ""))
	}
	if ok && !local(at.Addr()) && g.network() != Open {
		d := &Denial{Kind: DeniedConnect, Path: at.String(), Pid: int(n.pid), Why: "the network is closed to commands", Allow: netRule(at.Addr().String(), strconv.Itoa(int(at.Port())))}
		switch {
		case at.Port() == 53 && g.proxy == nil:
			d.Allow = ""
		case at.Port() == 53:
			d.Why, d.Allow = "names of hosts are looked up over TCP, or by the proxy (HTTPS_PROXY)", ""
		}
		g.log.deny(d)
		return refused(unix.ENETUNREACH)
	}
	if ok && g.shared && g.network() != Open {
		return g.connectOwn(n, socket, to, at)
	}
	return result(connectRaw(socket, to.raw))
}

// throughProxy makes a connection for a program that knows nothing of the proxy: to
// whatever server it asks for names, and to the addresses that stand for them.
func (g *gatekeeper) throughProxy(socket int, at netip.AddrPort) verdict {
	if at.Port() == 53 {
		return result(g.proxy.lead(socket, g.proxyPort, forNames))
	}
	host := g.proxy.names.host(at.Addr())
	if ok, _ := g.proxy.permits(host, at.Port()); !ok {
		return refused(unix.EACCES)
	}
	return result(g.proxy.lead(socket, g.proxyPort, net.JoinHostPort(host, strconv.Itoa(int(at.Port())))))
}

func isStream(socket int) bool {
	kind, err := unix.GetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_TYPE)
	return err == nil && kind == unix.SOCK_STREAM
}

// socket takes over the socket that the call is about, which is its first
// argument. The error is what the call is answered with.
func (g *gatekeeper) socket(n *notice) (int, error) {
	fd, err := g.descriptor(n, n.number(0))
	switch {
	case errors.Is(err, unix.EBADF):
		return -1, unix.EBADF
	case err != nil:
		return -1, unix.EACCES
	case !g.valid(n):
		_ = unix.Close(fd)
		return -1, unix.EINTR
	}
	return fd, nil
}

// addressed is the address that a call names, and its socket, which the caller closes,
// with the family of addresses that this takes.
func (g *gatekeeper) addressed(n *notice) (at *address, socket, domain int, err error) {
	if at, err = g.readAddress(n); err != nil {
		return nil, -1, 0, err
	}
	if socket, err = g.socket(n); err != nil {
		return nil, -1, 0, err
	}
	if domain, err = unix.GetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_DOMAIN); err != nil {
		_ = unix.Close(socket)
	}
	return at, socket, domain, err
}

func connectRaw(socket int, raw []byte) error {
	_, _, e := unix.Syscall(unix.SYS_CONNECT, uintptr(socket), uintptr(unsafe.Pointer(unsafe.SliceData(raw))), uintptr(len(raw)))
	if e != 0 {
		return e
	}
	return nil
}

// abandoned reports whether a socket in the file system has nobody behind it any more. It is
// asked for with a socket that sends no message by connecting, and that no server of
// connections accepts: the kernel looks whether there is one before it compares the kinds.
func abandoned(f *executable) bool {
	if f.st.Mode&unix.S_IFMT != unix.S_IFSOCK {
		return false
	}
	probe, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(probe)
	return errors.Is(unix.Connect(probe, &unix.SockaddrUnix{Name: self(f.fd)}), unix.ECONNREFUSED)
}

// connectUnix connects to sockets at which the session listens: those in places that the command may
// write, made since it began, by a process of the same tree, and those of which the kernel says so.
func (g *gatekeeper) connectUnix(n *notice, socket int, to *address) verdict {
	if to.path == "" {
		if g.shared && to.family == unix.AF_UNIX && len(to.raw) > 2 {
			g.denySocket(n, "@"+strings.TrimRight(string(to.raw[3:]), "\x00"), "abstract sockets of the machine are closed to commands")
			return refused(unix.EACCES)
		}
		return result(connectRaw(socket, to.raw))
	}
	f, err := g.lookFrom(n, to.path)
	if err != nil {
		return result(err)
	}
	defer f.close()
	if slices.Contains(g.Sockets, f.path) {
		return result(connectRaw(socket, append(append(binary.NativeEndian.AppendUint16(nil, unix.AF_UNIX), self(f.fd)...), 0)))
	}
	ours := g.ownSocket(f)
	listens, known := g.ofSession(f)
	if !listens && (!ours || known) { // once connected it could be written to, until we had looked
		if abandoned(f) || ours && !listened(f) { // as the kernel says it: programs such as tmux then make a new one
			return refused(unix.ECONNREFUSED)
		}
		g.denySocket(n, f.path, "the socket is not of this session's own making")
		return refused(unix.EACCES)
	}
	raw := append(binary.NativeEndian.AppendUint16(nil, unix.AF_UNIX), self(f.fd)...)
	if err := connectRaw(socket, append(raw, 0)); err != nil {
		return result(err)
	}
	if ours && !known && !g.sameTree(socket, f) {
		_ = unix.Shutdown(socket, unix.SHUT_RDWR)
		g.denySocket(n, f.path, "the socket's server runs outside the sandbox")
		return refused(unix.EACCES)
	}
	return verdict{}
}

// sameTree reports whether the server of a connection to f, which is the process that
// began to listen, or we in its place, lives among the command's processes. It may have ended
// since, as servers do that go on as their own children.
func (g *gatekeeper) sameTree(socket int, f *executable) bool {
	peer, err := unix.GetsockoptUcred(socket, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return true // there is no connection
	}
	if int(peer.Pid) == os.Getpid() {
		g.mu.Lock()
		defer g.mu.Unlock()
		return g.serving[socketID(f)]
	}
	if peer.Pid == 0 || g.processes == "" { // we are in the command's namespace, or there is none
		return peer.Pid != 0 && g.commands(int(peer.Pid))
	}
	theirs, err := os.Readlink("/proc/" + strconv.Itoa(int(peer.Pid)) + "/ns/pid")
	return err == nil && theirs == g.processes
}

func (g *gatekeeper) denySocket(n *notice, path, why string) {
	g.log.deny(&Denial{Kind: DeniedConnect, Path: path, Pid: int(n.pid), Why: why})
}

// ofSession reports whether a command of the session listens at f, or has let its children do so; known says
// whether anybody can tell. No other socket can come to be at the same file afterwards, and none of another
// namespace into this one.
func (g *gatekeeper) ofSession(f *executable) (listens, known bool) {
	if f.st.Mode&unix.S_IFMT != unix.S_IFSOCK || f.st.Ino > math.MaxUint32 { // the kernel tells half of such a number
		return false, false
	}
	list, err := g.listeners()
	if err != nil {
		return false, false
	}
	for _, l := range list {
		if l.file == socketID(f) && (!g.shared || g.servers.noted(server{inode: l.inode})) {
			return true, true
		}
	}
	return false, true
}

// listened reports whether anybody on this machine listens at f: a server that has bound its socket does so a
// moment later.
func listened(f *executable) bool {
	list, err := listeningAtFiles()
	return err != nil || slices.ContainsFunc(list, func(l unixServer) bool { return l.file == socketID(f) })
}

// listeners are the sockets that listen at files: of the session where it has a network of its own, else of the machine.
func (g *gatekeeper) listeners() ([]unixServer, error) {
	if !g.shared {
		return g.session.listeners()
	}
	return listeningAtFiles()
}

// ownSocket reports whether f may be a socket of the command.
func (g *gatekeeper) ownSocket(f *executable) bool {
	if f.st.Mode&unix.S_IFMT != unix.S_IFSOCK {
		return true // the kernel has the right error for it
	}
	if !belowAny(f.path, g.changeable()) {
		return false
	}
	var st unix.Statx_t
	if err := unix.Statx(f.fd, "", unix.AT_EMPTY_PATH, unix.STATX_BTIME, &st); err != nil || st.Mask&unix.STATX_BTIME == 0 {
		return false
	}
	return !time.Unix(st.Btime.Sec, int64(st.Btime.Nsec)).Before(g.begin)
}

// bind gives a server of the command an address that only this machine
// reaches. Where a program asks for every address it gets the loopback.
func (g *gatekeeper) bind(n *notice) verdict {
	at, socket, domain, err := g.addressed(n)
	if err != nil {
		return result(err)
	}
	defer unix.Close(socket)
	if domain != unix.AF_INET && domain != unix.AF_INET6 || g.network() == Open {
		return verdict{goOn: true} // Landlock decides about files; listen looks again
	}
	ip, ok := at.ip()
	if ok && !local(ip.Addr()) {
		g.log.deny(&Denial{Kind: DeniedConnect, Path: ip.String(), Pid: int(n.pid), Why: "commands may serve on the loopback only"})
		return refused(unix.EADDRNOTAVAIL)
	}
	if ok && ip.Addr().IsUnspecified() {
		at.toLoopback(socket)
	}
	_, _, e := unix.Syscall(unix.SYS_BIND, uintptr(socket), uintptr(unsafe.Pointer(unsafe.SliceData(at.raw))), uintptr(len(at.raw)))
	return refused(e)
}

// toLoopback turns "every address" into the loopback's. A socket for both
// kinds of address gets the older one's, which clients try in any case.
func (a *address) toLoopback(socket int) {
	if a.family == unix.AF_INET {
		copy(a.raw[4:8], []byte{127, 0, 0, 1})
		return
	}
	only, err := unix.GetsockoptInt(socket, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY)
	if err == nil && only != 0 {
		a.raw[23] = 1
		return
	}
	copy(a.raw[8:24], []byte{10: 0xff, 0xff, 127, 0, 0, 1})
}

// listen lets a socket listen that is bound to the loopback, and binds one
// that is not bound at all.
func (g *gatekeeper) listen(n *notice) verdict {
	socket, err := g.socket(n)
	if err != nil {
		return result(err)
	}
	defer unix.Close(socket)
	if g.network() != Open {
		if err := g.onLoopback(n, socket); err != nil {
			return result(err)
		}
	}
	err = g.serveAt(socket, n.number(1))
	if err == nil {
		g.noteServer(n, socket)
	}
	return result(err)
}

// lookFrom finds what a path stands for where the process of a call is.
func (g *gatekeeper) lookFrom(n *notice, path string) (*executable, error) {
	cwd, err := os.Readlink("/proc/" + strconv.Itoa(int(n.pid)) + "/cwd")
	if err != nil {
		return nil, unix.EACCES
	}
	return g.look(int(n.pid), cwd, path, 0)
}

// noteServer notes a socket in the file system that we have made listen: the kernel takes us for
// its server.
func (g *gatekeeper) noteServer(n *notice, socket int) {
	name, err := unix.Getsockname(socket)
	at, ok := name.(*unix.SockaddrUnix)
	if err != nil || !ok || at.Name == "" || at.Name[0] == '@' {
		return
	}
	f, err := g.lookFrom(n, at.Name)
	if err != nil {
		return
	}
	defer f.close()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.serving == nil {
		g.serving = map[[2]uint64]bool{}
	}
	if len(g.serving) < maxServing {
		g.serving[socketID(f)] = true
	}
}

func socketID(f *executable) [2]uint64 { return [2]uint64{uint64(f.st.Dev), f.st.Ino} } //nolint:unconvert // narrower on some machines

func (g *gatekeeper) onLoopback(n *notice, socket int) error {
	at, ok := boundTo(socket)
	if !ok {
		return nil
	}
	if at.Addr().IsUnspecified() && at.Port() == 0 {
		if at.Addr().Is4() {
			return unix.Bind(socket, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
		}
		return unix.Bind(socket, &unix.SockaddrInet6{Addr: netip.IPv6Loopback().As16()})
	}
	if at.Addr().IsLoopback() {
		return nil
	}
	g.log.deny(&Denial{Kind: DeniedConnect, Path: at.String(), Pid: int(n.pid), Why: "commands may serve on the loopback only"})
	return unix.EACCES
}
