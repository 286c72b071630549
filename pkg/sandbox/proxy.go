package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A proxy is the only way out of a sandbox with Network Hosts: an HTTP proxy
// that connects to the listed hosts. One connection carries one request, or
// with CONNECT whatever the two sides say to each other.
type proxy struct {
	hosts   []hostRule
	refused []hostRule
	log     *reportLog
	dial    func(ctx context.Context, network, address string) (net.Conn, error)

	guarded bool // only those are served whom the gatekeeper leads here
	mu      sync.Mutex
	led     map[uint16]led  // by their port
	opened  map[string]bool // hosts and ports that were allowed while the command runs
	decide  Decider         // for hosts that no rule names; nil for nobody
	ctx     context.Context // ends with the sandbox
	names   names
}

// A led is a connection that the gatekeeper has made for a process of the command.
type led struct {
	to   string // host and port for which it is; "" where it names them itself
	when time.Time
}

// Limits of the proxy.
const (
	maxHead     = 64 << 10 // of a request's line and headers
	headTimeout = 30 * time.Second
	dialTimeout = 30 * time.Second
	maxProxied  = 512 // connections at a time
)

// A hostRule is one of Config.Hosts.
type hostRule struct {
	name string // lower case; with a leading dot what ends in it, "." for every one
	addr netip.Addr
	port uint16 // 0 for the usual ones
	any  bool   // every port
}

// parseHost reads one of Config.Hosts.
func parseHost(s string) (r hostRule, err error) {
	host, port := s, ""
	if h, p, err := net.SplitHostPort(s); err == nil {
		host, port = h, p
	}
	if r.any = port == "*"; port != "" && !r.any {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return r, fmt.Errorf("host %q: its port is no number from 1 to 65535", s)
		}
		r.port = uint16(n)
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if a, err := netip.ParseAddr(host); err == nil {
		r.addr = a.Unmap()
		return r, nil
	}
	if host == "*" {
		r.name = "."
		return r, nil
	}
	name, sub := strings.CutPrefix(host, "*.")
	if name, err = hostName(name); err != nil {
		return r, fmt.Errorf("host %q: %w", s, err)
	}
	r.name = name
	if sub {
		r.name = "." + name
	}
	return r, nil
}

// hostName checks and folds a name. What is not letters, digits, hyphens and
// dots, and what a resolver might take for an address, is none.
func hostName(s string) (string, error) {
	s = strings.ToLower(strings.TrimSuffix(s, "."))
	if s == "" || len(s) > 253 {
		return "", errors.New("it is no host's name")
	}
	labels := strings.Split(s, ".")
	for _, l := range labels {
		bad := strings.ContainsFunc(l, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
		})
		if l == "" || len(l) > 63 || bad {
			return "", errors.New("it is no host's name")
		}
	}
	if last := labels[len(labels)-1]; last[0] >= '0' && last[0] <= '9' {
		return "", errors.New("it is an address in an odd form")
	}
	return s, nil
}

// allows reports whether the host may be reached at port. Explicit says that
// the rule names an address, which then may be a private one.
func (p *proxy) allows(host string, port uint16) (ok, explicit bool) {
	addr, err := netip.ParseAddr(host)
	isAddr := err == nil
	for _, r := range p.hosts {
		if !r.reaches(port) {
			continue
		}
		switch {
		case isAddr:
			if r.addr.IsValid() && r.addr == addr.Unmap() {
				return true, true
			}
		case !r.means(host):
		case strings.HasPrefix(r.name, ".") && slices.ContainsFunc(p.refused, func(r hostRule) bool { return (r.port == 0 || r.port == port) && r.means(host) }):
		default:
			return true, false
		}
	}
	return false, false
}

// reaches reports whether the rule is about the port: without one, about those of
// ssh, the web and git.
func (r hostRule) reaches(port uint16) bool {
	return r.any || r.port == port || r.port == 0 && (port == 22 || port == 80 || port == 443 || port == 9418)
}

// means reports whether the rule is about the name host.
func (r hostRule) means(host string) bool {
	if strings.HasPrefix(r.name, ".") {
		return r.name == "." || strings.HasSuffix(host, r.name)
	}
	return r.name != "" && r.name == host
}

// newProxy makes a proxy to hosts.
func newProxy(hosts, refused []string, log *reportLog) (*proxy, error) {
	p := &proxy{log: log}
	for list, to := range map[*[]string]*[]hostRule{&hosts: &p.hosts, &refused: &p.refused} {
		for _, h := range *list {
			r, err := parseHost(h)
			if err != nil {
				return nil, err
			}
			*to = append(*to, r)
		}
	}
	return p, nil
}

// serve serves until the listener is closed.
func (p *proxy) serve(l net.Listener) {
	room := make(chan struct{}, maxProxied)
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		room <- struct{}{}
		go func() {
			defer func() { <-room }()
			defer c.Close()
			p.connection(c)
		}()
	}
}

func (p *proxy) connection(c net.Conn) {
	to, ok := p.claim(c)
	if !ok {
		return
	}
	if to == forNames {
		p.names.serve(c)
		return
	}
	if to != "" {
		if out, _, err := p.open(to); err == nil {
			splice(c, c, out)
			_ = out.Close()
		}
		return
	}
	_ = c.SetReadDeadline(time.Now().Add(headTimeout))
	in := bufio.NewReaderSize(c, 4096)
	head, err := readHead(in)
	if err != nil {
		reply(c, 400, err.Error())
		return
	}
	_ = c.SetReadDeadline(time.Time{})
	line, rest, _ := bytes.Cut(head, []byte("\r\n"))
	words := strings.Fields(string(line))
	if len(words) != 3 || !strings.HasPrefix(words[2], "HTTP/1.") {
		reply(c, 400, "this is no request to a proxy")
		return
	}
	method, target := words[0], words[1]
	host, forward, err := destination(method, target)
	if err != nil {
		reply(c, 400, err.Error())
		return
	}
	out, status, err := p.open(host)
	if err != nil {
		reply(c, status, err.Error())
		return
	}
	defer out.Close()
	if method == "CONNECT" {
		_, err = io.WriteString(c, "HTTP/1.1 200 Connection established\r\n\r\n")
	} else {
		_, err = out.Write(append([]byte(method+" "+forward+" HTTP/1.1\r\nConnection: close\r\n"), ownHeaders(rest)...))
	}
	if err == nil {
		splice(c, in, out)
	}
}

// forNames is what a connection is led here for that looks up names.
const forNames = "names"

// leadTime is how long a connection may take from the gatekeeper to the proxy.
const leadTime = 10 * time.Second

// claim reports whether a connection was led here, and what for. In a network that
// several commands share this keeps each to the hosts that it may reach.
func (p *proxy) claim(c net.Conn) (to string, ok bool) {
	at, isTCP := c.RemoteAddr().(*net.TCPAddr)
	if !p.guarded || !isTCP {
		return "", true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	l, ok := p.led[uint16(at.Port)]
	delete(p.led, uint16(at.Port))
	return l.to, ok && time.Since(l.when) < leadTime
}

// readHead reads up to the empty line that ends the headers.
func readHead(in *bufio.Reader) ([]byte, error) {
	var head []byte
	for {
		part, err := in.ReadSlice('\n')
		head = append(head, part...)
		switch {
		case len(head) > maxHead:
			return nil, errors.New("the request's headers are too long")
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil:
			return nil, errors.New("the request ends early")
		case bytes.HasSuffix(head, []byte("\r\n\r\n")):
			return head, nil
		}
	}
}

// destination is the host and port of a request, and for other methods than
// CONNECT what is asked for there.
func destination(method, target string) (host, forward string, err error) {
	if method == "CONNECT" {
		if _, _, err := net.SplitHostPort(target); err != nil {
			return "", "", errors.New("the request names no host and port")
		}
		return target, "", nil
	}
	u, err := url.Parse(target)
	if err != nil || u.Scheme != "http" || u.Host == "" || u.User != nil {
		return "", "", errors.New("the request names no http address")
	}
	port := u.Port()
	if port == "" {
		port = "80"
	}
	return net.JoinHostPort(u.Hostname(), port), u.RequestURI(), nil
}

// ownHeaders drops the headers that are meant for the proxy.
func ownHeaders(head []byte) []byte {
	var b []byte
	for line := range bytes.SplitAfterSeq(head, []byte("\r\n")) {
		name, _, _ := bytes.Cut(line, []byte(":"))
		switch strings.ToLower(string(bytes.TrimSpace(name))) {
		case "connection", "proxy-connection", "proxy-authorization", "keep-alive", "te", "upgrade":
			continue
		}
		b = append(b, line...)
	}
	return b
}

// open connects to a host if it is allowed.
func (p *proxy) open(target string) (net.Conn, int, error) {
	host, number, err := net.SplitHostPort(target)
	if err != nil {
		return nil, 400, err
	}
	port, err := strconv.ParseUint(number, 10, 16)
	if err != nil {
		return nil, 400, errors.New("the port is no number")
	}
	if _, err := netip.ParseAddr(host); err != nil {
		if host, err = hostName(host); err != nil {
			p.refuse(target, "the policy does not let commands reach this host", "")
			return nil, 403, fmt.Errorf("%s: %w", strconv.Quote(target), err)
		}
	}
	ok, explicit := p.permits(host, uint16(port))
	if !ok {
		return nil, 403, fmt.Errorf("the policy does not let commands reach %s", net.JoinHostPort(host, number))
	}
	ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
	defer cancel()
	dial := p.dial
	if dial == nil {
		d := &net.Dialer{}
		if !explicit {
			d.Control = p.publicOnly
		}
		dial = d.DialContext
	}
	c, err := dial(ctx, "tcp", net.JoinHostPort(host, number))
	if err != nil {
		return nil, 502, err
	}
	return c, 0, nil
}

// permits is allows, and where that says no, what someone says who can be asked. A
// host that stays closed is reported.
func (p *proxy) permits(host string, port uint16) (ok, explicit bool) {
	if ok, explicit = p.allows(host, port); ok {
		return ok, explicit
	}
	_, err := netip.ParseAddr(host)
	target := net.JoinHostPort(host, strconv.Itoa(int(port)))
	p.mu.Lock()
	ok = p.opened[target]
	p.mu.Unlock()
	if ok || p.decide == nil {
		if !ok {
			p.refuse(target, "the policy does not let commands reach this host", netRule(host, strconv.Itoa(int(port))))
		}
		return ok, err == nil
	}
	a := p.decide(p.ctx, &Exec{Host: target})
	if !a.Allow {
		p.refuse(target, a.Why, a.Grant)
		return false, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.opened == nil {
		p.opened = map[string]bool{}
	}
	p.opened[target] = true
	return true, err == nil
}

func (p *proxy) refuse(target, why, grant string) {
	p.log.deny(&Denial{Kind: DeniedHost, Path: target, Why: why, Allow: grant})
}

// netRule is the rule of a policy that allows a host.
func netRule(host, port string) string {
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if n, err := strconv.ParseUint(port, 10, 16); err == nil && !(hostRule{}).reaches(uint16(n)) {
		host += ":" + port
	}
	return "net(" + host + ")"
}

// publicOnly refuses to connect to what is not on the public Internet, whatever name
// led there, unless the policy names the very address.
func (p *proxy) publicOnly(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if public(at.Addr()) {
		return nil
	}
	if _, named := p.allows(at.Addr().Unmap().String(), at.Port()); named {
		return nil
	}
	p.refuse(address, "a name leads to this address, which is not a public one", netRule(at.Addr().Unmap().String(), strconv.Itoa(int(at.Port()))))
	return fmt.Errorf("%s is not a public address", at.Addr())
}

// special lists what is routed, if at all, within a site, or to elsewhere than
// the address says.
func special() []string {
	return []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
		"::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fec0::/10",
	}
}

func public(a netip.Addr) bool {
	a = a.Unmap()
	if a.Zone() != "" || !a.IsGlobalUnicast() || a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() {
		return false
	}
	for _, s := range special() {
		if netip.MustParsePrefix(s).Contains(a) {
			return false
		}
	}
	return true
}

// splice passes on what the two sides send until both have ended.
func splice(c net.Conn, in io.Reader, out net.Conn) {
	var both sync.WaitGroup
	pass := func(to net.Conn, from io.Reader) {
		_, err := io.Copy(to, from)
		if t, ok := to.(interface{ CloseWrite() error }); ok && err == nil {
			_ = t.CloseWrite()
			return
		}
		_, _ = c.Close(), out.Close()
	}
	both.Go(func() { pass(out, in) })
	both.Go(func() { pass(c, out) })
	both.Wait()
}

func reply(c net.Conn, status int, text string) {
	text = "agentkit: " + text + "\n"
	_, _ = fmt.Fprintf(c, "HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
		status, map[int]string{400: "Bad Request", 403: "Forbidden", 502: "Bad Gateway"}[status], len(text), text)
}
