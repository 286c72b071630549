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
	"strconv"
	"strings"
	"sync"
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
	led     map[netip.AddrPort]led // by their addresses: others of the session can take the port at another one
	opened  map[string]bool        // hosts and ports that were allowed while the command runs
	decide  Decider                // for hosts that no rule names; nil for nobody
	ctx     context.Context        // ends with the sandbox
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
	from := netip.AddrPortFrom(at.AddrPort().Addr().Unmap(), uint16(at.Port))
	l, ok := p.led[from]
	delete(p.led, from)
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
	if errors.Is(err, errNotPublic) || errors.Is(err, errDenied) { // refused: who gets 502 tries again, npm for minutes
		return nil, 403, err
	}
	if err != nil {
		return nil, 502, err
	}
	return c, 0, nil
}

func (p *proxy) refuse(target, why, grant string) {
	p.log.deny(&Denial{Kind: DeniedHost, Path: target, Why: why, Allow: grant})
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
